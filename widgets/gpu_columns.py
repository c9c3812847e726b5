"""Which columns a row of figures about a GPU has at a given width, and one row of them."""

from dataclasses import dataclass
from functools import lru_cache

from widgets import cells, chart
from widgets.glyphs import Glyphs
from widgets.lines import Line, Span, with_role
from widgets.values import GpuRow, Mood

MIB_PER_GIB = 1024
UNKNOWN = "n/a"
INDEX_CELLS = 5
# Cells of each fixed column, the first to be left out on a narrow screen last.
_FIXED = {"memory": 11, "util": 4, "slope": 6, "power": 7, "temperature": 3}
_HEADS = {"memory": "memory GiB", "util": "util", "slope": "GiB/s", "power": "power W", "temperature": "C"}
_ORDER = ("memory", "slope", "util", "history", "power", "temperature")
_GAP = 2
_BAR_LEAST = 8
_HISTORY_LEAST = 6


@dataclass(frozen=True, slots=True)
class Columns:
    """Cells of the bar and of each column that there is room for, in the order drawn."""

    bar: int
    widths: tuple[tuple[str, int], ...]


@lru_cache(maxsize=16)
def columns(width: int) -> Columns:
    """Return the columns for so many cells; what does not fit is left out, power and temperature first."""
    fixed = dict(_FIXED)
    room = width - INDEX_CELLS - sum(fixed.values()) - _GAP * len(fixed)
    while fixed and room < _BAR_LEAST:
        room += fixed.popitem()[1] + _GAP
    history = max(room - _GAP, 0) * 2 // 5
    if history >= _HISTORY_LEAST:
        fixed["history"] = history
        room -= history + _GAP
    return Columns(max(room, 0), tuple((name, fixed[name]) for name in _ORDER if name in fixed))


def head(title: Line, width: int, glyphs: Glyphs) -> Line:
    """Return the heads over the columns, with the pane's title over index and bar."""
    layout = columns(width)
    spans: list[Span] = [*title]
    for name, size in layout.widths:
        text = _HEADS.get(name, "")
        if name == "temperature":
            text = glyphs.degree + text
        spans.append(Span(" " * _GAP + cells.right(text, size, glyphs.ellipsis), "muted"))
    return tuple(spans)


def title_cells(width: int) -> int:
    """Return how many cells the title has before the heads begin."""
    return INDEX_CELLS + columns(width).bar


def row_line(row: GpuRow, width: int, glyphs: Glyphs) -> Line:
    """Return the line of one GPU; a stale one is dim, a note stands in place of the figures."""
    mark = Span("  ") if row.mood is Mood.IDLE else Span(f"{glyphs.moods[row.mood]} ", row.mood.value)
    index = Span(f"{row.index:>2} ")
    if row.note:
        name = f"{row.name}: " if row.name else ""
        note = cells.clip(name + row.note, width - INDEX_CELLS, glyphs.ellipsis)
        return (mark, index, Span(note, row.mood.value))
    line = (mark, index, *_figures(row, columns(width), glyphs))
    return with_role(line, "stale") if row.stale else line


def _figures(row: GpuRow, layout: Columns, glyphs: Glyphs) -> list[Span]:
    used, total = row.memory_used_mib, row.memory_total_mib
    if used is None or not total:
        spans = [Span(cells.left("memory " + UNKNOWN, layout.bar), "muted")]
    else:
        full, track = chart.bar(used / total, layout.bar, glyphs)
        spans = [Span(full, "bar"), Span(track, "track")]
    for name, size in layout.widths:
        text, role = _cell(row, name, size, glyphs)
        spans.append(Span(" " * _GAP + text, role))
    return spans


def _cell(row: GpuRow, name: str, size: int, glyphs: Glyphs) -> tuple[str, str]:
    if name == "history":
        return chart.history(row.history, size, glyphs), "history"
    text = _TEXTS[name](row)
    return text.rjust(size)[:size], "muted" if text == UNKNOWN else "text"


def _memory(row: GpuRow) -> str:
    if row.memory_used_mib is None and row.memory_total_mib is None:
        return UNKNOWN
    return f"{_gib(row.memory_used_mib)}/{_gib(row.memory_total_mib)}"


def _gib(mib: float | None) -> str:
    return UNKNOWN if mib is None else f"{mib / MIB_PER_GIB:.1f}"


def _slope(row: GpuRow) -> str:
    slope = row.slope_gib_s
    if slope is None:
        return UNKNOWN
    return "0.00" if abs(slope) < 0.005 else f"{slope:+.2f}"


def _power(row: GpuRow) -> str:
    if row.power_w is None and row.power_limit_w is None:
        return UNKNOWN
    return f"{_whole(row.power_w)}/{_whole(row.power_limit_w)}"


def _whole(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.0f}"


def _util(row: GpuRow) -> str:
    return UNKNOWN if row.utilisation_pct is None else f"{row.utilisation_pct:.0f}%"


def _temperature(row: GpuRow) -> str:
    return _whole(row.temperature_c)


_TEXTS = {
    "memory": _memory,
    "slope": _slope,
    "util": _util,
    "power": _power,
    "temperature": _temperature,
}
