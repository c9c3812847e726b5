"""The screen over several hosts: one shown at a time, all of them watched."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace

from tui import present
from tui.app import HostsApp, run_screen
from tui.commands import start
from tui.commands.ask import drop_typed
from tui.commands.ask_on_screen import ScreenAsker
from tui.commands.hosts import WatchedHost, hosts_of, let_all_go, none_left
from tui.commands.screen import LOST, SessionView, name_of, theme_named
from tui.commands.turns import Turns
from tui.present.hosts import host_row
from tui.present.nodes import load_row, outcome_of, over, row_over, told_line
from tui.present.verdict import told_of
from tui.settings import Choices
from tui.transport.asking import Asker
from tui.watch.nodes.load import NodesLoad, loads
from tui.watch.verdict.verdict import Verdict
from widgets.values import HostRow, ScreenValues, WhyPanel

PATIENCE_S = 3.0
"""So long after a first host was heard and a last question answered the screen waits for further ones."""
STILL_S = 1.0
"""After so long without a question or the screen it is said what is waited for."""
_LOOK_S = 0.05
COMES_BACK = " (r there asks again)"


class HostTable:
    """The rows of all hosts, worked out again when an event of one or a second has passed."""

    def __init__(self, hosts: Sequence[WatchedHost]) -> None:
        self._hosts = hosts
        self._moment: tuple[int, ...] = ()
        self._rows: list[HostRow] = []
        self._alone: list[tuple[tuple[int, int, Verdict | None, bool], HostRow] | None] = [None] * len(hosts)
        self._loads: dict[int, NodesLoad] = {}
        self._alerts = LoadAlerts(len(hosts))

    def rows(self, shown: int) -> tuple[HostRow, ...]:
        """Return the rows, the one of the shown host marked."""
        self._look()
        rows = list(self._rows)
        rows[shown] = replace(rows[shown], shown=True)
        return tuple(rows)

    def load(self, index: int) -> NodesLoad | None:
        """Return the load over several hosts that a host has a part in."""
        self._look()
        return self._loads.get(index)

    def _look(self) -> None:
        now_s = time.monotonic()
        moment = (*(host.session.changes for host in self._hosts), int(now_s))
        if moment == self._moment:
            return
        self._moment = moment
        found = loads([(host.name, host.session.state) for host in self._hosts], now_s)
        self._loads = {at: load for load in found for at in load.members}
        own = [host.session.state.alerts for host in self._hosts]
        alerts = self._alerts.take(own, found)
        joined = {at: row for load in found for row in [load_row(load)] for at in load.members}
        self._rows = [
            replace(self._row(at, now_s), alerts=alerts[at], joined=joined.get(at))
            for at in range(len(self._hosts))
        ]

    def _row(self, index: int, now_s: float) -> HostRow:
        host, known, load = self._hosts[index], self._alone[index], self._loads.get(index)
        told = None if load is None else load.told(index)
        is_ready = load is not None and load.nodes[0].is_ready
        moment = (host.session.changes, int(now_s), told, is_ready)
        if known is None or known[0] != moment:
            made = row_over(host_row(host.session.state, now_s, host.name, told), load, index)
            known = self._alone[index] = (moment, made)
        return known[1]


class LoadAlerts:
    """Counts what the bell rings for: an end or READY of a load once, not for each of its nodes."""

    def __init__(self, hosts: int) -> None:
        self._own = [0] * hosts
        self._counted = [0] * hosts
        self._rung: dict[object, str] = {}

    def take(self, own: Sequence[int], found: Sequence[NodesLoad]) -> list[int]:
        """Take how often each host had something to ring for; return how often it is to."""
        of = {at: load for load in found for at in load.members}
        for load in found:
            if load.outcome is None:
                self._rung.pop(load.key, None)
        for at, count in enumerate(own):
            if count > self._own[at] and self._is_news(of.get(at)):
                self._counted[at] += count - self._own[at]
            self._own[at] = count
        return list(self._counted)

    def _is_news(self, load: NodesLoad | None) -> bool:
        if load is None or load.outcome is None:
            return True
        before, self._rung[load.key] = self._rung.get(load.key), load.outcome
        return before != load.outcome


class HostView(SessionView):
    """One of several hosts as the screen sees it."""

    def __init__(self, host: WatchedHost, index: int, table: HostTable) -> None:
        super().__init__(host.session, name_of(host.choices))
        self._host, self._index, self._table = host, index, table

    def values(self) -> ScreenValues:
        """Return what one paint needs, as of now, under the name that the host was given."""
        values, rows = super().values(), self._table.rows(self._index)
        values = over(values, self._table.load(self._index), self._index, self._now_s())
        return replace(values, hosts=rows, alerts=rows[self._index].alerts)

    def why(self) -> WhyPanel:
        """Return all that speaks for the verdict, which other nodes of the load may have made."""
        panel, load, now_s = super().why(), self._table.load(self._index), self._now_s()
        told = None if load is None else load.told(self._index)
        if told is None or now_s is None:
            return panel
        return replace(panel, verdict=told_of(told, now_s, brief=False))

    def _now_s(self) -> float | None:
        """Return the host's own time."""
        return self._host.session.state.source_now(time.monotonic())

    def exit_lines(self) -> Sequence[str]:
        """Return what stays in the terminal; nothing of a host that was never reached: that is said apart."""
        if self._host.unreached:
            return []
        told = outcome_of(self._table.load(self._index), self._index)
        state, now_s = self._host.session.state, time.monotonic()
        lines = present.exit_summary(state, now_s, self._host.place, elsewhere=told)
        joined = self._table.rows(self._index)[self._index].joined
        if joined is None or self._index != max(joined.members):
            return lines
        return [*lines, f"{joined.name}: {told_line(replace(joined, verdict=''))}"]


