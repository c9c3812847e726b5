"""When the lines of one file were written, on its log's own clock."""

import re
from typing import NamedTuple

from tui.engines.clock import LogClock
from tui.engines.marks import Mark
from tui.engines.reader import Heard

# tqdm's "[00:08<00:13, 2.09it/s]" or "[1:02:03<00:00": the time since the bar began.
_BAR_TIME = re.compile(r"\[(?:(\d{1,4}):)?(\d{1,2}):(\d\d)<")
_FIGURES = re.compile(r"[\d.]+")
_BARS = 64


class Moment(NamedTuple):
    """When a line was written, in seconds on the log's clock; None before the first time stamp.

    ``told``: the line says so itself, by a time stamp or a bar's watch; others count as of the line before.
    ``whole_s``: the clock shows no fractions of a second.
    """

    seconds: float | None
    told: bool
    whole_s: bool


class LineTimes:
    """Reads the times of one start's lines in one file. They never go back."""

    def __init__(self) -> None:
        self.clock = LogClock()
        self._latest_s: float | None = None
        self._whole_s = True
        self._bars: dict[str, float] = {}

    @property
    def latest_s(self) -> float | None:
        """The latest moment so far, None before the first."""
        return self._latest_s

    def read(self, heard: Heard, line: str) -> Moment:
        """Return when a line was written."""
        seconds = self.clock.read(heard.time)
        told = seconds is not None
        if seconds is None:
            told = self._read_bar(line, heard.marks)
        else:
            self._whole_s = self._whole_s and seconds.is_integer()
            self._latest_s = seconds if self._latest_s is None else max(seconds, self._latest_s)
        return Moment(self._latest_s, told, self._whole_s)

    def _read_bar(self, line: str, marks: tuple[Mark, ...]) -> bool:
        """Take the time when a bar began and what its own watch shows since.

        Both are never too late: bars of several ranks share the beginning of the first.
        """
        progress = next((mark.progress for mark in marks if mark.progress is not None), None)
        watches = _BAR_TIME.findall(line) if progress is not None and self._latest_s is not None else []
        if self._latest_s is None or progress is None or not watches:
            return False
        hours, minutes, seconds = watches[-1]
        shown_s = int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds)
        # The text names what is under way ("bs=16") and so differs from one drawing to the next.
        bar = _FIGURES.sub("#", progress.text)
        if shown_s <= 1 and len(self._bars) < _BARS:
            self._bars.setdefault(bar, self._latest_s - shown_s)
        if bar not in self._bars:
            return False
        self._latest_s = max(self._latest_s, self._bars[bar] + shown_s)
        if progress.done == progress.total:
            del self._bars[bar]
        return True
