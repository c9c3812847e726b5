"""The container of the panes: it places them where ``arrange`` says."""

from textual.geometry import NULL_OFFSET, NULL_SPACING, Region, Size
from textual.layout import Layout, WidgetPlacement
from textual.widget import Widget

from tui.screens.arrange import Wants, arrange
from widgets.line_widget import LineWidget
from widgets.search_box import SearchBox


class PaneLayout(Layout):
    """Places children by their id; a child without room is left out and paints nothing."""

    name = "panes"

    def __init__(self) -> None:
        self.wants = Wants()

    def arrange(
        self, parent: Widget, children: list[Widget], size: Size, greedy: bool = True
    ) -> list[WidgetPlacement]:
        boxes = arrange(size.width, size.height, self.wants)
        if any(isinstance(child, SearchBox) for child in children):
            boxes["search"] = boxes.pop("status", (0, max(size.height - 1, 0), size.width, 1))
        placements: list[WidgetPlacement] = []
        for child in children:
            box = boxes.get(child.id or "")
            if isinstance(child, LineWidget):
                child.placed = box is not None
            if box is not None:
                placements.append(WidgetPlacement(Region(*box), NULL_OFFSET, NULL_SPACING, child))
        return placements


class Dashboard(Widget):
    """All panes of the main screen, header, status line and footer."""

    BLANK = True

    def __init__(self, *children: Widget, id: str | None = None) -> None:
        super().__init__(*children, id=id)
        self._panes = PaneLayout()

    @property
    def layout(self) -> Layout:
        """The layout of the panes, whatever the stylesheet says."""
        return self._panes

    @property
    def wants(self) -> Wants:
        """What decides over the room; new wants lay the screen out anew."""
        return self._panes.wants

    @wants.setter
    def wants(self, wants: Wants) -> None:
        if wants != self._panes.wants:
            self._panes.wants = wants
            # A container keeps its arrangement until one of its children asks for a new one.
            for child in self.children[:1]:
                child.refresh(layout=True)
