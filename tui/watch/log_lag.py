"""How far the reading of a log is behind its writing."""

from collections import deque
from dataclasses import dataclass, field

from tui.events import Log

KEPT = 512
"""Sizes that are remembered; of more every second one is let go, and fewer are taken from then on."""
FAR_S = 30.0
"""A log that is so far behind is told of, with what can be done."""
_EACH_S = 0.25
STEADY_S = 2.0
"""Old lines that come for so long, with no longer pause, are not those of a log that is silent by now."""
_OF_RUNTIME = (0, 0)


@dataclass(frozen=True, slots=True)
class Lag:
    """How long ago was written what is read now; ``at_least``: it was there when the file was first seen."""

    seconds: float
    at_least: bool


@dataclass(slots=True)
class LogLag:
    """The sizes of the file that is read, by when they were seen: what lies behind a size was written later.

    Times are on the host's monotonic clock, as all of the events.
    """

    bytes: int = 0
    _came_s: float | None = None
    _came_since_s: float = 0.0
    _stamp_age_s: float = 0.0
    _file: tuple[int, int] | None = None
    _offset: int = 0
    _each_s: float = _EACH_S
    _sizes: deque[tuple[float, int]] = field(default_factory=deque[tuple[float, int]])

    def take(self, event: Log, arrived_s: float | None = None) -> None:
        """Learn from what was read how long the file was then, and how old lines were as they arrived."""
        if event.lines and arrived_s is not None:
            self._arrived(arrived_s, arrived_s - event.mono_s)
        size = event.offset + event.behind_bytes
        if self._file != (event.device, event.inode) or event.offset < self._offset:
            self._file = (event.device, event.inode)
            self._sizes.clear()
            self._each_s = _EACH_S
        self.bytes, self._offset = event.behind_bytes, event.offset
        if not self._sizes or event.mono_s - self._sizes[-1][0] >= self._each_s:
            self._sizes.append((event.mono_s, size))
        while len(self._sizes) > 1 and self._sizes[1][1] <= self._offset:
            self._sizes.popleft()
        if len(self._sizes) > KEPT:
            self._sizes = deque([*self._sizes][::2])
            self._each_s *= 2

    def _arrived(self, at_s: float, age_s: float) -> None:
        goes_on = self._came_s is not None and at_s - self._came_s <= STEADY_S
        if not goes_on or age_s <= FAR_S:
            self._came_since_s = at_s
        self._came_s, self._stamp_age_s = at_s, age_s

    @property
    def of_runtime(self) -> bool:
        """Whether a container's runtime tells the log: lines with their times, of no file that has a size."""
        return self._file == _OF_RUNTIME

    @property
    def no_skip(self) -> str:
        """Why nothing can be skipped, "" where it can."""
        if self.of_runtime:
            return "a container's log cannot be skipped: its runtime tells it line after line"
        return "" if self.bytes else "the log is read to its end: there is nothing to skip"

    def stamp_lag_s(self, now_s: float) -> float | None:
        """Return how old the lines are that a runtime tells now, None where none come or they are new."""
        came_s = self._came_s
        if not self.of_runtime or came_s is None or self._stamp_age_s <= FAR_S:
            return None
        comes = now_s - came_s <= STEADY_S <= came_s - self._came_since_s
        return self._stamp_age_s if comes else None

    def lag(self, now_s: float) -> Lag | None:
        """Return how far behind the reading is, None when it is not."""
        if not self.bytes:
            return None
        later = next((at_s for at_s, size in self._sizes if size > self._offset), None)
        if later is None:
            return None
        return Lag(max(0.0, now_s - later), at_least=self._sizes[0][1] > self._offset)

    def is_far(self, now_s: float) -> bool:
        """Whether it is so far behind that a person should know."""
        lag = self.lag(now_s)
        return lag is not None and lag.seconds > FAR_S
