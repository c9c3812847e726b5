"""When B is called better, worse, no different, and when nobody can tell."""

from collections.abc import Callable, Sequence

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from run_entries import around, fingerprint, instance, result, run_entry, runs_of, spec

from tui.benchmark import BenchResult, Limits, MetricRatio, Percentiles, Warmup
from tui.runs.comparison import Compared, compare
from tui.runs.entry import Fingerprint, Instance, RunEntry
from tui.runs.metrics import METRICS

STEADY = [1000.0, 1010.0, 990.0]
FASTER = [1200.0, 1215.0, 1190.0]
SLOWER = [800.0, 805.0, 795.0]
A = runs_of("conf-a", STEADY, first=1, step=2)
B = runs_of("conf-b", FASTER, first=2, step=2)
NOISE = 0.07


def row(compared: Compared, metric: str) -> MetricRatio:
    return next(each for each in compared.ratios if each.metric == metric)


def changed(run: RunEntry, **changes: object) -> RunEntry:
    """Return a run whose result has other fields."""
    return msgspec.structs.replace(run, result=msgspec.structs.replace(run.result, **changes))


def with_last(runs: Sequence[RunEntry], change: Callable[[RunEntry], RunEntry]) -> list[RunEntry]:
    return [*runs[:-1], change(runs[-1])]


# The four words.


def test_a_fifth_more_on_three_instances_a_side_is_better_in_all_that_follows_from_it() -> None:
    found = compare(A, B, NOISE)

    assert (found.word, found.metric, found.blockers) == ("better", "output tokens/s", ())
    assert found.sentence.startswith("better: output tokens/s 1.202 times that of A (1.17")
    assert (found.a_instances, found.b_instances, found.needed) == (3, 3, 0)
    assert {row(found, name).word for name in ("steady tokens/s", "TPOT", "TTFT p50", "E2E")} == {"better"}
    assert row(found, "TPOT").ratio == pytest.approx(1 / 1.202, abs=0.001)
    assert row(found, "TPOT").b == pytest.approx(row(found, "TPOT").a * row(found, "TPOT").ratio)


def test_a_fifth_less_is_worse() -> None:
    found = compare(A, runs_of("conf-b", SLOWER, first=2, step=2), NOISE)

    assert found.word == "worse"
    assert row(found, "TPOT").word == "worse"


def test_a_difference_within_the_floor_is_none_that_was_seen() -> None:
    found = compare(A, runs_of("conf-b", [1020.0, 1030.0, 1010.0], first=2, step=2), NOISE)

    assert found.word == "no difference seen"
    assert found.needed == 0


def test_noise_that_hides_the_difference_asks_for_more_instances() -> None:
    found = compare(
        runs_of("conf-a", [1000.0, 900.0, 1100.0]),
        runs_of("conf-b", [1150.0, 1050.0, 1300.0], first=9),
        NOISE,
    )

    assert found.word == "cannot tell"
    assert found.needed is not None
    assert found.needed > 0
    assert found.sentence.endswith(f"needs about {found.needed} more instances in all")


def test_a_higher_floor_takes_the_word_back() -> None:
    assert compare(A, B, 0.25).word == "no difference seen"
    assert compare(A, B, 0.19).word == "cannot tell"


# The number of instances.


@pytest.mark.parametrize(("count_a", "count_b"), [(1, 1), (1, 3), (3, 1), (2, 2), (3, 2)])
def test_fewer_than_three_instances_a_side_tell_nothing(count_a: int, count_b: int) -> None:
    found = compare(A[:count_a], B[:count_b], NOISE)

    assert {each.word for each in found.ratios} == {found.word} == {"cannot tell"}
    assert found.needed is not None
    assert found.needed >= 6 - count_a - count_b
    assert "needs 3 instances a side" in found.sentence


