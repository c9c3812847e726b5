"""Lines that can be scrolled: the help, and the notes of a watch."""

from typing import ClassVar

from textual.binding import Binding, BindingType

from widgets.glyphs import BLOCK, Glyphs
from widgets.line_widget import LineWidget
from widgets.lines import Line


class Pages(LineWidget, can_focus=True):
    """A text of any length, moved through by line and by page."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "move(1)", "Next line", id="text.down", show=False),
        Binding("up,k", "move(-1)", "Previous line", id="text.up", show=False),
        Binding("pagedown,ctrl+d", "page(1)", "Next page", id="text.page_down", show=False),
        Binding("pageup,ctrl+u", "page(-1)", "Previous page", id="text.page_up", show=False),
        Binding("home,g", "move(-100000)", "First line", id="text.home", show=False),
        Binding("end,G", "move(100000)", "Last line", id="text.end", show=False),
    ]

    def __init__(self, *, id: str | None = None, glyphs: Glyphs = BLOCK) -> None:
        super().__init__(id=id, glyphs=glyphs)
        self._top = 0

    def body(self, width: int) -> list[Line]:
        """Return all lines of the text."""
        raise NotImplementedError

    def lines(self, width: int, height: int) -> list[Line]:
        body = self.body(width)
        self._top = max(0, min(self._top, len(body) - height))
        return body[self._top : self._top + height]

    def action_move(self, lines: int) -> None:
        """Move by lines, as far as there is text."""
        self._top += lines
        self.show()

    def action_page(self, pages: int) -> None:
        """Move by pages."""
        self.action_move(pages * max(self.size.height - 1, 1))
