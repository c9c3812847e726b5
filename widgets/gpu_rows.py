"""The GPU pane: a line for each GPU, pages where there are more, one line of bars where room is scarce."""

from dataclasses import replace
from typing import ClassVar

from textual.binding import Binding, BindingType

from widgets import cells, chart, gpu_columns
from widgets.glyphs import BLOCK, Glyphs
from widgets.line_widget import LineWidget
from widgets.lines import Line, Span, cut, spread
from widgets.titles import label, title
from widgets.values import GpuPanel, Mood

_LABEL_CELLS = 8


class GpuRows(LineWidget, can_focus=True):
    """Memory, its slope, utilisation with history, power and temperature of each GPU."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "page(1)", "Next GPUs", id="gpus.down", show=False),
        Binding("up,k", "page(-1)", "Previous GPUs", id="gpus.up", show=False),
        Binding("pagedown,ctrl+d", "page(1)", "Next page of GPUs", id="gpus.page_down", show=False),
        Binding("pageup,ctrl+u", "page(-1)", "Previous page of GPUs", id="gpus.page_up", show=False),
        Binding("home,g", "page(-1000)", "First GPUs", id="gpus.home", show=False),
        Binding("end,G", "page(1000)", "Last GPUs", id="gpus.end", show=False),
    ]

    def __init__(self, *, id: str | None = None, glyphs: Glyphs = BLOCK) -> None:
        super().__init__(id=id, glyphs=glyphs)
        self.panel = GpuPanel(())
        self._first = 0

    def update_panel(self, panel: GpuPanel) -> None:
        """Draw these GPUs from now on."""
        if panel != self.panel:
            self.panel = panel
            self.show()

    def rows_wanted(self, width: int) -> int:
        """Return the lines under the title: a row for each GPU, or the whole sentence why there is none."""
        return len(self.panel.rows) or len(cells.sentence_rows(self._sentence(), width - 2))

    def action_page(self, pages: int) -> None:
        """Move by whole pages, as far as there are GPUs."""
        self._first += pages * _rows_shown(self.size.height, len(self.panel.rows))
        self.show()

    def lines(self, width: int, height: int) -> list[Line]:
        rows = self.panel.rows
        if not rows:
            return self._no_rows(width, height)
        if height == 1:
            return [self._small(width)]
        shown = _rows_shown(height, len(rows))
        self._first = max(0, min(self._first, len(rows) - shown))
        end = self._first + shown
        heads = self._heads(width, height, shown)
        return heads + [gpu_columns.row_line(row, width, self.glyphs) for row in rows[self._first : end]]

    def _heads(self, width: int, height: int, shown: int) -> list[Line]:
        caption = self._paging(shown) or self.panel.caption
        room = gpu_columns.title_cells(width)
        if height < shown + 2 and self.panel.alarm:
            return [self._alarm(width, shown)]
        if height < shown + 2:
            short = caption.partition(" · ")[0] if cells.width(caption) > room - _LABEL_CELLS else caption
            first = _exactly(title(self, 1, "GPU", short, room), room)
            return [gpu_columns.head(first, width, self.glyphs)]
        extra = f" {self.glyphs.dot} {self._paging(shown)}" if self._paging(shown) else ""
        blank = (Span(" " * room),)
        head = gpu_columns.head(blank, width, self.glyphs)
        if self.panel.alarm:
            return [self._alarm(width, shown), head]
        return [title(self, 1, "GPU", self.panel.caption + extra, width), head]

    def _alarm(self, width: int, shown: int) -> Line:
        paging = f" {self._paging(shown)} {self.glyphs.dot}" if self._paging(shown) else ""
        alarm = Span(" " + self.panel.alarm, Mood.WARNING.value)
        return cut([*label(self, 1, "GPU"), Span(paging, "muted"), alarm], width)

    def _paging(self, shown: int) -> str:
        count, first = len(self.panel.rows), self._first
        if shown >= count:
            return ""
        more = count - first - shown
        way = "PgDn" if self.has_focus else "1 PgDn"
        return f"{more} more: {way}" if more else f"{first} more: PgUp"

    def _no_rows(self, width: int, height: int) -> list[Line]:
        sentence = self._sentence()
        if height == 1:
            return [title(self, 1, "GPU", sentence, width)]
        rows = cells.sentence_rows(sentence, width - 2)
        return [title(self, 1, "GPU", self.panel.caption, width), *((Span("  " + row),) for row in rows)]

    def _sentence(self) -> str:
        return self.panel.sentence or "no GPU reading yet"

    def _small(self, width: int) -> Line:
        rows = self.panel.rows
        known = [
            (row.memory_used_mib, row.memory_total_mib)
            for row in rows
            if row.memory_used_mib is not None and row.memory_total_mib
        ]
        shares = [100 * used / total for used, total in known]
        bars = chart.history(shares, len(known), replace(self.glyphs, braille=False))
        used, total = sum(pair[0] for pair in known), sum(pair[1] for pair in known)
        figures = f" {used / gpu_columns.MIB_PER_GIB:.0f}/{total / gpu_columns.MIB_PER_GIB:.0f} GiB"
        lost = len(rows) - len(known)
        unknown = f", {lost} without a reading" if lost else ""
        unknown += f", {self.panel.alarm}" if self.panel.alarm else ""
        start = [*title(self, 1, f"GPU x{len(rows)}", "", width), Span(" "), Span(bars, "bar")]
        return cut([*start, Span(figures), Span(unknown, "warning")], width)


def _exactly(line: Line, width: int) -> Line:
    return spread(list(line), [], width)


def _rows_shown(height: int, count: int) -> int:
    """Return how many rows fit under one line of heads."""
    return max(1, min(height - 1, count))
