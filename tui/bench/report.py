"""A benchmark's result as JSON, as text, as an exit code. Formulas: tui/agent/load/metrics.py."""

from tui.bench.metrics import tokens_per_chunk
from tui.benchmark import BenchResult, Percentiles

_NAMES = {"ttft_ms": "TTFT", "itl_ms": "ITL (chunk gap)", "tpot_ms": "TPOT", "e2e_ms": "E2E latency"}
STAGES = {"preflight": "first request", "warmup": "warming up", "measure": "measuring"}
_COLUMNS = ("mean", "p50", "p90", "p99")


def json_object(result: BenchResult) -> dict[str, object]:
    """Return the object that ``tminus bench --json`` prints; None (null) is what is not known."""
    return {
        "completed": result.completed,
        "failed": result.failed,
        "failures": result.failures,
        "ttft_ms": _percentiles(result.ttft_ms),
        "itl_ms": _percentiles(result.itl_ms),
        "tpot_ms": _percentiles(result.tpot_ms),
        "e2e_ms": _percentiles(result.e2e_ms),
        "output_tokens_per_s": _rounded(result.output_tokens_per_s),
        "requests_per_s": _rounded(result.requests_per_s),
        "achieved_concurrency": _rounded(result.achieved_concurrency),
        "outcome": result.outcome,
        "sentence": result.sentence,
        "model": result.model,
        "url": result.spec.url,
        "concurrency": result.spec.concurrency,
        "requests": result.spec.requests,
        "input_tokens_asked": result.spec.input_tokens,
        "output_tokens_asked": result.spec.output_tokens,
        "input_tokens": result.input_tokens,
        "output_tokens": result.output_tokens,
        "tokens_counted_by": result.tokens_counted_by,
        "tokens_per_chunk": _rounded(tokens_per_chunk(result)),
        "duration_s": _rounded(result.duration_s),
        "client_cpu_fraction": _rounded(result.client_cpu_fraction),
        "measured_on": result.measured_on,
    }


def text_lines(result: BenchResult) -> list[str]:
    """Return the result for people: how it went, the rates, the latencies, where it was measured."""
    lines = [f"{result.outcome}: {result.sentence}"]
    if result.completed:
        lines += [_rates(result), "", *_table(result), ""]
    return [*lines, *_remarks(result)]


def exit_code(result: BenchResult) -> int:
    """Return 0 when the run was made, 1 when no request succeeded."""
    return 0 if result.completed else 1


def _percentiles(values: Percentiles) -> dict[str, float | None]:
    return {name: _rounded(getattr(values, name)) for name in _COLUMNS}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _figure(value: float | None, digits: int = 1) -> str:
    return "-" if value is None else f"{value:,.{digits}f}"


def _rates(result: BenchResult) -> str:
    words = [
        f"{_figure(result.output_tokens_per_s)} output tokens/s",
        f"{_figure(result.requests_per_s, 2)} requests/s",
        f"concurrency {_figure(result.achieved_concurrency, 2)} of {result.spec.concurrency}",
        f"{_figure(result.duration_s)} s",
    ]
    return ", ".join(words)


def _table(result: BenchResult) -> list[str]:
    lines = [" " * 15 + "".join(name.rjust(11) for name in _COLUMNS) + "   ms"]
    for field, name in _NAMES.items():
        values: Percentiles = getattr(result, field)
        cells = [_figure(getattr(values, column), 2).rjust(11) for column in _COLUMNS]
        lines.append(name.ljust(15) + "".join(cells))
    return lines


def _remarks(result: BenchResult) -> list[str]:
    spec = result.spec
    where = "beside the server" if result.measured_on == "server_host" else "from this machine"
    how = f"measured {where}" if result.completed else f"asked {where}"
    to = f"{result.model} at {spec.url}" if result.model else spec.url
    lines = [
        f"{spec.requests} requests of {spec.input_tokens} tokens in, {spec.output_tokens} out, "
        f"{spec.concurrency} at a time, to {to}, {how}"
    ]
    per_chunk = tokens_per_chunk(result)
    if per_chunk is not None and per_chunk > 1.05:
        lines.append(f"{per_chunk:.2f} tokens a chunk: ITL is a gap between chunks, TPOT the time of a token")
    if result.client_cpu_fraction is not None:
        lines.append(f"the load generator used {result.client_cpu_fraction:.0%} of a core")
    return lines
