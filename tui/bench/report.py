"""A benchmark's result as JSON, as text, as an exit code. Formulas: tui/agent/load/metrics.py."""

import textwrap
from collections.abc import Iterator, Sequence

from tui.agent.load.samples import P99_SAMPLES
from tui.bench.client_bound import client_bound
from tui.bench.counters import ServerFigures
from tui.bench.metrics import tokens_per_chunk
from tui.bench.profiles import MANY
from tui.bench.workload import workload_of
from tui.benchmark import BenchResult, BenchSpec, Percentiles

WIDTH = 80
LOST = 4
INPUT_ALIKE = 0.1
"""Prompts whose length is off by more are told of: a chat template weighs on short ones."""
STAGES = {"preflight": "first request", "warmup": "warming up", "measure": "measuring"}
_NAMES = {
    "ttft_ms": "TTFT",
    "ttfo_ms": "TTFO",
    "itl_ms": "ITL (chunk gap)",
    "tpot_ms": "TPOT",
    "e2e_ms": "E2E latency",
    "late_ms": "sent late",
}
_COLUMNS = ("mean", "p50", "p90", "p99")
_WIDTHS = {"in flight": 10, "failed": 8}
_PLACES = {
    "server_host": "beside the server",
    "this_machine": "from this machine",
    "elsewhere": "by another client",
}
_UNKNOWN = ServerFigures()


def json_object(result: BenchResult, server: ServerFigures = _UNKNOWN) -> dict[str, object]:
    """Return the object that ``tminus bench --json`` prints; None (null) is what is not known."""
    return {
        "completed": result.completed,
        "failed": result.failed if result.failed_known else None,
        "failures": result.failures if result.failed_known else None,
        "ttft_ms": _percentiles(result.ttft_ms),
        "itl_ms": _percentiles(result.itl_ms),
        "tpot_ms": _percentiles(result.tpot_ms),
        "e2e_ms": _percentiles(result.e2e_ms),
        "output_tokens_per_s": _rounded(result.output_tokens_per_s),
        "requests_per_s": _rounded(result.requests_per_s),
        "achieved_concurrency": _rounded(result.achieved_concurrency),
        "run": result.run,
        "outcome": result.outcome,
        "fault": result.fault,
        "sentence": result.sentence,
        "model": result.model,
        "url": result.spec.url,
        **_asked(result.spec),
        "input_tokens": result.input_tokens,
        "output_tokens": result.output_tokens,
        "tokens_counted_by": result.tokens_counted_by,
        "tokens_per_chunk": _rounded(tokens_per_chunk(result)),
        "chunks": result.chunks,
        "ended_early": result.ended_early if result.measured_on != "elsewhere" else None,
        "ttfo_ms": _percentiles(result.ttfo_ms),
        "duration_s": _rounded(result.duration_s),
        "steady_s": _rounded(result.steady_s),
        "steady_output_tokens_per_s": _rounded(result.steady_tokens_per_s),
        "goodput_per_s": _rounded(result.goodput_per_s),
        "good": result.good,
        "first_ttft_ms": _rounded(result.first_ttft_ms),
        "connect_ms": _rounded(result.connect_ms),
        **_circumstances(result),
        **_server(server),
    }


def _asked(spec: BenchSpec) -> dict[str, object]:
    limits = spec.limits
    return {
        "profile": spec.profile,
        "workload": workload_of(spec),
        "concurrency": spec.concurrency,
        "requests": spec.requests,
        "arrival": spec.arrival,
        "rate_per_s": spec.rate_per_s,
        "input_tokens_asked": spec.input_tokens,
        "output_tokens_asked": spec.output_tokens,
        "data": spec.data,
        "series": spec.series,
        "level": spec.level,
        "levels": spec.levels,
        "ttft_limit_ms": limits.ttft_ms if limits else None,
        "tpot_limit_ms": limits.tpot_ms if limits else None,
        "e2e_limit_ms": limits.e2e_ms if limits else None,
    }


def _circumstances(result: BenchResult) -> dict[str, object]:
    """Return what tells how far the figures can be trusted."""
    warmup = result.warmup
    return {
        "warmup_requests": warmup.requests if warmup else None,
        "warmup_s": _rounded(warmup.seconds) if warmup else None,
        "warmup_agreed": warmup.agreed if warmup else None,
        "others_running": result.others_running,
        "flush": result.flush,
        "flush_sentence": result.flush_sentence,
        "client_cpu_fraction": _rounded(result.client_cpu_fraction),
        "client_bound": bool(client_bound(result)) if result.client_cpu_fraction is not None else None,
        "lag_ms": _percentiles(result.lag_ms),
        "late_ms": _percentiles(result.late_ms),
        "event_loop": result.event_loop,
        "records_dropped": result.records_dropped,
        "measured_on": result.measured_on,
        "counters": {each.name: {"before": each.before, "after": each.after} for each in result.counters},
    }


