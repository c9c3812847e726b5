"""What requests that ended in the last seconds were like, for those who watch."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui.agent.load.flight import Flight
    from tui.agent.load.stream import Answer

LAST_S = 10.0
_MOST = 256


class Recent:
    """The TTFT and the mean chunk gap of those that ended lately."""

    def __init__(self) -> None:
        self._ends: deque[tuple[float, float, float | None]] = deque(maxlen=_MOST)

    def add(self, flight: Flight, answer: Answer) -> None:
        """Note a finished request; one without text has nothing to tell."""
        stamps_s = answer.stamps_s
        if not stamps_s:
            return
        gaps = len(stamps_s) - 1
        gap_s = (stamps_s[-1] - stamps_s[0]) / gaps if gaps else None
        self._ends.append((flight.exchange.ended_s, stamps_s[0] - flight.began_s, gap_s))

    def medians_ms(self) -> tuple[float | None, float | None]:
        """Return the medians of TTFT and of the mean chunk gap, None without any."""
        since_s = time.monotonic() - LAST_S
        lately = [(ttft_s, gap_s) for ended_s, ttft_s, gap_s in self._ends if ended_s >= since_s]
        gaps_s = [gap_s for _, gap_s in lately if gap_s is not None]
        return _median_ms([ttft_s for ttft_s, _ in lately]), _median_ms(gaps_s)


def _median_ms(seconds: Sequence[float]) -> float | None:
    if not seconds:
        return None
    ordered, middle = sorted(seconds), len(seconds) // 2
    return (ordered[middle] + ordered[~middle]) * 500
