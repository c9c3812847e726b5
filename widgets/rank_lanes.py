"""The ranks of a load, one row each: where it stands, what it received, what it waits for."""

from collections.abc import Sequence

from widgets import cells
from widgets.glyphs import BLOCK, Glyphs
from widgets.lines import Line, Span, cut, width_of
from widgets.pages import Pages
from widgets.titles import title
from widgets.values import LaneRow, Mood

_HEADS: tuple[str, ...] = ("rank", "pid", "GPU", "phase", "received", "memory", "state", "waits")
_RIGHT = ("pid", "received", "memory")
# What gives way first where there is little room; who and what it waits for stay.
_DROPPED = ("memory", "state", "phase", "GPU", "received", "pid")
_GAP = "  "
UNKNOWN = "-"


class RankLanes(Pages):
    """All ranks, the odd one on top; it scrolls where there are more than rows."""

    def __init__(self, *, id: str | None = None, glyphs: Glyphs = BLOCK) -> None:
        super().__init__(id=id, glyphs=glyphs)
        self.rows: tuple[LaneRow, ...] = ()

    def update_rows(self, rows: tuple[LaneRow, ...]) -> None:
        """Draw these ranks from now on."""
        if rows != self.rows:
            self.rows = rows
            self.show()

    def body(self, width: int) -> list[Line]:
        return table(self.rows, width, self.glyphs)[1:]

    def lines(self, width: int, height: int) -> list[Line]:
        label = title(self, 6, "Ranks", "" if self.rows else "no ranks are known", width)
        if not self.rows:
            return [label]
        return [_head(label, self.rows, width, self.glyphs), *super().lines(width, height - 1)]


def table(rows: Sequence[LaneRow], width: int, glyphs: Glyphs) -> list[Line]:
    """Return the heads and a line for each rank, columns left out where they do not fit."""
    names, sizes = _columns(rows, width)
    head = [Span("  ")]
    for name, size in zip(names, sizes, strict=True):
        head.append(Span(_GAP + _placed(name, name, size, glyphs), "muted"))
    return [cut(head, width), *(_row(row, names, sizes, width, glyphs) for row in rows)]


def _head(label: Line, rows: Sequence[LaneRow], width: int, glyphs: Glyphs) -> Line:
    """Return the title with the heads behind it, as far as they do not lie under it."""
    names, sizes = _columns(rows, width)
    at = 2
    spans = list(label)
    for name, size in zip(names, sizes, strict=True):
        text = _placed(name, name, size, glyphs)
        start = at + len(_GAP) + len(text) - len(text.lstrip())
        if start > width_of(spans):
            spans += [Span(" " * (start - width_of(spans))), Span(text.strip(), "muted")]
        at += len(_GAP) + size
    return cut(spans, width)


def _columns(rows: Sequence[LaneRow], width: int) -> tuple[list[str], list[int]]:
    names = list(_HEADS)
    sizes = {name: max(len(name), *(cells.width(_text(row, name)) for row in rows)) for name in names}
    for name in _DROPPED:
        if 2 + sum(len(_GAP) + sizes[each] for each in names) <= width:
            break
        names.remove(name)
    return names, [sizes[name] for name in names]


def _text(row: LaneRow, column: str) -> str:
    texts = dict(
        zip(
            _HEADS,
            (row.name, row.pid, row.gpus, row.phase, row.received, row.memory, row.state, row.wait),
            strict=True,
        )
    )
    return texts[column] or UNKNOWN


def _row(row: LaneRow, names: list[str], sizes: list[int], width: int, glyphs: Glyphs) -> Line:
    role = "text" if row.mood is Mood.IDLE else f"{row.mood.value} strong"
    spans = [Span(f" {glyphs.moods[row.mood]}", row.mood.value)]
    for name, size in zip(names, sizes, strict=True):
        text = _text(row, name)
        quiet = name not in ("rank", "waits") or text == UNKNOWN
        spans.append(Span(_GAP + _placed(name, text, size, glyphs), "muted" if quiet else role))
    return cut(spans, width)


def _placed(column: str, text: str, size: int, glyphs: Glyphs) -> str:
    place = cells.right if column in _RIGHT else cells.left
    return place(text, size, glyphs.ellipsis)