def _server(figures: ServerFigures) -> dict[str, object]:
    return {
        "acceptance_length": _rounded(figures.acceptance_length),
        "acceptance_rate": _rounded(figures.acceptance_rate),
        "prefix_hit_rate": _rounded(figures.prefix_hit_rate),
        "server_output_tokens": _rounded(figures.generated_tokens),
        "server_output_tokens_per_s": _rounded(figures.generated_tokens_per_s),
    }


def text_lines(result: BenchResult, server: ServerFigures = _UNKNOWN) -> list[str]:
    """Return the result for people, 80 columns wide: how it went, rates, latencies, circumstances."""
    lines = wrapped(f"{result.outcome}: {result.sentence}")
    if result.completed and result.outcome != "cut":
        lines += [*wrapped(_rates(result)), "", *_table(result), ""]
    if result.outcome == "failed" and result.duration_s is None and not result.completed + result.failed:
        return lines  # no request was sent: there are no circumstances to tell of
    return [*lines, *_each_wrapped(_remarks(result, server))]


def level_lines(results: Sequence[BenchResult]) -> list[str]:
    """Return a sweep for people: a line for each level, then what is to be said of any of them."""
    head = "streams" if results[0].spec.rate_per_s is None else "rate"
    columns = ("tok/s", "req/s", "TTFT p50", "p90", "TPOT", "ITL p90", "in flight", "failed")
    lines = [f"{len(results)} of {results[0].spec.levels} levels", ""]
    lines += [head.rjust(8) + "".join(name.rjust(_WIDTHS.get(name, 9)) for name in columns)]
    lines += [_level(result) for result in results]
    lines += [" " * 8 + "latencies in ms; tok/s are output tokens/s of all streams", ""]
    for result in results:
        remarks = (
            [] if result.completed and result.outcome == "done" else [f"{result.outcome}: {result.sentence}"]
        )
        remarks += [*_goodput(result), *_doubts(result)]
        lines += _each_wrapped(f"{level_name(result.spec)}: {remark}" for remark in remarks)
    return [*lines, *wrapped(_where(results[-1]))]


def level_name(spec: BenchSpec) -> str:
    """Return what one level of a sweep is called."""
    if spec.rate_per_s is not None:
        return f"{spec.rate_per_s:g} requests/s"
    return "1 stream" if spec.concurrency == 1 else f"{spec.concurrency} streams"


def exit_code(result: BenchResult) -> int:
    """Return 0 when the run was made, 1 when no request succeeded, 4 when its host was lost."""
    if result.outcome == "cut":
        return LOST
    return 0 if result.completed else 1


def wrapped(text: str) -> list[str]:
    """Return a text in lines of 80 columns; a long word (a URL, a path) is left whole."""
    return textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False, subsequent_indent="  ")


def _each_wrapped(texts: "Iterator[str]") -> list[str]:
    return [line for text in texts for line in wrapped(text)]


def _percentiles(values: Percentiles) -> dict[str, float | None]:
    return {name: _rounded(getattr(values, name)) for name in _COLUMNS}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _figure(value: float | None, digits: int = 1) -> str:
    return "-" if value is None else f"{value:,.{digits}f}"


def _rates(result: BenchResult) -> str:
    spec = result.spec
    reached = "at most " if spec.rate_per_s is not None else ""
    words = [
        f"{_figure(result.output_tokens_per_s)} output tokens/s",
        f"{_figure(result.requests_per_s, 2)} requests/s",
        f"concurrency {_figure(result.achieved_concurrency, 2)} of {reached}{spec.concurrency}",
        f"{_figure(result.duration_s)} s",
    ]
    if result.steady_tokens_per_s is not None:
        words.append(
            f"{_figure(result.steady_tokens_per_s)} while all were busy ({_figure(result.steady_s)} s)"
        )
    words += _goodput(result)
    return ", ".join(words)


def _goodput(result: BenchResult) -> list[str]:
    """Return how many kept the limits, nothing where none were given."""
    if result.goodput_per_s is None:
        return []
    return [f"goodput {_figure(result.goodput_per_s, 2)}/s ({result.good} of {result.completed})"]


def _table(result: BenchResult) -> list[str]:
    rows = [(name, getattr(result, field)) for field, name in _NAMES.items() if _is_shown(result, field)]
    columns = [name for name in _COLUMNS if name != "p99" or any(row.p99 is not None for _, row in rows)]
    lines = [" " * 15 + "".join(name.rjust(11) for name in columns) + "   ms"]
    for name, values in rows:
        cells = [_figure(getattr(values, column), 2).rjust(11) for column in columns]
        lines.append(name.ljust(15) + "".join(cells))
    return lines


