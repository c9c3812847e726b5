"""A closed loop of streams: each sends its next request when its last response has ended.

Streams keep their connections from stage to stage. Responses are only stamped while they arrive; reading them
happens in slices of a fraction of a millisecond between rounds of the event loop, so that no stream waits for
another one's JSON. A read that arrives during a slice is stamped late by at most that slice.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from typing import TYPE_CHECKING

from tui.agent.load.connections import STALE_S, Connection, Endpoint, Exchange
from tui.agent.load.stream import StreamReader

if TYPE_CHECKING:
    from tui.agent.load.metrics import Tally
    from tui.agent.load.work import Template

SLICE_S = 0.0003
LONG_SLICE_S = 0.003  # once so much waits to be read that memory matters more than stamps
BACKLOG_BYTES = 32 * 1024 * 1024
_CONNECTS_AT_ONCE = 32
_PAUSE_S = 0.1
_LONGEST_PAUSE_S = 1.0
_LONGEST_RETRY_AFTER_S = 5.0
# A run is given up when this many requests in a row failed and none succeeded for that long.
GIVE_UP_FAILURES = 10
GIVE_UP_S = 5.0


class Backlog:
    """Responses that wait to be read, and the reading of them in slices; each ends in the tally."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._waiting: deque[Exchange] = deque()
        self._reader: StreamReader | None = None
        self._position = 0
        self._bytes = 0
        self._scheduled = False
        self._read = 0
        self.idle = asyncio.Event()
        self.idle.set()

    @property
    def reads(self) -> int:
        """How many reads wait."""
        return sum(len(exchange.reads) for exchange in self._waiting) - self._position

    @property
    def tokens_per_read(self) -> float:
        """How many tokens a read amounted to so far (1.0 before any is known)."""
        return self._tally.output_tokens / self._read if self._tally.output_tokens else 1.0

    def push(self, exchange: Exchange) -> None:
        """Add a finished exchange."""
        self._waiting.append(exchange)
        self._bytes += _size(exchange)
        self.idle.clear()
        self._schedule()

    def finish(self) -> None:
        """Read all that waits, at once."""
        while self._waiting:
            self._slice_until(time.monotonic() + 1.0)

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
            exchange = self._waiting[0]
            self._reader = self._reader or StreamReader()
            for moment_s, data in exchange.reads[self._position : self._position + 8]:
                self._reader.feed(moment_s, data)
            self._position += 8
            if self._position >= len(exchange.reads):
                self._complete(exchange, self._reader)

    def _complete(self, exchange: Exchange, reader: StreamReader) -> None:
        reader.close(exchange.ended_s)
        self._tally.add(exchange, reader.answer)
        self._waiting.popleft()
        self._bytes -= _size(exchange)
        self._read += len(exchange.reads)
        self._reader, self._position = None, 0


class Lines:
    """The connections of all streams, one each, opened ahead and opened again when the server closes one."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._connections: dict[int, Connection] = {}

    @property
    def reads(self) -> int:
        """How many reads the requests in flight have seen."""
        return sum(connection.reads for connection in self._connections.values())

    async def open(self, streams: int) -> Exchange | None:
        """Open those that are not open, or return the exchange that says why one cannot be."""
        for first in range(0, streams, _CONNECTS_AT_ONCE):
            slots = range(first, min(streams, first + _CONNECTS_AT_ONCE))
            for opened in await asyncio.gather(*(self.ready(slot) for slot in slots)):
                if isinstance(opened, Exchange):
                    return opened
        return None

    async def ready(self, slot: int) -> Connection | Exchange:
        """Return the open connection of a stream, or the exchange that says why there is none."""
        connection = self._connections.get(slot)
        if connection is not None and connection.usable:
            return connection
        opened = await self._endpoint.connect()
        if isinstance(opened, Connection):
            self._connections[slot] = opened
        return opened

    async def ask(self, slot: int, data: bytes, timeout_s: float) -> Exchange:
        """Send a request on a stream's connection; once more when a kept connection proves to be closed."""
        connection = await self.ready(slot)
        if isinstance(connection, Exchange):
            return connection
        kept = connection.carried > 0
        try:
            exchange = await connection.request(data, timeout_s)
        except asyncio.CancelledError:
            connection.close()
            raise
        # The new connection is not a kept one, so this asks again once at most.
        return await self.ask(slot, data, timeout_s) if kept and _stale(exchange) else exchange

    def close(self) -> None:
        """Close all."""
        for connection in self._connections.values():
            connection.close()


