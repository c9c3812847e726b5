"""What one figure did over the last 30 s, and when it last moved enough to count."""

from collections import deque
from dataclasses import dataclass, field
from math import inf

WINDOW_S = 30.0
"""The window in which a channel has to move to count as moving (stalls research, 3.1)."""
FRESH_S = 6.0
"""A figure that was not read for so long says nothing of now; the slowest of them comes each 5 s."""


def _drop(steps: deque[tuple[float, float]], at_s: float) -> None:
    while steps and steps[0][0] <= at_s - WINDOW_S:
        steps.popleft()


def risen(before: int | None, after: int | None) -> int:
    """Return by how much a counter has risen, 0 where that is not known."""
    return 0 if before is None or after is None else max(0, after - before)


@dataclass(slots=True)
class Steps:
    """Sums the steps of a figure, up and down; it moves with each ``needed`` of them within 30 s.

    Every step counts once: what follows a great one has to reach ``needed`` by itself, so that noise after a
    movement does not prolong it. ``moved_s`` is None before the first movement (or since a blind time).
    """

    needed: float
    moved_s: float | None = None
    read_s: float | None = None
    _last: float | None = None
    _window: deque[tuple[float, float]] = field(default_factory=deque[tuple[float, float]])
    _pending: deque[tuple[float, float]] = field(default_factory=deque[tuple[float, float]])

    def take(self, value: float | None, at_s: float) -> None:
        """Note a reading; None (cannot be read) makes the figure unknown, not still."""
        if value is None:
            self._last = self.read_s = None
            return
        step = 0.0 if self._last is None else abs(value - self._last)
        self._last, self.read_s = value, at_s
        if step:
            self._add(step, at_s)

    def _add(self, step: float, at_s: float) -> None:
        self._window.append((at_s, step))
        _drop(self._window, at_s)
        if self.needed == inf:
            return
        self._pending.append((at_s, step))
        _drop(self._pending, at_s)
        if step >= self.needed or sum([amount for _, amount in self._pending]) >= self.needed:
            self.moved_s = at_s
            self._pending.clear()

    def total(self, now_s: float) -> float:
        """Return the sum of the steps of the last 30 s."""
        from_s = now_s - WINDOW_S
        if not self._window or self._window[-1][0] <= from_s:
            return 0.0
        return sum([amount for at_s, amount in self._window if at_s > from_s])

    def known(self, now_s: float) -> bool:
        """Whether it was read of late."""
        return self.read_s is not None and now_s - self.read_s <= FRESH_S

    def void(self) -> None:
        """Forget all steps: what happened in between was not seen."""
        self._last = self.moved_s = self.read_s = None
        self._window.clear()
        self._pending.clear()


@dataclass(slots=True)
class Level:
    """A figure that goes up and down; it moves when it is ``needed`` away from where it rested.

    Small swings to and fro never sum up. The resting place is taken anew each 30 s. ``change`` is by how much
    it moved when it last did.
    """

    needed: float
    moved_s: float | None = None
    read_s: float | None = None
    value: float | None = None
    change: float | None = None
    _rest: float | None = None
    _rest_s: float = 0.0

    def take(self, value: float | None, at_s: float) -> None:
        """Note a reading; None (cannot be read) makes the figure unknown, not still."""
        self.value = value
        if value is None:
            self._rest = self.read_s = None
            return
        self.read_s = at_s
        if self._rest is None or at_s - self._rest_s > WINDOW_S:
            away = 0.0 if self._rest is None else abs(value - self._rest)
        else:
            away = abs(value - self._rest)
            if away < self.needed:
                return
        if away >= self.needed and self._rest is not None:
            self.moved_s, self.change = at_s, value - self._rest
        self._rest, self._rest_s = value, at_s

    def known(self, now_s: float) -> bool:
        """Whether it was read of late."""
        return self.read_s is not None and now_s - self.read_s <= FRESH_S

    def void(self) -> None:
        """Forget where it rested: what happened in between was not seen."""
        self._rest = self.moved_s = self.read_s = self.change = None


@dataclass(slots=True)
class Unchanged:
    """Since when some figures stand exactly still; one that cannot be read makes that unknown (None)."""

    since_s: float | None = None
    _last: tuple[float, ...] | None = None

    def take(self, values: tuple[float | None, ...], at_s: float) -> None:
        """Note a reading of all of them."""
        known = tuple(value for value in values if value is not None)
        if len(known) < len(values):
            self.void()
        elif known != self._last:
            self._last, self.since_s = known, at_s

    def void(self) -> None:
        """Start anew with the next reading."""
        self._last = self.since_s = None
