"""The verdict on the load: one row that says who waits for whom, or three with cause, figures and advice."""

import re
from collections.abc import Iterator

from widgets import cells
from widgets.glyphs import BLOCK, Glyphs
from widgets.line_widget import LineWidget
from widgets.lines import Line, Span, cut, spread, width_of
from widgets.values import VerdictPanel

ROWS = 3
_HINT = " w why "
# What stands in brackets at the end says what exactly moves.
_DETAIL = re.compile(r" \([^()]*\)$")


class VerdictRow(LineWidget):
    """How it is, since when, and what is told of it; nothing before anything is known."""

    def __init__(self, *, id: str | None = None, glyphs: Glyphs = BLOCK) -> None:
        super().__init__(id=id, glyphs=glyphs)
        self.panel = VerdictPanel()

    def update_panel(self, panel: VerdictPanel) -> None:
        """Draw this verdict from now on."""
        if panel != self.panel:
            self.panel = panel
            self.show()

    def lines(self, width: int, height: int) -> list[Line]:
        if not self.panel.word:
            return []
        rows = [self._head(width)]
        # Where there are two rows, what to do comes before what shows it.
        if height >= ROWS or not self._says_what_to_do:
            rows += self._evidence(width)
        if self._says_what_to_do:
            rows.append(self._advice(width))
        return rows[: max(height, 1)]

    @property
    def _says_what_to_do(self) -> bool:
        return bool(self.panel.next_step or self.panel.not_to_do)

    def _head(self, width: int) -> Line:
        line: tuple[list[Span], list[Span]] = ([], [])
        for line in self._heads():
            if width_of(line[0]) + width_of(line[1]) <= width:
                break
        return spread(*line, width)

    def _heads(self) -> Iterator[tuple[list[Span], list[Span]]]:
        """Return the row in ever shorter forms: the phases say where it stands, so that goes first."""
        panel = self.panel
        told = panel.told or panel.place
        place = panel.place if panel.told else ""
        brief = _DETAIL.sub("", told)
        short = f"time-out {panel.deadline_left}" if panel.deadline_left else ""
        for texts, hint, deadline in (
            ((place, told), _HINT, panel.deadline),
            ((told,), _HINT, panel.deadline),
            ((told,), _HINT, short),
            ((brief,), _HINT, short),
            ((brief,), "", short),
            ((brief,), "", ""),
        ):
            right = [Span(f" {deadline} ", "warning strong")] if deadline else []
            right += [Span(hint, "key")] if hint else []
            parts = [text for text in (*texts, panel.countdown) if text]
            yield [*self._word(), *(span for text in parts for span in self._part(text))], right

    def _word(self) -> list[Span]:
        panel = self.panel
        role = f"{panel.mood.value} strong"
        clock = f" {panel.clock}" if panel.clock else ""
        return [Span(f" {self.glyphs.moods[panel.mood]} {panel.word}{clock}", role)]

    def _part(self, text: str) -> list[Span]:
        return [Span(f" {self.glyphs.dot} ", "muted"), Span(cells.plain(text))]

    def _evidence(self, width: int) -> list[Line]:
        """Return the suspected cause, as many figures as fit, and the ranks that wait."""
        panel = self.panel
        texts = [cells.plain(text) for text in (panel.cause, *panel.figures) if text]
        if not texts:
            return []
        right = [Span(f" {panel.waiting} wait ", "muted")] if panel.waiting else []
        room = width - width_of(right)
        line = [Span(f"   {texts[0]}")]
        for text in texts[1:]:
            more = [*line, Span(f" {self.glyphs.dot} ", "muted"), Span(text, "muted")]
            if width_of(more) > room:
                break
            line = more
        if width_of(line) > room:
            return [cut(line, width)]
        return [spread(line, right, width)]

    def _advice(self, width: int) -> Line:
        panel = self.panel
        line = [Span("   ")]
        if panel.next_step:
            line += [Span("next: ", "muted"), Span(cells.plain(panel.next_step), "strong")]
        if panel.not_to_do:
            dot = f" {self.glyphs.dot} " if panel.next_step else ""
            line.append(Span(dot + cells.plain(panel.not_to_do), "muted"))
        return cut(line, width)


def rows_wanted(panel: VerdictPanel) -> int:
    """Return how many rows say all that is there, 0 before anything is known."""
    if not panel.word:
        return 0
    if panel.brief:
        return 1
    return 1 + bool(panel.cause or panel.figures) + bool(panel.next_step or panel.not_to_do)
