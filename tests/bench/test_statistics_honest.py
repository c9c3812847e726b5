"""Statistical honesty, by simulation with fixed seeds: how often an interval and a floor are right."""

import math
import random

import pytest

from tui.bench.statistics import beyond, pairwise_spread, ratio_interval

PAIRS = 1500


def side(rng: random.Random, count: int, noise: float, gain: float = 1.0) -> list[float]:
    """Return instance means of a configuration: a gain with noise of that standard deviation."""
    return [1000.0 * gain * math.exp(rng.gauss(0.0, noise)) for _ in range(count)]


@pytest.mark.parametrize("count", [3, 4, 5, 6])
@pytest.mark.parametrize("noise", [0.07, 0.2])
def test_intervals_hold_the_true_ratio_about_as_often_as_stated(count: int, noise: float) -> None:
    rng, true = random.Random(count), 1.1
    found = [ratio_interval(side(rng, count, noise), side(rng, count, noise, true)) for _ in range(PAIRS)]

    held = sum((each.low or 0) <= true <= (each.high or 0) for each in found) / PAIRS

    assert 0.935 <= held <= 0.985


@pytest.mark.parametrize("counts", [(3, 3), (3, 6), (6, 3)])
def test_intervals_hold_it_too_where_one_side_is_five_times_as_noisy(counts: tuple[int, int]) -> None:
    rng = random.Random(sum(counts))
    found = [ratio_interval(side(rng, counts[0], 0.02), side(rng, counts[1], 0.1)) for _ in range(PAIRS)]

    held = sum((each.low or 0) <= 1.0 <= (each.high or 0) for each in found) / PAIRS

    assert 0.92 <= held <= 0.985


@pytest.mark.parametrize("level", [0.8, 0.99])
def test_another_level_holds_as_stated(level: float) -> None:
    rng = random.Random(7)
    found = [ratio_interval(side(rng, 4, 0.1), side(rng, 4, 0.1), level) for _ in range(PAIRS)]

    held = sum((each.low or 0) <= 1.0 <= (each.high or 0) for each in found) / PAIRS

    assert held == pytest.approx(level, abs=0.025)


@pytest.mark.parametrize("count", [3, 4, 5, 6])
@pytest.mark.parametrize("noise", [0.07, 0.2, 0.5])
def test_a_difference_where_there_is_none_is_found_in_fewer_than_5_of_100(count: int, noise: float) -> None:
    rng = random.Random(count)
    pairs = [(side(rng, count, noise), side(rng, count, noise)) for _ in range(PAIRS)]

    found = sum(beyond(ratio_interval(a, b), 0.07) != 0 for a, b in pairs) / PAIRS

    assert found < 0.05


def test_a_true_gain_of_a_fifth_is_found_with_3_instances_at_3_percent_noise() -> None:
    rng = random.Random(3)
    pairs = [(side(rng, 3, 0.03), side(rng, 3, 0.03, 1.2)) for _ in range(PAIRS)]

    found = sum(beyond(ratio_interval(a, b), 0.07) == 1 for a, b in pairs) / PAIRS

    assert found > 0.75


@pytest.mark.parametrize(("groups", "size"), [(8, 2), (4, 3), (1, 9)])
def test_8_instances_beyond_the_first_tell_the_noise_within_a_factor_of_2(groups: int, size: int) -> None:
    """The reason for runs.noise.ENOUGH: so good are 8 of 10 estimates."""
    rng = random.Random(groups)
    made = (pairwise_spread([side(rng, size, 0.07) for _ in range(groups)]) for _ in range(1000))
    spreads = sorted(each for each in made if each is not None)

    assert spreads[100] > 0.07 / 2
    assert spreads[500] == pytest.approx(0.075, abs=0.006)
    assert spreads[900] < 0.07 * 2
