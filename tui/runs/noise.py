"""How much starts of one configuration differ, learned from the ledger: what a difference must exceed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tui.bench.statistics import pairwise_spread
from tui.runs.entry import RunEntry
from tui.runs.metrics import METRICS, Metric
from tui.runs.samples import means, samples_of

FIRST_GUESS = 0.07
"""Decode speed between starts of one configuration, until it is known here (llm-bench.md, section 6)."""
ENOUGH = 8
"""Instances beyond the first of each configuration until the guess is dropped. With 8 the spread is known
within a factor of 2 in 8 of 10 cases (tests/bench/test_statistics_honest.py); with 3 it may be off by 4."""
LEAST = 0.02
"""No floor lies below what the generator itself may be wrong by: 2 % of the mean TPOT."""


class Repeats(Protocol):
    """Where all runs of a workload come from, by their configuration (runs.ledger.Ledger)."""

    def repeats(self, workload: str) -> list[list[RunEntry]]:
        """Return the runs of each known configuration."""
        ...


@dataclass(frozen=True, slots=True)
class Noise:
    """The floors of one workload: ``spreads`` by metric, and how many ``beyond_first`` told each."""

    spreads: Mapping[str, float] = field(default_factory=dict[str, float])
    beyond_first: Mapping[str, int] = field(default_factory=dict[str, int])

    def of(self, metric: str) -> float:
        """Return the floor of a metric, a fraction: what was seen, at least the guess before it is enough."""
        seen = self.spreads.get(metric)
        if seen is None:
            return FIRST_GUESS
        return max(seen, LEAST if self.beyond_first.get(metric, 0) >= ENOUGH else FIRST_GUESS)

    def source(self, metric: str) -> str:
        """Return where the floor of a metric comes from, in words."""
        count, seen = self.beyond_first.get(metric, 0), self.spreads.get(metric)
        repeats = f"{count} repeated {'start' if count == 1 else 'starts'} of one configuration"
        if seen is None:
            return "a first guess: no configuration was measured on two starts yet"
        if count >= ENOUGH:
            least = f", and {LEAST:.0%} at least" if seen < LEAST else ""
            return f"learned from {repeats} or another{least}"
        if seen > FIRST_GUESS:
            return f"seen in {repeats} or another, above the first guess of {FIRST_GUESS:.0%}"
        return f"a first guess until {ENOUGH} starts were repeated; so far {count}"


def learn(repeats: Sequence[Sequence[RunEntry]]) -> Noise:
    """Return what the runs of one workload tell; each group holds those of one configuration."""
    groups = [[each for each in samples_of(group) if each.known] for group in repeats]
    spreads: dict[str, float] = {}
    counts: dict[str, int] = {}
    for metric in METRICS:
        values = [means(samples, metric) for samples in groups]
        spread = pairwise_spread(values)
        if spread is not None:
            spreads[metric.name] = spread
            counts[metric.name] = sum(len(each) - 1 for each in values if each)
    return Noise(spreads, counts)


def noise_of(ledger: Repeats, workload: str) -> Noise:
    """Return the floors of a workload. Raises LedgerFault where the ledger cannot be read."""
    return learn(ledger.repeats(workload))


def floor_of(noise: "Noise | float", metric: Metric) -> float:
    """Return the floor of a metric; one number is that of all."""
    return noise.of(metric.name) if isinstance(noise, Noise) else noise
