"""A program as the way to a host: the system's ssh, or any command that was named, in a process of its own.

It gets no terminal. What is started on the host first says a word of ours, by which a login that works is
told from one that goes on or fails; ssh's own error text says why it failed.
"""

import asyncio
import secrets
import shlex
from dataclasses import dataclass, replace
from pathlib import Path

from tui.transport.faults import fault
from tui.transport.local import LocalPipe, open_child
from tui.transport.pipe import LinkFault
from tui.transport.remote_shell import command_line
from tui.transport.ssh.limits import Limits
from tui.transport.ssh.resolved import Resolved
from tui.transport.ssh.target import Target
from tui.transport.ssh.words import hear

# Said before all others: ssh goes by the first value it meets. No terminal is asked on, nothing is forwarded
# (with X11 sshd would write to the host's disk), and no connection of ours becomes one that others share.
_FIRST = (
    "-a", "-x", "-o", "BatchMode=yes", "-o", "RemoteCommand=none", "-o", "RequestTTY=no",
    "-o", "ClearAllForwardings=yes", "-o", "PermitLocalCommand=no", "-o", "ControlMaster=no",
    "-o", "LogLevel=INFO",
)  # fmt: skip
# Splits in two what is to come out as one, so that a shell that shows its commands is not taken for it.
_BEGIN = 'printf %s%s {} {}; exec "$@"'
_READ_BYTES = 64 * 1024
_NOISE_BYTES = 1024 * 1024
_END_S = 2.0
_SSH_FAILED = 255  # ssh(1), EXIT STATUS

