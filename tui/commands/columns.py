"""A table for a terminal: columns that give way to its width, the least important ones left out first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from widgets.cells import clip, plain, width


@dataclass(frozen=True, slots=True)
class Columns:
    """How a table may shrink: what each column keeps (else it is whole), and which are left out in turn."""

    head: tuple[str, ...]
    least: Mapping[str, int]
    dropped: tuple[str, ...]
    right: frozenset[str] = frozenset()

    def lines(self, rows: Sequence[Sequence[str]], columns: int | None) -> list[str]:
        """Return the rows below their head, of at most so many cells. None: all of it, nothing is cut."""
        shown = [tuple(plain(cell) for cell in row) for row in rows]
        widths = {
            title: max(width(row[place]) for row in (self.head, *shown))
            for place, title in enumerate(self.head)
        }
        if columns is not None:
            widths = self._fitted(widths, columns)
        lines = [self._line(row, widths) for row in (self.head, *shown)]
        return lines if columns is None else [clip(line, columns) for line in lines]

    def _fitted(self, full: dict[str, int], columns: int) -> dict[str, int]:
        widths = dict(full)
        least = {title: min(room, self.least.get(title, room)) for title, room in full.items()}
        for title in self.dropped:
            if _total({each: least[each] for each in widths}) <= columns:
                break
            del widths[title]
        while _total(widths) > columns:
            spare = [title for title, room in widths.items() if room > least[title]]
            if not spare:
                break
            widths[max(spare, key=lambda title: widths[title] - least[title])] -= 1
        return widths

    def _line(self, row: Sequence[str], widths: Mapping[str, int]) -> str:
        cells = zip(self.head, row, strict=True)
        return " ".join(
            self._cell(title, cell, widths[title]) for title, cell in cells if title in widths
        ).rstrip()

    def _cell(self, title: str, cell: str, room: int) -> str:
        text = clip(cell, room)
        gap = " " * (room - width(text))
        return gap + text if title in self.right else text + gap


def _total(widths: Mapping[str, int]) -> int:
    return sum(widths.values()) + len(widths) - 1
