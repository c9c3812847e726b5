"""Reads what ``nvidia-smi --query-gpu=timestamp,... --format=csv -l 1`` prints: a table of GPUs over time.

Columns in any order, any subset, with or without units. Its time stamps are the host's local wall clock and
name no zone: seconds of such a clock here count from the year 1, so that two of them can be compared.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import date
from itertools import pairwise
from pathlib import Path

from tui.events import GpuDetails, GpuDriver, GpuFact, GpuFacts, Gpus
from tui.journal.reader import RecordingFault
from tui.transport.smi_row import DETAILS, NAMES, Row, row_detail, row_fact, row_sample

SmiEvent = GpuDriver | GpuFacts | Gpus | GpuDetails
GPUS = 256
"""A table that names more GPUs than that is none."""
COLUMNS = 512
CELL = 256
_DAY_S = 86_400
_TIME = re.compile(r"(\d{4})/(\d\d)/(\d\d) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?")
_UNIT = re.compile(r"\s*\[[^\]]*\]\s*\Z")
# Rows of one round are printed within milliseconds of each other.
_LEAST_GAP_S = 0.02
_SAMPLED_ROWS = 1000
_ROUND_ROWS = 33

_KNOWN = frozenset(name for names in NAMES.values() for name in names)
_DIGITS = re.compile(r"[-+]?\d{1,15}(?:\.\d{1,9})?")


class SmiTable:
    """A table. ``lines`` gives its lines, cleaned, from the first one each time it is called.

    ``began_s`` and ``ended_s`` are the times of the first and the last row, ``skipped`` counts lines that are
    no rows. Raises RecordingFault for what is no such table.
    """

    def __init__(self, name: str, lines: Callable[[], Iterable[str]]) -> None:
        self.name = name
        self._lines = lines
        rows = _Rows(name, lines())
        times: list[float] = []
        last_s: float | None = None
        for row in rows:
            last_s = row.wall_s
            if len(times) < _SAMPLED_ROWS:
                times.append(row.wall_s)
        if last_s is None:
            raise RecordingFault(f"{name} holds no row of nvidia-smi's table: let nvidia-smi run longer")
        self.began_s = times[0]
        self.ended_s = last_s
        self.skipped = rows.skipped
        self._apart_s = _apart_s(times)

    @property
    def title(self) -> str:
        """How it is called in a sentence, without its directory."""
        return Path(self.name).name

    def events(self) -> Iterator[SmiEvent]:
        """Iterate over what it tells, in order. All clocks of the events are seconds of its wall clock."""
        book = _Book()
        for group in _rounds(_Rows(self.name, self._lines()), self._apart_s):
            yield from book.events(group)


class _Rows:
    """The rows among the lines, in order; a line with the columns' names may come again."""

    def __init__(self, name: str, lines: Iterable[str]) -> None:
        self.name = name
        self.skipped = 0
        self._lines = lines
        self._columns: dict[str, int] = {}
        self._width = 0

    def __iter__(self) -> Iterator[Row]:
        latest_s = 0.0
        broken = False
        for line in self._lines:
            cells = _cells(line)
            if not any(cells):
                continue
            if _is_header(cells):
                self._take_header(cells)
                continue
            if not self._columns:
                self._refuse_headless(line, cells)
                self.skipped += 1
                continue
            # The last line may have been cut: only one with lines behind it was never whole.
            self.skipped += broken
            row = self._row(cells, latest_s)
            broken = row is None
            if row is not None:
                latest_s = row.wall_s
                yield row
        if not self._columns:
            raise RecordingFault(
                f"{self.name} is no table of nvidia-smi: record one with "
                "nvidia-smi --query-gpu=timestamp,index,memory.used,utilization.gpu --format=csv -l 1"
            )

    def _take_header(self, cells: list[str]) -> None:
        names = [_UNIT.sub("", cell).strip() for cell in cells]
        self._width = len(names)
        self._columns = {
            field: names.index(found)
            for field, known in NAMES.items()
            if (found := next((name for name in known if name in names), None)) is not None
        }
        if "time" not in self._columns:
            raise RecordingFault(
                f"{self.name} has no time stamps: record it with timestamp among the columns "
                f"(--query-gpu=timestamp,{','.join(names[:3])})"
            )

    def _refuse_headless(self, line: str, cells: list[str]) -> None:
        if len(cells) > 1 and _is_row(cells):
            raise RecordingFault(
                f"{self.name} has no line with the columns' names above {line[:60]!r}: record it with "
                "--format=csv, without noheader"
            )

    def _row(self, cells: list[str], latest_s: float) -> Row | None:
        if len(cells) != self._width:
            return None
        wall_s = _seconds(cells[self._columns["time"]])
        if wall_s is None:
            return None
        found = {field: cells[place] for field, place in self._columns.items()}
        gpu = next((found[field] for field in ("index", "uuid", "bus_id") if found.get(field)), "")
        # A clock that is set back must not turn time around.
        return Row(max(wall_s, latest_s), gpu, found)