@settings(deadline=None, max_examples=60)
@given(
    st.floats(1.0, 1e5),
    st.floats(1.0, 1e5),
    st.integers(1, 6),
    st.floats(0.0, 0.5),
    st.booleans(),
    st.booleans(),
)
def test_a_sample_of_one_never_yields_another_word_than_cannot_tell(
    one: float, other: float, count: int, noise: float, repeated: bool, turned: bool
) -> None:
    single = runs_of("conf-a", [one])
    if repeated:
        single += [
            msgspec.structs.replace(run, instance=single[0].instance) for run in runs_of("conf-a", [one] * 5)
        ]
    many = runs_of("conf-b", [other * (1 + place / 1000) for place in range(count)], first=2)

    found = compare(many, single, noise) if turned else compare(single, many, noise)

    assert found.word == "cannot tell"
    assert {each.word for each in found.ratios} == {"cannot tell"}


def test_runs_on_one_start_are_repeats_whose_mean_is_one_sample() -> None:
    twice = [
        run_entry(result=result("aaaa0001", speed=900.0), instance=instance(1)),
        run_entry(result=result("aaaa0002", speed=1100.0), instance=instance(1)),
        *runs_of("conf-a", [1000.0, 1000.0], first=3, step=2),
    ]

    found = compare(twice, B, NOISE)

    assert found.a_instances == 3
    assert row(found, "output tokens/s").a == pytest.approx(1000.0)


def test_a_metric_that_some_runs_lack_has_fewer_instances_than_the_others() -> None:
    few = around(13.0, samples=99)
    found = compare(A, with_last(B, lambda run: changed(run, itl_ms=few)), NOISE)

    assert (row(found, "ITL p99").b_instances, row(found, "TPOT").b_instances) == (2, 3)
    assert row(found, "ITL p99").word == "cannot tell"


# What blocks.


def unknown_fingerprint(run: RunEntry) -> RunEntry:
    return msgspec.structs.replace(run, fingerprint=Fingerprint(digest=""))


def unknown_instance(run: RunEntry) -> RunEntry:
    return msgspec.structs.replace(run, instance=Instance(host="gpu-box", pid=None, started_wall_s=None))


def other_workload(run: RunEntry) -> RunEntry:
    return msgspec.structs.replace(run, workload="1 stream, 8 in, 8 out, 4 requests")


HARD: dict[str, tuple[Callable[[RunEntry], RunEntry], str]] = {
    "workload": (other_workload, "the workloads differ"),
    "model": (lambda run: changed(run, model="llama"), "the models differ: qwen and llama or qwen"),
    "fingerprint": (unknown_fingerprint, "what the server of B ran under is not known"),
    "environment": (
        lambda run: msgspec.structs.replace(run, fingerprint=Fingerprint(digest="conf-b")),
        "the environment of B's server is not known",
    ),
    "instance": (unknown_instance, "on which start of the server B was measured is not known"),
    "counting": (
        lambda run: changed(run, tokens_counted_by="chunks"),
        "tokens were counted differently: by usage and by chunks or by usage",
    ),
    "place": (lambda run: changed(run, measured_on="this_machine"), "measured from different places"),
    "client": (lambda run: msgspec.structs.replace(run, origin="vllm"), "the clients differ"),
    "lengths": (lambda run: changed(run, output_tokens=64 * 200), "answers of A had 256.0 tokens on average"),
}


@pytest.mark.parametrize("speeds", [FASTER, SLOWER, STEADY], ids=["faster", "slower", "alike"])
@pytest.mark.parametrize("name", HARD)
def test_what_makes_two_sides_incomparable_blocks_every_word(name: str, speeds: list[float]) -> None:
    change, sentence = HARD[name]
    runs = with_last(runs_of("conf-b", speeds, first=2, step=2), change)

    found = compare(A, runs, NOISE)

    assert {each.word for each in found.ratios} == {found.word} == {"cannot tell"}
    assert any(each.startswith(sentence) for each in found.blockers)
    assert found.sentence.startswith("cannot tell: ")
    assert found.due.which == ""


