"""What a comparison tells of the next start where no number of starts would make the sides comparable."""

from collections.abc import Callable

import msgspec
import pytest
from run_entries import around, runs_of

from tui.runs.comparison import compare
from tui.runs.entry import RunEntry

FASTER = [1200.0, 1215.0, 1190.0]
A = runs_of("conf-a", [1000.0, 1010.0, 990.0], first=1, step=2)
NOISE = 0.07


def changed(run: RunEntry, **changes: object) -> RunEntry:
    """Return a run whose result has other fields."""
    return msgspec.structs.replace(run, result=msgspec.structs.replace(run.result, **changes))


def other_work(run: RunEntry) -> RunEntry:
    """Return a run of shorter answers."""
    return changed(run, output_tokens=64 * 16)


def test_starts_of_one_configuration_ask_for_another_configuration() -> None:
    found = compare(A, runs_of("conf-a", FASTER, first=2, step=2), NOISE)

    assert found.due.why == "another configuration, to be B: each start of this one is counted as one of A"


def test_other_work_on_one_configuration_asks_for_nothing() -> None:
    other = [other_work(run) for run in runs_of("conf-a", FASTER, first=2, step=2)]

    assert compare(A, other, NOISE).due.why.startswith("nothing: more instances")


def test_no_number_of_instances_is_told_where_none_would_help() -> None:
    apart = compare(A[:1], [other_work(run) for run in runs_of("conf-b", FASTER)[:1]], NOISE)
    alike = compare(A[:1], runs_of("conf-b", FASTER)[:1], NOISE)

    assert {row.needed for row in apart.ratios} == {None}
    assert all(row.needed for row in alike.ratios if row.metric == "output tokens/s")


CLIENT_BOUND: list[tuple[Callable[[RunEntry], RunEntry], str]] = [
    (lambda run: changed(run, client_cpu_fraction=0.71), "the load generator used 71% of a core"),
    (lambda run: changed(run, lag_ms=around(5.0, 500)), "the load generator was 8.0 ms late at p99"),
]


@pytest.mark.parametrize(("change", "why"), CLIENT_BOUND, ids=["cpu", "lag"])
def test_a_side_that_was_client_bound_throughout_blocks_every_word(
    change: Callable[[RunEntry], RunEntry], why: str
) -> None:
    found = compare(A, [change(run) for run in runs_of("conf-b", FASTER, first=2, step=2)], NOISE)

    assert found.word == "cannot tell"
    assert found.blockers[0].startswith(f"B was client-bound: {why}")


@pytest.mark.parametrize(("change", "why"), CLIENT_BOUND, ids=["cpu", "lag"])
def test_one_client_bound_run_is_left_out_and_told(change: Callable[[RunEntry], RunEntry], why: str) -> None:
    del why
    four = runs_of("conf-b", [*FASTER, FASTER[0] * 3], first=2, step=2)

    found = compare(A, [*four[:-1], change(four[-1])], NOISE)

    assert (found.word, found.b_instances) == ("better", 3)
    assert "1 run of B left out, client-bound" in found.notes
