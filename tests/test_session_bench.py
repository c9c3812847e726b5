"""A session fires what was chosen, one level after another, keeps each run and tells how it compares."""

import asyncio
from collections.abc import AsyncIterator, Callable

from msgspec.structs import replace
from run_entries import result, run_entry, spec
from watched_host import WatchedHost

from tui.bench.workload import Workload
from tui.benchmark import BenchComparison, BenchProgress, BenchResult
from tui.events import AnyEvent, Link, Notice
from tui.requests import AnyRequest, BenchCancelRequest, BenchRequest
from tui.runs.entry import LoadEntry, RunEntry
from tui.session import Session
from tui.watch.meaning import Meaning
from tui.watch.options import WatchOptions

SWEEP = Workload("sweep", "", tuple(spec(profile="sweep", concurrency=streams) for streams in (1, 2)))
DECODE = Workload("decode", "", (spec(profile="decode", concurrency=1),))
Answer = Callable[[BenchRequest], BenchResult]


def done(request: BenchRequest) -> BenchResult:
    return result(request.run, spec=request.spec)


class ReadyHost:
    """A host with a ready server, whose benchmarks end at once as ``answer`` says."""

    def __init__(self, answer: Answer, keys: Callable[[Session], object]) -> None:
        host = WatchedHost(WatchOptions())
        host.hello()
        host.starts()
        host.becomes_ready()
        self._script = list(host.events)
        self._answer, self._keys = answer, keys
        self.session: Session | None = None
        self.sent: list[AnyRequest] = []

    async def __aiter__(self) -> AsyncIterator[AnyEvent]:
        for event in self._script:
            yield event
        assert self.session is not None
        bench = self.session.state.bench
        while not self.session.state.ready:  # noqa: ASYNC110 -- the source runs ahead of the state
            await asyncio.sleep(0)
        self._keys(self.session)
        while len(self.fired) > len(bench.results):
            answered = len(bench.results)
            yield self._answer(self.fired[answered])
            while len(bench.results) == answered:  # noqa: ASYNC110
                await asyncio.sleep(0)

    def send(self, request: AnyRequest) -> None:
        self.sent.append(request)

    async def close(self) -> None:
        return

    @property
    def fired(self) -> list[BenchRequest]:
        return [each for each in self.sent if isinstance(each, BenchRequest)]


class Shelf:
    """Keeps runs, and says of each that it cannot be compared; takes loads as they come."""

    def loads(self, state: Meaning, event: AnyEvent) -> list[LoadEntry]:
        return []

    def loads_left(self, state: Meaning) -> list[LoadEntry]:
        return []

    def keep_loads(self, loads: list[LoadEntry]) -> str:
        return ""

    def __init__(self, fault: str = "") -> None:
        self.kept: list[RunEntry] = []
        self.fault = fault

    def entry(self, state: Meaning, result: BenchResult) -> RunEntry:
        assert state.ready
        return replace(run_entry(), result=result)

    def keep(self, entry: RunEntry, clocks: AnyEvent) -> tuple[BenchComparison | None, str]:
        self.kept.append(entry)
        told = BenchComparison(
            mono_s=clocks.mono_s,
            wall_s=clocks.wall_s,
            run=entry.id,
            against="base",
            against_wall_s=1.0,
            word="cannot tell",
            sentence="too few",
        )
        return (None, self.fault) if self.fault else (told, "")


async def watched(
    keys: Callable[[Session], object], answer: Answer = done, runs: Shelf | None = None
) -> tuple[ReadyHost, Session, list[AnyEvent]]:
    source = ReadyHost(answer, keys)
    session = Session(source, WatchOptions(), DECODE, profiles=[DECODE, SWEEP], runs=runs)
    source.session = session
    return source, session, [event async for event in session.updates()]


async def test_the_key_fires_what_is_chosen_at_the_server_that_is_watched() -> None:
    source, session, _ = await watched(Session.start_bench)

    (fired,) = source.fired
    assert (fired.spec.profile, fired.spec.concurrency) == ("decode", 1)
    assert fired.spec.url.startswith("http://127.0.0.1:")
    assert [each.run for each in session.state.bench.results] == [fired.run]


async def test_a_sweep_runs_level_after_level() -> None:
    def keys(session: Session) -> None:
        assert session.choose_profile("sweep").startswith("b runs sweep: 1, 2 streams")
        assert session.start_bench() == "the benchmark (sweep) runs"

    source, session, _ = await watched(keys)

    assert [(each.spec.level, each.spec.concurrency) for each in source.fired] == [(1, 1), (2, 2)]
    assert len({each.spec.series for each in source.fired}) == 1
    assert len(session.state.bench.series) == 2


