"""A run against the baseline, with the runs that the ledger has of either configuration."""

from pathlib import Path

import msgspec
import pytest
from run_entries import WALL_S, fingerprint, instance, result, run_entry, runs_of

from tui.runs.against import against_baseline, compare_runs
from tui.runs.entry import Fingerprint, RunEntry
from tui.runs.ledger import Ledger

A = runs_of("conf-a", [1000.0, 1010.0, 990.0], first=1, step=2)
B = runs_of("conf-b", [1200.0, 1215.0, 1190.0], first=2, step=2)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "runs.sqlite")


def keep(ledger: Ledger, *runs: RunEntry) -> None:
    for run in runs:
        assert ledger.add_run(run) == ""


def test_all_runs_of_both_configurations_count(ledger: Ledger) -> None:
    keep(ledger, *A, *B)
    ledger.set_baseline(A[0].id)

    found = against_baseline(ledger, B[-1])

    assert (found.word, found.run, found.against) == ("better", B[-1].id, A[0].id)
    assert (found.a_instances, found.b_instances) == (3, 3)
    assert found.against_wall_s == A[0].made_wall_s
    assert (found.mono_s, found.wall_s) == (100.0, WALL_S)
    assert found.noise_source == "a first guess until 8 starts were repeated; so far 4"


def test_what_differs_between_the_servers_is_told(ledger: Ledger) -> None:
    a = run_entry(fingerprint=fingerprint("conf-a", NCCL_ALGO="Ring"))
    b = run_entry(
        result=result("bbbb0001"), fingerprint=fingerprint("conf-b", NCCL_ALGO="Tree"), instance=instance(2)
    )
    keep(ledger, a, b)
    ledger.set_baseline(a.id)

    [told] = against_baseline(ledger, b).differences

    assert (told.name, told.a, told.b) == ("environment NCCL_ALGO", "Ring", "Tree")


def test_a_run_that_could_not_be_kept_counts_all_the_same(ledger: Ledger) -> None:
    keep(ledger, *A, *B[:2])
    ledger.set_baseline(A[0].id)

    assert against_baseline(ledger, B[2]).word == "better"


def test_without_a_baseline_and_of_the_baseline_itself_there_is_no_comparison(ledger: Ledger) -> None:
    keep(ledger, *A)

    none = against_baseline(ledger, A[0])
    ledger.set_baseline(A[0].id)
    itself = against_baseline(ledger, A[0])

    assert (none.against, none.sentence) == ("", "there is no baseline of this workload and model")
    assert (itself.against, itself.sentence) == ("", "this run is the baseline")


def test_a_ledger_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")

    found = against_baseline(Ledger(tmp_path / "file" / "runs.sqlite", write=False), A[0])

    assert (found.against, found.word) == ("", "cannot tell")


def test_two_runs_of_one_configuration_are_compared_start_by_start(ledger: Ledger) -> None:
    again = msgspec.structs.replace(A[1], result=result("a0000099", speed=1030.0))
    keep(ledger, *A, again)

    found = compare_runs(ledger, A[0], A[1])

    assert (found.a_instances, found.b_instances, found.word) == (1, 1, "cannot tell")
    assert found.ratios[0].ratio == pytest.approx(1.02)
    assert found.sentence == "cannot tell: A and B are one configuration, so that what differs is noise"


def test_two_runs_on_one_start_stand_for_themselves(ledger: Ledger) -> None:
    slow, fast = (run_entry(result=result(f"cccc000{at}", speed=500.0 * at)) for at in (1, 2))
    keep(ledger, slow, fast)

    found = compare_runs(ledger, slow, fast)
    row = next(each for each in found.ratios if each.metric == found.metric)

    assert row.ratio == pytest.approx(2.0)
    assert (row.word, found.a_instances, found.b_instances) == ("cannot tell", 1, 1)


def test_a_client_bound_run_that_is_asked_about_has_to_be_measured_again(ledger: Ledger) -> None:
    bound = msgspec.structs.replace(
        B[2], result=msgspec.structs.replace(B[2].result, client_cpu_fraction=0.9)
    )
    keep(ledger, *A, *B[:2], bound)

    found = compare_runs(ledger, A[0], bound)

    assert found.word == "cannot tell"
    assert f"run {bound.id} (B) was client-bound (the load generator used 90% of a core)" in found.sentence


def test_runs_that_were_measured_otherwise_are_no_repeats(ledger: Ledger) -> None:
    elsewhere = [
        msgspec.structs.replace(run, result=result(f"c000000{place}", measured_on="this_machine"))
        for place, run in enumerate(A)
    ]
    keep(ledger, *A, *B, *elsewhere)

    assert compare_runs(ledger, A[0], B[0]).a_instances == 3
    assert compare_runs(ledger, A[0], B[0]).word == "better"


def test_a_run_of_an_unknown_configuration_stands_for_itself_alone(ledger: Ledger) -> None:
    outside = [msgspec.structs.replace(run, fingerprint=Fingerprint(digest="")) for run in A]
    keep(ledger, *outside, *B)

    found = compare_runs(ledger, outside[0], B[0])

    assert (found.a_instances, found.b_instances, found.word) == (1, 3, "cannot tell")
    assert found.blockers == ("what the server of A ran under is not known",)


@pytest.mark.parametrize("changes", [{"outcome": "cancelled"}, {"others_running": 2.0}])
def test_the_very_run_must_count_itself(ledger: Ledger, changes: dict[str, object]) -> None:
    last = msgspec.structs.replace(B[2], result=result("b0000077", speed=1200.0, **changes))
    keep(ledger, *A, *B, last)
    ledger.set_baseline(A[0].id)

    found = against_baseline(ledger, last)

    assert (found.b_instances, found.word) == (3, "cannot tell")
    assert found.blockers[0].startswith("run b0000077 (B) was ")
