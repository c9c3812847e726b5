"""The benchmark pane: what it says before, while and after a run, and when a figure is doubtful."""

import pytest
from msgspec.structs import replace
from run_entries import around, result, spec
from watched_host import WatchedHost

from tui.bench.profiles import MANY
from tui.benchmark import (
    BenchChoice,
    BenchComparison,
    BenchProgress,
    BenchResult,
    Difference,
    MetricRatio,
    Warmup,
    Word,
)
from tui.present.bench import bench_panel
from widgets.values import BenchPanel, Mood


def shown(host: WatchedHost, *results: BenchResult) -> BenchPanel:
    for each in results:
        host.state.bench.take(each)
    return bench_panel(host.state)


def compared(run: str, word: Word, **changes: object) -> BenchComparison:
    fields: dict[str, object] = {
        "mono_s": 0.0,
        "wall_s": 0.0,
        "run": run,
        "against": "bbbb0001",
        "against_wall_s": 1.0,
        "word": word,
        "sentence": f"{word}: 1.00x of baseline bbbb0001",
    }
    return BenchComparison(**(fields | changes))  # pyright: ignore[reportArgumentType]


def test_what_the_key_does_is_said_before_there_was_a_run(host: WatchedHost) -> None:
    assert shown(host).headline == "no run yet: b arms it until ready"
    host.state.bench.choose(BenchChoice(mono_s=0.0, wall_s=0.0, choice="chosen", profile="serve"))
    host.state.bench.arm()
    armed = shown(host)
    assert armed.headline == "armed: serve will fire when the server is ready; Esc disarms it"
    assert armed.pending


def test_a_run_shows_its_live_figures_and_can_be_cancelled(host: WatchedHost) -> None:
    host.state.bench.started("r", spec(profile="sweep", level=2, levels=3))
    host.state.bench.take(
        BenchProgress(
            mono_s=0.0,
            wall_s=0.0,
            run="r",
            stage="measure",
            completed=10,
            failed=2,
            in_flight=4,
            requests=64,
            output_tokens=900,
            elapsed_s=2.0,
            output_tokens_per_s=812.0,
            fraction=0.25,
            ttft_ms=21.0,
            itl_ms=5.1,
        )
    )
    panel = shown(host)
    assert panel.headline == (
        "sweep 2 of 3: measuring, 812.0 tok/s, TTFT 21 ms, ITL 5.1 ms, 12 of 64 requests, 4 in flight"
    )
    assert (panel.progress, panel.pending, panel.warnings) == (0.25, True, ("2 failed",))


def test_a_run_that_its_duration_ends_is_out_of_no_number(host: WatchedHost) -> None:
    host.state.bench.started("r")
    progress = BenchProgress(
        mono_s=0.0,
        wall_s=0.0,
        run="r",
        stage="measure",
        completed=1,
        failed=0,
        in_flight=4,
        requests=MANY,
        output_tokens=0,
        elapsed_s=2.0,
        output_tokens_per_s=None,
    )
    host.state.bench.take(progress)
    assert shown(host).headline == "measuring, 1 request, 4 in flight"
    notes = shown(host, result("r", spec=spec(requests=MANY, duration_s=30.0))).notes
    assert "requests of 1024 in, 256 out, measured beside the server" in notes


def test_a_result_names_its_profile_and_hides_a_p99_of_few(host: WatchedHost) -> None:
    panel = shown(host, result())
    assert panel.headline.startswith("serve: 1,000 output tokens/s, 64 of 64 requests")
    rows = {row.name: row.cells for row in panel.rows}
    assert rows["TTFT ms"][3] == "-"
    assert rows["ITL ms"][3] != "-"


def test_the_first_token_of_the_answer_has_a_row_where_the_model_reasons_before(host: WatchedHost) -> None:
    assert "TTFO ms" not in {row.name for row in shown(host, result()).rows}
    assert "TTFO ms" in {row.name for row in shown(host, result("b", ttfo_ms=around(400.0, 64))).rows}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"failures": {"cut": 2, "http_503": 1}, "failed": 3}, "failed: cut 2, http_503 1"),
        ({"client_cpu_fraction": 0.93}, "client-bound: the load generator used 93% of a core"),
        ({"warmup": Warmup(requests=9, seconds=30.0, agreed=False)}, "not settled after 30 s of warm-up"),
        ({"others_running": 3.0}, "3 requests of others ran at its start"),
        ({"tokens_counted_by": "chunks"}, "tokens counted by chunks"),
    ],
    ids=["failures", "client-bound", "unsettled", "others", "chunks"],
)
def test_what_makes_figures_doubtful_is_said(
    host: WatchedHost, changes: dict[str, object], told: str
) -> None:
    panel = shown(host, result(**changes))  # pyright: ignore[reportArgumentType]
    assert any(told in warning for warning in panel.warnings), panel.warnings


