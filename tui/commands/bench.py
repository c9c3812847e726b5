"""Benchmarks over a source that nobody else iterates: fire one after another and wait for each result."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass

from tui.bench.cut import cut_result
from tui.benchmark import BenchProgress, BenchRecords, BenchResult
from tui.events import AnyEvent, Goodbye, Link
from tui.requests import BenchCancelRequest, BenchRequest
from tui.source import Source
from tui.transport.refused_bench import without_figures

CANCEL_S = 5.0


class SourceEnded(Exception):
    """There is no further event."""


@dataclass(frozen=True, slots=True)
class Listeners:
    """Who hears of a run: its progress, its requests' records, and every other event of the source."""

    progress: Callable[[BenchProgress], None] = lambda _: None
    records: Callable[[BenchRecords], None] = lambda _: None
    other: Callable[[AnyEvent], None] = lambda _: None


class Heard:
    """The events of a source, one at a time. A wait can be given up; the event comes the next time.

    ``is_up``: the link is, by the newest event of it.
    """

    def __init__(self, source: Source) -> None:
        self._events: AsyncIterator[AnyEvent] = aiter(source)
        self._coming: asyncio.Task[AnyEvent | None] | None = None
        self.is_up = False

    async def next(self, *others: "asyncio.Task[object]", timeout_s: float | None = None) -> AnyEvent | None:
        """Return the next event; None when one of the others was done first or the time is over.

        Raises SourceEnded.
        """
        self._coming = self._coming or asyncio.create_task(self._one())
        await asyncio.wait({self._coming, *others}, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
        if not self._coming.done():
            return None
        coming, self._coming = self._coming, None
        event = coming.result()
        if event is None:
            raise SourceEnded
        if isinstance(event, Link):
            self.is_up = event.state == "up"
        return event

    async def close(self) -> None:
        """Hear no more."""
        if self._coming is not None:
            self._coming.cancel()
            await asyncio.gather(self._coming, return_exceptions=True)
        if isinstance(self._events, AsyncGenerator):
            await self._events.aclose()

    async def _one(self) -> AnyEvent | None:
        return await anext(self._events, None)


async def bench(
    source: Source,
    request: BenchRequest,
    listeners: Listeners,
    *,
    heard: Heard | None = None,
    cancelled: asyncio.Event | None = None,
) -> BenchResult:
    """Run one benchmark and return its result; ``heard`` goes on being heard, the caller closes the source.

    A result comes in every case: where the link is lost the run is cut, and the result says how far it was.
    Set ``cancelled`` to end the run early; what was measured comes as a cancelled result.
    """
    mine = heard or Heard(source)
    wish = asyncio.create_task(_set(cancelled or asyncio.Event()))
    source.send(request)
    try:
        result = await _result(mine, request, listeners, wish)
        if result is None:
            source.send(BenchCancelRequest(run=request.run))
            result = await _last_words(mine, request, listeners)
        return result
    finally:
        wish.cancel()
        await asyncio.gather(wish, return_exceptions=True)
        if heard is None:
            await mine.close()


async def _last_words(heard: Heard, request: BenchRequest, listeners: Listeners) -> BenchResult:
    """Wait a moment for the result of a run that was cancelled."""
    over = asyncio.create_task(_after(CANCEL_S))
    try:
        result = await _result(heard, request, listeners, over)
        return result or without_figures(request, "cancelled", "the host gave no figures of it")
    finally:
        over.cancel()
        await asyncio.gather(over, return_exceptions=True)


async def _set(event: asyncio.Event) -> object:
    return await event.wait()


async def _after(seconds: float) -> object:
    await asyncio.sleep(seconds)
    return None


async def _result(
    heard: Heard, request: BenchRequest, listeners: Listeners, wish: "asyncio.Task[object]"
) -> BenchResult | None:
    """Return the result, None when the wish to end came first."""
    reached, progress = heard.is_up, None
    while not wish.done():
        try:
            event = await heard.next(wish)
        except SourceEnded:
            return without_figures(request, "failed", "the source ended before the benchmark did")
        if isinstance(event, BenchResult) and event.run == request.run:
            return event
        progress = event if isinstance(event, BenchProgress) and event.run == request.run else progress
        if event is None or _told(event, listeners):
            continue
        reached = reached or (isinstance(event, Link) and event.state == "up")
        sentence = _end_of(event, reached=reached)
        if sentence and reached:
            return cut_result(request.run, request.spec, progress, sentence, event, request.measured_on)
        if sentence:
            return without_figures(request, "failed", sentence)
    return None


def _told(event: AnyEvent, listeners: Listeners) -> bool:
    """Tell the listeners; return whether the event belongs to the run."""
    if isinstance(event, BenchProgress):
        listeners.progress(event)
    elif isinstance(event, BenchRecords):
        listeners.records(event)
    else:
        listeners.other(event)
        return False
    return True


def _end_of(event: AnyEvent, *, reached: bool) -> str:
    """Return why there will be no result after this event, empty when there may be.

    A link that is lost once the host was reached takes the agent along, and the run with it; before that it
    is being tried again and the run has not begun.
    """
    if isinstance(event, Goodbye):
        return event.sentence
    if isinstance(event, Link) and (
        event.state in ("failed", "closed") or (reached and event.state == "lost")
    ):
        return event.sentence
    return ""
