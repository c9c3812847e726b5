"""Runs as CSV: a row a run, or a row a request. Names and order of columns stay; new ones come at the end.

Units are in the names. An empty cell is what is not known. Times are UTC. Text that a spreadsheet would take
for a formula has an apostrophe before it.
"""

import csv
import io
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from tui.benchmark import BenchRecord, Percentiles
from tui.runs.entry import RunEntry

LATENCIES = ("ttft", "ttfo", "itl", "tpot", "e2e")
REQUEST_COLUMNS = (
    "run", "request", "sent_s", "ttft_ms", "ttfo_ms", "last_token_ms", "end_ms", "output_tokens",
    "input_tokens", "chunks", "fault",
)  # fmt: skip
_FORMULA = ("=", "+", "-", "@", "\t")


def runs_csv(entries: Sequence[RunEntry]) -> str:
    """Return the runs, a row each under a head."""
    rows = [_cells(entry) for entry in entries]
    return _csv(rows[0].keys() if rows else (), (row.values() for row in rows))


def requests_csv(entries: Sequence[RunEntry]) -> str:
    """Return the measured requests of the runs that kept them, a row each under a head."""
    rows = (
        (entry.id, place, *_request(one))
        for entry in entries
        for place, one in enumerate(entry.records, start=1)
    )
    return _csv(REQUEST_COLUMNS, rows)


def _request(one: BenchRecord) -> tuple[object, ...]:
    times = (one.sent_s, one.ttft_ms, one.ttfo_ms, one.last_ms, one.end_ms)
    return (*times, one.output_tokens, one.input_tokens, one.chunks, one.fault)


def moment(wall_s: float) -> str:
    """Return a wall time as UTC, as far as a calendar goes: a file may claim anything."""
    return datetime.fromtimestamp(min(max(0.0, wall_s), 253e9), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _cells(entry: RunEntry) -> dict[str, object]:
    result, spec = entry.result, entry.result.spec
    failures = ", ".join(f"{name}: {count}" for name, count in sorted(result.failures.items()))
    return {
        "run": entry.id,
        "made": moment(entry.made_wall_s),
        "origin": entry.origin,
        "outcome": result.outcome,
        "host": entry.host,
        "model": result.model or spec.model,
        "workload": entry.workload,
        "profile": spec.profile,
        "series": spec.series,
        "level": spec.level,
        "configuration": entry.fingerprint.digest,
        "instance": entry.instance.key,
        "completed": result.completed,
        "failed": result.failed if result.failed_known else None,
        "failures": failures,
        "output_tokens_per_s": result.output_tokens_per_s,
        "steady_tokens_per_s": result.steady_tokens_per_s,
        "requests_per_s": result.requests_per_s,
        "goodput_per_s": result.goodput_per_s,
        "achieved_concurrency": result.achieved_concurrency,
        "concurrency_asked": spec.concurrency,
        "rate_asked_per_s": spec.rate_per_s,
        "duration_s": result.duration_s,
        "output_tokens": result.output_tokens,
        "input_tokens": result.input_tokens,
        "tokens_counted_by": result.tokens_counted_by,
        **_latencies(entry),
        "first_ttft_ms": result.first_ttft_ms,
        "client_cpu_fraction": result.client_cpu_fraction,
        "client_lag_p99_ms": result.lag_ms.p99,
        "measured_on": result.measured_on,
        "ready_for_s": entry.ready_for_s,
        "cache_flush": result.flush,
        "sentence": result.sentence,
    }


def _latencies(entry: RunEntry) -> dict[str, object]:
    cells: dict[str, object] = {}
    for name in LATENCIES:
        values: Percentiles = getattr(entry.result, f"{name}_ms")
        for figure in ("mean", "p50", "p90", "p99"):
            cells[f"{name}_{figure}_ms"] = getattr(values, figure)
        cells[f"{name}_samples"] = values.samples
    return cells


def _csv(heads: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return text.getvalue()


def _cell(value: object) -> object:
    if isinstance(value, float):
        return f"{value:.6f}".rstrip("0").rstrip(".")
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return "" if value is None else value