@pytest.mark.parametrize("name", ["instance", "fingerprint"])
def test_a_doubtful_baseline_blocks_as_well(name: str) -> None:
    found = compare(with_last(A, HARD[name][0]), B, NOISE)

    assert found.word == "cannot tell"
    assert any("A" in each for each in found.blockers)


def failed_request(run: RunEntry) -> RunEntry:
    return changed(run, failed=1, completed=63, failures={"reset": 1}, output_tokens=63 * 256)


def failed_run(run: RunEntry) -> RunEntry:
    nothing = Percentiles(mean=None, p50=None, p90=None, p99=None, samples=0)
    gone: dict[str, object] = {name: nothing for name in ("ttft_ms", "itl_ms", "tpot_ms", "e2e_ms")}
    none = dict.fromkeys(("output_tokens", "output_tokens_per_s", "tokens_counted_by", "duration_s"))
    return changed(run, outcome="failed", fault="refused", completed=0, **gone, **none)


FAILURES: dict[str, tuple[Callable[[RunEntry], RunEntry], str]] = {
    "a request": (failed_request, "requests of B failed: reset 1"),
    "a whole run": (failed_run, "requests of B failed: refused 1"),
    "nobody knows": (
        lambda run: changed(run, failed_known=False),
        "whether requests of B failed is not known",
    ),
}


@pytest.mark.parametrize("name", FAILURES)
def test_failures_of_b_block_better_and_nothing_else(name: str) -> None:
    change, sentence = FAILURES[name]
    spare = [*FASTER, 1205.0], [*SLOWER, 801.0]
    faster, slower = (with_last(runs_of("conf-b", each, first=2, step=2), change) for each in spare)

    better, worse = compare(A, faster, NOISE), compare(A, slower, NOISE)

    assert {each.word for each in better.ratios} == {better.word} == {"cannot tell"}
    assert better.sentence == f"cannot tell: {sentence}"
    assert better.blockers == (sentence,)
    assert worse.word == "worse"


def test_failures_of_a_are_told_and_block_nothing() -> None:
    found = compare(with_last(A, failed_request), B, NOISE)

    assert found.word == "better"
    assert "1 request of A failed; its figures are of the others" in found.notes


def test_one_configuration_on_both_sides_is_noise() -> None:
    found = compare(A, runs_of("conf-a", FASTER, first=2, step=2), NOISE)

    assert found.word == "cannot tell"
    assert found.sentence == "cannot tell: A and B are one configuration, so that what differs is noise"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"outcome": "cancelled"}, "cancelled"),
        ({"completed": 40}, "cut short"),
        ({"others_running": 3.0}, "made while others used the server"),
    ],
)
def test_a_partial_or_disturbed_run_is_no_sample(changes: dict[str, object], why: str) -> None:
    found = compare(A, with_last(B, lambda run: changed(run, **changes)), NOISE)

    assert (found.b_instances, found.word) == (2, "cannot tell")
    assert f"1 run of B left out, {why}" in found.notes


def test_a_run_that_ends_by_its_duration_is_whole() -> None:
    asked = spec(duration_s=20.0, requests=10_000)

    assert compare(A, [changed(run, spec=asked) for run in B], NOISE).b_instances == 3


def test_no_run_that_counts_is_said() -> None:
    found = compare(A, [changed(run, outcome="cancelled") for run in B], NOISE)

    assert found.sentence == "cannot tell: no run of B counts (cancelled)"
    assert (found.ratios, found.needed) == ((), None)


# Other metrics.


def ttft(run: RunEntry, factor: float) -> RunEntry:
    mean = run.result.ttft_ms.mean
    return changed(run, ttft_ms=around((mean or 0.0) * factor, 64))


