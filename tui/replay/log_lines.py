"""The lines of a bare log with the moments at which they are played: by their own time stamps."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from itertools import islice
from pathlib import Path

from tui.engines.base import Engine
from tui.engines.clock import ClockKind, LogClock, iso_text
from tui.engines.marks import MarkKind
from tui.engines.phase import Phase
from tui.engines.reader import Heard, LineReader
from tui.engines.registry import EngineGuess
from tui.explain.numbered import Numbered
from tui.explain.sources import LogFile
from tui.watch.log_times import LineTimes

LINES_PER_S = 20.0
"""The pace at which a log without time stamps is played."""
BATCH_LINES = 500
_BATCH_S = 0.25
_LOOKED_AT_CHARACTERS = 32 << 20
_STAMPS = 64
_END_LINES = 1000
_EARLIER_S = 60.0
_HALF_A_YEAR_S = 183 * 86_400.0
_DAY_S = 86_400
_ENDS = frozenset((MarkKind.START, MarkKind.READY, MarkKind.FAULT, MarkKind.SHUTDOWN))
_MOVES = frozenset((MarkKind.BEGINS, MarkKind.WITHIN, MarkKind.ENDS, MarkKind.PROGRESS))
# Two of them: the second has a 29 February.
_NO_YEAR = (1970, 1972)


@dataclass(frozen=True, slots=True)
class Batch:
    """Lines that are played at ``t`` seconds. ``returns``: the places of those that the next draws over."""

    t: float
    lines: list[str]
    returns: list[int]


@dataclass(frozen=True, slots=True)
class Stamp:
    """A time stamp: on its log's clock, and as it is written, to the second ("" for one that counts up)."""

    seconds: float
    text: str


class TimedLog:
    """A log file as batches of lines in time. It is read anew each time. Raises LogFault.

    ``began`` is its first time stamp, None for a log without any. ``whole_s``: its stamps have no fractions.
    """

    def __init__(self, file: LogFile) -> None:
        self.file = file
        file.keep()
        self.engine = self._recognised()
        self.began: Stamp | None = None
        self.whole_s = True
        self._look_at_stamps()

    @property
    def title(self) -> str:
        """How the file is called in a sentence, without its directory."""
        return Path(self.file.name).name

    def _lines(self) -> Iterator[tuple[int, str]]:
        return iter(Numbered(self.file.chunks()))

    def _recognised(self) -> Engine:
        guess, looked_at = EngineGuess(), 0
        for _, line in self._lines():
            looked_at += len(line)
            if guess.read(line) is not None or looked_at > _LOOKED_AT_CHARACTERS:
                break
        return guess.best

    def _look_at_stamps(self) -> None:
        stamps = list(islice(_stamps(self.engine, (line for _, line in self._lines())), _STAMPS))
        self.began = stamps[0] if stamps else None
        self.whole_s = all(stamp.seconds.is_integer() for stamp in stamps)

    def ended(self) -> Stamp | None:
        """Return the last time stamp among its last lines, None where they have none."""
        last = deque((line for _, line in self._lines()), maxlen=_END_LINES)
        return next(iter(deque(_stamps(self.engine, last), maxlen=1)), None)

    def batches(self) -> Iterator[Batch]:
        """Iterate over the lines, those of one moment together. The first is played at 0 s."""
        reader = LineReader(self.engine)
        cutter = _Cutter()
        clock = _Played() if self.began is not None else _Paced()
        t, lines, returns = 0.0, list[str](), list[int]()
        before: int | None = None
        cut = False
        for number, line in self._lines():
            heard = reader.read(line)
            now_t = clock.read(heard, line)
            if number == before and lines:
                returns.append(len(lines) - 1)
            if lines and (cut or now_t > t or len(lines) >= BATCH_LINES):
                yield Batch(t, lines, returns)
                lines, returns = [], []
            t, before = now_t, number
            lines.append(line)
            cut = bool(heard.marks) and cutter.cuts(heard)
        if lines:
            yield Batch(t, lines, returns)


