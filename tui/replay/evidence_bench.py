"""The benchmarks of a recording in rows of words and figures. What is not known is "-"."""

from collections.abc import Iterator, Sequence

from tui.benchmark import BenchResult, BenchSpec, Percentiles

UNKNOWN = "-"
HEADS = ("milliseconds", "mean", "p50", "p90", "p99", "samples")
RUNS = 50
_WHERE = {
    "server_host": "beside the server",
    "this_machine": "from the machine that watched",
    "elsewhere": "by another client",
}


def bench_head(result: BenchResult, number: int, runs: int) -> str:
    """Return a run in one line."""
    words = f"Run {number} of {runs}: {result.outcome}" if runs > 1 else f"Outcome: {result.outcome}"
    return f"{words}: {result.sentence}" if result.sentence else words


def bench_rows(result: BenchResult) -> list[tuple[str, str]]:
    """Return what was asked for and what came of it: pairs of a name and a value in words."""
    total = result.completed + result.failed
    failures = ", ".join(f"{name}: {count}" for name, count in sorted(result.failures.items()))
    counted = {None: UNKNOWN, "usage": "by the server's usage", "chunks": "by chunks: it gave no usage"}
    return [
        ("model", result.model or result.spec.model or UNKNOWN),
        ("asked for", _asked(result.spec)),
        ("URL", result.spec.url),
        ("measured", _WHERE[result.measured_on]),
        ("requests that succeeded", f"{result.completed} of {total}"),
        ("requests that failed", f"{result.failed}" + (f" ({failures})" if failures else "")),
        ("output tokens/s", bench_figure(result.output_tokens_per_s)),
        ("requests/s", bench_figure(result.requests_per_s)),
        ("concurrency achieved", bench_figure(result.achieved_concurrency)),
        ("duration", _with_unit(result.duration_s, "s")),
        ("tokens in", _count(result.input_tokens)),
        ("tokens out", _count(result.output_tokens)),
        ("tokens counted", counted[result.tokens_counted_by]),
        ("processor time of the client", _share(result.client_cpu_fraction)),
    ]


def bench_times(result: BenchResult) -> list[tuple[str, ...]]:
    """Return the rows under ``HEADS``."""
    times = {
        "TTFT": result.ttft_ms,
        "ITL": result.itl_ms,
        "TPOT": result.tpot_ms,
        "E2E": result.e2e_ms,
    }
    return [(name, *_figures(values)) for name, values in times.items()]


def bench_text(results: Sequence[BenchResult]) -> str:
    """Return all runs as text, the first first."""
    lines = ["Benchmarks in this recording. TTFT, ITL, TPOT and E2E in milliseconds; - is not known.", ""]
    for number, result in enumerate(results[:RUNS], start=1):
        lines += [bench_head(result, number, len(results)), ""]
        rows = bench_rows(result)
        width = max(len(name) for name, _ in rows)
        lines += [f"  {name:<{width}}  {value}" for name, value in rows]
        lines += ["", *_table([HEADS, *bench_times(result)]), ""]
    if len(results) > RUNS:
        lines.append(bench_more(len(results)))
    return "\n".join(lines) + "\n"


def bench_more(runs: int) -> str:
    """Return in words how many runs are not shown."""
    return f"{runs - RUNS} more runs are in the journal."


def bench_figure(value: float | None) -> str:
    """Return a measured value with three figures or so."""
    if value is None:
        return UNKNOWN
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 100 else f"{value:.2f}"


def _asked(spec: BenchSpec) -> str:
    return (
        f"{spec.requests} requests, {spec.concurrency} at a time, {spec.input_tokens} tokens in and "
        f"{spec.output_tokens} out each, at most {spec.timeout_s:g} s each, seed {spec.seed}"
    )


def _figures(values: Percentiles) -> Iterator[str]:
    for value in (values.mean, values.p50, values.p90, values.p99):
        yield bench_figure(value)
    yield f"{values.samples:,}"


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    for name, *values in rows:
        yield f"  {name:<12}" + "".join(f"{value:>12}" for value in values)


def _with_unit(value: float | None, unit: str) -> str:
    return UNKNOWN if value is None else f"{bench_figure(value)} {unit}"


def _count(value: int | None) -> str:
    return UNKNOWN if value is None else f"{value:,}"


def _share(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value * 100:.0f} %"
