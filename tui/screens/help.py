"""The help: every key there is, from the bindings."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from tui.screens import keys
from tui.screens.keys import Key
from widgets import cells
from widgets.glyphs import BLOCK, Glyphs
from widgets.lines import EMPTY, Line, Span, cut
from widgets.pages import Pages
from widgets.palette import Palette

_KEY_CELLS = 22
_ADVICE = (
    "Hold Shift (Option on a Mac) to select with the mouse as the terminal does.",
    "In tmux, 'set -g set-clipboard on' lets y reach the clipboard; 'set -sg escape-time 10' hastens Esc.",
    "After a lost link, 'reset' brings a terminal back that still reports the mouse.",
)


class HelpPages(Pages):
    """The table of keys, by group, and a few words of advice."""

    def __init__(self, table: Sequence[Key], *, id: str | None = None, glyphs: Glyphs = BLOCK) -> None:
        super().__init__(id=id, glyphs=glyphs)
        self._table = tuple(table)

    def body(self, width: int) -> list[Line]:
        lines: list[Line] = [(Span(" Keys ", "title"), Span("  ? or Esc closes", "muted"))]
        for group, heading in keys.GROUPS.items():
            members = [key for key in self._table if key.group == group]
            if members:
                lines += [EMPTY, (Span(f" {heading}", "strong"),)]
                lines += [self._row(key, width) for key in members]
        rows = [row for advice in _ADVICE for row in cells.sentence_rows(advice, width - 4)]
        return [*lines, EMPTY, *((Span("  " + row, "muted"),) for row in rows)]

    def _row(self, key: Key, width: int) -> Line:
        names = keys.ascii_keys(key) if self.glyphs.name == "ascii" else key.keys
        text = cells.left("  " + " ".join(names), _KEY_CELLS, self.glyphs.ellipsis)
        return cut([Span(text, "key"), Span(" " + key.meaning)], width)


class HelpScreen(ModalScreen[None], inherit_bindings=False):
    """Lies over the main screen, which goes on beneath."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,f1,q", "dismiss", "Close the help", id="text.close", show=False),
    ]

    def __init__(self, table: Sequence[Key], palette: Palette, glyphs: Glyphs) -> None:
        super().__init__()
        self._pages = HelpPages(table, id="help", glyphs=glyphs)
        self._pages.palette = palette

    def compose(self) -> ComposeResult:
        yield self._pages
