"""The steady window: the part of a measurement in which the load was all that was asked for.

Closed loop: from the moment at which the last of the streams sent its first measured request to the moment at
which the first stream finds no more to send. Open loop: from the first measured request to the last, as they
were due.

Tokens are counted by when they arrived: each chunk with text counts for n / chunks of its request, with n its
output tokens, so requests that reach over an end of the window count for their part in it. Requests of the
warm-up that were still in flight count likewise, failed ones do not. Of a request that never ended (in a
cancelled run, or one of the warm-up at the end of all) n is not known; its chunks count for as many tokens as
those of all others do on average.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Steady:
    """The window, and what arrived in it. All moments are monotonic seconds; its ends are None until known.

    Stamps are told in any order, but none from after ``end_s`` before that is set.
    """

    def __init__(self, slots: Iterable[int]) -> None:
        self._missing = set(slots)
        self.begin_s: float | None = None
        self.end_s: float | None = None
        self._tokens = 0.0
        self._chunks = 0
        self._unsized = 0

    def join(self, slot: int, now_s: float) -> None:
        """Note that a stream sends its first measured request."""
        self._missing.discard(slot)
        if not self._missing and self.begin_s is None:
            self.begin_s = now_s

    def end(self, now_s: float) -> None:
        """Note that there is no more to send; the first moment counts."""
        self.end_s = now_s if self.end_s is None else self.end_s

    def add(self, stamps_s: Sequence[float], tokens: int | None) -> None:
        """Count one request's chunks, in order; ``tokens`` 0 when it failed, None when it never ended."""
        if self.begin_s is None or not stamps_s or tokens == 0:
            return
        last = len(stamps_s) if self.end_s is None else bisect_right(stamps_s, self.end_s)
        inside = max(0, last - bisect_right(stamps_s, self.begin_s))
        if tokens is None:
            self._unsized += inside
        else:
            self._tokens += inside * tokens / len(stamps_s)
            self._chunks += inside

    @property
    def seconds(self) -> float | None:
        """How long it is, None when there was none."""
        if self.begin_s is None or self.end_s is None or self.end_s <= self.begin_s:
            return None
        return self.end_s - self.begin_s

    @property
    def tokens_per_s(self) -> float | None:
        """The rate of tokens in it."""
        seconds = self.seconds
        if seconds is None:
            return None
        each = self._tokens / self._chunks if self._chunks else 1.0
        return (self._tokens + self._unsized * each) / seconds
