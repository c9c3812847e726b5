"""Starting the agent over any byte pipe: a stub in the command, a nonce back, then the sources.

Shells and their start-up files may print anything before the nonce; it is kept as the banner. The nonce
stands in two halves in the command, so that a shell that echoes its commands is not taken for the stub.
"""

import asyncio
import re
import secrets
from dataclasses import dataclass

from tui.agent import wire
from tui.transport.bundle import bundle
from tui.transport.clean import clean
from tui.transport.faults import fault
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
ON_HOST = "on the host"
_NOT_FOUND = 127
# A line that no stub prints: where a shell is started alone no agent is waited for.
_NEVER = b"\0\n"
# bash, dash and ksh name what they forbid so; nologin(8) has its own words, false(1) none.
_RESTRICTED = re.compile(r"\brestricted\b")
_SFTP_ONLY = re.compile(r"allows sftp connections only")  # sshd's own words for internal-sftp
_NO_LOGIN = re.compile(r"account is (?:currently )?not available")

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
    place: str = ON_HOST,
) -> Started:
    """Open a pipe and start the agent at its other end, with ``python`` or whatever the host has.

    ``shell`` says what takes its place where there is no fit Python; None: nothing does. ``place`` says where
    that is, within a sentence. Raises LinkFault: what the opener gives, no_python, timeout, refused or agent.
    """
    if shell is not None and shell.alone:
        return await _start(opener, _shell_alone(shell.patience_s), timeout_s, place)
    try:
        return await _start(opener, _direct(python or "python3"), timeout_s, place)
    except LinkFault as seen:
        if python is not None or seen.fault != "no_python":
            raise
        first = seen
    try:
        return await _start(opener, _any_other(shell), timeout_s, place)
    except LinkFault as seen:
        raise first if seen.fault == "no_python" else seen from None


async def _start(opener: Opener, command: "Command", timeout_s: float, place: str) -> Started:
    packing = asyncio.create_task(asyncio.to_thread(bundle))  # 50 ms once, while the link is made
    pipe = await opener(command.argv)
    try:
        started = await _converse(pipe, command, timeout_s, place)
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


async def _converse(pipe: Pipe, command: Command, timeout_s: float, place: str) -> Started:
    noise = bytearray()
    try:
        async with asyncio.timeout(timeout_s):
            rest, in_shell = await _await_nonce(pipe, command, noise, place)
    except TimeoutError:
        words = said(noise, pipe.errors())
        raise fault("python_slow", place=place, seconds=f"{timeout_s:g}", it_said=words) from None
    return Started(pipe, _one_line(bytes(noise)), rest, in_shell)


async def _await_nonce(pipe: Pipe, command: Command, noise: bytearray, place: str) -> tuple[bytes, bool]:
    """Read into ``noise`` until a nonce; return what came after it, and whether it was the shell's."""
    nonces = {command.nonce: False} | ({} if command.shell_nonce is None else {command.shell_nonce: True})
    while True:
        data = await pipe.read(_READ_BYTES)
        if not data:
            raise died(await pipe.close(), bytes(noise), pipe.errors(), place)
        begin = max(0, len(noise) - max(map(len, nonces)))
        noise += data
        for nonce, in_shell in nonces.items():
            found = noise.find(nonce, begin)
            if found >= 0:
                rest = bytes(noise[found + len(nonce) :])
                del noise[found:]
                return rest, in_shell
        if len(noise) > _NOISE_BYTES:
            raise fault("endless_noise", place=place, limit=_NOISE_BYTES, it_said=said(noise, b""))


def died(status: int | None, noise: bytes, errors: bytes, place: str = ON_HOST) -> LinkFault:
    """Return the fault of a process that ended before its agent said hello."""
    words = said(noise, errors)
    row = _row(status, words) if place == ON_HOST else _row_inside(status)
    if row in ("no_python", "old_python"):  # what start-up files print beside it says nothing of that
        words = " / ".join(line for line in words.split(" / ") if "python" in line.lower())
    return fault(row, place=place, it_said=words, status=status)


def _row_inside(status: int | None) -> str:
    """Return the row of the table for an end in a container, pod or job, where no login shell has a say."""
    row = _row(status, "-")
    return "ended_early_inside" if row in ("forced_command", "ended_early") else row


def _row(status: int | None, words: str) -> str:
    """Return the row of the table for an end on the host itself."""
    if status is None:
        return "cut_early"
    if status in (wire.EXIT_OLD_PYTHON, wire.EXIT_BAD_SOURCE):
        return "old_python" if status == wire.EXIT_OLD_PYTHON else "bad_source"
    if status != 0 and _RESTRICTED.search(words):
        return "restricted"
    if status in (126, _NOT_FOUND):
        return "no_python"
    if status == 1 and (not words or _NO_LOGIN.search(words)):
        return "no_login_shell"
    return "forced_command" if status == 0 or _SFTP_ONLY.search(words) else "ended_early"


def said(noise: bytes | bytearray, errors: bytes) -> str:
    """Return what was printed, as one clean line; "" for nothing."""
    return _one_line(errors) or _one_line(bytes(noise))


def _one_line(data: bytes) -> str:
    """Return the end of what was printed as one clean line."""
    lines = [clean(line).strip() for line in data.decode("utf-8", "replace").replace("\r", "\n").split("\n")]
    line = " / ".join(line for line in lines if line)
    return line if len(line) <= _SHOWN else "…" + line[-_SHOWN:]
