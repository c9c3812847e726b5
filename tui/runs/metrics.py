"""The metrics that are compared, which direction is good, and which one a verdict goes by."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from tui.benchmark import BenchResult, BenchSpec
from tui.engines.counters import figures_of


@dataclass(frozen=True, slots=True)
class Metric:
    """A figure of a run. ``read`` returns None where it is not known."""

    name: str
    unit: str
    higher_is_better: bool
    read: Callable[[BenchResult], float | None]

    def of(self, result: BenchResult) -> float | None:
        """Return the figure of a run, None where it is not known or has no logarithm."""
        value = self.read(result)
        return value if value is not None and math.isfinite(value) and value > 0.0 else None


RATE = Metric("output tokens/s", "tokens/s", True, lambda result: result.output_tokens_per_s)
STEADY = Metric("steady tokens/s", "tokens/s", True, lambda result: result.steady_tokens_per_s)
GOODPUT = Metric("goodput", "requests/s", True, lambda result: result.goodput_per_s)
E2E = Metric("E2E", "ms", False, lambda result: result.e2e_ms.mean)
METRICS = (
    RATE,
    STEADY,
    GOODPUT,
    Metric("TTFT p50", "ms", False, lambda result: result.ttft_ms.p50),
    Metric("TTFT mean", "ms", False, lambda result: result.ttft_ms.mean),
    Metric("TPOT", "ms", False, lambda result: result.tpot_ms.mean),
    Metric("ITL p99", "ms", False, lambda result: result.itl_ms.p99),
    E2E,
    Metric("acceptance length", "tokens", True, lambda result: figures_of(result).acceptance_length),
)


def deciding(spec: BenchSpec) -> Metric:
    """Return the metric that a verdict goes by: one, chosen by the workload and before anybody looks.

    Of many metrics one or another differs by chance. At a rate that is offered the server's tokens/s are
    those of the offer as long as it keeps up, so how long an answer takes decides there, or the goodput
    where limits are given.
    """
    limits = spec.limits
    if limits is not None and (limits.ttft_ms, limits.tpot_ms, limits.e2e_ms) != (None, None, None):
        return GOODPUT
    return RATE if spec.arrival == "closed" else E2E