def _cells(line: str) -> list[str]:
    return [cell.strip()[:CELL] for cell in line[: COLUMNS * CELL].split(",", COLUMNS)]


def _is_header(cells: list[str]) -> bool:
    return not _is_row(cells) and any(_UNIT.sub("", cell) in _KNOWN for cell in cells)


def _is_row(cells: list[str]) -> bool:
    return any(_TIME.fullmatch(cell) or _DIGITS.match(cell) for cell in cells)


def _seconds(text: str) -> float | None:
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    year, month, day, hours, minutes, seconds = (int(found[place]) for place in range(1, 7))
    try:
        days = date(year, month, day).toordinal()
    except ValueError:
        return None
    if hours > 23 or minutes > 59 or seconds > 60:
        return None
    return days * _DAY_S + hours * 3600 + minutes * 60 + seconds + float(f"0.{found[7] or 0}")


# Which rows belong together.


def _rounds(rows: Iterable[Row], apart_s: float) -> Iterator[list[tuple[str, Row]]]:
    """Iterate over the rounds of reading all GPUs: each row with its GPU, or its place in the round."""
    group: list[tuple[str, Row]] = []
    seen: set[str] = set()
    for row in rows:
        pause = bool(group) and row.wall_s - group[-1][1].wall_s >= apart_s
        if group and (pause or (row.gpu in seen and row.gpu)):
            yield group
            group, seen = [], set()
        group.append((row.gpu or str(len(group)), row))
        seen.add(row.gpu)
    if group:
        yield group


def _apart_s(times: list[float]) -> float:
    """Return how far apart rounds are at least: half of the usual longest pause in a few dozen rows."""
    pauses = [later - earlier for earlier, later in pairwise(times)]
    parts = [max(pauses[start : start + _ROUND_ROWS]) for start in range(0, len(pauses), _ROUND_ROWS)]
    usual_s = sorted(parts)[len(parts) // 2] if parts else 0.0
    return max(_LEAST_GAP_S, usual_s / 2)


# What they tell.


class _Book:
    """The GPUs of a table so far. Without an index among the columns they count as they first appear."""

    def __init__(self) -> None:
        self._indexes: dict[str, int] = {}
        self._facts: dict[int, GpuFact] = {}
        self._driver: str | None = None

    def events(self, group: list[tuple[str, Row]]) -> Iterator[SmiEvent]:
        """Return what one round tells, the facts first where there are new ones."""
        wall_s = group[0][1].wall_s
        rows = [(index, row) for gpu, row in group if (index := self._index(gpu, row)) is not None]
        version = next((row.text("driver") for _, row in rows if row.text("driver")), None)
        if version is not None and version != self._driver:
            self._driver = version
            yield GpuDriver(
                mono_s=wall_s, wall_s=wall_s, client_s=wall_s, state="ok", sentence="", version=version
            )
        known = dict(self._facts)
        self._facts.update({index: row_fact(index, row, known.get(index)) for index, row in rows})
        if self._facts != known:
            facts = [self._facts[index] for index in sorted(self._facts)]
            yield GpuFacts(mono_s=wall_s, wall_s=wall_s, client_s=wall_s, gpus=facts)
        yield Gpus(
            mono_s=wall_s,
            wall_s=wall_s,
            client_s=wall_s,
            gpus=[row_sample(index, row) for index, row in rows],
            cost_ms=0.0,
        )
        if rows and any(field in rows[0][1].cells for field in DETAILS):
            details = [row_detail(index, row) for index, row in rows]
            yield GpuDetails(mono_s=wall_s, wall_s=wall_s, client_s=wall_s, gpus=details, cost_ms=0.0)

    def _index(self, gpu: str, row: Row) -> int | None:
        index = row.whole("index") if "index" in row.cells else self._indexes.get(gpu)
        if index is None and "index" not in row.cells and len(self._indexes) < GPUS:
            index = self._indexes.setdefault(gpu, len(self._indexes))
        return index if index is not None and 0 <= index < GPUS else None
