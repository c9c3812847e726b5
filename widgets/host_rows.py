"""Several hosts on one screen: a line of tabs, or a row for each where there is room.

The nodes of one load stand together, under a line of the load itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from widgets import cells
from widgets.glyphs import BLOCK, Glyphs
from widgets.host_names import names_within, short_names
from widgets.line_widget import LineWidget
from widgets.lines import Line, Span, cut, width_of
from widgets.values import HostRow, LoadRow, Mood

_HEADS: tuple[str, ...] = (
    "host",
    "load",
    "clock",
    "to ready",
    "GPU memory",
    "GPUs",
    "verdict",
    "link",
    "node",
)
_RIGHT = ("clock", "to ready", "GPU memory", "GPUs")
# What gives way first where there is little room; host, verdict and link stay.
_DROPPED = ("GPUs", "clock", "node", "GPU memory", "to ready", "load")
_GAP = "  "
_NAME_MOST = 24
_TAB_CELLS = 4
_INDENT = "  "
_LOAD_LEAST = 16
UNKNOWN = "-"


class HostRows(LineWidget):
    """All watched hosts, the one whose panes are on the screen marked."""

    def __init__(self, *, id: str | None = None, glyphs: Glyphs = BLOCK) -> None:
        super().__init__(id=id, glyphs=glyphs)
        self.rows: tuple[HostRow, ...] = ()

    def update_rows(self, rows: tuple[HostRow, ...]) -> None:
        """Draw these hosts from now on."""
        if rows != self.rows:
            self.rows = rows
            self.show()

    def lines(self, width: int, height: int) -> list[Line]:
        if not self.rows:
            return []
        if height > len(entries(self.rows)):
            shown = next((at for at, row in enumerate(self.rows) if row.shown), None)
            return table(self.rows, width, self.glyphs, shown)
        return [tabs(self.rows, width, self.glyphs)]


def entries(rows: Sequence[HostRow]) -> list[LoadRow | int]:
    """Return what stands in the list from top to bottom: the numbers of hosts, before its nodes each load."""
    found: list[LoadRow | int] = []
    for at, row in enumerate(rows):
        if row.joined is None:
            found.append(at)
        elif at == min(row.joined.members):
            found += [row.joined, *row.joined.members]
    return found


def tabs(rows: Sequence[HostRow], width: int, glyphs: Glyphs) -> Line:
    """Return one line: each host with the glyph of how it stands, as many around the shown one as fit."""
    names = short_names([row.name for row in rows], width - _TAB_CELLS * len(rows), glyphs.ellipsis)
    first, last = _window(rows, [cells.width(name) + _TAB_CELLS for name in names], width)
    line = [Span(f" +{first}", "muted")] if first else []
    for row, name in zip(rows[first:last], names[first:last], strict=True):
        beneath = "title " if row.shown else ""
        line += [
            Span(f" {glyphs.moods[row.mood]} ", beneath + row.mood.value),
            Span(f"{name} ", "title" if row.shown else "text"),
        ]
    line += [Span(f" +{len(rows) - last}", "muted")] if last < len(rows) else []
    return cut([*line, *_load_beside(rows, width - width_of(line), glyphs)], width)


def _load_beside(rows: Sequence[HostRow], room: int, glyphs: Glyphs) -> list[Span]:
    """Return where the load of the shown host stands, as far as there is room beside the tabs."""
    joined = next((row.joined for row in rows if row.shown), None)
    if joined is None or room < _LOAD_LEAST:
        return []
    texts, line = [joined.name, joined.load, joined.left], list[Span]()
    for text in filter(None, texts):
        more = [*line, Span(f" {glyphs.dot} ", "muted"), Span(text, "muted")]
        if width_of(more) > room:
            break
        line = more
    return line


def _window(rows: Sequence[HostRow], sizes: list[int], width: int) -> tuple[int, int]:
    """Return which tabs fit, the shown one among them, with room for the counts of the others."""
    if sum(sizes) <= width:
        return 0, len(sizes)
    room = width - 2 * _TAB_CELLS
    first = last = next((at for at, row in enumerate(rows) if row.shown), 0)
    used = sizes[first]
    last += 1
    while True:
        if last < len(sizes) and used + sizes[last] <= room:
            used, last = used + sizes[last], last + 1
        elif first > 0 and used + sizes[first - 1] <= room:
            first, used = first - 1, used + sizes[first - 1]
        else:
            return first, last


def table(rows: Sequence[HostRow], width: int, glyphs: Glyphs, marked: int | None = None) -> list[Line]:
    """Return the heads and a line for each entry, columns left out where they do not fit."""
    names, sizes = _columns(rows, width)
    shown = names_within([row.name for row in rows], sizes[0], glyphs.ellipsis)
    rows = [replace(row, name=name) for row, name in zip(rows, shown, strict=True)]
    head = [Span("  ")]
    for name, size in zip(names, sizes, strict=True):
        head.append(Span(_GAP + _placed(name, name, size, glyphs), "muted"))
    lines = [
        _load(entry, width, glyphs)
        if isinstance(entry, LoadRow)
        else _row(rows[entry], names, sizes, glyphs, marked=entry == marked)
        for entry in entries(rows)
    ]
    return [cut(line, width) for line in (head, *lines)]


def _load(load: LoadRow, width: int, glyphs: Glyphs) -> Line:
    """Return the line of a load over several hosts."""
    mood = load.mood.value
    line = [Span(f" {glyphs.moods[load.mood]}", mood), Span(f"{_GAP}{load.name}", "strong")]
    for text, role in (
        (load.load, "text"),
        (load.left, "text"),
        (load.verdict, mood),
        (load.sentence, "text"),
    ):
        if text:
            line += [Span(f" {glyphs.dot} ", "muted"), Span(cells.plain(text), role)]
    return cut(line, width)


def _columns(rows: Sequence[HostRow], width: int) -> tuple[list[str], list[int]]:
    names = [name for name in _HEADS if any(_text(row, name) for row in rows) or name in ("host", "link")]
    sizes = {name: max(len(name), *(cells.width(_text(row, name)) for row in rows)) for name in names}
    whole, sizes["host"] = sizes["host"], min(sizes["host"], max(_NAME_MOST, width // 4))
    for name in _DROPPED:
        if _taken(names, sizes) <= width:
            break
        if name in names:
            names.remove(name)
    sizes["host"] = min(whole, sizes["host"] + max(width - _taken(names, sizes), 0))
    return names, [sizes[name] for name in names]


def _taken(names: Sequence[str], sizes: Mapping[str, int]) -> int:
    """Return how many cells the marks and these columns take."""
    return 2 + sum(len(_GAP) + sizes[each] for each in names)


def _text(row: HostRow, column: str) -> str:
    name = row.name if row.joined is None else f"{_INDENT}{row.name}"
    texts = (
        name,
        row.load,
        row.clock,
        row.left,
        row.memory,
        row.utilisation,
        row.verdict,
        row.link,
        row.node,
    )
    return dict(zip(_HEADS, texts, strict=True))[column]


def _row(row: HostRow, names: list[str], sizes: list[int], glyphs: Glyphs, *, marked: bool) -> Line:
    beneath = "title " if marked else ""
    spans = [Span(f" {glyphs.moods[row.mood]}", beneath + row.mood.value)]
    moods = {"load": row.load_mood, "verdict": row.verdict_mood, "link": row.link_mood}
    for name, size in zip(names, sizes, strict=True):
        text = _text(row, name)
        mood = moods.get(name, Mood.IDLE)
        role = "strong" if name == "host" else "muted" if not text or mood is Mood.IDLE else mood.value
        spans.append(Span(_GAP + _placed(name, text or UNKNOWN, size, glyphs), beneath + role))
    spans.append(Span(" ", beneath.strip() or "text"))
    return cut(spans, width_of(spans))


def _placed(column: str, text: str, size: int, glyphs: Glyphs) -> str:
    place = cells.right if column in _RIGHT else cells.left
    return place(text, size, glyphs.ellipsis)
