"""How the newest benchmark stands to the baseline: ratios in the pane's table, settings that differ."""

from collections.abc import Mapping
from dataclasses import replace

from tui.bench.cut import can_be_baseline
from tui.benchmark import BenchComparison, MetricRatio
from tui.present.comparison import comparison_mood, ratio_mood
from tui.runs.entry import difference_words
from tui.watch.bench import BenchState
from widgets.values import BenchPanel, BenchRow

SHOWN_DIFFERENCES = 6
RATIO = "vs baseline"
_ROWS = {
    "TTFT ms": ("TTFT p50", "p50"),
    "TPOT ms": ("TPOT", "mean"),
    "ITL ms": ("ITL p99", "p99"),
    "E2E ms": ("E2E", "mean"),
}
"""Which metric of the comparison stands in which row of the pane, and in which column its figure."""


def compared_panel(panel: BenchPanel, bench: BenchState) -> BenchPanel:
    """Return the pane with what the ledger says of its newest run; as it was where it says nothing."""
    result = bench.results[-1]
    compared = bench.comparisons.get(result.run)
    if compared is None:
        return panel
    run = compared.run
    if not compared.against:
        hint = f"; tminus baseline {run} makes it the baseline" if can_be_baseline(result) else ""
        return replace(panel, notes=(*panel.notes, _kept(compared, hint)))
    ratios = {each.metric: each for each in compared.ratios}
    rows = panel.rows
    columns = panel.columns
    if len(bench.series) == 1 and rows:
        rows = tuple(_with_ratio(row, ratios) for row in rows)
        columns = (*columns, RATIO)
    return replace(
        panel,
        notes=(*panel.notes, _kept(compared, f"; tminus compare {compared.against} {run} tells all")),
        rows=rows,
        columns=columns,
        compared=compared.sentence,
        compared_mood=comparison_mood(compared),
        differing=_differing(compared),
    )


def _kept(compared: BenchComparison, hint: str) -> str:
    """Return that a run is in the ledger, and what can be done with it there; else that it is not."""
    return f"kept as run {compared.run}{hint}" if compared.kept else "this run is not kept"


def _with_ratio(row: BenchRow, ratios: Mapping[str, MetricRatio]) -> BenchRow:
    metric, column = _ROWS.get(row.name, ("", ""))
    ratio = ratios.get(metric)
    if ratio is None:
        return replace(row, cells=(*row.cells, ""))
    return replace(row, cells=(*row.cells, f"{column} {ratio.ratio:.2f}x"), mood=ratio_mood(ratio))


def _differing(compared: BenchComparison) -> tuple[tuple[str, str, str], ...]:
    shown = compared.differences[:SHOWN_DIFFERENCES]
    rows = [(each.name, *difference_words(each)) for each in shown]
    more = len(compared.differences) - len(shown)
    command, run = ("tminus compare", compared.run) if compared.kept else ("", "")
    return (*rows, (f"{more} more settings differ", command, run)) if more else tuple(rows)
