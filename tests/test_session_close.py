"""A watch that is closed while an event is still on its way."""

import asyncio
from collections.abc import AsyncIterator

from tui.benchmark import BenchSpec
from tui.events import AnyEvent, Notice
from tui.requests import AnyRequest
from tui.session import Session
from tui.watch.options import WatchOptions

SPEC = BenchSpec(url="", model=None, concurrency=1, requests=1, input_tokens=8, output_tokens=8)
NOTICE = Notice(mono_s=1.0, wall_s=0.0, client_s=1.0, level="info", about="test", sentence="late")


class GatedSource:
    """Gives one event, once it is let."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()

    async def __aiter__(self) -> AsyncIterator[AnyEvent]:
        await self.gate.wait()
        yield NOTICE

    def send(self, request: AnyRequest) -> None:
        """Take no request."""

    async def close(self) -> None:
        """End nothing: the event comes all the same."""


class ClosedOnce:
    """A recording that fails, as a finished file does, when it is written after its end."""

    def __init__(self) -> None:
        self.closed = 0

    def append(self, event: AnyEvent) -> None:
        if self.closed:
            raise ValueError("written after its end")

    def close(self) -> None:
        self.closed += 1


async def test_an_event_after_the_close_is_taken_and_not_recorded() -> None:
    source, journal = GatedSource(), ClosedOnce()
    session = Session(source, WatchOptions(), SPEC, journal=journal)
    updates = aiter(session.updates())
    coming = asyncio.ensure_future(anext(updates))
    await session.close()
    source.gate.set()

    assert await coming == NOTICE
    await session.close()
    assert journal.closed == 1
