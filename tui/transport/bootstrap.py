"""Starting the agent over any byte pipe: a stub in the command, a nonce back, then the sources.

Shells and their start-up files may print anything before the nonce; it is kept as the banner. The nonce
stands in two halves in the command, so that a shell that echoes its commands is not taken for the stub.
"""

import asyncio
import secrets
from dataclasses import dataclass

from tui.agent import wire
from tui.transport.bundle import bundle
from tui.transport.clean import clean
from tui.transport.pipe import LinkFault, Opener, Pipe
from tui.transport.plain_shell import script
from tui.transport.plain_shell.script import guard

TIMEOUT_S = 10.0
SOURCES_S = 120
"""So long a stub on the host waits for the sources: a few seconds' worth on the slowest link."""
_READ_BYTES = 64 * 1024
_NOISE_BYTES = 1024 * 1024
_SHOWN = 300
_MARK = script.MARK
_NOT_FOUND = 127
# A line that no stub prints: where a shell is started alone no agent is waited for.
_NEVER = b"\0\n"

# No single quote, backslash, dollar or exclamation mark, and one line: nothing that a shell could take up.
# The syntax is Python 2's as well, so that an old interpreter can say what it is. A stub that gets no sources
# ends by its alarm: in a container neither an end of input nor a signal tells it that the client is gone.
_STUB = (
    "import sys,os,signal;"
    'sys.version_info<({minor})and(sys.stderr.write("it is Python "+sys.version.split()[0]),sys.exit({old}));'
    "signal.alarm({wait});"
    "os.set_blocking(0,True);"
    'os.write(1,("{mark}"+"{nonce}"+chr(10)).encode());'
    'exec(open(0,"rb",0,closefd=False).readline())'
)
# Tried one after another where python3 is missing or too old; containers keep theirs outside of sshd's PATH.
_OTHERS = (
    "python3.13 python3.12 python3.11 python3.14 python3.10 python3.9 python3.8 "
    "/usr/local/bin/python3 /opt/conda/bin/python3 /opt/venv/bin/python3"
)


@dataclass(frozen=True, slots=True)
class ShellToo:
    """That a shell may take the agent's place, without whom it ends when no ping came for ``patience_s``.

    ``alone``: it did so before, and no Python is looked for.
    """

    patience_s: float
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Started:
    """A pipe to an agent that gets its sources; ``rest`` came after the nonce, ``banner`` before it.

    ``in_shell``: there is no fit Python, and a shell took its place (tui/transport/plain_shell).
    """

    pipe: Pipe
    banner: str
    rest: bytes
    in_shell: bool = False


async def start(
    opener: Opener,
    python: str | None = None,
    timeout_s: float = TIMEOUT_S,
    shell: ShellToo | None = None,
) -> Started:
    """Open a pipe and start the agent at its other end, with ``python`` or whatever the host has.

    ``shell`` says what takes its place where the host has no fit Python; None: nothing does. Raises
    LinkFault: what the opener gives, no_python, timeout or agent.
    """
    if shell is not None and shell.alone:
        return await _start(opener, _shell_alone(shell.patience_s), timeout_s)
    try:
        return await _start(opener, _direct(python or "python3"), timeout_s)
    except LinkFault as fault:
        if python is not None or fault.fault != "no_python":
            raise
        first = fault
    try:
        return await _start(opener, _any_other(shell), timeout_s)
    except LinkFault as fault:
        raise first if fault.fault == "no_python" else fault from None


async def _start(opener: Opener, command: "Command", timeout_s: float) -> Started:
    packing = asyncio.create_task(asyncio.to_thread(bundle))  # 50 ms once, while the link is made
    pipe = await opener(command.argv)
    try:
        started = await _converse(pipe, command, timeout_s)
        packed = await packing
    except BaseException:
        await pipe.close()
        raise
    if not started.in_shell:
        pipe.write(packed.stage + packed.body)
    return started


@dataclass(frozen=True, slots=True)
class Command:
    """What to run on the host, and what it prints first: the agent, or a shell in its place."""

    argv: list[str]
    nonce: bytes
    shell_nonce: bytes | None = None


def _direct(python: str) -> Command:
    stub, nonce = stub_and_nonce()
    return Command([python, "-ISsu", "-c", stub], nonce)


