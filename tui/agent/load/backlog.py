"""Responses that wait to be read, and the reading of them in slices of a fraction of a millisecond.

Responses are only stamped while they arrive; reading them happens between rounds of the event loop, so that
no stream waits for another one's JSON. A read that arrives during a slice is stamped late by at most that.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from typing import TYPE_CHECKING

from tui.agent.load.stream import StreamReader

if TYPE_CHECKING:
    from collections.abc import Callable

    from tui.agent.load.flight import Flight
    from tui.agent.load.stream import Answer

SLICE_S = 0.0003
LONG_SLICE_S = 0.003  # once so much waits to be read that memory matters more than stamps
BACKLOG_BYTES = 32 * 1024 * 1024
_READS_AT_ONCE = 16


class Backlog:
    """Finished requests that wait to be read; each is told to ``done`` in the order of their ends."""

    def __init__(self, done: Callable[[Flight, Answer], None]) -> None:
        self._done = done
        self._waiting: deque[Flight] = deque()
        self._reader: StreamReader | None = None
        self._position = 0
        self._bytes = 0
        self._scheduled = False
        self._read = 0
        self.tokens = 0
        self.idle = asyncio.Event()
        self.idle.set()

    @property
    def empty(self) -> bool:
        """Tell whether no finished request waits."""
        return not self._waiting

    @property
    def reads(self) -> int:
        """How many reads wait."""
        return sum(len(flight.exchange.reads) for flight in self._waiting) - self._position

    @property
    def tokens_per_read(self) -> float:
        """How many tokens a read amounted to so far (1.0 before any is known)."""
        return self.tokens / self._read if self.tokens else 1.0

    def push(self, flight: Flight) -> None:
        """Add a finished request."""
        self._waiting.append(flight)
        self._bytes += flight.exchange.size
        self.idle.clear()
        self._schedule()

    def finish(self) -> None:
        """Read all that waits, at once."""
        while self._waiting:
            self._slice_until(time.monotonic() + 1.0)
        self.idle.set()

    def _schedule(self) -> None:
        if not self._scheduled and self._waiting:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._slice)

    def _slice(self) -> None:
        self._scheduled = False
        slice_s = SLICE_S if self._bytes < BACKLOG_BYTES else LONG_SLICE_S
        self._slice_until(time.monotonic() + slice_s)
        self._schedule()
        if not self._waiting:
            self.idle.set()

    def _slice_until(self, end_s: float) -> None:
        while self._waiting and time.monotonic() < end_s:
            flight = self._waiting[0]
            reads = flight.exchange.reads
            self._reader = self._reader or StreamReader()
            self._reader.feed_all(reads[self._position : self._position + _READS_AT_ONCE])
            self._position += _READS_AT_ONCE
            if self._position >= len(reads):
                self._complete(flight, self._reader)

    def _complete(self, flight: Flight, reader: StreamReader) -> None:
        reader.close(flight.exchange.ended_s)
        self._waiting.popleft()
        self._bytes -= flight.exchange.size
        self._read += len(flight.exchange.reads)
        self.tokens += reader.answer.usage_output or len(reader.answer.stamps_s)
        self._reader, self._position = None, 0
        self._done(flight, reader.answer)
