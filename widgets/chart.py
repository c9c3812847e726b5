"""A bar and a history of fixed range, as text."""

from collections.abc import Sequence

from widgets.glyphs import Glyphs

# Dots of a braille cell, from the bottom up: left column, right column.
_LEFT = (0x00, 0x40, 0x44, 0x46, 0x47)
_RIGHT = (0x00, 0x80, 0xA0, 0xB0, 0xB8)


def bar(fraction: float, cells: int, glyphs: Glyphs) -> tuple[str, str]:
    """Return the filled part of a bar and its track, together so many cells long."""
    steps = len(glyphs.parts) + 1
    filled = round(min(max(fraction, 0.0), 1.0) * cells * steps)
    whole, part = divmod(filled, steps)
    text = glyphs.full * whole + (glyphs.parts[part - 1] if part else "")
    return text, glyphs.track * (cells - len(text))


def history(values: Sequence[float | None], cells: int, glyphs: Glyphs) -> str:
    """Return the newest values of 0 to 100 as heights, newest at the right, blank where there is none."""
    if glyphs.braille:
        return _braille(values, cells)
    newest = values[-cells:] if cells > 0 else ()
    text = "".join(" " if value is None else glyphs.levels[_level(value, 7)] for value in newest)
    return text.rjust(cells)


def _level(value: float, top: int) -> int:
    return round(min(max(value, 0.0), 100.0) / 100.0 * top)


def _braille(values: Sequence[float | None], cells: int) -> str:
    newest = list(values[-2 * cells :]) if cells > 0 else []
    newest = [None] * (2 * cells - len(newest)) + newest
    return "".join(_pair(newest[2 * i], newest[2 * i + 1]) for i in range(cells))


def _pair(first: float | None, second: float | None) -> str:
    if first is None and second is None:
        return " "
    dots = 0 if first is None else _LEFT[max(1, _level(first, 4))]
    return chr(0x2800 + dots + (0 if second is None else _RIGHT[max(1, _level(second, 4))]))
