"""From runs to samples: which runs count, and on which starts of a server they were made."""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tui.bench.client_bound import client_bound
from tui.benchmark import BenchResult
from tui.runs.entry import RunEntry
from tui.runs.metrics import Metric


@dataclass(frozen=True, slots=True)
class Sample:
    """One start of a server with the runs that were made on it, its repeats. ``began_wall_s`` orders them.

    ``known`` is False for a run of which nobody can say on which start it was made: one instance at best.
    """

    runs: tuple[RunEntry, ...]
    began_wall_s: float
    known: bool

    def mean(self, metric: Metric) -> float | None:
        """Return the mean of a metric over the repeats, None where no run has it."""
        values = [value for run in self.runs if (value := metric.of(run.result)) is not None]
        return statistics.fmean(values) if values else None


def samples_of(runs: Iterable[RunEntry]) -> list[Sample]:
    """Return the samples that runs make, in the order of their starts, without runs that do not count."""
    groups: dict[str, list[RunEntry]] = {}
    for run in counted(runs):
        # A run of an unknown start equals no other, so its own id stands for it.
        groups.setdefault(run.instance.key or f"run {run.id}", []).append(run)
    found = [
        Sample(
            tuple(group),
            group[0].instance.started_wall_s or group[0].made_wall_s,
            bool(group[0].instance.key),
        )
        for group in groups.values()
    ]
    return sorted(found, key=lambda each: each.began_wall_s)


def means(samples: Sequence[Sample], metric: Metric) -> list[float]:
    """Return the metric's mean of each sample that has it."""
    return [value for sample in samples if (value := sample.mean(metric)) is not None]


def counted(runs: Iterable[RunEntry]) -> list[RunEntry]:
    """Return the runs that count: without client-bound ones unless all are, which blocks a comparison."""
    usable = [run for run in runs if not left_out(run.result)]
    return [run for run in usable if not client_bound(run.result)] or usable


def not_counted(runs: Sequence[RunEntry]) -> list[str]:
    """Return for each run that does not count why not."""
    kept = {run.id for run in counted(runs)}
    return [left_out(run.result) or "client-bound" for run in runs if run.id not in kept]


def left_out(result: BenchResult) -> str:
    """Return why a run's figures are not those of the workload that was asked for, "" when they are."""
    spec = result.spec
    if result.outcome == "cancelled":
        return "cancelled"
    if result.outcome == "cut":
        return "cut off with its link"
    if result.others_running or result.fault == "busy":
        return "made while others used the server"
    if result.outcome == "failed" or not result.completed:
        return "without figures"
    asked = spec.requests if spec.duration_s is None and result.failed_known else 0
    return "cut short" if result.completed + result.failed < asked else ""
