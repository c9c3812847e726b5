"""The footer: the keys that matter most, as many as fit."""

from collections.abc import Sequence

from widgets import cells
from widgets.glyphs import BLOCK, Glyphs
from widgets.line_widget import LineWidget
from widgets.lines import Line, Span


class KeyFooter(LineWidget):
    """Pairs of key and meaning."""

    def __init__(
        self, keys: Sequence[tuple[str, str]], *, id: str | None = None, glyphs: Glyphs = BLOCK
    ) -> None:
        super().__init__(id=id, glyphs=glyphs)
        self._keys = tuple(keys)

    def lines(self, width: int, height: int) -> list[Line]:
        spans: list[Span] = []
        room = width
        for key, meaning in self._keys:
            taken = cells.width(key) + cells.width(meaning) + 3
            if taken > room:
                break
            room -= taken
            spans += [Span(f" {key}", "key"), Span(f" {meaning} ", "muted")]
        return [tuple(spans)]
