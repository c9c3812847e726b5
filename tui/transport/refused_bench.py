"""The result of a benchmark that was never made."""

import time
from typing import Literal

from tui.benchmark import NO_SAMPLES, BenchResult
from tui.requests import BenchRequest


def without_figures(
    request: BenchRequest, outcome: Literal["failed", "cancelled"], sentence: str
) -> BenchResult:
    """Return the result of a run of which nothing was measured."""
    now_s = time.monotonic()
    return BenchResult(
        mono_s=now_s,
        wall_s=time.time(),
        client_s=now_s,
        run=request.run,
        outcome=outcome,
        sentence=sentence,
        spec=request.spec,
        model=request.spec.model,
        completed=0,
        failed=0,
        failures={},
        ttft_ms=NO_SAMPLES,
        itl_ms=NO_SAMPLES,
        tpot_ms=NO_SAMPLES,
        e2e_ms=NO_SAMPLES,
        output_tokens=None,
        input_tokens=None,
        tokens_counted_by=None,
        duration_s=None,
        output_tokens_per_s=None,
        requests_per_s=None,
        achieved_concurrency=None,
        client_cpu_fraction=None,
        measured_on=request.measured_on,
    )
