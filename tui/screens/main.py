"""The main screen: one watch, its panes, and the keys that act on them.

Nothing paints when data arrives. A timer at 4 Hz pulls new log lines from the view, and every second time the
values of all panes; a pane repaints the lines that changed.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar

from textual import events
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Input

from tui.screens import keys
from tui.screens.arrange import Wants
from tui.screens.dashboard import Dashboard
from tui.screens.keys import Key
from tui.screens.profiles import ProfileScreen
from tui.screens.why import WhyScreen
from tui.view import View
from widgets import bench_pane, host_rows, phase_pane, verdict_row
from widgets.bench_pane import BenchPane
from widgets.glyphs import Glyphs
from widgets.gpu_rows import GpuRows
from widgets.header_bar import HeaderBar
from widgets.host_rows import HostRows
from widgets.key_footer import KeyFooter
from widgets.ladder_pane import LadderPane
from widgets.line_widget import LineWidget
from widgets.log_tail import LogTail
from widgets.notes_pane import NotesPane
from widgets.palette import Palette
from widgets.phase_pane import PhasePane
from widgets.rank_lanes import RankLanes
from widgets.replay_bar import ReplayBar
from widgets.search_box import SearchBox
from widgets.status_bar import StatusBar
from widgets.values import ScreenValues
from widgets.verdict_row import VerdictRow

FLUSH_S = 0.25
_ANSWER_PAINTS = 8
_PANES = ("gpus", "ladder", "log", "bench", "notes", "lanes")


class MainScreen(Screen[None], inherit_bindings=False):
    """Header, GPUs, readiness, log, benchmark, notes, status line and keys."""

    # Keys that move the keyboard elsewhere have priority: over a slow link they arrive in one piece with
    # those that follow, and only a priority binding is through before the next key is handed on.
    AUTO_FOCUS = "#log"
    BLANK = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("b", "bench", "Run the benchmark, or arm it until ready", id="app.bench"),
        Binding("B", "profiles", "Choose what the benchmark runs", id="app.profiles"),
        Binding("w", "why", "Why the verdict is what it is", id="app.why", priority=True),
        Binding(
            "d",
            "diagnose",
            "Look into the quiet ranks; says first what that touches",
            id="app.diagnose",
            priority=True,
        ),
        Binding("r", "try_again", "Try again to connect, where the link rests", id="app.try_again"),
        Binding("space", "pause", "Hold the picture; data is still collected", id="app.pause"),
        Binding("escape", "back", "Leave search, or zoom; else cancel the benchmark", id="app.back"),
        Binding("tab", "focus_next", "Next pane", id="pane.next"),
        Binding("shift+tab", "focus_previous", "Previous pane", id="pane.previous"),
        Binding("1", "pane('gpus')", "GPUs", id="pane.1", priority=True),
        Binding("2", "pane('ladder')", "Readiness", id="pane.2", priority=True),
        Binding("3", "pane('log')", "Log", id="pane.3", priority=True),
        Binding("4", "pane('bench')", "Benchmark", id="pane.4", priority=True),
        Binding("5", "pane('notes')", "Notes: what the status line said", id="pane.5", priority=True),
        Binding("6", "pane('lanes')", "Ranks: what each of them waits for", id="pane.6", priority=True),
        Binding("z", "zoom", "Give the pane the whole screen, or not any more", id="pane.zoom"),
        Binding("slash", "search", "Search the log", id="log.search", priority=True),
        Binding("n", "step(1)", "Next mark, or next match of a search", id="log.next"),
        Binding("N", "step(-1)", "Previous mark, or previous match of a search", id="log.previous"),
        Binding("e", "fault", "The line that tells why the load failed", id="log.fault"),
        Binding("f", "follow", "Follow the newest lines, or hold", id="log.follow"),
        Binding("J", "skip_log", "Jump to the end of a log that is read far behind", id="log.skip"),
        Binding("W", "wrap", "Wrap long lines, or cut them", id="log.wrap"),
        Binding("y", "copy", "Send the current log line to the clipboard (OSC 52)", id="log.copy"),
    ]

    def __init__(
        self, view: View, table: Sequence[Key], glyphs: Glyphs, can_paint: Callable[[], bool] = lambda: True
    ) -> None:
        super().__init__()
        self._view = view
        self._table, self._glyphs, self._palette = table, glyphs, Palette()
        self._can_paint = can_paint
        self.header = HeaderBar(id="header", glyphs=glyphs)
        self.replay_bar = ReplayBar(id="replay", glyphs=glyphs)
        self.hosts = HostRows(id="hosts", glyphs=glyphs)
        self.verdict = VerdictRow(id="verdict", glyphs=glyphs)
        self.phases = PhasePane(id="phases", glyphs=glyphs)
        self.gpus = GpuRows(id="gpus", glyphs=glyphs)
        self.lanes = RankLanes(id="lanes", glyphs=glyphs)
        self.ladder = LadderPane(id="ladder", glyphs=glyphs)
        self.log_tail = LogTail(id="log", glyphs=glyphs)
        self.bench = BenchPane(id="bench", glyphs=glyphs)
        self.notes = NotesPane(id="notes", glyphs=glyphs)
        self.status = StatusBar(id="status", glyphs=glyphs)
        self.footer = KeyFooter(keys.footer_pairs(table), id="footer", glyphs=glyphs)
        self.dashboard = Dashboard(*self._widgets())
        self.paused = False
        self._lead, self._zoomed = "log", ""
        self._beats = 0
        self._values: ScreenValues | None = None

    def _widgets(self) -> list[LineWidget]:
        panes: list[LineWidget] = [self.gpus, self.ladder, self.log_tail, self.bench, self.notes, self.lanes]
        return [
            self.header,
            self.replay_bar,
            self.hosts,
            self.verdict,
            self.phases,
            *panes,
            self.status,
            self.footer,
        ]

    def compose(self) -> ComposeResult:
        yield self.dashboard

    def on_mount(self) -> None:
        self.flush_log()
        self.paint()
        self.set_interval(FLUSH_S, self.beat, name="beat")

    def wear(self, palette: Palette) -> None:
        """Draw with the styles of a theme."""
        self._palette = palette
        for widget in self._widgets():
            widget.palette = palette

    # What the timer does.

    def beat(self) -> None:
        """Flush the log, and every second time paint, unless the terminal is behind or gone."""
        if not self._can_paint():
            return
        self._beats += 1
        if not self.paused:
            self.flush_log()
        if self._beats % 2 == 0:
            self.paint()

    def flush_log(self) -> None:
        """Take over the log lines that came since the last time."""
        newest = self.log_tail.buffer.last_number
        lines = self._view.lines_after(-1 if newest is None else newest)
        if lines:
            self.log_tail.extend(lines)

    def paint(self) -> None:
        """Take over the values of all panes; while paused, those of the header alone."""
        values = self._view.values()
        self._signal(values)
        self.header.update_header(replace(values.header, paused=self.paused))
        self.status.update_sentence(values.status)
        self.replay_bar.update_panel(values.replay)
        self.hosts.update_rows(values.hosts)
        if self._values is not None and values.generation != self._values.generation:
            self.log_tail.clear()
            self.flush_log()
        if not self.paused:
            self._paint_panes(values)
        self._values = values

    def _paint_panes(self, values: ScreenValues) -> None:
        for pane in (self.phases, self.lanes, self.ladder):
            pane.stale = values.stale
        self.verdict.update_panel(values.verdict)
        self.phases.update_panel(values.phases)
        self.gpus.update_panel(values.gpus)
        self.lanes.update_rows(values.lanes)
        self.ladder.update_ladder(values.ladder)
        self.log_tail.update_panel(values.log)
        self.bench.update_panel(values.bench)
        self._arrange()

    def _signal(self, values: ScreenValues) -> None:
        """Ring the bell, name the window and keep the notes, each only when something changed."""
        before = self._values
        if before is not None and values.alerts > before.alerts:
            self.app.bell()
        header = values.header
        if before is None or (before.header.host, before.header.phase) != (header.host, header.phase):
            self._name_window(values)
        if values.status and (before is None or values.status != before.status):
            self.notes.add(values.time_of_day or _time_of_day(), values.status)
        failed = values.phases.sentence
        if failed and (before is None or failed != before.phases.sentence):
            self.notes.add(values.time_of_day or _time_of_day(), failed)

    def _name_window(self, values: ScreenValues) -> None:
        self.app.title = f"{values.header.host}: {values.header.phase}"

    def _arrange(self) -> None:
        bench = self.bench.panel
        self.dashboard.wants = Wants(
            verdict=verdict_row.rows_wanted(self.verdict.panel),
            lanes=len(self.lanes.rows),
            phases=phase_pane.rows_wanted(self.phases.panel, self.size.width),
            gpus=self.gpus.rows_wanted(self.gpus.size.width or self.size.width),
            bench=bench_pane.rows_wanted(bench, self.size.width) if bench_pane.is_open(bench) else 0,
            replay=self.replay_bar.panel is not None,
            hosts=len(host_rows.entries(self.hosts.rows)),
            lead=self._lead,
            zoomed=self._zoomed or None,
        )

    def answer(self, sentence: str) -> None:
        """Tell the person what a key did, in the status line and the notes."""
        if sentence:
            self.status.answer(sentence, _ANSWER_PAINTS)
            shown = self._values.time_of_day if self._values is not None else ""
            self.notes.add(shown or _time_of_day(), sentence)

    # Keys.

    def action_bench(self) -> None:
        """Run the benchmark, and give its pane the room."""
        self.answer(self._view.start_bench())
        self._lead = "bench"
        self.paint()

    async def action_profiles(self) -> None:
        """Show the workloads to choose from."""
        self._leave_to_search_box()
        if not self._view.profiles():
            self.answer(self._view.choose_profile(""))
            return
        await self.app.push_screen(ProfileScreen(self._view, self._palette, self._glyphs), self._chosen)

    def _chosen(self, sentence: str | None) -> None:
        self.answer(sentence or "")
        self.paint()

    async def action_why(self) -> None:
        """Show all that speaks for the verdict; a key pressed at once after this one belongs there."""
        await self._why()

    async def action_diagnose(self) -> None:
        """Say what a diagnosis touches, where its results are shown too; a second press does it."""
        (await self._why()).action_diagnose()

    async def _why(self) -> WhyScreen:
        self._leave_to_search_box()
        if self.app.screen is not self:
            raise SkipAction
        why = WhyScreen(self._view, self._table, self._palette, self._glyphs, self._can_paint, self.answer)
        await self.app.push_screen(why)
        return why

    def action_try_again(self) -> None:
        """Connect again to a host whose link rests."""
        self.answer(self._view.try_again())
        self.paint()

    def action_pause(self) -> None:
        """Hold the picture, or let it go on."""
        self.paused = not self.paused
        if not self.paused:
            self.flush_log()
        self.paint()

    def action_back(self) -> None:
        """Leave the innermost state: search box, search, zoom; without one cancel the benchmark."""
        if self._search_box() is not None:
            self.set_focus(self.log_tail)
        elif self.log_tail.buffer.pattern is not None:
            self.log_tail.search("")
        elif self._zoomed:
            self._zoomed = ""
            self._arrange()
        elif self.bench.panel.pending:
            self.answer(self._view.cancel_bench())
            self.paint()

    def action_focus_next(self) -> None:
        """Move the keyboard to the next pane."""
        self.focus_next()

    def action_focus_previous(self) -> None:
        """Move the keyboard to the previous pane."""
        self.focus_previous()

    def action_pane(self, name: str) -> None:
        """Move the keyboard to a pane."""
        self._leave_to_search_box()
        self._look_at(name)
        self.set_focus(self.query_one(f"#{name}"))

    def action_zoom(self) -> None:
        """Give the focused pane the whole screen, or give it back."""
        focused = self.focused
        name = focused.id if focused is not None and focused.id in _PANES else self._lead
        self._zoomed = "" if self._zoomed else name or ""
        self._arrange()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Give room to the pane that has the keyboard now."""
        box = self._search_box()
        if box is not None and event.widget is not box:
            box.remove()
        if event.widget.id in _PANES:
            self._look_at(event.widget.id)

    def _look_at(self, name: str) -> None:
        self._lead = name
        if self._zoomed:
            self._zoomed = name
        self._arrange()

    def _search_box(self) -> SearchBox | None:
        return next(iter(self.dashboard.query(SearchBox)), None)

    async def action_search(self) -> None:
        """Ask for the text to search for; keys typed at once after this one belong to it."""
        self._leave_to_search_box()
        box = SearchBox(self.log_tail.buffer.needle, id="search")
        await self.dashboard.mount(box)
        self.set_focus(box)

    def _leave_to_search_box(self) -> None:
        """Let a key be typed, where there is something to type it into."""
        if self._search_box() is not None:
            raise SkipAction

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Do what was typed: search, or what another box is for."""
        event.stop()
        self.set_focus(self.log_tail)
        self.typed(event.input, event.value)

    def typed(self, box: Input, text: str) -> None:
        """Search for what was typed."""
        self.answer(self.log_tail.search(text))

    def action_step(self, direction: int) -> None:
        """Show the next or previous mark, or match while something is searched for."""
        self.answer(self.log_tail.step(direction))

    def action_fault(self) -> None:
        """Show the line that tells why the load failed."""
        self.answer(self.log_tail.show_fault())

    def action_follow(self) -> None:
        """Follow the log, or hold it."""
        self.answer(self.log_tail.toggle_follow())

    def action_skip_log(self) -> None:
        """Leave out what is still to be read of the log, and show its end."""
        self.answer(self._view.skip_log())

    def action_wrap(self) -> None:
        """Wrap or cut long lines."""
        self.answer(self.log_tail.toggle_wrap())

    def action_copy(self) -> None:
        """Send the current log line to the clipboard."""
        text = self.log_tail.current_text()
        if text is None:
            self.answer("there is no line to copy")
        else:
            self.app.copy_to_clipboard(text)


def _time_of_day() -> str:
    """Return the time on this machine: unlike T+ it goes on after READY, and is what a log is compared by."""
    return time.strftime("%H:%M:%S")