def _any_other(shell: ShellToo | None) -> Command:
    """Return what starts another Python, or else the shell: both in one connection, so in one login."""
    stub, nonce = stub_and_nonce()
    test = f"import sys;sys.exit(sys.version_info<({_minimum()}))"
    tried = f"command -v $p >/dev/null 2>&1 && $p -ISsc '{test}' </dev/null && exec $p -ISsu -c '{stub}'"
    search = f"for p in {_OTHERS}; do {tried}; done; "
    if shell is None:
        return Command(["/bin/sh", "-c", f"{search}exit {_NOT_FOUND}"], nonce)
    other = _shell_alone(shell.patience_s, search)
    return Command(other.argv, nonce, other.shell_nonce)


def _shell_alone(patience_s: float, before: str = "") -> Command:
    nonce = secrets.token_hex(16)
    return Command(guard(nonce, patience_s, before), _NEVER, f"{_MARK}{nonce}\n".encode("ascii"))


def stub_and_nonce() -> tuple[str, bytes]:
    """Return one stub and the line that it will print."""
    nonce = secrets.token_hex(16)
    stub = _STUB.format(minor=_minimum(), old=wire.EXIT_OLD_PYTHON, mark=_MARK, nonce=nonce, wait=SOURCES_S)
    return stub, f"{_MARK}{nonce}\n".encode("ascii")


def _minimum() -> str:
    return ",".join(map(str, wire.PYTHON_MINIMUM))


async def _converse(pipe: Pipe, command: Command, timeout_s: float) -> Started:
    noise = bytearray()
    try:
        async with asyncio.timeout(timeout_s):
            rest, in_shell = await _await_nonce(pipe, command, noise)
    except TimeoutError:
        sentence = f"python3 did not start on the host within {timeout_s:g} s{said(noise, pipe.errors())}"
        raise LinkFault("timeout", sentence, retry=True) from None
    return Started(pipe, _one_line(bytes(noise)), rest, in_shell)


async def _await_nonce(pipe: Pipe, command: Command, noise: bytearray) -> tuple[bytes, bool]:
    """Read into ``noise`` until a nonce; return what came after it, and whether it was the shell's."""
    nonces = {command.nonce: False} | ({} if command.shell_nonce is None else {command.shell_nonce: True})
    while True:
        data = await pipe.read(_READ_BYTES)
        if not data:
            raise died(await pipe.close(), bytes(noise), pipe.errors())
        begin = max(0, len(noise) - max(map(len, nonces)))
        noise += data
        for nonce, in_shell in nonces.items():
            place = noise.find(nonce, begin)
            if place >= 0:
                rest = bytes(noise[place + len(nonce) :])
                del noise[place:]
                return rest, in_shell
        if len(noise) > _NOISE_BYTES:
            sentence = f"the host's shell prints without end and runs no python3{said(noise, b'')}"
            raise LinkFault("agent", sentence, retry=False)


def died(status: int | None, noise: bytes, errors: bytes) -> LinkFault:
    """Return the fault of a process that ended before its agent said hello."""
    words = said(noise, errors)
    if status in (126, _NOT_FOUND):
        sentence = f"python3 was not found on the host: install it, 3.8 or newer{words}"
        return LinkFault("no_python", sentence, retry=False)
    if status == wire.EXIT_OLD_PYTHON:
        return LinkFault(
            "no_python", f"python3 on the host is too old: 3.8 or newer is needed{words}", retry=False
        )
    if status == wire.EXIT_BAD_SOURCE:
        return LinkFault("agent", f"the agent could not be started on the host{words}", retry=True)
    ended = "ended" if status is None else f"ended with status {status}"
    return LinkFault("agent", f"the agent {ended} before it began{words}", retry=status is None)


def said(noise: bytes | bytearray, errors: bytes) -> str:
    """Return what was printed, as the end of a sentence."""
    line = _one_line(errors) or _one_line(bytes(noise))
    return f" (it said: {line})" if line else ""


def _one_line(data: bytes) -> str:
    """Return the end of what was printed as one clean line."""
    lines = [clean(line).strip() for line in data.decode("utf-8", "replace").replace("\r", "\n").split("\n")]
    line = " / ".join(line for line in lines if line)
    return line if len(line) <= _SHOWN else "…" + line[-_SHOWN:]
