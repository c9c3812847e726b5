"""The base of all widgets here: it draws lines of plain spans and repaints only those that changed."""

from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from widgets import cells
from widgets.glyphs import BLOCK, Glyphs
from widgets.lines import EMPTY, Line
from widgets.palette import Palette


class LineWidget(Widget):
    """A widget whose content is a list of lines, made anew by ``lines`` and compared before it is painted."""

    ALLOW_SELECT: ClassVar[bool] = False

    def __init__(self, *, id: str | None = None, glyphs: Glyphs = BLOCK) -> None:
        super().__init__(id=id)
        self.glyphs = glyphs
        self._palette = Palette()
        self._drawn: list[Line] = []
        self._drawn_size = (-1, -1)
        self._styles_by_role: dict[str, Style] = {}
        self._placed = True

    def lines(self, width: int, height: int) -> list[Line]:
        """Return what there is to draw in so many cells and rows; needs no running app."""
        raise NotImplementedError

    @property
    def palette(self) -> Palette:
        """The styles of the roles; a new palette repaints the widget."""
        return self._palette

    @palette.setter
    def palette(self, palette: Palette) -> None:
        self._palette = palette
        self._styles_by_role.clear()
        self.refresh()

    @property
    def placed(self) -> bool:
        """Whether the widget has room on the screen; without any, nothing is made or painted."""
        return self._placed

    @placed.setter
    def placed(self, placed: bool) -> None:
        if placed != self._placed:
            self._placed = placed
            self._drawn_size = (-1, -1)

    def show(self) -> None:
        """Make the lines anew and repaint those that differ from what stands on the screen."""
        size = (self.size.width, self.size.height)
        if not self._placed or size != self._drawn_size:
            return
        old, self._drawn = self._drawn, self._fresh_lines()
        changed = [
            Region(0, y, size[0], 1)
            for y, (before, after) in enumerate(zip(old, self._drawn, strict=True))
            if before != after
        ]
        if changed:
            self.refresh(*changed)

    def _fresh_lines(self) -> list[Line]:
        width, height = self.size.width, self.size.height
        lines = self.lines(width, height)[:height]
        return lines + [EMPTY] * (height - len(lines))

    def render_line(self, y: int) -> Strip:
        size = (self.size.width, self.size.height)
        if size != self._drawn_size:
            self._drawn_size = size
            self._drawn = self._fresh_lines()
        return self._strip(self._drawn[y] if y < len(self._drawn) else EMPTY, size[0])

    def _strip(self, line: Line, width: int) -> Strip:
        segments = [Segment(span.text, self._style(span.role)) for span in line if span.text]
        length = sum(cells.width(span.text) for span in line)
        return Strip(segments, length).adjust_cell_length(width, self._style("text"))

    def _style(self, role: str) -> Style:
        style = self._styles_by_role.get(role)
        if style is None:
            style = self._styles_by_role[role] = self.rich_style + self._palette.style(role)
        return style

    def notify_style_update(self) -> None:
        self._styles_by_role.clear()
        super().notify_style_update()

    def watch_has_focus(self, has_focus: bool) -> None:
        super().watch_has_focus(has_focus)
        self.show()
