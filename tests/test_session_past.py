"""A session keeps a load that became ready, and tells the next one of it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from watched_host import Watch, WatchedHost

from tui.benchmark import BenchSpec
from tui.events import AnyEvent, History, Notice, Processes, Tick
from tui.past_load import PastLoad
from tui.requests import AnyRequest
from tui.runs.past_loads import PastLoadsFile
from tui.session import Session
from tui.watch.options import WatchOptions
from tui.watch.state import WatchState

SPEC = BenchSpec(url="", model=None, concurrency=1, requests=1, input_tokens=8, output_tokens=8)


class Told:
    """A source that gives the events it was made with."""

    def __init__(self, events: list[AnyEvent]) -> None:
        self.events = events

    async def __aiter__(self) -> AsyncIterator[AnyEvent]:
        for event in self.events:
            yield event

    def send(self, request: AnyRequest) -> None:
        pass

    async def close(self) -> None:
        pass


class Kept:
    """A recording in memory."""

    def __init__(self) -> None:
        self.events: list[AnyEvent] = []

    def append(self, event: AnyEvent) -> None:
        self.events.append(event)

    def close(self) -> None:
        pass


async def watch(host: WatchedHost, past: PastLoadsFile | None) -> tuple[Session, list[AnyEvent], Kept]:
    journal = Kept()
    session = Session(Told(host.events), WatchOptions(), SPEC, journal=journal, past=past)
    seen = [event async for event in session.updates()]
    return session, [event for event in seen if not isinstance(event, Tick)], journal


@pytest.fixture
def file(tmp_path: Path) -> PastLoadsFile:
    return PastLoadsFile(tmp_path / "tminus" / "loads.jsonl")


@pytest.fixture
def loaded(watched: Watch) -> WatchedHost:
    host = watched()
    host.hello()
    host.processes()
    host.wait(5)
    host.loads_to_capture()
    host.becomes_ready()
    host.wait(1)
    host.becomes_ready()
    return host


@pytest.fixture
def loading(watched: Watch) -> WatchedHost:
    host = watched()
    host.hello()
    host.starts()
    host.wait(5)
    host.log("server_args=ServerArgs(model_path='qwen')")
    return host


async def test_a_load_that_became_ready_is_written_once(loaded: WatchedHost, file: PastLoadsFile) -> None:
    await watch(loaded, file)

    kept, _ = file.of("sglang", "/models/qwen")
    assert [load.ready_s for load in kept] == [125.0]


async def test_without_recording_no_load_is_written(loaded: WatchedHost, file: PastLoadsFile) -> None:
    session, _, _ = await watch(loaded, PastLoadsFile(file.path, write=False))

    assert session.state.ready
    assert not file.path.exists()


async def test_the_next_session_hears_of_it_with_the_server_and_estimates_by_it(
    loaded: WatchedHost, loading: WatchedHost, file: PastLoadsFile
) -> None:
    await watch(loaded, file)

    session, seen, journal = await watch(loading, file)

    place = next(number for number, event in enumerate(seen) if isinstance(event, Processes))
    told = seen[place + 1]
    assert isinstance(told, History)
    assert told.sentence == "1 past load of this engine and model"
    assert [load.ready_s for load in told.loads] == [125.0]
    assert sum(isinstance(event, History) for event in journal.events) == 1
    estimate = session.state.estimate(loading.mono)
    assert estimate is not None
    assert (estimate.remaining_s, estimate.loads) == (120.0, 1)


async def test_a_replay_of_the_recording_gives_the_same_estimate_without_the_file(
    loaded: WatchedHost, loading: WatchedHost, file: PastLoadsFile
) -> None:
    await watch(loaded, file)
    session, _, journal = await watch(loading, file)

    replayed = WatchState(WatchOptions())
    for event in journal.events:
        replayed.apply(event)

    assert replayed.estimate(loading.mono) == session.state.estimate(loading.mono)
    assert replayed.estimate(loading.mono) is not None


async def test_a_second_load_of_one_watch_hears_of_the_first(
    loaded: WatchedHost, file: PastLoadsFile
) -> None:
    loaded.exits()
    loaded.wait(10)
    loaded.starts(pid=200)

    session, seen, _ = await watch(loaded, file)

    assert [len(event.loads) for event in seen if isinstance(event, History)] == [0, 1]
    assert session.state.estimate_words(loaded.mono) == "2:05 left by 1 past load"


async def test_a_place_that_cannot_be_written_is_a_notice_and_the_watch_learns_all_the_same(
    loaded: WatchedHost, tmp_path: Path
) -> None:
    (tmp_path / "tminus").touch()
    loaded.exits()
    loaded.starts(pid=200)

    session, seen, _ = await watch(loaded, PastLoadsFile(tmp_path / "tminus" / "loads.jsonl"))

    said = [event.sentence for event in seen if isinstance(event, Notice)]
    assert [sentence.partition(": ")[0] for sentence in said] == ["this load is not kept for later estimates"]
    assert session.state.estimate_words(loaded.mono) == "2:05 left by 1 past load"


class Never:
    """A place of past loads that must not be asked."""

    def of(self, engine: str, model: str) -> tuple[list[PastLoad], str]:
        raise AssertionError(engine, model)

    def add(self, load: PastLoad) -> str:
        raise AssertionError(load)


async def test_nothing_is_read_before_a_server_is_followed(watched: Watch) -> None:
    host = watched()
    host.hello()
    host.processes()
    session = Session(Told(host.events), WatchOptions(), SPEC, past=Never())

    assert [event async for event in session.updates()] == host.events
