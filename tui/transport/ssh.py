"""SSH: ``ssh_opener`` gives an Opener for a host, with the user's own SSH configuration.

The configuration is read by the system's ``ssh -G`` where there is one. The way in is chosen at each
connection: the command that was named (--ssh-cmd), else the connection that the user's own ssh holds open,
else asyncssh, else, for what asyncssh cannot do, the system's ssh. asyncssh is imported when the first
connection is made, in a thread, since that takes several tenths of a second.
"""

import asyncio
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tui.transport.faults import fault
from tui.transport.pipe import LinkFault, Opener, Pipe
from tui.transport.remote_shell import command_line
from tui.transport.ssh_config import Resolved, resolve
from tui.transport.ssh_limits import Limits
from tui.transport.ssh_master import master_answers
from tui.transport.ssh_program import Program, named_program, open_program, shared_connection, system_ssh
from tui.transport.ssh_target import Target, parse_target

if TYPE_CHECKING:
    from tui.transport.ssh_connection import OpenPipe


def _unheard(sentence: str) -> None:
    """Take a notice that nobody asked for."""


@dataclass(frozen=True, slots=True)
class SshOptions:
    """What the user may say beside the host.

    ``config_file`` replaces ~/.ssh/config and the system's file (``ssh -F``; on the command line
    --ssh-config FILE or TMINUS_SSH_CONFIG). ``accept_new`` adds unknown host keys as StrictHostKeyChecking
    accept-new does; a configuration that says no or accept-new itself is honoured without it. ``notice`` is
    given one sentence for what happened without a question: a key added, a changed one let pass, another way
    in than asyncssh. ``ssh_cmd`` is the beginning of a command that goes to the host (--ssh-cmd).
    """

    config_file: str | None = None
    accept_new: bool = False
    limits: Limits = field(default_factory=Limits)
    notice: Callable[[str], None] = _unheard
    ssh_cmd: tuple[str, ...] | None = None


def ssh_opener(host: str, *, options: SshOptions | None = None) -> Opener:
    """Return an Opener for whatever ``ssh`` takes as a host. Raises LinkFault (usage) for what cannot be one.

    Each call makes one connection with one channel, which the pipe's close() ends. Until the first one has
    been made no fault is to be retried: a host that refuses at first is more often misnamed than away.
    """
    return _SshOpener(parse_target(host), options or SshOptions())


# By the fault of the library: those of ssh that come later on the way in.
_FURTHER = {"refused": ("host_key", "auth"), "lost": ("host_key", "auth")}


class _SshOpener:
    """Connects on each call, and remembers whether that ever worked, and which way was the last."""

    def __init__(self, target: Target, options: SshOptions) -> None:
        self._target = target
        self._options = options
        self._reached = False
        self._shared = False
        self._program_alone = False

    async def __call__(self, arguments: list[str]) -> Pipe:
        try:
            pipe = await self._open(arguments)
        except LinkFault as seen:
            if seen.retry and not self._reached:
                raise LinkFault(seen.fault, seen.sentence, retry=False) from None
            raise
        self._reached = True
        return pipe

    async def _open(self, arguments: list[str]) -> Pipe:
        options = self._options
        if options.ssh_cmd is not None:
            way = named_program(options.ssh_cmd, self._target, options.config_file, options.limits)
            return await open_program(way, arguments)
        library = asyncio.ensure_future(asyncio.to_thread(_library))
        library.add_done_callback(_look_at)
        try:
            resolved = await _resolved(self._target, options)
            return await self._choose(resolved, arguments, library)
        finally:
            library.cancel()

    async def _choose(
        self, resolved: Resolved, arguments: list[str], library: "asyncio.Future[OpenPipe]"
    ) -> Pipe:
        pipe = await self._over_shared(resolved, arguments)
        if pipe is not None:
            return pipe
        if self._program_alone:
            return await open_program(system_ssh(resolved, self._options.limits), arguments)
        try:
            open_pipe = await library
            command = command_line(arguments)
            return await open_pipe(resolved, command, self._options.limits, self._options.notice)
        except LinkFault as first:
            if not first.for_program or shutil.which("ssh") is None:
                raise
            return await self._take_over(system_ssh(resolved, self._options.limits), arguments, first)

    async def _over_shared(self, resolved: Resolved, arguments: list[str]) -> Pipe | None:
        """Go over the connection that the user's ssh holds open; None where there is none that works."""
        pipe: Pipe | None = None
        if await master_answers(resolved):
            try:
                pipe = await open_program(shared_connection(resolved, self._options.limits), arguments)
            except LinkFault:
                pipe = None  # it answers but leads nowhere: the usual way says what is wrong
        self._tell_shared(resolved, pipe is not None)
        return pipe

    def _tell_shared(self, resolved: Resolved, shared: bool) -> None:
        """Say that the way changed to the shared connection, or away from it."""
        where, path, before = resolved.where, resolved.control_path, self._shared
        self._shared = shared
        if shared and not before:
            self._options.notice(f"{where} is reached over the connection that your ssh holds ({path})")
        elif before and not shared:
            self._options.notice(f"the connection that your ssh held to {where} is not used any more")

    async def _take_over(self, way: Program, arguments: list[str], first: LinkFault) -> Pipe:
        """Let the system's ssh try once; its answer counts if it got further than ``first``."""
        try:
            pipe = await open_program(way, arguments)
        except LinkFault as seen:
            if seen.fault in _FURTHER.get(first.fault, ()):
                raise
            raise first from None
        self._program_alone = True
        self._options.notice(f"{way.where} is reached by {way.shown}, which can do what is not built in here")
        return pipe


def _look_at(library: "asyncio.Future[OpenPipe]") -> None:
    """Take note of how the import ended, also where another way was taken meanwhile."""
    if not library.cancelled():
        library.exception()


async def _resolved(target: Target, options: SshOptions) -> Resolved:
    resolved = await resolve(target, options.config_file)
    if options.accept_new and resolved.strict == "ask":
        return replace(resolved, strict="accept-new")
    return resolved


def _library() -> "OpenPipe":
    """Import what needs asyncssh."""
    try:
        from tui.transport.ssh_connection import open_pipe
    except ImportError as error:
        raise fault("library", why=error) from None
    return open_pipe
