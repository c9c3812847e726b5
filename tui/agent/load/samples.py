"""Durations, and their mean and percentiles."""

from __future__ import annotations

import math
import operator

P99_SAMPLES = 100


class Samples:
    """Milliseconds, counted to the microsecond: exact percentiles in little memory however many there are."""

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}
        self._sum_s = 0.0
        self.count = 0

    def add(self, seconds: float) -> None:
        """Add one duration in seconds."""
        self.add_all([seconds])

    def add_gaps(self, moments_s: list[float]) -> None:
        """Add the durations between these moments."""
        self.add_all(list(map(operator.sub, moments_s[1:], moments_s)))

    def add_all(self, seconds: list[float]) -> None:
        """Add some durations in seconds."""
        counts = self._counts
        for key in [round(one * 1e6) for one in seconds]:
            counts[key] = counts.get(key, 0) + 1
        self._sum_s += sum(seconds)
        self.count += len(seconds)

    @property
    def mean_ms(self) -> float | None:
        """The mean, None without a sample."""
        return self._sum_s * 1e3 / self.count if self.count else None

    @property
    def p99_ms(self) -> float | None:
        """The 99th percentile, None under 100 samples."""
        return self._quantiles((0.99,))[0] if self.count >= P99_SAMPLES else None

    def summary(self) -> dict[str, object]:
        """Return mean, p50, p90, p99 in milliseconds and the count, as in Percentiles of tui/benchmark.py."""
        p50, p90 = self._quantiles((0.5, 0.9)) if self.count else (None, None)
        return {"mean": self.mean_ms, "p50": p50, "p90": p90, "p99": self.p99_ms, "samples": self.count}

    def _quantiles(self, fractions: tuple[float, ...]) -> list[float]:
        ordered = sorted(self._counts.items())
        return [self._quantile(ordered, fraction) for fraction in fractions]

    def _quantile(self, ordered: list[tuple[int, int]], fraction: float) -> float:
        rank = (self.count - 1) * fraction
        low = _at(ordered, math.floor(rank))
        high = _at(ordered, math.ceil(rank))
        return (low + (high - low) * (rank - math.floor(rank))) / 1e3


def _at(ordered: list[tuple[int, int]], rank: int) -> int:
    """Return the value of that rank in a sorted list of (value, how often)."""
    passed = 0
    for value, count in ordered:
        passed += count
        if rank < passed:
            return value
    return ordered[-1][0]
