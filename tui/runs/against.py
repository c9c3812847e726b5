"""Two runs of the ledger against each other: which runs stand for each, and what is said of them."""

from collections.abc import Sequence
from typing import Protocol

from tui.benchmark import BenchComparison
from tui.event_base import Event
from tui.runs.adding import model_of
from tui.runs.blockers import own_blocker
from tui.runs.comparison import Compared, compare
from tui.runs.differences import differences
from tui.runs.entry import RunEntry
from tui.runs.file import LedgerFault
from tui.runs.noise import Repeats, noise_of


class Configurations(Repeats, Protocol):
    """What is asked of the ledger (runs.ledger.Ledger)."""

    def configuration(self, digest: str, workload: str) -> list[RunEntry]:
        """Return all runs of a workload on one configuration."""
        ...

    def baseline(self, workload: str, model: str | None) -> RunEntry | None:
        """Return the baseline of a workload and model."""
        ...


def compare_runs(ledger: Configurations, a: RunEntry, b: RunEntry) -> Compared:
    """Compare the configurations of two runs, each by all its runs of the workload. Raises LedgerFault."""
    return compare(
        *_sides(ledger, a, b),
        noise_of(ledger, b.workload),
        own=(*own_blocker("A", a), *own_blocker("B", b)),
    )


def against_baseline(ledger: Configurations, entry: RunEntry, clocks: Event | None = None) -> BenchComparison:
    """Return what the ledger says of a run, just finished, against the baseline of its workload and model.

    ``clocks`` is an event whose times the comparison takes; without it the result's own.
    """
    try:
        baseline = ledger.baseline(entry.workload, model_of(entry))
        if baseline is None or baseline.id == entry.id:
            return _without(entry, clocks, _NO_BASELINE if baseline is None else "this run is the baseline")
        found = compare_runs(ledger, baseline, entry)
    except LedgerFault as fault:
        return _without(entry, clocks, f"not compared: {fault}")
    return comparison_of(baseline, entry, found, clocks)


_NO_BASELINE = "there is no baseline of this workload and model"


def _sides(ledger: Configurations, a: RunEntry, b: RunEntry) -> tuple[list[RunEntry], list[RunEntry]]:
    """Return the runs that stand for each; of one and the same configuration those of each instance.

    Of one and the same instance each stands for itself: they are repeats, and their mean would be both sides.
    """
    if a.instance.key and a.instance.key == b.instance.key:
        return [a], [b]
    of_a, of_b = _like(ledger, a), _like(ledger, b)
    if a.fingerprint.digest and a.fingerprint.digest == b.fingerprint.digest:
        return _on_instance(of_a, a), _on_instance(of_b, b)
    return of_a, of_b


def _like(ledger: Configurations, entry: RunEntry) -> list[RunEntry]:
    """Return the runs of an entry's configuration that measured as it did, itself at the end.

    Where a run was measured and by which client decide what its figures mean: others are no repeats of it.
    """
    found = [
        run
        for run in ledger.configuration(entry.fingerprint.digest, entry.workload)
        if run.id != entry.id and _kind(run) == _kind(entry)
    ]
    return [*found, entry]


def _kind(run: RunEntry) -> tuple[object, ...]:
    return (model_of(run), run.origin, run.result.measured_on, run.result.tokens_counted_by)


def _on_instance(runs: Sequence[RunEntry], entry: RunEntry) -> list[RunEntry]:
    key = entry.instance.key
    return [run for run in runs if run.id == entry.id or (key and run.instance.key == key)]


# The event.


def comparison_of(a: RunEntry, b: RunEntry, found: Compared, clocks: Event | None = None) -> BenchComparison:
    """Return what was found of run B against run A, with the settings in which they differ."""
    due, times = found.due, clocks or b.result
    return BenchComparison(
        mono_s=times.mono_s,
        wall_s=times.wall_s,
        client_s=times.client_s,
        run=b.id,
        against=a.id,
        against_wall_s=a.made_wall_s,
        word=found.word,
        sentence=found.sentence,
        ratios=found.ratios,
        differences=differences(a.fingerprint, b.fingerprint),
        a_instances=found.a_instances,
        b_instances=found.b_instances,
        noise=found.noise,
        blockers=found.blockers,
        needed=found.needed,
        metric=found.metric,
        noise_source=found.noise_source,
        notes=found.notes,
        due=f"{due.which}: {due.why}" if due.which else due.why,
    )


def _without(entry: RunEntry, clocks: Event | None, sentence: str) -> BenchComparison:
    times = clocks or entry.result
    return BenchComparison(
        mono_s=times.mono_s,
        wall_s=times.wall_s,
        client_s=times.client_s,
        run=entry.id,
        against="",
        against_wall_s=None,
        word="cannot tell",
        sentence=sentence,
    )
