"""The benchmark pane: what it does, how far it is, the table of its result and how that compares."""

from collections.abc import Iterator

from widgets import cells, chart
from widgets.glyphs import BLOCK, Glyphs
from widgets.line_widget import LineWidget
from widgets.lines import Line, Span, cut
from widgets.titles import label
from widgets.values import BenchPanel, BenchRow, Mood

_NOTHING = BenchPanel(headline="press b to run it")
_PERCENT_CELLS = 5
_BAR_MOST = 60
_NAME_MOST = 30
_MARK_CELLS = 4


def rows_wanted(panel: BenchPanel, width: int) -> int:
    """Return how many lines of that width show all of it."""
    table = 1 + len(panel.rows) if panel.rows else 0
    compared = len(_compared_rows(panel, width)) + len(panel.differing)
    return 1 + (panel.progress is not None) + len(panel.warnings) + table + compared + len(panel.notes)


def is_open(panel: BenchPanel) -> bool:
    """Return whether there is more to show than a headline."""
    return bool(panel.rows or panel.notes or panel.warnings or panel.compared) or panel.progress is not None


def _compared_rows(panel: BenchPanel, width: int) -> list[str]:
    return cells.sentence_rows(panel.compared, width - _MARK_CELLS) if panel.compared else []


class BenchPane(LineWidget, can_focus=True):
    """Progress while a benchmark runs, its metrics in a table when it is done."""

    def __init__(self, *, id: str | None = None, glyphs: Glyphs = BLOCK) -> None:
        super().__init__(id=id, glyphs=glyphs)
        self.panel = _NOTHING

    def update_panel(self, panel: BenchPanel) -> None:
        """Draw this benchmark from now on."""
        if panel != self.panel:
            self.panel = panel
            self.show()

    def lines(self, width: int, height: int) -> list[Line]:
        lines = [self._headline(width, folded=height == 1), *self._progress(width), *self._warnings(width)]
        lines += [*self._table(width), *self._compared(width), *self._notes(width)]
        if len(lines) > height > 1:
            hidden = len(lines) - height + 1
            lines[height - 1 :] = [cut([Span(f"  {hidden} more lines: 4 z", "muted")], width)]
        return lines

    def _headline(self, width: int, *, folded: bool) -> Line:
        panel = self.panel
        mark = f" {self.glyphs.moods[panel.mood]} "
        spans = [*label(self, 4, "Bench"), Span(mark + panel.headline, panel.mood.value)]
        if folded and panel.progress is not None:
            spans.append(Span(f" {panel.progress:.0%}", "text"))
        return cut(spans, width)

    def _progress(self, width: int) -> list[Line]:
        fraction = self.panel.progress
        if fraction is None:
            return []
        room = max(min(width - _PERCENT_CELLS - 3, _BAR_MOST), 0)
        full, track = chart.bar(fraction, room, self.glyphs)
        percent = Span(f"{fraction:.0%}".rjust(_PERCENT_CELLS))
        return [(Span("  "), Span(full, "bar"), Span(track, "track"), percent)]

    def _table(self, width: int) -> list[Line]:
        panel = self.panel
        if not panel.rows:
            return []
        first = max(cells.width(row.name) for row in panel.rows)
        sizes = [self._column_cells(column) for column in range(len(panel.columns))]
        head = BenchRow("", panel.columns)
        lines = [self._row(head, first, sizes, "muted", width)]
        return lines + [self._row(row, first, sizes, "text", width) for row in panel.rows]

    def _column_cells(self, column: int) -> int:
        texts = [row.cells[column] for row in self.panel.rows if column < len(row.cells)]
        return max(cells.width(text) for text in (*texts, self.panel.columns[column]))

    def _row(self, row: BenchRow, first: int, sizes: list[int], role: str, width: int) -> Line:
        spans = [Span("  " + cells.left(row.name, first), "muted" if row.name else role)]
        for size, text in zip(sizes, row.cells, strict=False):
            spans.append(Span("  " + cells.right(text, size), role))
        if row.mood is not Mood.IDLE:
            spans[-1] = Span(spans[-1].text, row.mood.value)
        return cut(spans, width)

    def _compared(self, width: int) -> Iterator[Line]:
        panel = self.panel
        for at, text in enumerate(_compared_rows(panel, width)):
            mark = self.glyphs.moods[panel.compared_mood] if at == 0 else " "
            yield cut([Span(f"  {mark} {text}", panel.compared_mood.value)], width)
        names = min(max((cells.width(name) for name, _, _ in panel.differing), default=0), _NAME_MOST)
        for name, there, here in panel.differing:
            shown = cells.left(name, names, self.glyphs.ellipsis)
            yield cut(
                [Span(f"    {shown}  ", "bad"), Span(f"{there} {self.glyphs.more} {here}", "bad")], width
            )

    def _warnings(self, width: int) -> list[Line]:
        return [cut([Span("  " + text, "warning")], width) for text in self.panel.warnings]

    def _notes(self, width: int) -> list[Line]:
        return [cut([Span("  " + note, "muted")], width) for note in self.panel.notes]
