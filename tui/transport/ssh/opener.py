"""SSH: ``ssh_opener`` gives an Opener for a host, with the user's own SSH configuration.

The configuration is read by the system's ``ssh -G`` where there is one. The way in is chosen at each
connection: the command that was named (--ssh-cmd), else the connection that the user's own ssh holds open,
else asyncssh, else, for what asyncssh cannot do, the system's ssh. asyncssh is imported when the first
connection is made, in a thread, since that takes several tenths of a second.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tui.transport.asking import Answers, Asker, AskerUntilLogin
from tui.transport.faults import fault, sentence_of
from tui.transport.pipe import BesidePipe, LinkFault, Pipe
from tui.transport.remote_shell import command_line
from tui.transport.ssh.config import neutral_options, resolve
from tui.transport.ssh.expect import expects_question
from tui.transport.ssh.limits import Limits, Manners
from tui.transport.ssh.master import master_answers
from tui.transport.ssh.program import Program, is_ssh, named_program, open_program
from tui.transport.ssh.resolved import Resolved
from tui.transport.ssh.target import Target, parse_target
from tui.transport.ssh.ways import Ways

if TYPE_CHECKING:
    from tui.transport.ssh.connection import OpenPipe


def _unheard(sentence: str) -> None:
    """Take a notice that nobody asked for."""


@dataclass(frozen=True, slots=True)
class SshOptions:
    """What the user may say beside the host.

    ``config_file`` replaces ~/.ssh/config and the system's file (``ssh -F``; on the command line
    --ssh-config FILE or TMINUS_SSH_CONFIG). ``accept_new`` adds unknown host keys as StrictHostKeyChecking
    accept-new does; a configuration that says no or accept-new itself is honoured without it. ``notice`` is
    given one sentence for what happened without a question: a key added, a changed one let pass, another way
    in than asyncssh. ``ssh_cmd`` is the beginning of a command that goes to the host (--ssh-cmd). ``asker``
    is who answers ssh's questions, once the host has been reached only where it is there ``later``; None:
    nothing is asked. ``answers`` are what a person has answered, for all hosts that get the same.
    ``patient``: a host may be away at first, so that its faults are to be retried from the beginning.
    """

    config_file: str | None = None
    accept_new: bool = False
    limits: Limits = field(default_factory=Limits)
    notice: Callable[[str], None] = _unheard
    ssh_cmd: tuple[str, ...] | None = None
    asker: Asker | None = None
    patient: bool = False
    answers: Answers = field(default_factory=Answers)


def ssh_opener(host: str, *, options: SshOptions | None = None) -> "SshOpener":
    """Return an Opener for whatever ``ssh`` takes as a host. Raises LinkFault (usage) for what cannot be one.

    Each call makes one connection with one channel, which the pipe's close() ends. Until the first one has
    been made no fault is to be retried, unless the options are patient: a host that refuses at first is more
    often misnamed than away.
    """
    return SshOpener(parse_target(host), options or SshOptions())


class SshOpener:
    """Connects on each call, and remembers whether that ever worked and what a person answered."""

    def __init__(self, target: Target, options: SshOptions) -> None:
        self._target = target
        self._options = options
        self._ways = Ways(options.limits, options.notice)
        self._resolved: Resolved | None = None
        self._reached = False
        self._newest: BesidePipe | None = None
        self._neutral: tuple[str, ...] | None = None

    async def expects_question(self) -> bool:
        """Say whether the first connection will probably ask something. Raises LinkFault (usage)."""
        if self._options.asker is None or self._options.ssh_cmd is not None:
            return False
        resolved = self._resolved = await _resolved(self._target, self._options)
        if resolved.left_to_ssh.always:
            return False  # the program asks nothing
        return not await master_answers(resolved) and await expects_question(resolved)

    async def __call__(self, arguments: list[str]) -> BesidePipe:
        try:
            pipe = await self._open(arguments)
        except LinkFault as seen:
            if seen.retry and not self._reached and not self._options.patient:
                raise LinkFault(seen.fault, seen.sentence, retry=False) from None
            raise
        self._reached = True
        self._newest = pipe
        if isinstance(self._options.asker, AskerUntilLogin):
            self._options.asker.logged_in()
        return pipe

    async def beside(self, arguments: list[str]) -> Pipe:
        """Start another command on the host, over the newest connection where it takes one more.

        It ends with that connection at the latest. Raises LinkFault (lost) where there is none any more.
        """
        if self._newest is None:
            raise fault("lost", where=self._target.host, why="not connected")
        return await self._newest.beside(arguments)

    async def _open(self, arguments: list[str]) -> BesidePipe:
        options = self._options
        if options.ssh_cmd is not None:
            self._tell_of_unread_file(options)
            return await open_program(await self._named(options.ssh_cmd), arguments)
        library = asyncio.ensure_future(asyncio.to_thread(_library))
        library.add_done_callback(_look_at)
        try:
            return await self._choose(await self._resolve(), arguments, library)
        finally:
            library.cancel()

    async def _named(self, command: tuple[str, ...]) -> Program:
        if self._neutral is None:
            self._neutral = await neutral_options(command[0], self._target) if is_ssh(command[0]) else ()
        options = self._options
        return named_program(command, self._target, options.config_file, options.limits, self._neutral)

    def _tell_of_unread_file(self, options: SshOptions) -> None:
        if options.ssh_cmd and options.config_file and not is_ssh(options.ssh_cmd[0]) and not self._reached:
            program, file = options.ssh_cmd[0], options.config_file
            options.notice(sentence_of("config_not_used", program=program, file=file))

    async def _choose(
        self, resolved: Resolved, arguments: list[str], library: "asyncio.Future[OpenPipe]"
    ) -> BesidePipe:
        pipe = await self._ways.before_library(resolved, arguments)
        if pipe is not None:
            return pipe
        try:
            open_pipe = await library
            return await open_pipe(resolved, command_line(arguments), self._manners())
        except LinkFault as first:
            return await self._ways.after_library(resolved, arguments, first)

    def _manners(self) -> Manners:
        options = self._options
        asker = options.asker
        if self._reached and asker is not None and not asker.later:
            asker = None
        return Manners(options.limits, options.notice, asker, options.answers)

    async def _resolve(self) -> Resolved:
        found, self._resolved = self._resolved, None
        return found or await _resolved(self._target, self._options)


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
        from tui.transport.ssh.connection import open_pipe
    except ImportError as error:
        raise fault("library", why=error) from None
    return open_pipe
