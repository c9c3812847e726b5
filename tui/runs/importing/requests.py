"""Single requests and summaries of another client in this project's definitions."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tui.agent.load.samples import P99_SAMPLES
from tui.benchmark import NO_SAMPLES, BenchRecord, Percentiles


@dataclass(frozen=True, slots=True)
class Request:
    """One request. ``gaps_ms`` are between chunks with text; None where the client kept another thing."""

    record: BenchRecord
    gaps_ms: Sequence[float] | None

    @property
    def tpot_ms(self) -> float | None:
        """(last - first) / (tokens - 1), None where there is no such time."""
        one = self.record
        if one.last_ms is None or one.ttft_ms is None or (one.output_tokens or 0) < 2:
            return None
        return (one.last_ms - one.ttft_ms) / ((one.output_tokens or 0) - 1)


@dataclass(frozen=True, slots=True)
class Times:
    """The latencies of a run."""

    ttft_ms: Percentiles = NO_SAMPLES
    itl_ms: Percentiles = NO_SAMPLES
    tpot_ms: Percentiles = NO_SAMPLES
    e2e_ms: Percentiles = NO_SAMPLES
    ttfo_ms: Percentiles = NO_SAMPLES


def times_of(requests: Iterable[Request]) -> Times:
    """Work the latencies out from the requests that succeeded."""
    good = [each for each in requests if not each.record.fault]
    gaps = [gap for each in good for gap in each.gaps_ms or ()]
    return Times(
        ttft_ms=percentiles(each.record.ttft_ms for each in good),
        itl_ms=percentiles(gaps),
        tpot_ms=percentiles(each.tpot_ms for each in good),
        e2e_ms=percentiles(each.record.last_ms for each in good),
        ttfo_ms=percentiles(each.record.ttfo_ms for each in good),
    )


def percentiles(values: Iterable[float | None]) -> Percentiles:
    """Return mean and percentiles (linear between ranks) of the values that are known."""
    known = sorted(value for value in values if value is not None)
    if not known:
        return NO_SAMPLES
    return Percentiles(
        mean=math.fsum(known) / len(known),
        p50=_quantile(known, 0.5),
        p90=_quantile(known, 0.9),
        p99=_quantile(known, 0.99) if len(known) >= P99_SAMPLES else None,
        samples=len(known),
    )


def _quantile(ordered: Sequence[float], fraction: float) -> float:
    rank = (len(ordered) - 1) * fraction
    low, high = ordered[math.floor(rank)], ordered[math.ceil(rank)]
    return low + (high - low) * (rank - math.floor(rank))


def summary(
    mean: float | None, p50: float | None, p90: float | None, p99: float | None, samples: int
) -> Percentiles:
    """Return a client's own summary; nothing without samples, and no p99 of fewer than 100."""
    if samples < 1:
        return NO_SAMPLES
    return Percentiles(
        mean=known(mean),
        p50=known(p50),
        p90=known(p90),
        p99=known(p99) if samples >= P99_SAMPLES else None,
        samples=samples,
    )


def known(value: float | None) -> float | None:
    """Return a figure, None for one that is none: negative, infinite, not a number."""
    return value if value is not None and math.isfinite(value) and value >= 0 else None


def per_second(count: int | None, duration_s: float | None) -> float | None:
    """Return a rate, None where one of the two is not known."""
    return count / duration_s if count and duration_s else None


def span_s(records: Iterable[BenchRecord]) -> float | None:
    """Return seconds from the first request's start to the last one's end, None where a start is missing."""
    ends: list[float] = []
    for record in records:
        if record.sent_s is None:
            return None
        ends.append(record.sent_s + in_flight_s(record))
    return max(ends, default=0.0) or None


def in_flight_s(record: BenchRecord) -> float:
    """Return how long a request was on its way, as far as that is known."""
    return (record.end_ms or record.last_ms or 0.0) / 1e3


def failures_of(records: Iterable[BenchRecord]) -> dict[str, int]:
    """Count the classes of failure."""
    counts: dict[str, int] = {}
    for record in records:
        if record.fault:
            counts[record.fault] = counts.get(record.fault, 0) + 1
    return dict(sorted(counts.items()))