def test_better_in_one_metric_and_worse_in_another_is_for_people_to_weigh() -> None:
    found = compare(A, [ttft(run, 2.0) for run in B], NOISE)

    assert found.word == "cannot tell"
    assert found.sentence == "cannot tell: better in output tokens/s, worse in TTFT p50 and TTFT mean"
    assert (row(found, "output tokens/s").word, row(found, "TTFT p50").word) == ("better", "worse")


def test_what_another_metric_says_stands_beside_the_verdict() -> None:
    alike = runs_of("conf-b", STEADY, first=2, step=2)
    found = compare(A, [ttft(run, 0.5) for run in alike], NOISE)

    assert found.word == "no difference seen"
    assert found.sentence.endswith("; better in TTFT p50 and TTFT mean")


def test_the_other_metrics_have_wider_intervals() -> None:
    found = compare(A, B, NOISE)

    assert {each.metric: each.level for each in found.ratios} == {
        each.metric: 0.95 if each.metric == "output tokens/s" else 0.99 for each in found.ratios
    }
    whole, steady = row(found, "output tokens/s"), row(found, "steady tokens/s")
    assert (steady.high or 0) - (steady.low or 0) > (whole.high or 0) - (whole.low or 0)


@pytest.mark.parametrize(
    ("asked", "metric"),
    [
        (spec(), "output tokens/s"),
        (spec(arrival="poisson", rate_per_s=4.0), "E2E"),
        (spec(limits=Limits(ttft_ms=200.0)), "goodput"),
        (spec(limits=Limits()), "output tokens/s"),
    ],
)
def test_the_workload_chooses_what_the_verdict_goes_by(asked: object, metric: str) -> None:
    a, b = (
        [changed(run, spec=asked, goodput_per_s=run.result.requests_per_s) for run in side] for side in (A, B)
    )

    found = compare(a, b, NOISE)

    assert (found.metric, found.word) == (metric, "better")


def test_a_goodput_of_0_has_no_ratio_and_is_said() -> None:
    limits = spec(limits=Limits(ttft_ms=1.0))
    a = [changed(run, spec=limits, goodput_per_s=3.0) for run in A]
    b = [changed(run, spec=limits, goodput_per_s=0.0) for run in B]

    found = compare(a, b, NOISE)

    assert found.sentence == "cannot tell: there is no goodput of both sides"
    assert "goodput of B was 0, of which there is no ratio" in found.notes


def test_every_metric_that_a_result_has_is_compared() -> None:
    names = [each.metric for each in compare(A, B, NOISE).ratios]

    assert names == [each.name for each in METRICS if each.name not in ("goodput", "acceptance length")]


# Doubts and what is due.


def test_a_drift_is_told_and_the_earlier_side_is_due_again() -> None:
    found = compare(runs_of("conf-a", STEADY, first=1), runs_of("conf-b", FASTER, first=11), NOISE)

    assert found.word == "better"
    assert any(each.startswith("all instances of A were started before those of B") for each in found.notes)
    assert found.due.which == "A"


def test_an_alternating_order_has_nothing_due_once_it_is_settled() -> None:
    found = compare(A, B, NOISE)

    assert not any("drift" in each for each in found.notes)
    assert found.due.which == ""


def test_doubts_of_single_runs_are_told() -> None:
    unsettled = Warmup(requests=40, seconds=30.0, agreed=False)
    partly = msgspec.structs.replace(fingerprint("conf-b"), environment_known="partly")
    runs = with_last(B, lambda run: changed(run, warmup=unsettled, flush="refused"))
    runs = [msgspec.structs.replace(run, fingerprint=partly) for run in runs]

    found = compare(A, runs, NOISE)

    assert found.word == "better"
    assert found.notes == (
        "1 run of B began before the rate had settled",
        "the prefix cache was perhaps not empty in 1 run of B",
        "the environment of B's server is known in part",
    )


def test_a_result_without_figures_is_no_sample() -> None:
    empty: BenchResult = failed_run(run_entry()).result

    assert compare(A, [run_entry(result=empty, fingerprint=fingerprint("conf-b"))], NOISE).b_instances == 0