async def test_a_level_that_gives_nothing_ends_the_sweep() -> None:
    def keys(session: Session) -> None:
        session.choose_profile("sweep")
        session.start_bench()

    def refused(request: BenchRequest) -> BenchResult:
        return result(request.run, spec=request.spec, outcome="failed", completed=0, fault="refused")

    source, _, _ = await watched(keys, refused)
    assert len(source.fired) == 1


async def test_a_sweep_that_is_cancelled_fires_no_further_level() -> None:
    def keys(session: Session) -> None:
        session.choose_profile("sweep")
        session.start_bench()
        assert "nothing is measured yet" in session.cancel_bench()

    source, _, _ = await watched(keys)

    assert len(source.fired) == 1
    assert [type(each) for each in source.sent if not isinstance(each, BenchRequest)][
        -1
    ] is BenchCancelRequest


async def test_after_a_refusal_for_others_load_the_key_measures_all_the_same() -> None:
    def busy(request: BenchRequest) -> BenchResult:
        fields = {"outcome": "failed", "completed": 0, "fault": "busy"}
        return result(request.run, spec=request.spec, **fields)  # pyright: ignore[reportArgumentType]

    source, session, _ = await watched(Session.start_bench, busy)
    assert not source.fired[0].spec.despite_load
    session.start_bench()
    assert source.fired[1].spec.despite_load


class Cut(ReadyHost):
    """A host whose link is lost when a benchmark has come some way, and comes back."""

    def __init__(self, keys: Callable[[Session], object]) -> None:
        super().__init__(done, keys)
        self.links = ("lost", "up")

    async def __aiter__(self) -> AsyncIterator[AnyEvent]:
        async for event in super().__aiter__():
            if not isinstance(event, BenchResult):
                yield event
                continue
            yield BenchProgress(
                mono_s=event.mono_s, wall_s=1.0, run=event.run, stage="measure", completed=3, failed=0,
                in_flight=1, requests=64, output_tokens=99, elapsed_s=2.0, output_tokens_per_s=50.0,
            )  # fmt: skip
            for state in self.links:
                yield Link(mono_s=event.mono_s, wall_s=1.0, state=state, sentence=f"the link is {state}")


async def of_cut(keys: Callable[[Session], object], shelf: Shelf) -> tuple[Cut, Session, list[AnyEvent]]:
    source = Cut(keys)
    session = Session(source, WatchOptions(), DECODE, profiles=[DECODE, SWEEP], runs=shelf)
    source.session = session
    return source, session, [event async for event in session.updates()]


async def test_a_run_that_is_cut_with_the_link_is_a_result_that_is_kept_once() -> None:
    shelf = Shelf()
    source, session, seen = await of_cut(Session.start_bench, shelf)

    (told,) = [each for each in seen if isinstance(each, BenchResult)]
    assert (told.run, told.outcome, told.completed) == (source.fired[0].run, "cut", 3)
    assert session.state.bench.results == [told]
    assert [each.result for each in shelf.kept] == [told]
    assert session.state.bench.running is None


async def test_the_levels_that_a_cut_sweep_had_left_are_not_run_after_it() -> None:
    def keys(session: Session) -> None:
        session.choose_profile("sweep")
        session.start_bench()

    source, _, _ = await of_cut(keys, Shelf())
    assert len(source.fired) == 1


async def test_every_result_is_kept_and_its_comparison_enters_as_an_event() -> None:
    shelf = Shelf()
    source, session, seen = await watched(Session.start_bench, runs=shelf)

    run = source.fired[0].run
    assert [each.id for each in shelf.kept] == [run]
    assert [each.run for each in seen if isinstance(each, BenchComparison)] == [run]
    assert session.state.bench.comparisons[run].sentence == "too few"


async def test_why_the_load_in_which_a_watch_ends_is_not_kept_can_be_said_after_its_end() -> None:
    class Full(Shelf):
        def loads_left(self, state: Meaning) -> list[LoadEntry]:
            return [load]

        def keep_loads(self, loads: list[LoadEntry]) -> str:
            return f"{len(loads)} load is not kept: the disk is full"

    entry = run_entry()
    load = LoadEntry(
        instance=entry.instance,
        fingerprint=entry.fingerprint,
        host="gpu01",
        began_wall_s=1.0,
        outcome="left",
        ready_s=None,
    )
    _, session, _ = await watched(Session.start_bench, runs=Full())

    assert session.unkept == "1 load is not kept: the disk is full"


async def test_a_run_that_cannot_be_kept_is_told_and_nothing_is_lost() -> None:
    _, session, seen = await watched(Session.start_bench, runs=Shelf("the disk is full"))

    assert [each.sentence for each in seen if isinstance(each, Notice)][-1] == "the disk is full"
    assert len(session.state.bench.results) == 1
