"""How often whole comparisons are wrong, by simulation with fixed seeds; each metric has its own noise."""

import math
import os
import random

import msgspec
import pytest
from run_entries import around, runs_of

from tui.runs.comparison import compare
from tui.runs.entry import RunEntry

PAIRS = 300 if float(os.environ.get("TMINUS_LONG", "0.1")) >= 1 else 150


def configuration(rng: random.Random, digest: str, count: int, noise: float, gain: float) -> list[RunEntry]:
    """Return a run on each of so many instances, every other one of the other side's coming between."""

    def factor() -> float:
        return math.exp(rng.gauss(0.0, noise))

    runs = runs_of(
        digest, [1000.0 * gain * factor() for _ in range(count)], 1 if digest == "conf-a" else 2, 2
    )
    return [msgspec.structs.replace(run, result=noisy(run, factor() / gain, factor() / gain)) for run in runs]


def noisy(run: RunEntry, ttft: float, itl: float) -> object:
    """Return a result whose TTFT and ITL vary apart from its rate."""
    return msgspec.structs.replace(run.result, ttft_ms=around(100.0 * ttft, 64), itl_ms=around(16.0 * itl))


@pytest.mark.parametrize("count", [3, 5])
@pytest.mark.parametrize("noise", [0.07, 0.2])
def test_two_samples_of_one_distribution_are_called_different_in_fewer_than_5_of_100(
    noise: float, count: int
) -> None:
    rng = random.Random(count)
    verdicts = rows = 0
    for _ in range(PAIRS):
        a, b = (configuration(rng, name, count, noise, 1.0) for name in ("conf-a", "conf-b"))
        found = compare(a, b, 0.07)
        verdicts += found.word in ("better", "worse")
        rows += any(each.word in ("better", "worse") for each in found.ratios)

    assert verdicts / PAIRS < 0.05
    assert rows / PAIRS < 0.05


@pytest.mark.parametrize(("noise", "share"), [(0.03, 0.75), (0.02, 0.95)])
def test_a_true_gain_of_a_fifth_is_found_with_three_instances_a_side(noise: float, share: float) -> None:
    rng = random.Random(1)
    pairs = [
        (configuration(rng, "conf-a", 3, noise, 1.0), configuration(rng, "conf-b", 3, noise, 1.2))
        for _ in range(PAIRS)
    ]
    words = [compare(a, b, 0.07).word for a, b in pairs]

    assert words.count("better") / PAIRS > share
    assert "worse" not in words
