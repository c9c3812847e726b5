"""A line of the screen as plain data: spans of text, each with the role that the palette gives a style."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from widgets import cells


class Span(NamedTuple):
    """Text and its role: a name of the theme's ``roles`` table, or several separated by spaces."""

    text: str
    role: str = "text"


Line = tuple[Span, ...]

EMPTY: Line = ()


def text_of(line: Iterable[Span]) -> str:
    """Return the text of a line, for tests and for copying."""
    return "".join(span.text for span in line)


def width_of(line: Iterable[Span]) -> int:
    """Return how many cells a line takes."""
    return sum(cells.width(span.text) for span in line)


def spread(left: Iterable[Span], right: Sequence[Span], width: int, fill: str = "text") -> Line:
    """Return both parts with the gap between them filled, the left part cut where there is no room."""
    room = max(width - width_of(right), 0)
    kept = cut(left, room)
    return (*kept, Span(" " * (room - width_of(kept)), fill), *(right if room else cut(right, width)))


def cut(line: Iterable[Span], width: int) -> Line:
    """Return the spans that fit into so many cells, the last one with an ellipsis where it was cut."""
    kept: list[Span] = []
    for span in line:
        if width <= 0:
            break
        text = cells.clip(span.text, width)
        kept.append(Span(text, span.role))
        width -= cells.width(text)
    return tuple(kept)


def merged(line: Iterable[Span]) -> list[Span]:
    """Return the line with neighbours of one role joined: each change of style costs bytes on the link."""
    joined: list[Span] = []
    for text, role in line:
        if joined and joined[-1].role == role:
            joined[-1] = Span(joined[-1].text + text, role)
        elif text:
            joined.append(Span(text, role))
    return joined


def with_role(line: Iterable[Span], role: str) -> Line:
    """Return the line with one role for all of it."""
    return tuple(Span(span.text, role) for span in line)
