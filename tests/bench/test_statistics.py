"""Student's t, Welch's interval, the noise floor: against tables, closed forms and simulation."""

import math
import statistics
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.bench.statistics import (
    Interval,
    Needed,
    beyond,
    geometric_mean,
    needed_instances,
    no_difference,
    pairwise_spread,
    ratio_interval,
    t_quantile,
    t_tail,
)

# From the printed tables of the t distribution.
TABLE = [
    (0.975, 1, 12.706), (0.975, 2, 4.303), (0.975, 3, 3.182), (0.975, 4, 2.776), (0.975, 5, 2.571),
    (0.975, 10, 2.228), (0.975, 30, 2.042), (0.975, 120, 1.980), (0.975, 1e7, 1.960),
    (0.995, 1, 63.657), (0.995, 2, 9.925), (0.995, 4, 4.604), (0.995, 10, 3.169), (0.995, 1e7, 2.576),
    (0.95, 4, 2.132), (0.9, 8, 1.397), (0.9995, 3, 12.924),
]  # fmt: skip

speeds = st.lists(st.floats(0.5, 2000.0), min_size=2, max_size=6)


@pytest.mark.parametrize(("probability", "freedom", "value"), TABLE)
def test_the_quantile_is_that_of_the_tables(probability: float, freedom: float, value: float) -> None:
    assert t_quantile(probability, freedom) == pytest.approx(value, abs=0.0006)


@given(st.floats(0.51, 0.999))
def test_the_quantile_agrees_with_the_closed_forms_of_1_and_2_degrees(p: float) -> None:
    assert t_quantile(p, 1) == pytest.approx(math.tan(math.pi * (p - 0.5)), rel=1e-7)
    assert t_quantile(p, 2) == pytest.approx((2 * p - 1) / math.sqrt(2 * p * (1 - p)), rel=1e-7)


@given(st.floats(2.0, 12.0), st.floats(0.1, 8.0))
def test_a_fractional_degree_agrees_with_the_integral_of_the_density(freedom: float, t: float) -> None:
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)
    body = simpson(lambda x: scale * (1 + x * x / freedom) ** (-(freedom + 1) / 2), 0.0, t)

    assert t_tail(t, freedom) == pytest.approx(0.5 - body, abs=1e-9)


def simpson(of: Callable[[float], float], low: float, high: float, steps: int = 600) -> float:
    width = (high - low) / steps
    inner = sum((4 if place % 2 else 2) * of(low + place * width) for place in range(1, steps))
    return (of(low) + inner + of(high)) * width / 3


def test_the_median_is_at_0_and_no_quantile_lies_outside_the_distribution() -> None:
    assert t_quantile(0.5, 3) == pytest.approx(0.0, abs=1e-9)
    for probability, freedom in ((1.0, 3.0), (0.4, 3.0), (0.975, 0.0)):
        with pytest.raises(ValueError, match="no quantile of t"):
            t_quantile(probability, freedom)


def test_the_interval_is_welchs_on_the_logarithms() -> None:
    # By hand: logarithms 1, 2, 3 and 2, 4, 6; variances 1 and 4; error sqrt(5/3); freedom (5/3)² / (17/18).
    a, b = [math.exp(x) for x in (1.0, 2.0, 3.0)], [math.exp(x) for x in (2.0, 4.0, 6.0)]

    found = ratio_interval(a, b)

    reach = t_quantile(0.975, (5 / 3) ** 2 / (17 / 18)) * math.sqrt(5 / 3)
    assert found.ratio == pytest.approx(math.exp(2.0))
    assert found.low == pytest.approx(math.exp(2.0 - reach))
    assert found.high == pytest.approx(math.exp(2.0 + reach))


@given(speeds, speeds)
def test_the_ratio_turned_round_has_the_interval_turned_round(a: list[float], b: list[float]) -> None:
    there, back = ratio_interval(a, b), ratio_interval(b, a)

    assert there.low is not None
    assert back.high is not None
    assert math.log(there.ratio) == pytest.approx(-math.log(back.ratio), abs=1e-9)
    assert math.log(there.low) == pytest.approx(-math.log(back.high), abs=1e-6)
    assert there.ratio == pytest.approx(geometric_mean(b) / geometric_mean(a))


