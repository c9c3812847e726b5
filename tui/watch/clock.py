"""Converting the watching machine's clock into the watched host's."""

from dataclasses import dataclass

HOLD_S = 10.0
"""How long the least delayed event of late sets the offset; clocks drift far less than 1 ms in that time."""


@dataclass(slots=True)
class SourceClock:
    """Offset between the host's monotonic clock and the client's, from the events themselves.

    An event arrives late, never early, so of the last ``HOLD_S`` seconds the largest ``mono_s - client_s``
    is nearest to the truth. A host that slept (or another host) shows as a smaller offset that lasts.
    """

    offset_s: float | None = None
    held_since_s: float = 0.0
    latest_s: float = 0.0

    def take(self, mono_s: float, client_s: float) -> None:
        """Learn from one event of the host; one dated before another tells of the past, not of the clock."""
        if mono_s < self.latest_s:
            return
        offset = mono_s - client_s
        old = client_s - self.held_since_s > HOLD_S or client_s < self.held_since_s
        if self.offset_s is None or old or offset >= self.offset_s:
            self.offset_s = offset
            self.held_since_s = client_s
        self.latest_s = max(self.latest_s, mono_s)

    def reset(self) -> None:
        """Forget what was learnt: the host's clock started anew."""
        self.offset_s = None
        self.latest_s = 0.0

    def source_s(self, client_s: float) -> float | None:
        """Return the host's monotonic time at a client's time, None before the first event."""
        return None if self.offset_s is None else client_s + self.offset_s
