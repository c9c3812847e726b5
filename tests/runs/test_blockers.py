"""Where the lines are between a run that compares, one that does not count, and one that blocks."""

from collections.abc import Sequence

import msgspec
import pytest
from run_entries import runs_of, spec

from tui.benchmark import NO_SAMPLES, Limits
from tui.runs.comparison import compare
from tui.runs.entry import RunEntry

FASTER = [1200.0, 1215.0, 1190.0]
A = runs_of("conf-a", [1000.0, 1010.0, 990.0], first=1, step=2)
B = runs_of("conf-b", FASTER, first=2, step=2)
NOISE = 0.07


def changed(runs: Sequence[RunEntry], **changes: object) -> list[RunEntry]:
    """Return runs whose results have other fields."""
    return [
        msgspec.structs.replace(run, result=msgspec.structs.replace(run.result, **changes)) for run in runs
    ]


def busy(run: RunEntry) -> RunEntry:
    """Return the run as it is where others used the server: nothing was measured."""
    nothing: dict[str, object] = dict.fromkeys(("ttft_ms", "itl_ms", "tpot_ms", "e2e_ms"), NO_SAMPLES)
    nothing |= dict.fromkeys(("output_tokens", "output_tokens_per_s", "tokens_counted_by", "duration_s"))
    return changed([run], outcome="failed", fault="busy", completed=0, **nothing)[0]


def test_a_run_that_was_refused_because_others_were_there_is_no_failure_of_b() -> None:
    *whole, last = runs_of("conf-b", [*FASTER, 1205.0], first=2, step=2)

    found = compare(A, [*whole, busy(last)], NOISE)

    assert (found.word, found.blockers) == ("better", ())


@pytest.mark.parametrize(("tokens", "alike"), [(251, True), (250, False), (261, True), (262, False)])
def test_answers_whose_lengths_differ_by_more_than_2_percent_are_other_work(tokens: int, alike: bool) -> None:
    found = compare(A, changed(B, output_tokens=64 * tokens), NOISE)

    assert (found.word == "better") == alike


def test_goodput_against_other_limits_is_another_figure() -> None:
    tight, loose = (spec(limits=Limits(ttft_ms=limit_ms)) for limit_ms in (200.0, 2000.0))
    a, b = changed(A, spec=tight, goodput_per_s=3.0), changed(B, spec=loose, goodput_per_s=4.0)

    assert compare(a, b, NOISE).sentence == "cannot tell: goodput was counted against different limits"
    assert compare(a, changed(B, spec=tight, goodput_per_s=4.0), NOISE).word == "better"
    assert compare(changed(A, spec=spec(limits=Limits())), B, NOISE).word == "better"
