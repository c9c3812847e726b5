"""Several hosts: the main screen of one among them, and the overview of all over it."""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import ClassVar

from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from tui.screens.keys import Key
from tui.screens.main import MainScreen
from tui.view import View
from widgets.glyphs import Glyphs
from widgets.hosts_pane import HostsPane
from widgets.palette import Palette
from widgets.values import HostRow, LoadRow, ScreenValues

REFRESH_S = 0.5
Rows = Callable[[], tuple[HostRow, ...]]


class HostScreen(MainScreen):
    """The panes of one host, each with its own place in the log, search, zoom and notes.

    Only the one that is shown looks at its view. ``switch`` shows the host of a number, ``index`` is its own.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right_square_bracket", "next_host(1)", "Next host", id="hosts.next", priority=True),
        Binding("left_square_bracket", "next_host(-1)", "Previous host", id="hosts.previous", priority=True),
        Binding("h", "hosts", "All hosts, a row each", id="hosts.all", priority=True),
    ]

    def __init__(
        self,
        view: View,
        table: Sequence[Key],
        glyphs: Glyphs,
        can_paint: Callable[[], bool],
        index: int,
        switch: Callable[[int], Awaitable[None]],
    ) -> None:
        super().__init__(view, table, glyphs, can_paint)
        self.index = index
        self.shown = False
        self._switch = switch

    def beat(self) -> None:
        """Do nothing while another host is shown."""
        if self.shown:
            super().beat()

    def come_up(self) -> None:
        """Take up what happened while another host was shown; the bell has rung for it."""
        self.shown = True
        if self._values is None:
            return
        values = self._view.values()
        self._values = replace(self._values, alerts=values.alerts, hosts=values.hosts)
        self._name_window(values)
        if not self.paused:
            self.flush_log()
        self.paint()

    def _signal(self, values: ScreenValues) -> None:
        before = {} if self._values is None else {row.name: row.alerts for row in self._values.hosts}
        told = None if self._values is None else _load_of(self._values.hosts)
        super()._signal(values)
        load = _load_of(values.hosts)
        if load is not None and load.sentence and load.news and (told is None or load.news != told.news):
            when = values.time_of_day or time.strftime("%H:%M:%S")
            self.notes.add(when, f"{load.name}: {load.sentence}")
        for row in values.hosts:
            if not row.shown and row.alerts > before.get(row.name, row.alerts):
                self.app.bell()
                self.app.title = f"{row.name}: {row.load}"
                self.answer(f"{row.name}: {row.load}{f': {row.sentence}' if row.sentence else ''}")

    async def action_next_host(self, direction: int) -> None:
        """Show the next or previous host."""
        self._leave_to_search_box()
        count = len(self.hosts.rows)
        if self.app.screen is not self or not count:
            raise SkipAction
        await self._switch((self.index + direction) % count)

    async def action_hosts(self) -> None:
        """Show all hosts; a key pressed at once after this one belongs there."""
        self._leave_to_search_box()
        if self.app.screen is not self:
            raise SkipAction
        overview = HostsScreen(self._rows, self._palette, self._glyphs, self._can_paint)
        await self.app.push_screen(overview, self._chosen_host)

    def _rows(self) -> tuple[HostRow, ...]:
        return self._view.values().hosts

    async def _chosen_host(self, index: int | None) -> None:
        if index is not None:
            await self._switch(index)


def _load_of(rows: Sequence[HostRow]) -> LoadRow | None:
    """Return the load over several hosts that the shown one has a part in."""
    return next((row.joined for row in rows if row.shown), None)


class HostsScreen(ModalScreen[int | None], inherit_bindings=False):
    """Lies over the main screen, which goes on beneath; ends with the number of the host that was chosen."""

    AUTO_FOCUS = "#hosts-list"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,h", "dismiss", "Close the overview", id="hosts.close", show=False),
    ]

    def __init__(self, rows: Rows, palette: Palette, glyphs: Glyphs, can_paint: Callable[[], bool]) -> None:
        super().__init__()
        self._rows = rows
        self._can_paint = can_paint
        self.pane = HostsPane(rows(), id="hosts-list", glyphs=glyphs)
        self.pane.palette = palette

    def compose(self) -> ComposeResult:
        yield self.pane

    def on_mount(self) -> None:
        self.set_interval(REFRESH_S, self.paint, name="hosts")

    def paint(self) -> None:
        """Take over how the hosts stand now, unless the terminal is behind or gone."""
        if self._can_paint():
            self.pane.update_rows(self._rows())

    def on_hosts_pane_chosen(self, message: HostsPane.Chosen) -> None:
        """Show the host that was chosen."""
        self.dismiss(message.index)