class Stage:
    """One closed loop: so many streams, so many requests, all told to one tally."""

    def __init__(
        self, lines: Lines, template: Template, tally: Tally, *, streams: int, requests: int, timeout_s: float
    ) -> None:
        self._lines = lines
        self._template = template
        self.tally = tally
        self.backlog = Backlog(tally)
        self.streams = min(streams, requests)
        self.requests = requests
        self.in_flight = 0
        self._timeout_s = timeout_s
        self._next = 0
        self._first_index = 0
        self._launch_end_s: float | None = None
        self._lively_s = time.monotonic()

    async def run(self, *, first_index: int = 0, launch_s: float | None = None) -> None:
        """Run to the end; ``launch_s`` bounds the time in which a stream starts more than its first request.

        Cancelled, it drops what is in flight; what had ended is in the backlog.
        """
        self._first_index = first_index
        self._lively_s = time.monotonic()
        self._launch_end_s = None if launch_s is None else self._lively_s + launch_s
        streams = [asyncio.ensure_future(self._stream(slot)) for slot in range(self.streams)]
        try:
            await asyncio.gather(*streams)
        finally:
            for stream in streams:
                stream.cancel()
            await asyncio.gather(*streams, return_exceptions=True)
        await self.backlog.idle.wait()

    def live_tokens(self) -> int:
        """Return the output tokens so far: counted in what was read, estimated from reads elsewhere."""
        unread = self._lines.reads + self.backlog.reads
        return self.tally.output_tokens + round(unread * self.backlog.tokens_per_read)

    async def _stream(self, slot: int) -> None:
        wrong = 0
        while True:
            index = self._take()
            if index is None:
                return
            self.in_flight += 1
            try:
                request = self._template.make(self._first_index + index)
                exchange = await self._lines.ask(slot, request, self._timeout_s)
            finally:
                self.in_flight -= 1
            self.backlog.push(exchange)
            wrong = wrong + 1 if exchange.went_wrong else 0
            if wrong:
                await asyncio.sleep(_pause_s(exchange, wrong))

    def _take(self) -> int | None:
        """Return the number of the next request, None when there is to be none."""
        late = self._launch_end_s is not None and time.monotonic() > self._launch_end_s
        if self._next >= self.requests or (late and self._next >= self.streams) or self._hopeless():
            return None
        self._next += 1
        return self._next - 1

    def _hopeless(self) -> bool:
        now_s = time.monotonic()
        if not self.tally.failed_in_a_row:
            self._lively_s = now_s
            return False
        barren_s = now_s - self._lively_s
        many = self.tally.failed_in_a_row >= max(GIVE_UP_FAILURES, 2 * self.streams)
        return (many and barren_s > GIVE_UP_S) or barren_s > max(GIVE_UP_S, 2 * self._timeout_s)


def _stale(exchange: Exchange) -> bool:
    quick = exchange.ended_s - exchange.sent_s < STALE_S
    return exchange.fault == "reset" and exchange.status == 0 and not exchange.reads and quick


def _pause_s(exchange: Exchange, wrong: int) -> float:
    """Return how long a stream waits after failures, so that it does not hammer a server in trouble."""
    asked = exchange.headers.get("retry-after", "")
    if asked.isdigit():
        return min(float(asked), _LONGEST_RETRY_AFTER_S)
    return min(_PAUSE_S * 2 ** min(wrong - 1, 8), _LONGEST_PAUSE_S)


def _size(exchange: Exchange) -> int:
    return sum(len(data) for _, data in exchange.reads)
