"""The notes pane: what the status line has said so far, newest last."""

import sys
from collections import deque

from widgets import cells
from widgets.glyphs import BLOCK, Glyphs
from widgets.lines import Line, Span, cut
from widgets.pages import Pages
from widgets.titles import titled

KEPT = 500


class NotesPane(Pages):
    """Messages that would be missed otherwise; it follows the newest until it is scrolled."""

    def __init__(self, *, id: str | None = None, glyphs: Glyphs = BLOCK) -> None:
        super().__init__(id=id, glyphs=glyphs)
        self._notes: deque[tuple[str, str]] = deque(maxlen=KEPT)
        self._follows = True

    def add(self, clock: str, sentence: str) -> None:
        """Add a sentence with the time of day at which it was said."""
        self._notes.append((clock, sentence))
        self.show()

    def body(self, width: int) -> list[Line]:
        size = max((cells.width(clock) for clock, _ in self._notes), default=0)
        lines = [line for note in self._notes for line in _wrapped(*note, size, width)]
        return lines or [(Span("  nothing to tell yet", "muted"),)]

    def lines(self, width: int, height: int) -> list[Line]:
        count = [Span(f"{len(self._notes)} ", "muted")] if self._notes else []
        head = titled(self, 5, "Notes", [], count, width)
        if self._follows:
            self._top = sys.maxsize
        shown = super().lines(width, height - 1)
        return [head, *shown]

    def action_move(self, lines: int) -> None:
        """Move by lines; at the end the newest are followed again."""
        self._follows = False
        super().action_move(lines)
        self._follows = self._top + self.size.height - 1 >= len(self.body(self.size.width))


def _wrapped(clock: str, sentence: str, size: int, width: int) -> list[Line]:
    """Return the whole sentence beside its clock: what the status line cut is read here."""
    rows = cells.sentence_rows(sentence, width - size - 4) or [""]
    clocks = [cells.left(clock, size), *[" " * size] * (len(rows) - 1)]
    return [cut([Span(f"  {at}  ", "muted"), Span(row)], width) for at, row in zip(clocks, rows, strict=True)]
