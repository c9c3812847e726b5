"""The events of a source with a tick among them when a second has passed, so that a still picture ages."""

import time
from collections.abc import AsyncGenerator

from tui.events import AnyEvent, Hello, Tick
from tui.source import Source
from tui.streams import Pump
from tui.watch.clock import SourceClock
from tui.watch.state import FROM_HOST

TICK_S = 1.0
QUEUE_EVENTS = 16
"""A log event holds up to 32 KiB, and samples wait behind those that came before them."""


async def with_ticks(source: Source, every_s: float) -> AsyncGenerator[AnyEvent, None]:
    """Iterate over a source's events and, every so many seconds of the client's clock, over a tick.

    A tick's ``mono_s`` is the host's time as far as the newest event tells it, so that a replay ages alike. A
    slow consumer stops the reading: at most 16 events wait here. An error of the source is raised here.
    """
    pump = Pump(QUEUE_EVENTS)
    pump.add(aiter(source), ends=True)
    clock = _TickClock(every_s)
    try:
        while True:
            try:
                event = await pump.take(clock.left_s())
            except TimeoutError:
                yield clock.tick()
                continue
            if event is None:
                return
            clock.heard(event)
            yield event
            if clock.left_s() <= 0:
                yield clock.tick()
    finally:
        await pump.close()


class _TickClock:
    """When the next tick is due, and what time it is on the host by the newest of its events."""

    def __init__(self, every_s: float) -> None:
        self._every_s = every_s
        self._due_s = time.monotonic() + every_s
        self._clock = SourceClock()

    def heard(self, event: AnyEvent) -> None:
        """Learn the host's clock from its own events: it stands still while the host sleeps."""
        if isinstance(event, Hello):
            self._clock.reset()
        if isinstance(event, FROM_HOST):
            self._clock.take(event.mono_s, event.client_s)

    def left_s(self) -> float:
        """Seconds until the next tick is due."""
        return max(0.0, self._due_s - time.monotonic())

    def tick(self) -> Tick:
        """Make a tick for now and set the next one."""
        now_s = time.monotonic()
        self._due_s = max(self._due_s + self._every_s, now_s)
        mono_s = self._clock.source_s(now_s)
        return Tick(mono_s=now_s if mono_s is None else mono_s, wall_s=time.time(), client_s=now_s)
