"""SSH: ``ssh_opener`` gives an Opener for a host, over asyncssh, with the user's own SSH configuration.

The configuration is read by the system's ``ssh -G`` where there is one. asyncssh is imported when the first
connection is made, in a thread, since that takes several tenths of a second.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tui.transport.asking import Answers, Asker
from tui.transport.faults import fault
from tui.transport.pipe import LinkFault, Pipe
from tui.transport.remote_shell import command_line
from tui.transport.ssh_config import Resolved, resolve
from tui.transport.ssh_expect import expects_question
from tui.transport.ssh_limits import Limits, Manners
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
    given one sentence for what happened without a question: a key added, a changed one let pass. ``asker``
    is who answers ssh's questions, until the host has been reached; None: nothing is asked.
    """

    config_file: str | None = None
    accept_new: bool = False
    limits: Limits = field(default_factory=Limits)
    notice: Callable[[str], None] = _unheard
    asker: Asker | None = None


def ssh_opener(host: str, *, options: SshOptions | None = None) -> "SshOpener":
    """Return an Opener for whatever ``ssh`` takes as a host. Raises LinkFault (usage) for what cannot be one.

    Each call makes one connection with one channel, which the pipe's close() ends. Until the first one has
    been made no fault is to be retried: a host that refuses at first is more often misnamed than away.
    """
    return SshOpener(parse_target(host), options or SshOptions())


class SshOpener:
    """Connects on each call, and remembers whether that ever worked and what a person answered."""

    def __init__(self, target: Target, options: SshOptions) -> None:
        self._target = target
        self._options = options
        self._answers = Answers()
        self._resolved: Resolved | None = None
        self._reached = False

    async def expects_question(self) -> bool:
        """Say whether the first connection will probably ask something. Raises LinkFault (usage)."""
        if self._options.asker is None:
            return False
        self._resolved = await _resolved(self._target, self._options)
        return await expects_question(self._resolved)

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
        resolved, open_pipe = await asyncio.gather(self._resolve(), asyncio.to_thread(_library))
        asker = None if self._reached else options.asker
        manners = Manners(options.limits, options.notice, asker, self._answers)
        return await open_pipe(resolved, command_line(arguments), manners)

    async def _resolve(self) -> Resolved:
        found, self._resolved = self._resolved, None
        return found or await _resolved(self._target, self._options)


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