def test_a_healthy_result_has_no_warning(host: WatchedHost) -> None:
    assert shown(host, result(warmup=Warmup(requests=9, seconds=4.0, agreed=True))).warnings == ()


def test_a_run_refused_for_others_says_what_the_key_does_next(host: WatchedHost) -> None:
    sentence = "3 requests of others run on the server"
    panel = shown(host, result(outcome="failed", fault="busy", completed=0, sentence=sentence))
    assert panel.headline == f"serve: not run: {sentence}; b runs it all the same"
    assert panel.mood is Mood.WARNING


def test_a_sweep_is_a_table_of_its_levels(host: WatchedHost) -> None:
    levels = [
        result(run, spec=spec(profile="sweep", series="s", concurrency=streams, level=level, levels=2))
        for run, streams, level in (("a", 1, 1), ("b", 2, 2))
    ]
    panel = shown(host, *levels)
    assert panel.columns == ("tok/s", "TTFT p50", "TPOT", "in flight")
    assert [row.name for row in panel.rows] == ["1", "2"]


def test_settings_that_differ_from_the_baseline_stand_beneath_with_unknown_as_unknown(
    host: WatchedHost,
) -> None:
    differences = (
        Difference(name="environment NCCL_ALGO", a="Ring", b=None),
        Difference(name="environment NCCL_PROTO", a="LL", b=None, b_known=False),
    )
    host.state.bench.take(compared("aaaa0001", "cannot tell", differences=differences))
    panel = shown(host, result())
    assert panel.differing == (
        ("environment NCCL_ALGO", "Ring", "unset"),
        ("environment NCCL_PROTO", "LL", "unknown"),
    )
    assert panel.compared_mood is Mood.IDLE


def test_each_latency_has_the_ratio_of_its_own_metric_and_a_colour_with_three_starts_alone(
    host: WatchedHost,
) -> None:
    told = {"TTFT p50": 1.11, "TPOT": 1.22, "ITL p99": 1.33, "E2E": 1.44, "TTFT mean": 9.0}
    ratios = tuple(
        MetricRatio(
            metric=metric, unit="ms", a=1.0, b=ratio, ratio=ratio, low=None, high=None, word="worse",
            a_instances=3, b_instances=2 if metric == "E2E" else 3,
        )
        for metric, ratio in told.items()
    )  # fmt: skip
    host.state.bench.take(compared("aaaa0001", "worse", ratios=ratios))
    panel = shown(host, result())
    assert panel.columns[-1] == "vs baseline"
    assert {row.name: (row.cells[-1], row.mood) for row in panel.rows} == {
        "TTFT ms": ("p50 1.11x", Mood.BAD),
        "ITL ms": ("p99 1.33x", Mood.BAD),
        "TPOT ms": ("mean 1.22x", Mood.BAD),
        "E2E ms": ("mean 1.44x", Mood.IDLE),
    }


def test_without_a_baseline_nothing_is_compared(host: WatchedHost) -> None:
    host.state.bench.take(compared("aaaa0001", "cannot tell", against=""))
    panel = shown(host, result())
    assert (panel.compared, panel.differing) == ("", ())
    assert panel.notes[-1] == "kept as run aaaa0001; tminus baseline aaaa0001 makes it the baseline"


def test_a_run_without_a_success_is_not_offered_as_the_baseline(host: WatchedHost) -> None:
    host.state.bench.take(compared("aaaa0001", "cannot tell", against=""))
    panel = shown(host, replace(result(), outcome="failed", completed=0, failed=2, failures={"cut": 2}))
    assert panel.notes[-1] == "kept as run aaaa0001"


def test_a_run_that_is_not_in_the_ledger_is_not_said_to_be(host: WatchedHost) -> None:
    for against in ("", "bbbb0001"):
        host.state.bench.take(replace(compared("aaaa0001", "cannot tell", against=against), kept=False))
        assert shown(host, result()).notes[-1] == "this run is not kept"


def test_figures_taken_here_are_told_apart_from_those_beside_the_server(host: WatchedHost) -> None:
    here = replace(result(), measured_on="this_machine")
    assert any("measured from this machine" in note for note in shown(host, here).notes)
    assert any("measured beside the server" in note for note in shown(host, result()).notes)
