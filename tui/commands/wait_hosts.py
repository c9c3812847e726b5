"""``tminus wait`` for several hosts: each is waited for to its own end, and the worst decides.

The nodes of one load over several hosts are ready with its first node, and failed with any of them.
"""

import asyncio
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from tui.commands import records, start
from tui.commands.hosts import WatchedHost, hosts_of, let_all_go
from tui.commands.records import AnyRecord, Outcome
from tui.commands.report import timed
from tui.commands.turns import Turns
from tui.commands.wait import Ending, Printer, cut_short, decide, tell_end
from tui.commands.wait_nodes import ATTENDS, Joint
from tui.replay.ending import EXIT_CODES
from tui.settings import Choices, UsageFault
from tui.terminal import exit_signals
from tui.watch.state import WatchState
from tui.watch.verdict.verdict import Verdict

WORST: tuple[Outcome, ...] = ("failed", "lost", "timeout", "ready")
"""What the exit code goes by, the worst first: a server that died is surer than a host that was not heard."""
LOOK_S = 1.0


class Lines:
    """Writes lines to standard output; while a question is open they wait."""

    def __init__(self, turns: Turns | None) -> None:
        self._turns = turns
        self._waiting: list[str] = []

    def write(self, lines: Iterable[str]) -> None:
        """Print lines when nobody is being asked."""
        self._waiting += lines
        if self._waiting and (self._turns is None or not self._turns.open):
            sys.stdout.write("".join(f"{line}\n" for line in self._waiting))
            sys.stdout.flush()
            self._waiting.clear()


class HostPrinter(Printer):
    """Prints what changes of one host, under its name, until its wait has ended."""

    def __init__(self, host: WatchedHost, turns: Turns | None, *, json: bool, began_s: float) -> None:
        super().__init__(json=json, began_s=began_s, host=host.name)
        self._lines = Lines(turns)
        self.closed = False

    def line(self, record: AnyRecord) -> str:
        """Return a record with the host that it is of."""
        return records.of_target(super().line(record), self._host)

    def told(self, t: float, text: str) -> str:
        """Return a line that names its host."""
        return timed(t, f"{self._host}: {text}")

    def say(self, sentence: str) -> None:
        """Tell something of this host beside the output."""
        start.say(f"{self._host}: {sentence}")

    def write(self, lines: Iterable[str]) -> None:
        """Print lines when nobody is being asked."""
        if not self.closed:
            self._lines.write(lines)


class HostWait:
    """The wait for one host."""

    def __init__(
        self,
        host: WatchedHost,
        turns: Turns | None,
        began_s: float,
        told: Callable[[], Verdict | None] = lambda: None,
    ) -> None:
        self.host = host
        self._told = told
        self.ended: Ending | None = None
        self._printer = HostPrinter(host, turns, json=host.choices.json, began_s=began_s)

    @property
    def attends(self) -> bool:
        """Whether its server is a node that answers nobody: another one of the load does."""
        return attends(self.host.session.state)

    async def run(self) -> None:
        """Follow the host until its state says how the wait ends. Raises UsageFault: it ends all of them."""
        host = self.host
        try:
            found = await decide(host.updates, host.session.state, self._printer, host.choices, self._told)
        except UsageFault as fault:
            raise UsageFault(f"{host.name}: {fault}") from None
        # Another node of its load may have decided it.
        if self.ended is None:
            self.end(found)

    def end(self, found: Ending) -> None:
        """Tell how it ended."""
        self.ended = found
        tell_end(self.host.session.state, found, self._printer, self.host.choices)
        self._printer.closed = True

    def cut_short(self, code: int | None) -> None:
        """End what was not decided, by the clock or a signal."""
        if self.ended is None:
            self.end(cut_short(self.host.session.state, code, self.host.choices))


def attends(state: WatchState) -> bool:
    """Return whether what is followed is a node of a load on several hosts that is never asked itself."""
    return state.options.url is None and state.shown is not None and not state.shown.arguments.serves_api


async def wait_hosts(choices: Choices, turns: Turns | None, began_s: float) -> int:
    """Print the watches until each is decided, the time is up or a signal comes; return the exit code."""
    hosts = hosts_of(choices, turns)
    joint = Joint(hosts, Lines(turns).write, began_s)
    waits = [HostWait(host, turns, began_s, partial(joint.verdict, at)) for at, host in enumerate(hosts)]
    stop: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    watching = [asyncio.create_task(each.run()) for each in waits]
    try:
        with exit_signals(lambda code: stop.done() or stop.set_result(code)):
            await until_decided(waits, watching, stop, began_s + choices.timeout, joint)
        code = stop.result() if stop.done() else None
        for each in waits:
            each.cut_short(code)
        return exit_code(waits) if code is None else code
    finally:
        await let_all_go(watching, hosts)


async def until_decided(
    waits: Sequence[HostWait],
    watching: "Sequence[asyncio.Task[None]]",
    stop: "asyncio.Future[int]",
    until_s: float,
    joint: Joint | None = None,
) -> None:
    """Wait until each is decided, the time is up, or ``stop`` is set.

    The nodes of a load decide for each other. Once a host is ready, nodes that are never asked themselves and
    whose first node is not watched are taken for parts of its load.
    """
    while not stop.done():
        if joint is not None:
            joint.settle(waits)
        open_ones = [(at, each) for at, each in enumerate(waits) if each.ended is None]
        left_s = until_s - time.monotonic()
        if not open_ones or left_s <= 0:
            return
        strays = [each for at, each in open_ones if joint is None or not joint.answered_for(at)]
        if len(strays) == len(open_ones) and _taken_along(strays, waits):
            return
        pending = {task for task in watching if not task.done()}
        await asyncio.wait({*pending, stop}, timeout=min(left_s, LOOK_S), return_when=asyncio.FIRST_COMPLETED)
        for task in watching:
            if task.done():
                task.result()


def _taken_along(strays: Sequence[HostWait], waits: Sequence[HostWait]) -> bool:
    """End the waits for nodes that answer nobody, where nothing else is left and one host is ready."""
    ready = any(each.ended is not None and each.ended.outcome == "ready" for each in waits)
    if not ready or not all(each.attends for each in strays):
        return False
    for each in strays:
        each.end(Ending("ready", None, ATTENDS))
    return True


def exit_code(waits: Sequence[HostWait]) -> int:
    """Return the exit code of the worst end."""
    outcomes = {each.ended.outcome for each in waits if each.ended is not None}
    return next(EXIT_CODES[each] for each in WORST if each in outcomes)
