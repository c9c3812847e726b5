"""The title line of a pane: its number and name, then what it has to say about itself."""

from collections.abc import Iterable

from textual.widget import Widget

from widgets.lines import Line, Span, cut, spread


def title(pane: Widget, number: int, name: str, caption: str, width: int) -> Line:
    """Return the title, with a caption after it; the focused pane's is marked by its style."""
    return cut([*label(pane, number, name), Span(" " + caption if caption else "", "muted")], width)


def titled(pane: Widget, number: int, name: str, left: Iterable[Span], right: list[Span], width: int) -> Line:
    """Return the title with spans after it and spans at the right end."""
    return spread([*label(pane, number, name), *left], right, width)


def label(pane: Widget, number: int, name: str) -> list[Span]:
    """Return number and name; the pane that has the keyboard stands out also without colour."""
    role = "title focused" if pane.has_focus else "title"
    return [Span(f" {number} {name} ", role)]
