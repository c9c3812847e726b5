"""Which workload the key fires, and how the levels of a sweep follow one another."""

import pytest
from msgspec.structs import replace
from run_entries import result, spec

from tui.bench.workload import Workload
from tui.benchmark import BenchChoice, BenchComparison, BenchRecord, BenchRecords, BenchResult
from tui.watch.bench import BenchState
from tui.watch.benching import Benching


@pytest.fixture
def benching() -> Benching:
    levels = tuple(spec(profile="sweep", concurrency=streams) for streams in (1, 2, 4))
    return Benching(
        [Workload("decode", "one stream", (spec(profile="decode"),)), Workload("sweep", "", levels)]
    )


def test_the_first_workload_is_chosen_until_another_one_is(benching: Benching) -> None:
    assert benching.chosen.name == "decode"
    assert benching.answer("sweep").startswith("b runs sweep: 1, 2, 4 streams")
    assert benching.chosen.name == "sweep"
    assert benching.answer("no such") == "there is no profile no such"
    assert benching.chosen.name == "sweep"


def test_the_levels_of_a_sweep_share_a_series_and_come_in_order(benching: Benching) -> None:
    benching.choose("sweep")
    benching.begin("s1", despite_load=False)
    fired = [benching.next(run) for run in ("a", "b", "c", "d")]

    assert [each and (each.concurrency, each.series, each.level, each.levels) for each in fired] == [
        (1, "s1", 1, 3),
        (2, "s1", 2, 3),
        (4, "s1", 3, 3),
        None,
    ]


def test_a_single_run_is_no_series(benching: Benching) -> None:
    benching.begin("s1", despite_load=True)
    fired = benching.next("a")

    assert fired is not None
    assert (fired.series, fired.levels, fired.despite_load) == ("", 1, True)


@pytest.mark.parametrize(
    ("changes", "goes_on"),
    [
        ({}, True),
        ({"outcome": "failed", "completed": 60, "failed": 4}, True),
        ({"outcome": "failed", "completed": 0, "fault": "refused"}, False),
        ({"outcome": "cancelled"}, False),
        ({"run": "another"}, False),
    ],
    ids=["done", "partly", "nothing", "cancelled", "another"],
)
def test_a_level_without_figures_ends_the_sweep(
    benching: Benching, changes: dict[str, object], goes_on: bool
) -> None:
    benching.choose("sweep")
    benching.begin("s1", despite_load=False)
    benching.next("aaaa0001")

    assert benching.goes_on(result(**changes)) is goes_on  # pyright: ignore[reportArgumentType]


def test_what_is_left_after_a_cancelled_level_never_runs(benching: Benching) -> None:
    benching.choose("sweep")
    benching.begin("s1", despite_load=False)
    benching.next("aaaa0001")
    benching.goes_on(result(outcome="cancelled"))

    assert benching.next("b") is None


# The state that the pane shows.


def test_the_state_keeps_the_requests_of_the_newest_run_alone() -> None:
    state = BenchState()
    record = BenchRecord(0.0, 20.0, 20.0, 100.0, 101.0, 16, 8, 16)
    for run in ("a", "a", "b"):
        state.take(BenchRecords(mono_s=0.0, wall_s=0.0, run=run, records=[record]))

    assert state.records_of("a") == ()
    assert state.records_of("b") == (record,)


def test_a_run_that_others_kept_from_starting_is_told_apart() -> None:
    state = BenchState()
    assert not state.busy
    state.take(result(outcome="failed", fault="busy", completed=0))
    assert state.busy
    state.take(result())
    assert not state.busy


def test_the_series_is_that_of_the_newest_result() -> None:
    state = BenchState()
    results: list[BenchResult] = [
        result(run, spec=spec(series=series)) for run, series in (("a", "old"), ("b", "new"), ("c", "new"))
    ]
    for each in results:
        state.take(each)
    assert [each.run for each in state.series] == ["b", "c"]
    state.take(replace(result("d")))
    assert [each.run for each in state.series] == ["d"]


def test_a_choice_names_the_profile_and_what_runs() -> None:
    state = BenchState()
    state.choose(BenchChoice(mono_s=0.0, wall_s=0.0, choice="chosen", profile="serve"))
    state.choose(BenchChoice(mono_s=0.0, wall_s=0.0, choice="started", run="a", spec=spec()))

    assert (state.profile, state.running, state.spec) == ("serve", "a", spec())


def test_a_comparison_belongs_to_its_run() -> None:
    state = BenchState()
    told = BenchComparison(
        mono_s=0.0, wall_s=0.0, run="a", against="b", against_wall_s=1.0, word="cannot tell", sentence=""
    )
    state.take(told)
    assert state.comparisons == {"a": told}
