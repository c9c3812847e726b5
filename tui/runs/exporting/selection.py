"""The runs of one export: which are of one configuration, and whether two of them can be compared."""

from collections.abc import Sequence
from dataclasses import dataclass

from tui.bench.client_bound import client_bound
from tui.benchmark import BenchComparison, BenchResult
from tui.runs.entry import LoadEntry, RunEntry

Groups = list[list[RunEntry]]


@dataclass(frozen=True, slots=True)
class Selection:
    """What is exported: runs (oldest first), the loads of their servers, B against A where there is one."""

    entries: Sequence[RunEntry]
    loads: Sequence[LoadEntry] = ()
    compared: BenchComparison | None = None


def configurations(entries: Sequence[RunEntry]) -> Groups:
    """Return the runs by configuration, in the order of their first; one that is not known is its own."""
    groups: dict[str, list[RunEntry]] = {}
    for entry in entries:
        groups.setdefault(entry.fingerprint.digest or f"run {entry.id}", []).append(entry)
    return list(groups.values())


def pair(entries: Sequence[RunEntry]) -> tuple[list[RunEntry], list[RunEntry]] | None:
    """Return A and B where the runs are of one workload and of two configurations, else None."""
    groups = configurations(entries)
    if len(groups) != 2 or len({entry.workload for entry in entries}) != 1:
        return None
    return groups[0], groups[1]


def sweeps(entries: Sequence[RunEntry]) -> Groups:
    """Return the levels of each series that has two or more of them here, by their number."""
    groups: dict[str, list[RunEntry]] = {}
    for entry in entries:
        if entry.result.spec.series:
            groups.setdefault(entry.result.spec.series, []).append(entry)
    sorted_groups = [sorted(each, key=lambda entry: entry.result.spec.level) for each in groups.values()]
    return [each for each in sorted_groups if len(each) > 1]


def load_of(entry: RunEntry, loads: Sequence[LoadEntry]) -> LoadEntry | None:
    """Return the load of the server that a run was made on, None where it is not known."""
    key = entry.instance.key
    return next((load for load in loads if key and load.instance.key == key), None)


def model_of(entry: RunEntry) -> str:
    """Return the model that answered, or was asked for; "-" where neither is known."""
    return entry.result.model or entry.result.spec.model or "-"


def succeeded(result: BenchResult) -> str:
    """Return how many requests succeeded, of how many as far as that is known."""
    failed = "" if result.failed_known else ", failures not known"
    return f"{result.completed} of {result.completed + result.failed}{failed}"


def told_of(result: BenchResult) -> str:
    """Return in a sentence how a run went, and that its client was the limit where it was; "" for nothing."""
    bound = client_bound(result)
    return "; ".join(filter(None, (result.sentence, bound and f"client-bound: {bound}")))
