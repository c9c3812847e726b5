"""Text measured in terminal cells: cropping, padding and wrapping that is right for wide characters.

Long text is cropped before it is measured, so that a line of 64 KB costs no more than what is seen of it.
"""

import textwrap
from functools import lru_cache

from rich.cells import get_character_cell_size

TAB_CELLS = 8
# Joiners and variation selectors change widths differently in each terminal; without them all agree.
_SELECTORS = {0x200D: None, 0xFE0E: None, 0xFE0F: None}


def plain(text: str) -> str:
    """Return text of which each character has one known width: no tab, no control, no joiner."""
    if text.isascii() and text.isprintable():
        return text
    text = text.translate(_SELECTORS)
    if "\t" in text:
        text = _without_tabs(text)
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else "?" for each in text)


def _without_tabs(text: str) -> str:
    pieces: list[str] = []
    column = 0
    for piece in text.split("\t"):
        if pieces:
            gap = TAB_CELLS - column % TAB_CELLS
            pieces.append(" " * gap)
            column += gap
        pieces.append(piece)
        column += width(piece)
    return "".join(pieces)


def width(text: str) -> int:
    """Return how many cells the text takes."""
    if text.isascii():
        return len(text)
    return sum(map(get_character_cell_size, text))


def index_at(text: str, cells: int, start: int = 0) -> int:
    """Return the index after the last character that fits whole into so many cells, counted from start."""
    if text.isascii():
        return min(len(text), start + cells)
    for index in range(start, len(text)):
        cells -= get_character_cell_size(text[index])
        if cells < 0:
            return index
    return len(text)


def clip(text: str, cells: int, ellipsis: str = "…") -> str:
    """Return the text cut to so many cells; an ellipsis of one cell says that something is missing."""
    text = plain(text[: 4 * max(cells, 0) + 1])
    end = index_at(text, cells)
    if end == len(text):
        return text
    return text[: index_at(text, cells - 1)] + ellipsis if cells > 0 else ""


def left(text: str, cells: int, ellipsis: str = "…") -> str:
    """Return the text at the left of exactly so many cells."""
    text = clip(text, cells, ellipsis)
    return text + " " * (cells - width(text))


def right(text: str, cells: int, ellipsis: str = "…") -> str:
    """Return the text at the right of exactly so many cells."""
    text = clip(text, cells, ellipsis)
    return " " * (cells - width(text)) + text


@lru_cache(maxsize=256)
def row_starts(text: str, cells: int) -> tuple[int, ...]:
    """Return the index of the first character of each row when the text is wrapped at so many cells."""
    if text.isascii() or cells < 2:
        return tuple(range(0, max(len(text), 1), max(cells, 1)))
    starts = [0]
    while (end := index_at(text, cells, starts[-1])) < len(text):
        starts.append(end)
    return tuple(starts)


def sentence_rows(text: str, cells: int) -> list[str]:
    """Return a sentence wrapped between words."""
    return textwrap.wrap(plain(text), max(cells, 1))