class _Cutter:
    """Says after which lines the state is looked at before the next: those that may have moved the load."""

    def __init__(self) -> None:
        self._phase: Phase | None = None

    def cuts(self, heard: Heard) -> bool:
        """Return whether a line may have moved the load."""
        found = False
        for mark in heard.marks:
            if mark.kind in _ENDS:
                found, self._phase = True, None
            elif mark.kind in _MOVES and mark.phase is not self._phase:
                found, self._phase = True, mark.phase
        return found


class _Paced:
    """Moments of lines without time stamps: a steady pace."""

    def __init__(self) -> None:
        self._count = 0

    def read(self, _heard: Heard, _line: str) -> float:
        """Return when the next line is played."""
        t = self._count / LINES_PER_S
        self._count += 1
        return t - t % _BATCH_S


class _Played:
    """Moments of lines by their time stamps. A server that is started anew with an earlier clock goes on."""

    def __init__(self) -> None:
        self._times = LineTimes()
        self._shift_s: float | None = None
        self._t = 0.0

    def read(self, heard: Heard, line: str) -> float:
        """Return when a line is played; it never goes back."""
        for mark in heard.marks:
            if mark.kind is MarkKind.START and heard.time is not None:
                self._begin_anew(heard.time)
        seconds = self._times.read(heard, line).seconds
        if seconds is not None:
            if self._shift_s is None:
                self._shift_s = self._t - seconds
            self._t = max(self._t, seconds + self._shift_s)
        return self._t

    def _begin_anew(self, text: str) -> None:
        latest_s = self._times.latest_s
        fresh = LogClock()
        seconds = fresh.read(text)
        if latest_s is None or seconds is None:
            return
        back_s = latest_s - seconds
        slack_s = 0.0 if fresh.kind is ClockKind.ELAPSED else _EARLIER_S
        new_year = fresh.kind is ClockKind.YEARLESS and back_s > _HALF_A_YEAR_S
        if fresh.kind is not self._times.clock.kind or (back_s > slack_s and not new_year):
            self._times = LineTimes()
            self._shift_s = None


def _stamps(engine: Engine, lines: "Iterator[str] | deque[str]") -> Iterator[Stamp]:
    reader, clock = LineReader(engine), LogClock()
    for line in lines:
        text = reader.read(line).time
        seconds = clock.read(text)
        if text is not None and seconds is not None:
            yield Stamp(seconds, iso_text(text) or "")


def wall_clock_s(stamp: Stamp, near_s: float | None = None) -> float | None:
    """Return the seconds that a wall clock counts from the year 1 to a stamp, None for one that counts up.

    ``near_s`` is such a time from elsewhere: a stamp without a year is of the year that is nearest to it.
    """
    day, _, of_day = stamp.text.partition("T")
    parts = [int(part) for part in day.split("-") if part]
    if len(parts) == 3:
        days = _ordinal(*parts)
    elif len(parts) == 2:
        days = _nearest(parts[0], parts[1], near_s)
    else:
        return None
    if days is None:
        return None
    hours, minutes, seconds = (int(part) for part in of_day.split(":"))
    return days * _DAY_S + hours * 3600 + minutes * 60 + seconds + stamp.seconds % 1.0


def _nearest(month: int, day: int, near_s: float | None) -> int | None:
    if near_s is None:
        return next((days for year in _NO_YEAR if (days := _ordinal(year, month, day)) is not None), None)
    near_days = int(near_s // _DAY_S)
    year = date.fromordinal(max(1, near_days)).year
    found = [_ordinal(each, month, day) for each in range(year - 1, year + 2)]
    return min(
        (days for days in found if days is not None), key=lambda days: abs(days - near_days), default=None
    )


def _ordinal(year: int, month: int, day: int) -> int | None:
    try:
        return date(year, month, day).toordinal()
    except ValueError:
        return None
