"""The host's clocks, as far as a shell tells them: seconds since its start, and once the time of day."""

import time
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Moment:
    """One moment on three clocks, as in tui/events.py."""

    mono_s: float
    wall_s: float
    client_s: float


class ShellClock:
    """What time it is on the host. Until it was heard its clocks are taken to be this machine's own."""

    def __init__(self) -> None:
        self._ahead_s: float | None = None
        self._wall_s: float | None = None

    def hear(self, uptime: str, client_s: float) -> None:
        """Learn from a time of the host that arrived now; the one that took the shortest way tells best."""
        mono_s = seconds(uptime)
        if mono_s is not None:
            ahead_s = mono_s - client_s
            self._ahead_s = ahead_s if self._ahead_s is None else max(self._ahead_s, ahead_s)

    def set_day(self, wall: str, uptime: str) -> None:
        """Learn the host's time of day, told at ``uptime``. Its ``date`` may know whole seconds alone."""
        wall_s, mono_s = seconds(wall), seconds(uptime)
        if wall_s is not None and mono_s is not None:
            self._wall_s = wall_s - mono_s

    def now(self) -> Moment:
        """Return this moment."""
        client_s = time.monotonic()
        return self._moment(client_s + (self._ahead_s or 0.0), client_s)

    def at(self, uptime: str) -> Moment:
        """Return the moment of the host's time in a line that has arrived now; now where it has none."""
        mono_s = seconds(uptime)
        return self.now() if mono_s is None else self._moment(mono_s, time.monotonic())

    def _moment(self, mono_s: float, client_s: float) -> Moment:
        wall_s = time.time() - client_s + mono_s if self._wall_s is None else self._wall_s + mono_s
        return Moment(mono_s, wall_s, client_s)


def seconds(text: str) -> float | None:
    """Return a time in seconds; "1796039246.%N" is how busybox's date answers for fractions."""
    whole, _, fraction = text.strip().partition(".")
    if not whole.isascii() or not whole.isdigit() or len(whole) > 12:
        return None
    known = fraction.isascii() and fraction.isdigit()
    return float(f"{whole}.{fraction[:9]}") if known else float(whole)
