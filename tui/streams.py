"""Several streams of events read into one bounded queue."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager

from tui.events import AnyEvent

LONG_S = 0.005
REST = 0.25
"""After an event that took ``LONG_S`` so much of its time is left to others: a key is answered in a dozen
turns of the loop, and must not wait for an event in each."""


class Pump:
    """Reads streams side by side; a slow taker stops the reading, so nothing is lost and nothing grows.

    The pump ends when a stream that was added with ``ends=True`` does; its error, if any, is raised by
    ``take`` after the events before it.
    """

    def __init__(self, size: int) -> None:
        self._waiting: asyncio.Queue[AnyEvent | None] = asyncio.Queue(size)
        self._readers: list[asyncio.Task[None]] = []
        self._ended: asyncio.Task[None] | None = None
        self._given_s = time.monotonic()

    def add(
        self,
        events: AsyncIterator[AnyEvent],
        *,
        ends: bool,
        keep: Callable[[AnyEvent], bool] = lambda _: True,
    ) -> None:
        """Begin to read a stream; only events that ``keep`` accepts are taken over."""
        reader = asyncio.create_task(self._read(events, keep))
        self._readers.append(reader)
        if ends:
            reader.add_done_callback(self._end)

    async def take(self, timeout_s: float | None = None) -> AnyEvent | None:
        """Return the next event, None at the end. Raises TimeoutError, or what a stream raised."""
        while True:
            if self._ended is not None and self._waiting.empty():
                self._ended.result()
                return None
            await self._rest()
            # Not wait_for: in Python 3.11 it swallows a cancellation that comes with the event.
            async with asyncio.timeout(timeout_s):
                event = await self._waiting.get()
            if event is not None:
                self._given_s = time.monotonic()
                return event

    async def close(self) -> None:
        """Stop reading; closing twice is allowed."""
        for reader in self._readers:
            reader.cancel()
        await asyncio.gather(*self._readers, return_exceptions=True)

    async def _rest(self) -> None:
        """Let others have their turns: a full queue must not keep the screen, or a cancellation, waiting."""
        taken_s, self._given_s = time.monotonic() - self._given_s, time.monotonic()
        await asyncio.sleep(taken_s * REST if taken_s > LONG_S and not self._waiting.empty() else 0)

    async def _read(self, events: AsyncIterator[AnyEvent], keep: Callable[[AnyEvent], bool]) -> None:
        async with _closing(events):
            async for event in events:
                if keep(event):
                    await self._waiting.put(event)

    def _end(self, reader: asyncio.Task[None]) -> None:
        self._ended = reader
        # Wakes a taker that waits; one that does not finds the end once it has taken everything.
        if self._waiting.empty():
            self._waiting.put_nowait(None)


@asynccontextmanager
async def _closing(events: AsyncIterator[AnyEvent]) -> AsyncGenerator[None]:
    """Close a generator that is left in the middle: else the loop's end finds it open, and in any order."""
    try:
        yield
    finally:
        if isinstance(events, AsyncGenerator):
            await events.aclose()
