"""When lines were written that are read later: after a lost link, or by a reader that is behind."""

from collections import deque

from tui.engines.clock import LogClock

_KEPT = 32


class LateLines:
    """Dates lines by the log's own clock, which is set by lines that came as they were written.

    A log shows whole seconds as a rule, and a line is read a moment after it was written, so that of the
    newest lines the one that seems to have come soonest tells best.
    """

    def __init__(self) -> None:
        self._clock = LogClock()
        self._offsets: deque[float] = deque(maxlen=_KEPT)
        self._latest_s: float | None = None

    def came(self, time: str | None, at_s: float) -> None:
        """Learn from a line that came as it was written; ``time`` is its own, as it is written."""
        seconds = self._clock.read(time)
        if seconds is not None:
            self._offsets.append(at_s - seconds)
        self._latest_s = at_s

    def dated(self, time: str | None, read_s: float) -> float | None:
        """Return when a late line was written on the host's monotonic clock, None where nothing tells.

        It is never after it was read, nor before the line before it.
        """
        seconds = self._clock.read(time)
        if seconds is None or not self._offsets:
            return None
        at_s = min(seconds + min(self._offsets), read_s)
        self._latest_s = at_s if self._latest_s is None else max(at_s, self._latest_s)
        return self._latest_s
