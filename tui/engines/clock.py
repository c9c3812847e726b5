"""A log's own clock: the time as a line writes it in, seconds out.

Forms: "2026-11-29 13:48:34" with "T", fractions and a zone where there are any (SGLang, TGI, most loggers),
"11-29 13:48:34" without a year (vLLM, SGLang's profiler), "11/29/2026-13:48:34" (TensorRT-LLM), and
"0.04.512.345", minutes.seconds.milliseconds.microseconds since the process began (llama.cpp).
"""

import re
from datetime import date
from enum import Enum

_DAY_S = 86_400
_OF_DAY = r"(?P<h>\d\d):(?P<m>\d\d):(?P<s>\d\d)(?:[.,](?P<part>\d{1,9}))?"
_DATED = re.compile(
    rf"(?P<year>\d{{4}})-(?P<month>\d\d)-(?P<day>\d\d)[ T]{_OF_DAY} ?(?P<zone>Z|[+-]\d\d:?\d\d)?"
)
_SLASHED = re.compile(rf"(?P<month>\d\d)/(?P<day>\d\d)/(?P<year>\d{{4}})[- ]{_OF_DAY}(?P<zone>Z)?")
_YEARLESS = re.compile(rf"(?P<month>\d\d)-(?P<day>\d\d) {_OF_DAY}")
_ELAPSED = re.compile(r"(\d{1,6})\.(\d\d)\.(\d{3})\.(\d{3})")
_BEFORE_MONTH = (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334)
_MONTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_HALF_A_YEAR = 183


class ClockKind(Enum):
    """What a log's times count from. Times of two kinds cannot be compared."""

    DATED = "dated"
    ZONED = "zoned"
    YEARLESS = "yearless"
    ELAPSED = "elapsed"


class LogClock:
    """Reads the times of one log. ``kind`` is that of the first time; others are not times of this clock.

    Its seconds count from an origin of its own and never go back: a line that is dated before an earlier one
    (another process, a clock that was set) counts as of the same moment. A clock without years goes on over
    New Year; that 29 February exists it learns from the log.
    """

    def __init__(self) -> None:
        self.kind: ClockKind | None = None
        self._text: str | None = None
        self._seconds: float | None = None
        self._latest: float | None = None
        self._leap = False
        self._years_days = 0
        self._day_before = 0

    def read(self, text: str | None) -> float | None:
        """Return the seconds of a time as it is written, None for what is no time of this clock."""
        if text != self._text:
            self._text = text
            self._seconds = None if text is None else self._forward(self._parse(text))
        return self._seconds

    def _forward(self, seconds: float | None) -> float | None:
        if seconds is None:
            return None
        if self._latest is None or seconds > self._latest:
            self._latest = seconds
        return self._latest

    def _parse(self, text: str) -> float | None:
        found = _DATED.fullmatch(text) or _SLASHED.fullmatch(text)
        if found is not None:
            return self._dated(found)
        found = _YEARLESS.fullmatch(text)
        if found is not None:
            return self._yearless(found)
        found = _ELAPSED.fullmatch(text)
        if found is None or not self._is(ClockKind.ELAPSED):
            return None
        minutes, seconds, millis, micros = map(int, found.groups())
        return minutes * 60 + seconds + millis / 1e3 + micros / 1e6

    def _dated(self, found: re.Match[str]) -> float | None:
        try:
            days = date(int(found["year"]), int(found["month"]), int(found["day"])).toordinal()
        except ValueError:
            return None
        zone = found["zone"]
        of_day = _of_day(found)
        if of_day is None or not self._is(ClockKind.ZONED if zone else ClockKind.DATED):
            return None
        return days * _DAY_S + of_day - _offset_s(zone)

    def _yearless(self, found: re.Match[str]) -> float | None:
        month, day = int(found["month"]), int(found["day"])
        of_day = _of_day(found)
        if not 1 <= month <= 12 or not 1 <= day <= _MONTHS[month - 1] or of_day is None:
            return None
        if not self._is(ClockKind.YEARLESS):
            return None
        self._leap = self._leap or (month, day) == (2, 29)
        place = _BEFORE_MONTH[month - 1] + day + (self._leap and month > 2)
        if place < self._day_before - _HALF_A_YEAR:
            self._years_days += 365 + self._leap
            self._leap = False
        elif place > self._day_before + _HALF_A_YEAR and self._years_days:
            # A late line of 31 December between those of 1 January.
            return (self._years_days - 365 - self._leap + place) * _DAY_S + of_day
        self._day_before = place
        return (self._years_days + place) * _DAY_S + of_day

    def _is(self, kind: ClockKind) -> bool:
        if self.kind is None:
            self.kind = kind
        return self.kind is kind


def _of_day(found: re.Match[str]) -> float | None:
    hours, minutes, seconds = int(found["h"]), int(found["m"]), int(found["s"])
    if hours > 23 or minutes > 59 or seconds > 60:
        return None
    return hours * 3600 + minutes * 60 + seconds + float("0." + (found["part"] or "0"))


def _offset_s(zone: str | None) -> int:
    """Return how far a zone is ahead of UTC."""
    if zone is None or zone == "Z":
        return 0
    seconds = int(zone[1:3]) * 3600 + int(zone[-2:]) * 60
    return -seconds if zone[0] == "-" else seconds


def iso_text(text: str) -> str | None:
    """Return a log's time as ISO 8601 to the second, as its clock showed it and without a zone.

    A time without a year stays without one ("11-29T13:48:34"). None for a clock that counts from a start.
    """
    found = _DATED.fullmatch(text) or _SLASHED.fullmatch(text)
    if found is not None:
        day = f"{found['year']}-{found['month']}-{found['day']}"
    else:
        found = _YEARLESS.fullmatch(text)
        if found is None:
            return None
        day = f"{found['month']}-{found['day']}"
    return f"{day}T{found['h']}:{found['m']}:{found['s']}"
