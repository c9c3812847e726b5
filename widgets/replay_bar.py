"""Where a replay stands: playing or paused, how fast, when, how long it is, and what comes next."""

from widgets import cells
from widgets.glyphs import BLOCK, Glyphs
from widgets.line_widget import LineWidget
from widgets.lines import Line, Span, cut, spread, width_of
from widgets.values import ReplayPanel

_BAR_LEAST = 8
_BAR_MOST = 40


class ReplayBar(LineWidget):
    """One line under the header, for what is not happening now."""

    def __init__(self, *, id: str | None = None, glyphs: Glyphs = BLOCK) -> None:
        super().__init__(id=id, glyphs=glyphs)
        self.panel: ReplayPanel | None = None

    def update_panel(self, panel: ReplayPanel | None) -> None:
        """Draw this from now on; None while nothing is replayed."""
        if panel != self.panel:
            self.panel = panel
            self.show()

    def lines(self, width: int, height: int) -> list[Line]:
        panel = self.panel
        if panel is None:
            return []
        left = [
            Span(f" {cells.plain(panel.caption)} ", "warning strong"),
            Span(f" {panel.state} ", "accent strong"),
            Span(f"{panel.now}", "strong"),
            Span(f" / {panel.length}" if panel.length else "", "muted"),
        ]
        right = [Span(f" {cells.plain(panel.following)} ", "muted")] if panel.following else []
        room = width - width_of(left) - width_of(right) - 2
        if panel.fraction is not None and room >= _BAR_LEAST:
            left += [Span("  "), *self._bar(panel.fraction, min(room, _BAR_MOST))]
        if width_of(left) + width_of(right) > width:
            return [cut(left, width)]
        return [spread(left, right, width)]

    def _bar(self, fraction: float, room: int) -> list[Span]:
        done = round(max(0.0, min(1.0, fraction)) * room)
        return [Span(self.glyphs.full * done, "accent"), Span(self.glyphs.track * (room - done), "muted")]
