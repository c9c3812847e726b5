"""``tminus bench``: fire one benchmark at a source and wait for its result."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass
from typing import Literal

from tui.benchmark import BenchProgress, BenchResult, Percentiles
from tui.events import AnyEvent, Goodbye, Link
from tui.requests import BenchCancelRequest, BenchRequest
from tui.source import Source

CANCEL_S = 5.0
NO_SAMPLES = Percentiles(mean=None, p50=None, p90=None, p99=None, samples=0)


@dataclass(frozen=True, slots=True)
class Listeners:
    """Who hears of a run: its progress, and every other event of the source (its link, notices)."""

    progress: Callable[[BenchProgress], None] = lambda _: None
    other: Callable[[AnyEvent], None] = lambda _: None


async def bench(
    source: Source,
    request: BenchRequest,
    listeners: Listeners,
    *,
    cancelled: asyncio.Event | None = None,
) -> BenchResult:
    """Run one benchmark on a source that nobody iterates yet, and return its result; the caller closes it.

    A result comes in every case: when the source ends or its link is lost, the run is lost with it, and the
    result says so. Set ``cancelled`` to end the run early; what was measured comes as a cancelled result.
    """
    source.send(request)
    running = asyncio.create_task(_result(source, request, listeners))
    wish = asyncio.create_task((cancelled or asyncio.Event()).wait())
    try:
        await asyncio.wait({running, wish}, return_when=asyncio.FIRST_COMPLETED)
        if not running.done():
            source.send(BenchCancelRequest(run=request.run))
            await asyncio.wait({running}, timeout=CANCEL_S)
        if running.done():
            return running.result()
        return without_figures(request, "cancelled", "the host gave no figures of it")
    finally:
        running.cancel()
        wish.cancel()
        await asyncio.gather(running, wish, return_exceptions=True)


async def _result(source: Source, request: BenchRequest, listeners: Listeners) -> BenchResult:
    events = aiter(source)
    try:
        return await _first_result(events, request, listeners)
    finally:
        if isinstance(events, AsyncGenerator):
            await events.aclose()


async def _first_result(
    events: AsyncIterator[AnyEvent], request: BenchRequest, listeners: Listeners
) -> BenchResult:
    reached = False
    async for event in events:
        if isinstance(event, BenchResult) and event.run == request.run:
            return event
        if isinstance(event, BenchProgress):
            listeners.progress(event)
            continue
        listeners.other(event)
        reached = reached or (isinstance(event, Link) and event.state == "up")
        sentence = _end_of(event, reached=reached)
        if sentence:
            return without_figures(request, "failed", sentence)
    return without_figures(request, "failed", "the source ended before the benchmark did")


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


def without_figures(
    request: BenchRequest, outcome: Literal["failed", "cancelled"], sentence: str
) -> BenchResult:
    """Return the result of a run of which nothing was measured."""
    now_s = time.monotonic()
    return BenchResult(
        mono_s=now_s,
        wall_s=time.time(),
        client_s=now_s,
        run=request.run,
        outcome=outcome,
        sentence=sentence,
        spec=request.spec,
        model=request.spec.model,
        completed=0,
        failed=0,
        failures={},
        ttft_ms=NO_SAMPLES,
        itl_ms=NO_SAMPLES,
        tpot_ms=NO_SAMPLES,
        e2e_ms=NO_SAMPLES,
        output_tokens=None,
        input_tokens=None,
        tokens_counted_by=None,
        duration_s=None,
        output_tokens_per_s=None,
        requests_per_s=None,
        achieved_concurrency=None,
        client_cpu_fraction=None,
        measured_on=request.measured_on,
    )
