"""Streams read into one queue: a taker that is busy leaves others their turns."""

import asyncio
import time
from collections.abc import AsyncIterator

from tui.events import AnyEvent, Tick
from tui.streams import Pump

HOPS = 12
WORK_S = 0.01


async def ticks(count: int) -> AsyncIterator[AnyEvent]:
    """Give so many events at once."""
    for number in range(count):
        yield Tick(mono_s=float(number), wall_s=0.0)


async def test_a_key_is_not_behind_an_event_in_each_of_its_turns() -> None:
    pump = Pump(100)
    pump.add(ticks(60), ends=True)
    taken, answered_after = 0, 0

    async def key() -> None:
        nonlocal answered_after
        for _ in range(HOPS):
            await asyncio.sleep(0)
        answered_after = taken

    pressed = asyncio.create_task(key())
    while await pump.take() is not None:
        taken += 1
        busy_until_s = time.perf_counter() + WORK_S
        while time.perf_counter() < busy_until_s:
            pass
    await pressed
    await pump.close()
    assert taken == 60
    assert answered_after <= 3


async def test_quick_events_are_taken_without_a_rest() -> None:
    pump = Pump(100)
    pump.add(ticks(500), ends=True)
    begun_s = time.process_time()
    taken = 0
    while await pump.take() is not None:
        taken += 1
    await pump.close()
    assert taken == 500
    assert time.process_time() - begun_s < 5.0


async def test_a_stream_that_is_left_while_the_queue_is_full_is_closed() -> None:
    ended: list[str] = []

    async def endless() -> AsyncIterator[AnyEvent]:
        try:
            while True:
                yield Tick(mono_s=0.0, wall_s=0.0)
        finally:
            ended.append("closed")

    pump = Pump(2)
    pump.add(endless(), ends=True)
    await pump.take()
    await asyncio.sleep(0.01)
    await pump.close()
    assert ended == ["closed"]