def test_one_instance_has_a_ratio_and_no_interval() -> None:
    found = ratio_interval([100.0], [150.0, 160.0, 155.0])

    assert (found.low, found.high) == (None, None)
    assert found.ratio == pytest.approx(1.5495, abs=1e-4)
    assert beyond(ratio_interval([100.0], [900.0]), 0.07) == 0
    assert not no_difference(ratio_interval([100.0], [100.0]), 0.07)


def test_equal_values_have_an_interval_without_width() -> None:
    found = ratio_interval([100.0] * 3, [110.0] * 3)

    assert (found.low, found.high) == (pytest.approx(1.1), pytest.approx(1.1))


def test_an_interval_must_lie_beyond_the_floor_as_a_whole() -> None:
    assert beyond(Interval(1.2, 1.08, 1.3), 0.07) == 1
    assert beyond(Interval(1.2, 1.06, 1.3), 0.07) == 0
    assert beyond(Interval(0.8, 0.7, 0.93), 0.07) == -1
    assert beyond(Interval(0.8, 0.7, 0.94), 0.07) == 0


def test_an_interval_that_holds_everything_is_not_no_difference() -> None:
    assert no_difference(Interval(1.01, 0.95, 1.07), 0.07)
    assert not no_difference(Interval(1.01, 0.5, 2.0), 0.07)
    assert not no_difference(Interval(1.09, 1.02, 1.14), 0.07)


# The noise floor.


def test_the_spread_is_that_of_pairs_within_a_configuration() -> None:
    # Pairs apart by 0.02, 0.10 and 0.12: the median is 0.10, whatever the configurations have between them.
    groups = [[1.0, math.exp(0.02), math.exp(0.12)], [700.0]]

    assert pairwise_spread(groups) == pytest.approx(math.expm1(1.4826 * 0.10 / math.sqrt(2)))
    assert pairwise_spread([[1.0], [2.0], []]) is None


def test_one_broken_instance_does_not_make_all_seem_noisy() -> None:
    quiet = [100.0, 101.0, 99.0, 100.5, 99.5]

    spread, disturbed = pairwise_spread([quiet]), pairwise_spread([[*quiet, 20.0]])
    broken = pairwise_spread([[20.0, 100.0]])

    assert spread is not None
    assert disturbed is not None
    assert broken is not None
    assert disturbed < 0.03 < broken


# How many instances are still needed.


def test_what_is_settled_needs_none() -> None:
    assert needed_instances([100, 101, 102], [130, 131, 132], 0.07) == Needed(0, 0)
    assert needed_instances([100, 101, 102], [100, 101, 102], 0.07) == Needed(0, 0)


def test_a_side_of_one_needs_at_least_two_more() -> None:
    needed = needed_instances([100, 101, 102], [200], 0.07)

    assert needed is not None
    assert (needed.a, needed.b, needed.all) == (0, 2, 2)


def test_a_difference_at_the_very_edge_of_the_floor_is_never_settled() -> None:
    assert needed_instances([100, 110], [107.1, 117.81], 0.07) is None


@given(
    st.lists(st.floats(90.0, 110.0), min_size=3, max_size=6),
    st.lists(st.floats(90.0, 160.0), min_size=3, max_size=6),
    st.sampled_from([0.95, 0.99]),
)
def test_more_are_needed_exactly_where_nothing_is_settled(
    a: list[float], b: list[float], level: float
) -> None:
    found, needed = ratio_interval(a, b, level), needed_instances(a, b, 0.07, level)

    settled = beyond(found, 0.07) != 0 or no_difference(found, 0.07)

    assert (needed == Needed(0, 0)) == settled


def test_as_many_as_are_said_to_be_needed_do_settle_it() -> None:
    a, b = [97.0, 100.0, 103.0], [108.0, 113.0, 117.0]
    needed = needed_instances(a, b, 0.07)
    assert needed is not None
    assert 0 < needed.a == needed.b < 20

    as_many = 3 + needed.a

    assert beyond(ratio_interval(more_like(a, as_many), more_like(b, as_many)), 0.07) == 1
    assert beyond(ratio_interval(more_like(a, as_many - 1), more_like(b, as_many - 1)), 0.07) == 0


def more_like(side: list[float], count: int) -> list[float]:
    """Return so many values with the mean and the variance of the side's logarithms."""
    logs = [math.log(x) for x in side]
    mean, spread = statistics.fmean(logs), statistics.stdev(logs)
    shape = [float(place) for place in range(count)]
    middle, width = statistics.fmean(shape), statistics.stdev(shape)
    return [math.exp(mean + spread * (x - middle) / width) for x in shape]