class Show:
    """The hosts of one screen with what runs for them."""

    def __init__(self, choices: Choices, turns: Turns | None) -> None:
        self._turns = turns
        self._askers: list[ScreenAsker] = []
        self.hosts = hosts_of(choices, turns, asking=self._asking, patient=True)
        if turns is not None:
            turns.comes_back = COMES_BACK
        table = HostTable(self.hosts)
        self.views = [HostView(host, index, table) for index, host in enumerate(self.hosts)]
        self.app: HostsApp | None = None
        self._heard_s: float | None = None
        self.watching = [asyncio.create_task(self._follow(index)) for index in range(len(self.hosts))]
        for task in self.watching:
            task.add_done_callback(self._broken)

    def _asking(self, name: str, terminal: Asker) -> Asker:
        asker = ScreenAsker(name, terminal)
        self._askers.append(asker)
        return asker

    async def questions(self) -> None:
        """Wait until nothing more is expected to be asked, or nobody has been asked for a while."""
        begun_s, is_told = time.monotonic(), False
        while self._is_expecting():
            await asyncio.sleep(_LOOK_S)
            if not is_told and self._is_still(begun_s):
                is_told = True
                start.say(f"connecting to {', '.join(host.name for host in self._unheard())}")

    def _is_still(self, begun_s: float) -> bool:
        """Return whether nothing has been shown or asked for a while."""
        turns = self._turns
        if turns is None or turns.open or not self._unheard():
            return False
        return time.monotonic() - max(begun_s, turns.last_s) > STILL_S

    def _unheard(self) -> list[WatchedHost]:
        return [host for host in self.hosts if host.session.state.hello is None]

    def _is_expecting(self) -> bool:
        turns, heard_s = self._turns, self._heard_s
        if turns is None or turns.open:
            return turns is not None
        if all(host.opened.is_set() for host in self.hosts):
            return False
        return heard_s is None or time.monotonic() - max(turns.last_s, heard_s) <= PATIENCE_S

    def move_to(self, app: HostsApp) -> None:
        """Go on with this screen; what is asked from now on is asked in its dialogs."""
        self.app = app
        for asker in self._askers:
            asker.move_to(app.questions)

    async def _follow(self, index: int) -> None:
        """Keep the state of one host up to date; leave the screen when no host can be reached at all."""
        host, view = self.hosts[index], self.views[index]
        async for _ in host.updates():
            app = self.app
            if self._heard_s is None and host.session.state.hello is not None:
                self._heard_s = time.monotonic()
            if app is None:
                continue
            view.width = app.size.width
            if host.unreached and none_left(self.hosts) and not any(each.asked for each in self._askers):
                app.leave(LOST)
            self._login_over(index, app)

    def _login_over(self, index: int, app: HostsApp) -> None:
        link = self.hosts[index].session.state.link
        if self._askers and link.state != "connecting":
            for line in self._askers[index].login_over("" if link.state == "up" else link.sentence):
                app.main.answer(f"{self.hosts[index].name}: {line}")

    def _broken(self, task: "asyncio.Task[None]") -> None:
        """Leave the screen when a watch behind it has broken: a still picture would look like a live one."""
        if not task.cancelled() and task.exception() is not None and self.app is not None:
            self.app.leave(1)


async def show_hosts(choices: Choices, turns: Turns | None) -> int:
    """Run the screen over the hosts that were named; return the exit code."""
    named = theme_named(choices.theme)
    glyphs = None if choices.glyphs == "auto" else choices.glyphs
    show = Show(choices, turns)
    try:
        await show.questions()
        code = LOST
        if not none_left(show.hosts):
            app = HostsApp(show.views, theme=named, glyphs=glyphs, mouse=choices.mouse)
            show.move_to(app)
            drop_typed()
            code = await run_screen(app)
    finally:
        await let_all_go(show.watching, show.hosts)
    for task in show.watching:
        if task.done() and not task.cancelled():
            task.result()
    for host in show.hosts:
        if host.unreached:
            start.say(host.why_unreached())
    return code
