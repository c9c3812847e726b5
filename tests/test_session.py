"""One watch from source to state, with a source that is driven by hand."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from tui.benchmark import BenchSpec
from tui.events import AnyEvent, Hello, Notice, Pong, Tick
from tui.requests import AnyRequest
from tui.session import Session
from tui.ticks import QUEUE_EVENTS, with_ticks
from tui.watch.options import WatchOptions

SPEC = BenchSpec(url="", model=None, concurrency=1, requests=1, input_tokens=8, output_tokens=8)


def notice(number: int) -> Notice:
    return Notice(
        mono_s=float(number),
        wall_s=0.0,
        client_s=100.0 + number,
        level="info",
        about="test",
        sentence=str(number),
    )


class HandSource:
    """Gives the events it was made with, then an error or silence or its end."""

    def __init__(self, events: list[AnyEvent], *, error: OSError | None = None, silent: bool = False) -> None:
        self.events = events
        self.error = error
        self.silent = silent
        self.given = 0
        self.closed = 0
        self.requests: list[AnyRequest] = []

    async def __aiter__(self) -> AsyncIterator[AnyEvent]:
        for event in self.events:
            self.given += 1
            yield event
        if self.silent:
            await asyncio.Event().wait()
        if self.error is not None:
            raise self.error

    def send(self, request: AnyRequest) -> None:
        self.requests.append(request)

    async def close(self) -> None:
        self.closed += 1


class FullDisk:
    """A recording that takes one event and then fails."""

    def __init__(self) -> None:
        self.taken: list[AnyEvent] = []

    def append(self, event: AnyEvent) -> None:
        if self.taken:
            raise OSError(28, "No space left on device")
        self.taken.append(event)

    def close(self) -> None:
        return


async def test_every_event_comes_once_and_in_order() -> None:
    events: list[AnyEvent] = [notice(number) for number in range(1000)]
    async with aclosing(with_ticks(HandSource(events), 60.0)) as stream:
        assert [event async for event in stream] == events


def hello(mono_s: float, client_s: float) -> Hello:
    """An agent reports, from a host that has been up for so long."""
    return Hello(
        mono_s=mono_s,
        wall_s=0.0,
        client_s=client_s,
        protocol=1,
        host="gpu01",
        user="ann",
        uid=1000,
        pid=99,
        boot_id="b",
        python="3.10",
        kernel="6.8",
        cpu_count=8,
        memory_total_mib=1000,
    )


def pong(mono_s: float, client_s: float) -> Pong:
    return Pong(mono_s=mono_s, wall_s=0.0, client_s=client_s, sent_s=0.0)


@pytest.mark.parametrize(
    ("events", "behind_s"),
    [
        ([pong(7.0, 107.0)], 100.0),
        ([pong(7.0, 107.0), pong(7.5, 108.0)], 100.0),
        ([hello(90_000.0, 100.0), hello(20.0, 200.0)], 180.0),
        ([hello(50.0, 100.0), pong(51.0, 101.0), pong(52.0, 3702.0)], 3650.0),
    ],
    ids=["at once", "one that comes late", "a host that was started anew", "a host that slept for an hour"],
)
async def test_a_quiet_source_still_ticks_on_the_hosts_clock(events: list[AnyEvent], behind_s: float) -> None:
    source = HandSource(events, silent=True)
    async with asyncio.timeout(5), aclosing(with_ticks(source, 0.01)) as stream:
        found = [await anext(stream) for _ in range(len(events) + 20)]
    assert isinstance(found[-1], Tick)
    assert found[-1].client_s - found[-1].mono_s == pytest.approx(behind_s)


async def drain(source: HandSource) -> None:
    async with aclosing(with_ticks(source, 60.0)) as stream:
        async for _ in stream:
            pass


async def test_an_error_of_the_source_is_raised_to_the_watcher() -> None:
    with pytest.raises(OSError, match="gone"):
        await drain(HandSource([notice(1)], error=OSError("gone")))


async def test_a_slow_watcher_stops_the_reading_and_can_leave_at_any_time() -> None:
    source = HandSource([notice(number) for number in range(5 * QUEUE_EVENTS)])
    async with asyncio.timeout(5), aclosing(with_ticks(source, 60.0)) as stream:
        await anext(stream)
        for _ in range(20):
            await asyncio.sleep(0)
        assert source.given <= QUEUE_EVENTS + 2


async def test_a_full_disk_ends_the_recording_and_not_the_watch() -> None:
    disk = FullDisk()
    session = Session(HandSource([notice(1), notice(2), notice(3)]), WatchOptions(), SPEC, journal=disk)
    seen = [event async for event in session.updates()]
    said = [event.sentence for event in seen if isinstance(event, Notice)]
    assert said == ["1", "the recording stopped: No space left on device; the watch goes on", "2", "3"]


async def test_the_source_is_closed_when_it_has_ended() -> None:
    source = HandSource([notice(1)])
    session = Session(source, WatchOptions(), SPEC)
    assert len([event async for event in session.updates()]) == 1
    assert source.closed >= 1


async def test_a_key_before_ready_arms_and_a_second_thought_disarms() -> None:
    session = Session(HandSource([]), WatchOptions(), SPEC)
    assert session.start_bench() == "the benchmark will fire when the server is ready"
    assert session.state.bench.armed
    assert session.cancel_bench() == "the benchmark will not fire"
    assert not session.state.bench.armed
    assert session.cancel_bench() == "no benchmark is running"


@pytest.mark.parametrize("turns", range(6))
async def test_a_watch_that_is_kept_busy_ends_at_once_when_cancelled(turns: int) -> None:
    source = HandSource([notice(number) for number in range(5000)], silent=True)
    taken = 0

    async def follow() -> None:
        nonlocal taken
        async with aclosing(with_ticks(source, 60.0)) as events:
            async for _ in events:
                taken += 1

    following = asyncio.create_task(follow())
    while taken < 2 * QUEUE_EVENTS:  # noqa: ASYNC110 -- the turns of the loop are what is counted
        await asyncio.sleep(0)
    for _ in range(turns):
        await asyncio.sleep(0)
    following.cancel()
    before = taken
    await asyncio.wait({following}, timeout=5)

    assert following.cancelled()
    assert taken - before <= 1