_ROWS = {
    "usage": "program_usage", "dns": "program_dns", "host_key_changed": "program_host_key_changed",
    "host_key": "program_host_key", "unreachable": "program_unreachable", "auth": "program_auth",
    "agreement": "program_agreement", "timeout": "program_timeout", "refused": "program_refused",
    "not_ssh": "program_not_ssh", "session": "program_no_session",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Program:
    """A command that takes a command line for a host as its last argument.

    ``shown`` is it as a person would type it. It has ``start_s`` until the host runs something; then, with
    ``silent_s``, a host that says nothing for so long is lost: not every program notices a dead link.
    """

    argv: tuple[str, ...]
    shown: str
    where: str
    start_s: float
    silent_s: float | None


def named_program(
    prefix: tuple[str, ...],
    target: Target,
    config_file: str | None,
    limits: Limits,
    neutral: tuple[str, ...] = (),
) -> Program:
    """Return the way by the command that the user named, which may be more than ssh.

    ``neutral`` are options for an ssh, see Resolved.
    """
    if is_ssh(prefix[0]):
        return _ssh(prefix, target, config_file, target.host, limits, neutral)
    user = f"{target.user}@" if target.user is not None else ""
    port = ["-p", str(target.port)] if target.port is not None else []
    argv = (*prefix, *port, f"{user}{target.host}")
    return Program(argv, shlex.join(argv), target.host, limits.connect_s + limits.login_s, _silent_s(limits))


def system_ssh(resolved: Resolved, limits: Limits) -> Program:
    """Return the way by the system's ssh, with the user's own configuration."""
    way = _ssh(("ssh",), resolved.target, resolved.config_file, resolved.where, limits, resolved.neutral)
    return replace(way, start_s=(resolved.connect_timeout_s or limits.connect_s) + limits.login_s)


def shared_connection(resolved: Resolved, limits: Limits) -> Program:
    """Return the way over the connection that the user's ssh holds open: keepalives are that one's affair."""
    return replace(system_ssh(resolved, limits), start_s=limits.connect_s, silent_s=_silent_s(limits))


def is_ssh(program: str) -> bool:
    """Say whether a program is ssh by its name."""
    return Path(program).name.lower() in ("ssh", "ssh.exe")


def _ssh(
    prefix: tuple[str, ...],
    target: Target,
    config_file: str | None,
    where: str,
    limits: Limits,
    neutral: tuple[str, ...],
) -> Program:
    program, *options = prefix
    file = ["-F", config_file] if config_file is not None else []
    alive = ["-o", f"ServerAliveInterval={max(1, round(limits.keepalive_s))}"]
    alive += ["-o", f"ServerAliveCountMax={limits.keepalive_count}"]
    host = target.ssh_arguments()
    return Program(
        argv=(program, *_FIRST, *neutral, *file, *options, *alive, "-T", *host),
        shown=shlex.join([program, *file, *options, *host]),
        where=where,
        start_s=limits.connect_s + limits.login_s,
        silent_s=None,
    )


def _silent_s(limits: Limits) -> float:
    return limits.keepalive_s * (limits.keepalive_count + 1)


async def open_program(program: Program, arguments: list[str]) -> "ProgramPipe":
    """Start ``arguments`` on the host. Raises LinkFault."""
    halves = secrets.token_hex(8), secrets.token_hex(8)
    line = command_line(["/bin/sh", "-c", _BEGIN.format(*halves), "sh", *arguments])
    try:
        child = await open_child([*program.argv, line], whole_group=True)
    except OSError as error:
        raise fault("program_missing", command=program.argv[0], why=error.strerror or error) from None
    pipe = ProgramPipe(child, program)
    try:
        async with asyncio.timeout(program.start_s):
            await pipe.begin("".join(halves).encode("ascii"))
    except TimeoutError:
        await pipe.close()
        raise _told("program_slow", program, child.errors(), f"{program.start_s:g}") from None
    except BaseException:
        await pipe.close()
        raise
    return pipe


class ProgramPipe:
    """The standard streams of one process on the host, as the program passes them on."""

    def __init__(self, child: LocalPipe, program: Program) -> None:
        self._child = child
        self._program = program
        self._unread = bytearray()
        self._closed = False

    @property
    def pid(self) -> int:
        """The pid of the program."""
        return self._child.pid

    async def begin(self, mark: bytes) -> None:
        """Read until the host says ``mark``, and keep what else it said. Raises LinkFault: no login.

        What ends in another way is left for the reader to find, as is a host that prints without end.
        """
        while len(self._unread) < _NOISE_BYTES:
            data = await self._child.read(_READ_BYTES)
            if not data:
                await self._raise_if_refused()
                return
            before = max(0, len(self._unread) - len(mark))
            self._unread += data
            place = self._unread.find(mark, before)
            if place >= 0:
                del self._unread[place : place + len(mark)]
                return

    async def read(self, size: int) -> bytes:
        """Return up to ``size`` bytes, ``b""`` when the process ended. Raises LinkFault: the link broke."""
        if self._unread:
            data = bytes(self._unread[:size])
            del self._unread[:size]
            return data
        data = await self._next(size)
        if not data and not self._closed and _broke(await self._child.ended(_END_S)):
            raise _told("program_lost", self._program, self.errors())
        return data

    def write(self, data: bytes) -> None:
        """Queue bytes for the process's input; void once the program has ended."""
        self._child.write(data)

    async def drain(self) -> None:
        """Wait until the queue of unwritten input is short. Raises LinkFault when the program is gone."""
        try:
            await self._child.drain()
        except LinkFault:
            raise _told("program_lost", self._program, self.errors()) from None

    def errors(self) -> bytes:
        """Return the last 64 KiB that the process and the program wrote to the error stream."""
        return self._child.errors()

    async def beside(self, arguments: list[str]) -> "ProgramPipe":
        """Start another command on the host in the same way. Raises LinkFault."""
        return await open_program(self._program, arguments)

    async def close(self) -> int | None:
        """Close the input, give both ends a moment, then kill the program; its host ends by itself."""
        self._closed = True
        self._unread.clear()
        return await self._child.close()

    async def _next(self, size: int) -> bytes:
        silent_s = self._program.silent_s
        try:
            async with asyncio.timeout(silent_s):
                return await self._child.read(size)
        except TimeoutError:
            raise _told("program_silent", self._program, b"", f"{silent_s:g}") from None

    async def _raise_if_refused(self) -> None:
        if not _broke(await self._child.ended(_END_S)):
            return
        await self._child.close()  # with its last words
        heard = hear(self.errors())
        row = _ROWS.get(heard.kind or "", "program_failed") if heard is not None else "program_failed"
        raise _told(row, self._program, self.errors())


def _broke(status: int | None) -> bool:
    """Tell ssh's own failure, or the program's violent end, from the status of what ran on the host."""
    return status is not None and (status == _SSH_FAILED or status < 0)


def _told(row: str, program: Program, errors: bytes, seconds: str = "") -> LinkFault:
    heard = hear(errors)
    why = "" if heard is None else heard.line
    said = f"said {why!r}" if why else "said nothing"
    return fault(row, where=program.where, command=program.shown, why=why, said=said, seconds=seconds)