def _is_shown(result: BenchResult, field: str) -> bool:
    """TTFO is of its own where a model reasons first, lateness where requests have a time of their own."""
    if field == "ttfo_ms":
        return bool(result.ttfo_ms.samples) and result.ttfo_ms != result.ttft_ms
    return field != "late_ms" or bool(result.late_ms.samples)


def _level(result: BenchResult) -> str:
    spec = result.spec
    cells = (
        _figure(result.output_tokens_per_s).rjust(9),
        _figure(result.requests_per_s, 2).rjust(9),
        _figure(result.ttft_ms.p50).rjust(9),
        _figure(result.ttft_ms.p90).rjust(9),
        _figure(result.tpot_ms.mean, 2).rjust(9),
        _figure(result.itl_ms.p90, 2).rjust(9),
        _figure(result.achieved_concurrency).rjust(10),
        (str(result.failed) if result.failed_known else "-").rjust(8),
    )
    name = str(spec.concurrency) if spec.rate_per_s is None else f"{spec.rate_per_s:g}/s"
    return name.rjust(8) + "".join(cells)


def _remarks(result: BenchResult, server: ServerFigures) -> Iterator[str]:
    yield _where(result)
    if result.first_ttft_ms is not None:
        cold = ", without a warm-up" if not result.spec.warmup_s else ", before the warm-up"
        yield f"TTFT of the very first request: {result.first_ttft_ms:,.1f} ms{cold}"
    if result.ttft_ms.p99 is None and 0 < result.ttft_ms.samples < P99_SAMPLES:
        yield f"p99 is not shown: it needs {P99_SAMPLES} requests, and {result.ttft_ms.samples} were answered"
    per_chunk = tokens_per_chunk(result)
    if per_chunk is not None and per_chunk > 1.05:
        yield f"{per_chunk:.2f} tokens a chunk: ITL is a gap between chunks, TPOT the time of a token"
    yield from _of_server(server)
    yield from _doubts(result)
    if result.flush != "not_asked":
        yield f"prefix cache flush {result.flush}: {result.flush_sentence}".rstrip(": ")
    if result.client_cpu_fraction is not None:
        lag = result.lag_ms.p99
        late = "" if lag is None else f", its event loop lagged by {lag:.2f} ms (p99)"
        yield f"the load generator used {result.client_cpu_fraction:.0%} of a core{late}"


def _of_server(server: ServerFigures) -> Iterator[str]:
    words: list[str] = []
    if server.acceptance_length is not None:
        rate = "" if server.acceptance_rate is None else f" (rate {server.acceptance_rate:.0%})"
        words.append(f"acceptance length {server.acceptance_length:.2f}{rate}")
    if server.prefix_hit_rate is not None:
        words.append(f"prefix hit rate {server.prefix_hit_rate:.1%}")
    if words:
        yield "by the server's counters: " + ", ".join(words)
    if server.sentence:
        yield server.sentence


def _doubts(result: BenchResult) -> Iterator[str]:
    """Give what stands between the figures and what they are taken for."""
    if bound := client_bound(result):
        yield f"client-bound: {bound}, so the server may be faster than these figures"
    if result.warmup is not None and result.warmup.agreed is False:
        yield f"the rate had not settled after {result.warmup.seconds:.0f} s of warm-up"
    asked, sent = result.spec.input_tokens, _input_tokens(result)
    if sent is not None and abs(sent - asked) > INPUT_ALIKE * asked:
        yield f"prompts had {sent:.0f} tokens by the server's count, where {asked} were asked for"
    if result.others_running:
        yield f"{result.others_running:.0f} requests of others ran at its start"


def _input_tokens(result: BenchResult) -> float | None:
    """Return input tokens a request, where the workload alone decides them: no data set, no conversations."""
    own = result.spec.data or result.spec.turns > 1
    if own or result.input_tokens is None or not result.completed:
        return None
    return result.input_tokens / result.completed


def _where(result: BenchResult) -> str:
    spec = result.spec
    where = _PLACES[result.measured_on]
    how = f"measured {where}" if result.completed else f"asked {where}"
    to = f"{result.model} at {spec.url}" if result.model else spec.url
    requests = "requests" if spec.requests >= MANY else f"{spec.requests} requests"
    lengths = (
        f"data set {spec.data}" if spec.data else f"{spec.input_tokens} tokens in, {spec.output_tokens} out"
    )
    named = f"{spec.profile}: " if spec.profile else ""
    if spec.levels > 1:
        pace = "the last level at " + level_name(spec)
    elif spec.rate_per_s is not None:
        pace = f"{spec.rate_per_s:g} a second ({spec.arrival})"
    else:
        pace = f"{spec.concurrency} at a time"
    return f"{named}{requests} of {lengths}, {pace}, to {to}, {how}"
