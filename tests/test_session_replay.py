"""What a watch has recorded makes, played again, the same state."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from tapes import load
from watched_host import WatchedHost

from tui import present
from tui.benchmark import BenchSpec
from tui.commands.snapshot import snapshot
from tui.commands.start import asked_of
from tui.events import AnyEvent
from tui.journal.writer import open_journal
from tui.past_load import PastLoad, PhaseTime
from tui.replay.headless import play
from tui.replay.opening import open_tape
from tui.requests import AnyRequest, BenchRequest
from tui.session import Session
from tui.watch.options import WatchOptions
from tui.watch.state import WatchState

SPEC = BenchSpec(url="", model=None, concurrency=1, requests=1, input_tokens=8, output_tokens=8)
Then = Callable[["Session"], object]


class Scripted:
    """A source that gives events and, between them, lets a person do something to the session."""

    def __init__(self, script: list[AnyEvent | Then]) -> None:
        self.script = script
        self.session: Session | None = None
        self.requests: list[AnyRequest] = []

    async def __aiter__(self) -> AsyncIterator[AnyEvent]:
        for each in self.script:
            if callable(each):
                await asyncio.sleep(0.02)  # the session takes in what it was given before
                assert self.session is not None
                each(self.session)
            else:
                yield each

    def send(self, request: AnyRequest) -> None:
        self.requests.append(request)

    async def close(self) -> None:
        return


class Remembers:
    """Past loads: what is kept, and two of before."""

    def __init__(self) -> None:
        self.kept: list[PastLoad] = []

    def of(self, engine: str, model: str) -> tuple[list[PastLoad], str]:
        return [past(engine, model, 100.0), past(engine, model, 110.0)], "2 past loads"

    def add(self, load: PastLoad) -> str:
        self.kept.append(load)
        return "it cannot be kept: the disk is full"


def past(engine: str, model: str, seconds: float) -> PastLoad:
    return PastLoad(
        engine=engine,
        version=None,
        model=model,
        host="gpu01",
        gpus=None,
        gpu_name=None,
        tensor_parallel=2,
        pipeline_parallel=None,
        data_parallel=None,
        wall_s=1.0,
        ready_s=seconds,
        phases=[PhaseTime(phase="launch", seconds=10.0), PhaseTime(phase="weights", seconds=seconds - 10.0)],
    )


async def watched(
    folder: Path, script: list[AnyEvent | Then], options: WatchOptions | None = None
) -> tuple[WatchState, WatchState, float]:
    """Watch a script and record it; return the state, that of its replay, and the client's last time."""
    options = options or WatchOptions()
    source = Scripted(script)
    journal = open_journal(folder, "gpu01", "0", asked_of(options))
    session = Session(source, options, SPEC, journal=journal, past=Remembers())
    source.session = session
    last_s = 0.0
    async for event in session.updates():
        last_s = max(last_s, event.client_s)
    return session.state, play(open_tape(journal.path)).state, last_s


def assert_same(live: WatchState, replayed: WatchState, client_s: float) -> None:
    """Compare everything that can be shown or printed of two states."""
    for later_s in (0.0, 3.0, 400.0):
        now_s = client_s + later_s
        assert snapshot(replayed, now_s) == snapshot(live, now_s)
        assert present.present(replayed, now_s) == present.present(live, now_s)
        assert present.exit_summary(replayed, now_s) == present.exit_summary(live, now_s)
    assert present.log_lines(replayed, 0) == present.log_lines(live, 0)
    assert list(replayed.notices) == list(live.notices)
    assert replayed.phases == live.phases
    assert replayed.ladder == live.ladder
    assert replayed.bench == live.bench
    assert replayed.matching == live.matching
    assert replayed.finished == live.finished
    assert (replayed.loads, replayed.alerts, replayed.lost) == (live.loads, live.alerts, live.lost)
    assert replayed.last_end == live.last_end


def happened(host: WatchedHost) -> list[AnyEvent | Then]:
    """Return a host's events as a script."""
    return [*host.events]


async def test_a_load_that_becomes_ready(tmp_path: Path) -> None:
    live, replayed, last_s = await watched(tmp_path, [*load()])
    assert live.ready
    assert_same(live, replayed, last_s)


async def test_a_load_that_fails(tmp_path: Path) -> None:
    live, replayed, last_s = await watched(tmp_path, [*load(dies_at=40)])
    assert live.outcome == "failed"
    assert_same(live, replayed, last_s)


async def test_a_restart_with_a_failure_a_cut_link_and_lost_log(tmp_path: Path) -> None:
    host = WatchedHost(WatchOptions())
    host.hello()
    host.facts()
    host.driver("ok")
    host.loads_to_capture()
    host.gpus(1000.0, 2000.0)
    host.log("[2026-11-29 13:48:34 TP1] torch.OutOfMemoryError: CUDA out of memory.", tail="half a li")
    host.exits(code=1)
    host.gap("12 bytes of the log were lost")
    host.link("lost", "the link was lost")
    host.wait(20)
    host.hello()
    host.starts(pid=200)
    host.log("Capturing batches (bs=1):  50%|     | 1/2 [00:01<00:01]", returns=(0,))
    host.becomes_ready()
    host.notice("something to know", "warning")
    live, replayed, last_s = await watched(tmp_path, happened(host))
    assert live.loads == 2
    assert_same(live, replayed, last_s)


