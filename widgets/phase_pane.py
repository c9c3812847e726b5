"""The phases of the load in a row, and how much of the current one is done."""

from collections.abc import Iterator

from widgets import cells
from widgets.glyphs import BLOCK, Glyphs
from widgets.line_widget import LineWidget
from widgets.lines import Line, Span, cut, spread, width_of
from widgets.values import Mood, PhaseCell, PhasePanel

_BAR_CELLS = 24
_BAR_GOOD = 12
_BAR_LEAST = 6
_GAP = "  "


class PhasePane(LineWidget):
    """Which phase, how far, how long still: two lines, or one where room is scarce."""

    def __init__(self, *, id: str | None = None, glyphs: Glyphs = BLOCK) -> None:
        super().__init__(id=id, glyphs=glyphs)
        self.panel = PhasePanel()

    def update_panel(self, panel: PhasePanel) -> None:
        """Draw these phases from now on."""
        if panel != self.panel:
            self.panel = panel
            self.show()

    def lines(self, width: int, height: int) -> list[Line]:
        if not self.panel.cells:
            return []
        if height == 1 and rows_wanted(self.panel) == 1:
            return [self._row(width)]
        if height == 1:
            return [self._work(width, self._current())]
        if self.panel.sentence and height > 2:
            return [self._row(width), *self._sentence(width, height - 1)]
        return [self._row(width), self._work(width, [])]

    def _sentence(self, width: int, rows: int) -> list[Line]:
        """Return the whole sentence: it says what to do, which must not be cut."""
        texts = cells.sentence_rows(self.panel.sentence, width - 2)[:rows]
        return [(Span(f" {text}", self.panel.mood.value),) for text in texts]

    def _row(self, width: int) -> Line:
        """Return the phases in one line, as many as there is room for."""
        line: list[Span] = []
        for line in self._rows():
            if width_of(line) <= width:
                break
        return cut(line, width)

    def _rows(self) -> Iterator[list[Span]]:
        """Return the row in ever shorter forms: what is to come gives way first, then what lies behind.

        When all is over the long phases are what one asks for; before that, the last ones.
        """
        panel = self.panel.cells
        over = panel[-1].mood is not Mood.IDLE
        to_come = [cell for cell in panel if cell.mood is Mood.IDLE]
        shown = [cell for cell in panel if cell.mood is not Mood.IDLE]
        behind = [cell for cell in shown[:-1] if cell.mood is Mood.GOOD]
        gone = sorted(behind, key=lambda each: each.seconds) if over else behind
        for count in range(len(behind) + 1):
            left = [cell for cell in shown if cell not in gone[:count]]
            word = "shorter" if over else "done"
            lead = [Span(f" {self.glyphs.moods[Mood.GOOD]} {count} {word}", Mood.GOOD.value)] if count else []
            for named in dict.fromkeys((len(to_come), min(len(to_come), 1), 0)):
                yield [*lead, *self._spans(left, lead), *self._to_come(to_come, named)]

    def _to_come(self, cells: list[PhaseCell], named: int) -> list[Span]:
        """Return the phases to come, so many by their names."""
        mark = self.glyphs.moods[Mood.IDLE]
        texts = [cell.name for cell in cells[:named]]
        rest = len(cells) - named
        if rest:
            texts.append(f"{rest} more" if named else f"{rest} to come")
        return [Span(f"{_GAP}{mark} {text}", "muted") for text in texts]

    def _spans(self, shown: list[PhaseCell], before: list[Span]) -> list[Span]:
        spans: list[Span] = []
        for cell in shown:
            lead = _GAP if spans or before else " "
            role = cell.mood.value + (" strong" if cell.mood in (Mood.ACTIVE, Mood.BAD) else "")
            spans.append(Span(f"{lead}{self.glyphs.moods[cell.mood]} ", cell.mood.value))
            spans.append(Span(cell.name, "muted" if cell.mood is Mood.IDLE else role))
            if cell.time:
                spans.append(Span(f" {cell.time}", "muted" if cell.mood is Mood.GOOD else role))
        return spans

    def _current(self) -> list[Span]:
        """Return the phase that stands for all others where there is one line."""
        told = [cell for cell in self.panel.cells if cell.mood is not Mood.IDLE]
        return self._spans([*told[-1:]] or [self.panel.cells[0]], [])

    def _work(self, width: int, lead: list[Span]) -> Line:
        panel = self.panel
        if panel.sentence:
            return cut([*lead, Span(f" {cells.plain(panel.sentence)}", panel.mood.value)], width)
        right = [Span(f" {panel.estimate} ", "strong")] if panel.estimate else []
        room = width - width_of(lead) - width_of(right)
        work = self._words(room)
        left = [*lead, *self._bar(room, work), Span(f" {work}" if work else "")]
        if panel.waits:
            left.append(Span(f" {self.glyphs.dot} {cells.plain(panel.waits)}", "warning"))
        return spread(left, right, width)

    def _words(self, room: int) -> str:
        """Return what is being done; with a bar to draw, its lesser parts give way to it."""
        parts = self.panel.work.split(", ")
        needed = _BAR_GOOD + self._beside()
        while self.panel.fraction is not None and len(parts) > 1 and needed + len(", ".join(parts)) > room:
            parts.pop()
        return ", ".join(parts)

    def _beside(self) -> int:
        """Return the cells that percentage, gaps and the ranks waited for take beside bar and words."""
        return 7 + (len(self.panel.waits) + 3 if self.panel.waits else 0)

    def _bar(self, room: int, work: str) -> list[Span]:
        """Return the bar, shorter where the words need the room, none without a basis."""
        fraction = self.panel.fraction
        words = len(work) + self._beside()
        size = min(_BAR_CELLS, room - words)
        if fraction is None or size < _BAR_LEAST:
            return [Span(" ")]
        full = int(fraction * size)
        filled = self.glyphs.full * full
        half = self.glyphs.parts if fraction * size - full >= 0.5 and full < size else ""
        track = self.glyphs.track * (size - full - len(half))
        return [
            Span(" "),
            Span(filled + half, "bar"),
            Span(track, "track"),
            Span(f" {min(int(fraction * 100), 99):3}%"),
        ]


def rows_wanted(panel: PhasePanel, width: int = 80) -> int:
    """Return how many lines say everything: without work under way the phases' times alone."""
    if not panel.cells:
        return 0
    if panel.sentence:
        return 1 + len(cells.sentence_rows(panel.sentence, width - 2))
    return 2 if panel.work or panel.estimate or panel.fraction is not None else 1
