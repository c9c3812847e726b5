"""What a comparison tells of the next start where no number of starts would make the sides comparable."""

import msgspec
from run_entries import runs_of

from tui.runs.comparison import compare
from tui.runs.entry import RunEntry

FASTER = [1200.0, 1215.0, 1190.0]
A = runs_of("conf-a", [1000.0, 1010.0, 990.0], first=1, step=2)
NOISE = 0.07


def other_work(run: RunEntry) -> RunEntry:
    """Return a run of shorter answers."""
    return msgspec.structs.replace(run, result=msgspec.structs.replace(run.result, output_tokens=64 * 16))


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
