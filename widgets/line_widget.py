"""The base of all widgets here: it draws lines of plain spans and repaints only those that changed."""

from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.filter import ANSIToTruecolor
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from widgets.glyphs import BLOCK, Glyphs
from widgets.lines import EMPTY, Line, merged, width_of, with_role
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
        self._strips: list[Strip | None] = []
        self._styles_by_role: dict[str, Style] = {}
        self._placed = True
        self._stale = False

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
        self._forget_styles()
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

    @property
    def stale(self) -> bool:
        """Whether what it shows is old: then all but its title is dim."""
        return self._stale

    @stale.setter
    def stale(self, stale: bool) -> None:
        if stale != self._stale:
            self._stale = stale
            self.show()

    def show(self) -> None:
        """Make the lines anew and repaint those that differ from what stands on the screen."""
        if not self._placed or self._size_now() != self._drawn_size:
            return
        old, self._drawn = self._drawn, self._fresh_lines()
        changed = [y for y, before in enumerate(old) if before != self._drawn[y]]
        for y in changed:
            self._strips[y] = None
        if changed:
            width = self._drawn_size[0]
            self.refresh(*(Region(0, y, width, 1) for y in changed))

    def _size_now(self) -> tuple[int, int]:
        size = self.size
        return size.width, size.height

    def _fresh_lines(self) -> list[Line]:
        width, height = self._drawn_size
        lines = self.lines(width, height)[:height]
        if self._stale:
            lines[1:] = [with_role(line, "stale") for line in lines[1:]]
        return lines + [EMPTY] * (height - len(lines))

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the strips of a region, each made once: these widgets have neither border nor padding."""
        self._take_size()
        strips = [self._strip_at(y) for y in crop.line_range]
        first, last = crop.column_span
        return (
            strips
            if (first, last) == (0, self._drawn_size[0])
            else [each.crop(first, last) for each in strips]
        )

    def render_line(self, y: int) -> Strip:
        self._take_size()
        return self._strip_at(y)

    def _take_size(self) -> None:
        size = self._size_now()
        if size != self._drawn_size:
            self._drawn_size = size
            self._drawn = self._fresh_lines()
            self._strips = [None] * len(self._drawn)

    def _strip_at(self, y: int) -> Strip:
        if y >= len(self._drawn):
            return Strip.blank(self._drawn_size[0], self._style("text"))
        strip = self._strips[y]
        if strip is None:
            strip = self._strips[y] = self._strip(self._drawn[y])
        return strip

    def _strip(self, line: Line) -> Strip:
        spans = merged(line)
        segments = [Segment(text, self._style(role)) for text, role in spans]
        strip = Strip(segments, width_of(spans)).adjust_cell_length(self._drawn_size[0], self._style("text"))
        for line_filter in self.get_line_filters():
            # The palette of a theme in RGB holds no ANSI colour that had to be translated.
            if not isinstance(line_filter, ANSIToTruecolor):
                strip = strip.apply_filter(line_filter, self.background_colors[1])
        return strip

    def _style(self, role: str) -> Style:
        style = self._styles_by_role.get(role)
        if style is None:
            style = self._styles_by_role[role] = self.rich_style + self._palette.style(role)
        return style

    def _forget_styles(self) -> None:
        self._styles_by_role.clear()
        self._strips = [None] * len(self._drawn)

    def notify_style_update(self) -> None:
        self._forget_styles()
        super().notify_style_update()

    def watch_has_focus(self, has_focus: bool) -> None:
        super().watch_has_focus(has_focus)
        self.show()