async def test_past_loads_and_that_one_could_not_be_kept(tmp_path: Path) -> None:
    host = WatchedHost(WatchOptions())
    host.hello()
    host.loads_to_capture()
    host.becomes_ready()
    live, replayed, last_s = await watched(tmp_path, happened(host))
    assert live.finished is not None
    assert "the disk is full" in live.notices[-1].sentence
    assert_same(live, replayed, last_s)


@pytest.mark.parametrize(
    "options",
    [
        WatchOptions(port=8000),
        WatchOptions(url="http://127.0.0.1:30000", ready_on="model"),
        WatchOptions(model="qwen", ready_on="health", log_path="other.log", interval_s=0.5),
        WatchOptions(pid=10),
        WatchOptions(api_key="secret", insecure=True),
    ],
)
async def test_what_was_asked_for_counts_in_the_replay_too(tmp_path: Path, options: WatchOptions) -> None:
    live, replayed, last_s = await watched(tmp_path, [*load()], options)
    assert_same(live, replayed, last_s)


# What a person does, which no source tells.


async def test_a_benchmark_that_is_armed_and_disarmed(tmp_path: Path) -> None:
    early = [*load()][:40]
    live, replayed, last_s = await watched(tmp_path, [*early, Session.start_bench])
    assert live.bench.armed
    assert_same(live, replayed, last_s)
    live, replayed, last_s = await watched(tmp_path, [*early, Session.start_bench, Session.cancel_bench])
    assert not live.bench.armed
    assert_same(live, replayed, last_s)


async def test_a_benchmark_that_was_armed_and_fires_at_ready(tmp_path: Path) -> None:
    events = [*load()]
    live, replayed, last_s = await watched(tmp_path, [*events[:40], Session.start_bench, *events[40:]])
    assert live.bench.running is not None
    assert_same(live, replayed, last_s)


async def test_a_benchmark_asked_for_at_ready_by_option(tmp_path: Path) -> None:
    options = WatchOptions(bench_on_ready=True)
    live, replayed, last_s = await watched(tmp_path, [*load(40)], options)
    assert live.bench.armed
    assert_same(live, replayed, last_s)
    live, replayed, last_s = await watched(tmp_path, [*load()], options)
    assert live.bench.running is not None
    assert_same(live, replayed, last_s)


async def test_a_benchmark_that_ran_and_another_that_was_cut_off_with_the_link(tmp_path: Path) -> None:
    host = WatchedHost(WatchOptions())
    host.hello()
    host.starts()
    host.becomes_ready()
    ready = happened(host)
    host.events.clear()
    host.bench_progress(10)
    host.bench_result(failed=3)
    measured = happened(host)
    host.events.clear()
    host.link("lost", "the link was lost")
    script = [*ready, Session.start_bench, *measured, Session.start_bench, *happened(host)]
    live, replayed, last_s = await watched(tmp_path, script)
    assert [result.outcome for result in live.bench.results] == ["done", "cut"]
    assert live.bench.running is None
    assert "cut off" in live.notices[-1].sentence
    assert_same(live, replayed, last_s)


async def test_keys_before_anything_was_heard(tmp_path: Path) -> None:
    live, replayed, last_s = await watched(tmp_path, [Session.start_bench])
    assert live.bench.armed
    assert_same(live, replayed, last_s)


async def test_the_request_for_a_benchmark_is_sent_once_and_named_as_recorded(tmp_path: Path) -> None:
    source = Scripted([*load(), Session.start_bench, Session.start_bench])
    journal = open_journal(tmp_path, "gpu01", "0")
    source.session = session = Session(source, WatchOptions(), SPEC, journal=journal)
    async for _ in session.updates():
        pass
    sent = [each.run for each in source.requests if isinstance(each, BenchRequest)]
    assert sent == [play(open_tape(journal.path)).state.bench.running]


# The real agent.


async def test_what_the_real_agent_of_this_machine_told(tmp_path: Path) -> None:
    from tui.commands.start import local_agent

    options = WatchOptions(port=1)
    journal = open_journal(tmp_path, "localhost", "0", asked_of(options))
    session = Session(local_agent(options), options, SPEC, journal=journal)
    last_s, until_s = 0.0, time.monotonic() + 20.0
    async for event in session.updates():
        last_s = max(last_s, event.client_s)
        if (session.state.hello is not None and session.state.driver is not None) or last_s > until_s:
            break
    await session.close()
    replayed = play(open_tape(journal.path)).state
    assert replayed.hello == session.state.hello
    assert replayed.hello is not None
    assert_same(session.state, replayed, last_s)
