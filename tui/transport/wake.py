"""Noticing that this machine slept: its wall clock went on while the monotonic one stood still."""

import time
from collections.abc import Callable

Clock = Callable[[], float]

LOOK_S = 1.0
JUMP_S = 5.0
"""Clocks are set by less, and who sleeps for less keeps its connections."""
ANSWER_S = 2.0
"""So soon after a sleep the host has to be heard, or the link is dead (remote research, 10.19)."""


class Wake:
    """Looks at both clocks, once a second while somebody waits for something.

    A look that comes much too late counts as well: where the monotonic clock runs on in a sleep (Windows),
    and where this process alone stood still (Ctrl-Z). A wall clock that was set counts as a sleep too, which
    does no harm: the link is then tested once.
    """

    def __init__(self, monotonic: Clock = time.monotonic, wall: Clock = time.time) -> None:
        self._monotonic, self._wall = monotonic, wall
        self._seen = (monotonic(), wall())
        self._woke = False

    def begin(self) -> None:
        """Begin to look; what was before does not count."""
        self._seen = (self._monotonic(), self._wall())

    def look(self) -> bool:
        """Return whether there was a sleep since the last look."""
        before = self._seen
        self.begin()
        ran_s, went_s = self._seen[0] - before[0], self._seen[1] - before[1]
        slept = went_s - ran_s > JUMP_S or ran_s > LOOK_S + JUMP_S
        self._woke = self._woke or slept
        return slept

    def taken(self) -> bool:
        """Return whether there was a sleep that nobody has asked for yet."""
        woke, self._woke = self._woke, False
        return woke
