"""What is left of a benchmark whose link was lost: how far it had come by the last that was heard of it."""

from typing import Literal

from tui.bench.profiles import MANY
from tui.benchmark import NO_SAMPLES, BenchProgress, BenchResult, BenchSpec
from tui.event_base import Event


def cut_result(
    run: str,
    spec: BenchSpec,
    progress: BenchProgress | None,
    why: str,
    at: Event,
    measured_on: Literal["server_host", "this_machine"] = "server_host",
) -> BenchResult:
    """Return the result of a run that nobody hears of any more, since ``why`` happened at that event.

    The figures are made by the agent at the end of a run, so there are none; what was counted is what had
    come in the measurement half a second before at most, nothing of the first request and the warm-up.
    """
    measured = progress if progress is not None and progress.stage == "measure" else None
    return BenchResult(
        mono_s=at.mono_s,
        wall_s=at.wall_s,
        client_s=at.client_s,
        run=run,
        outcome="cut",
        sentence=f"{_so_far(measured)}; {why}",
        spec=spec,
        model=spec.model,
        completed=measured.completed if measured else 0,
        failed=measured.failed if measured else 0,
        failures={},
        ttft_ms=NO_SAMPLES,
        itl_ms=NO_SAMPLES,
        tpot_ms=NO_SAMPLES,
        e2e_ms=NO_SAMPLES,
        output_tokens=measured.output_tokens if measured else None,
        input_tokens=None,
        tokens_counted_by=None,
        duration_s=None,
        output_tokens_per_s=None,
        requests_per_s=None,
        achieved_concurrency=None,
        client_cpu_fraction=None,
        measured_on=measured_on,
    )


def _so_far(measured: BenchProgress | None) -> str:
    if measured is None:
        return "nothing was measured yet"
    of = "" if measured.requests >= MANY else f" of {measured.requests}"
    many = (measured.completed if not of else measured.requests) != 1
    rate = measured.output_tokens_per_s
    failed = f", {measured.failed} failed" if measured.failed else ""
    at_last = "" if rate is None else f", {rate:,.1f} output tokens/s at last"
    return f"{measured.completed}{of} request{'s' if many else ''} answered{failed}{at_last}"


def can_be_baseline(result: BenchResult) -> bool:
    """Return whether later runs can be compared with this one: it has figures."""
    return result.outcome != "cut" and result.completed > 0
