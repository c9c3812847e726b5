"""The result of a benchmark whose link was lost: what had come by then, and no figure."""

import pytest
from run_entries import result, spec

from tui.bench.cut import can_be_baseline, cut_result
from tui.bench.profiles import MANY
from tui.bench.report import exit_code, level_lines, text_lines
from tui.bench.workload import goes_on_after
from tui.benchmark import BenchProgress, BenchResult
from tui.events import Tick
from tui.runs.samples import left_out

AT = Tick(mono_s=7.0, wall_s=8.0, client_s=9.0)


def progress(stage: str = "measure", requests: int = 64, rate: float | None = 1219.4) -> BenchProgress:
    values = {"completed": 10, "failed": 1, "in_flight": 4, "output_tokens": 1280, "elapsed_s": 12.0}
    about = {"run": "r", "stage": stage, "requests": requests, "output_tokens_per_s": rate}
    return BenchProgress(mono_s=6.0, wall_s=7.0, **values, **about)  # pyright: ignore[reportArgumentType]


def cut(heard: BenchProgress | None) -> BenchResult:
    return cut_result("r", spec(), heard, "the link to lab broke", AT)


@pytest.mark.parametrize(
    ("heard", "words"),
    [
        (None, "nothing was measured yet"),
        (progress("warmup"), "nothing was measured yet"),
        (progress(), "10 of 64 requests answered, 1 failed, 1,219.4 output tokens/s at last"),
        (progress(rate=None), "10 of 64 requests answered, 1 failed"),
        (progress(requests=MANY, rate=None), "10 requests answered, 1 failed"),
    ],
    ids=["silence", "warm-up", "rate", "no-rate", "duration"],
)
def test_the_sentence_says_why_and_how_far_it_was(heard: BenchProgress | None, words: str) -> None:
    assert cut(heard).sentence == f"{words}; the link to lab broke"


def test_what_was_counted_is_kept_and_no_figure_is_made_up() -> None:
    result = cut(progress())

    assert (result.completed, result.failed, result.output_tokens) == (10, 1, 1280)
    assert (result.ttft_ms.samples, result.output_tokens_per_s, result.duration_s) == (0, None, None)
    assert (result.mono_s, result.wall_s, result.client_s) == (7.0, 8.0, 9.0)


def test_requests_of_the_warm_up_are_none_of_the_measurement() -> None:
    assert (cut(progress("warmup")).completed, cut(progress("warmup")).output_tokens) == (0, None)


def test_it_is_compared_with_nothing_and_ends_a_sweep() -> None:
    assert left_out(cut(progress())) == "cut off with its link"
    assert not goes_on_after(cut(progress()))
    assert not can_be_baseline(cut(progress()))
    assert can_be_baseline(result("r"))


def test_people_read_that_it_was_cut_and_no_table_of_nothing() -> None:
    lines = text_lines(cut(progress()))

    assert lines[0].startswith("cut: 10 of 64 requests answered")
    assert not any("TTFT" in line or "output tokens/s, -" in line for line in lines)
    assert any("cut: 10 of 64 requests answered" in line for line in level_lines([cut(progress())]))


def test_the_exit_code_is_that_of_a_lost_host() -> None:
    assert exit_code(cut(progress())) == 4
