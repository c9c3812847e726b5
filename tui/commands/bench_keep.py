"""Keeping a benchmark in the ledger, and what the ledger says of it to a person."""

from collections.abc import Iterator

from tui.bench.cut import can_be_baseline
from tui.bench.report import level_name, wrapped
from tui.benchmark import BenchComparison, BenchResult
from tui.runs.entry import difference_words
from tui.runs.keeping import KeptRuns
from tui.watch.state import WatchState

SHOWN_DIFFERENCES = 8


def keep(runs: KeptRuns, result: BenchResult, state: WatchState) -> list[str]:
    """Keep a run; return the lines that tell of it. A run of which nothing was measured is none.

    ``state`` has taken in the run's records and its result. May block while others write to the ledger.
    """
    entry = runs.entry(state, result)
    if entry is None:
        return []
    compared, problem = runs.keep(entry, result)
    texts = [problem] if problem else []
    if compared.kept:
        texts += _told_of(result, compared)
    return [line for text in texts for line in wrapped(text)]


def _told_of(result: BenchResult, compared: BenchComparison) -> list[str]:
    if result.spec.levels > 1:
        against = f"; {compared.sentence}" if compared.against else ""
        return [f"{level_name(result.spec)}: kept as run {compared.run}{against}"]
    return list(told(compared, has_figures=can_be_baseline(result)))


def told(compared: BenchComparison, *, has_figures: bool) -> Iterator[str]:
    """Give what the ledger says of a run that was kept: its id, and how it stands to the baseline.

    ``has_figures`` is False where no request of it succeeded, or it was cut: then it can be no baseline.
    """
    run = compared.run
    if not compared.against:
        hint = f" (tminus baseline {run} makes it the baseline)" if has_figures else ""
        yield f"kept as run {run}; {compared.sentence}{hint}"
        return
    yield f"kept as run {run}; against the baseline {compared.against}, A, it is B:"
    yield compared.sentence
    for each in compared.differences[:SHOWN_DIFFERENCES]:
        a, b = difference_words(each)
        yield f"{each.name}: {a} in A, {b} in B"
    more = len(compared.differences) - SHOWN_DIFFERENCES
    if more > 0:
        yield f"{more} more settings differ"
    if compared.due:
        yield f"due next: {compared.due}"
    yield f"tminus compare {compared.against} {run} tells all"
