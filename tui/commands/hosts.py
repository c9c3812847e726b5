"""Several hosts watched at once: a session for each, none of which waits for another."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence

from tui.bench.workload import Workload
from tui.commands import start
from tui.commands.open_asked import asked_first
from tui.commands.turns import HostAsker, Turns
from tui.events import AnyEvent
from tui.session import Session
from tui.settings import Choices, UsageFault, for_each_host
from tui.transport.asking import Answers, Asker
from tui.transport.pipe import LinkFault

Asking = Callable[[str, Asker], Asker]


class WatchedHost:
    """One of several hosts: the choices for it alone, and its session.

    ``name`` is what the person called it. ``asker`` answers ssh's questions, ``terminal`` those at the
    terminal itself. ``opened`` is set when no question is expected any more.
    """

    def __init__(
        self,
        choices: Choices,
        terminal: HostAsker | None,
        asker: Asker | None,
        workloads: Sequence[Workload],
        *,
        recorded: bool,
        patient: bool = False,
        answers: Answers | None = None,
    ) -> None:
        self.choices = choices
        self.name = choices.host or start.LOCAL
        self.place = start.place_of(choices) or self.name
        self.opened = asyncio.Event()
        self._why: LinkFault | None = None
        self._terminal, self._asker = terminal, asker
        options = start.options_for(choices)
        self._source = start.source_for(choices, options, asker, patient=patient, answers=answers)
        self.session: Session = start.session_over(
            choices, options, self._source, recorded=recorded, workloads=workloads
        )

    @property
    def unreached(self) -> bool:
        """Whether the host has been tried and has never answered; it may be tried again."""
        return self._why is not None and self.session.state.hello is None

    async def updates(self, *, connect: bool = False) -> AsyncGenerator[AnyEvent]:
        """Put the questions that are to be expected (``connect``: always connect first), then iterate."""
        try:
            await asked_first(self._source, self._asker, always=connect)
        finally:
            self.opened.set()
            self._over()
        async for event in self.session.updates():
            link = self.session.state.link
            if link.state in ("failed", "lost"):
                self._why = LinkFault(link.fault or "lost", link.sentence, retry=link.state == "lost")
            if link.state not in ("none", "connecting"):
                self._over()
            yield event

    def why_unreached(self) -> str:
        """Return why the host was not reached, in a sentence that names it."""
        why = self.fault.sentence or "the host did not answer"
        return f"{self.name}: {why}{start.host_hint(self.choices, self.fault.fault)}"

    @property
    def fault(self) -> LinkFault:
        """How the last try ended; where none has ended, what is known of it."""
        link = self.session.state.link
        return self._why or LinkFault(link.fault or "timeout", link.sentence, retry=False)

    def _over(self) -> None:
        if self._terminal is not None and not self._terminal.finished:
            self._terminal.finish()


def check_hosts(choices: Choices) -> None:
    """Raise UsageFault for what cannot be asked of several hosts, or of one of them."""
    if choices.pid is not None and choices.others:
        count = len(choices.others) + 1
        raise UsageFault(f"--pid {choices.pid} is a process of one host: name one HOST, not {count}")
    for each in for_each_host(choices):
        start.options_for(each)


def hosts_of(
    choices: Choices,
    turns: Turns | None,
    *,
    recorded: bool = True,
    asking: Asking | None = None,
    patient: bool = False,
) -> list[WatchedHost]:
    """Return the hosts that were named, none connected yet. Raises UsageFault.

    ``patient``: one that is away at first is tried again, as after a lost link.
    ``asking`` makes of a host's name and of who asks about it at the terminal who asks about it.
    """
    check_hosts(choices)
    workloads = start.workloads_for(choices)
    hosts: list[WatchedHost] = []
    answers = Answers()
    for each in for_each_host(choices):
        name = each.host or start.LOCAL
        terminal = None if turns is None else turns.asker_of(name)
        asker = terminal if terminal is None or asking is None else asking(name, terminal)
        host = WatchedHost(
            each, terminal, asker, workloads, recorded=recorded, patient=patient, answers=answers
        )
        hosts.append(host)
    if turns is not None:
        turns.connected = lambda: [host.name for host in hosts if host.session.state.hello is not None]
    return hosts


async def let_all_go(watching: "Sequence[asyncio.Task[object]]", hosts: Sequence[WatchedHost]) -> None:
    """End all watches and their sources, side by side, within a few seconds whatever hangs."""
    pairs = zip(watching, hosts, strict=True)
    await asyncio.gather(*(start.let_go(task, host.session) for task, host in pairs))


def none_left(hosts: Sequence[WatchedHost]) -> bool:
    """Return whether every host has been tried and none has ever answered."""
    return all(host.unreached for host in hosts)
