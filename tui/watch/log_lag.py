"""How far the reading of a log is behind its writing."""

from collections import deque
from dataclasses import dataclass, field

from tui.events import Log

KEPT = 512
"""Sizes that are remembered; of more every second one is let go, and fewer are taken from then on."""
FAR_S = 30.0
"""A log that is so far behind is told of, with what can be done."""
_EACH_S = 0.25


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
    _file: tuple[int, int] | None = None
    _offset: int = 0
    _each_s: float = _EACH_S
    _sizes: deque[tuple[float, int]] = field(default_factory=deque[tuple[float, int]])

    def take(self, event: Log) -> None:
        """Learn from what was read how long the file was then."""
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
