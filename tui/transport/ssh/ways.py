"""Which way to a host but the library: the connection that the user's ssh holds open, or the system's ssh."""

import shutil
from collections.abc import Callable

from tui.transport.faults import sentence_of
from tui.transport.pipe import BesidePipe, LinkFault
from tui.transport.ssh.limits import Limits
from tui.transport.ssh.master import master_answers
from tui.transport.ssh.program import open_program, shared_connection, system_ssh
from tui.transport.ssh.resolved import Resolved

# By the fault of the library: those of ssh that come later on the way in.
_FURTHER = {"refused": ("host_key", "auth"), "lost": ("host_key", "auth")}


class Ways:
    """Chooses anew at each connection, and tells ``notice`` when the way is another than before."""

    def __init__(self, limits: Limits, notice: Callable[[str], None]) -> None:
        self._limits = limits
        self._notice = notice
        self._shared = False
        self._ssh_alone = False

    async def before_library(self, resolved: Resolved, arguments: list[str]) -> BesidePipe | None:
        """Take the shared connection where it answers, or ssh where the library is of no use.

        It was of none before, or the configuration asks for what only ssh keeps. None: it is the library's
        turn. Raises LinkFault.
        """
        pipe = await self._over_shared(resolved, arguments)
        self._tell_shared(resolved, shared=pipe is not None)
        if pipe is None and (self._ssh_alone or resolved.left_to_ssh.always):
            way = system_ssh(resolved, self._limits)
            pipe = await open_program(way, arguments)
            self._tell_of_settings(resolved, way.shown)
        return pipe

    def _tell_of_settings(self, resolved: Resolved, shown: str) -> None:
        if resolved.left_to_ssh.always and not self._ssh_alone:
            names = ", ".join(resolved.left_to_ssh.always)
            self._notice(sentence_of("ssh_keeps_more", where=resolved.where, command=shown, names=names))
        self._ssh_alone = True

    async def after_library(self, resolved: Resolved, arguments: list[str], first: LinkFault) -> BesidePipe:
        """Let the system's ssh try once where it can do more. Raises ``first`` unless ssh got further."""
        if not first.for_program or shutil.which("ssh") is None:
            raise first
        way = system_ssh(resolved, self._limits)
        try:
            pipe = await open_program(way, arguments)
        except LinkFault as seen:
            if seen.fault in _FURTHER.get(first.fault, ()):
                raise
            raise first from None
        self._ssh_alone = True
        why = first.for_program
        self._notice(sentence_of("ssh_gets_further", where=way.where, command=way.shown, why=why))
        return pipe

    async def _over_shared(self, resolved: Resolved, arguments: list[str]) -> BesidePipe | None:
        if not await master_answers(resolved):
            return None
        try:
            return await open_program(shared_connection(resolved, self._limits), arguments)
        except LinkFault:
            return None  # it answers but leads nowhere: the usual way says what is wrong

    def _tell_shared(self, resolved: Resolved, *, shared: bool) -> None:
        where, before = resolved.where, self._shared
        self._shared = shared
        if shared and not before:
            self._notice(sentence_of("master_used", where=where, file=resolved.control_path))
        elif before and not shared:
            self._notice(sentence_of("master_gone", where=where))
