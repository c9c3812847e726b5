"""What can be said of a difference from few instances: means, intervals, noise, how many more are needed.

Written out, not taken from SciPy: that would be a dependency of 60 MB for three functions.

The sample is an *instance*, one start of a server, never a request: requests of one start share what that
start brought along (NCCL's choice of channels, the placement of memory, clocks), so they repeat, they do not
sample. Figures of speed are positive and vary by factors, so their logarithms are compared.

Welch's interval, not a bootstrap or a permutation: with 3 instances a side a two-sided permutation reaches no
p below 0.1, and a percentile bootstrap covers 81 % where it says 95 % (simulated, normal logarithms).
"""

import math
import statistics
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

LEAST_INSTANCES = 3
"""Instances a side before anything is said: two have one difference between them, and t is up to 12.7."""
MOST_NEEDED = 50
"""More instances a side than anybody starts a server for: beyond, the number is not told."""
CONSISTENT = 1.4826
"""The standard deviation of a normal distribution over its median absolute deviation: 1 / 0.6745."""


@dataclass(frozen=True, slots=True)
class Interval:
    """The ratio of B to A and the interval that holds the true one with the stated level.

    ``low`` and ``high`` are None with fewer than two samples on a side.
    """

    ratio: float
    low: float | None
    high: float | None


def geometric_mean(values: Sequence[float]) -> float:
    """Return the mean of positive values on the scale of their logarithms."""
    return math.exp(statistics.fmean(map(math.log, values)))


def ratio_interval(a: Sequence[float], b: Sequence[float], level: float = 0.95) -> Interval:
    """Return the ratio of the geometric means of B and A with Welch's interval; values are above 0.

    With x the logarithms of a side, m their mean, v their variance over their number:
    ``exp(m_b - m_a ± t(level, f) * sqrt(v_a + v_b))``, f after Welch and Satterthwaite.
    """
    difference, error, freedom = _welch([math.log(x) for x in a], [math.log(x) for x in b])
    ratio = math.exp(difference)
    if error is None:
        return Interval(ratio, None, None)
    reach = _reach(error, freedom, level)
    return Interval(ratio, math.exp(difference - reach), math.exp(difference + reach))


def _welch(a: Sequence[float], b: Sequence[float]) -> tuple[float, float | None, float]:
    """Return the difference of means, its standard error (None without one) and the degrees of freedom."""
    difference = statistics.fmean(b) - statistics.fmean(a)
    if min(len(a), len(b)) < 2:
        return difference, None, 0.0
    error, freedom = _error(statistics.variance(a), len(a), statistics.variance(b), len(b))
    return difference, error, freedom


def _error(variance_a: float, count_a: int, variance_b: float, count_b: int) -> tuple[float, float]:
    """Return the standard error of a difference of two means and its degrees of freedom."""
    of_a, of_b = variance_a / count_a, variance_b / count_b
    both = of_a + of_b
    if both == 0.0:
        return 0.0, count_a + count_b - 2.0
    # Shares first: the squares of tiny variances would be 0.
    share = of_a / both
    return math.sqrt(both), 1.0 / (share**2 / (count_a - 1) + (1 - share) ** 2 / (count_b - 1))


def _reach(error: float, freedom: float, level: float) -> float:
    """Return half the width of the interval."""
    return error * t_quantile(0.5 + level / 2, freedom) if error > 0.0 else 0.0


# How much instances of one configuration differ.


def pairwise_spread(groups: Sequence[Sequence[float]]) -> float | None:
    """Return the standard deviation between instances of one configuration, a fraction; None without a pair.

    Each group holds the instance means of one configuration, above 0. It is the median absolute deviation of
    all pairs in a group: ``1.4826 * median(|ln x - ln y|) / sqrt(2)``. Pairs, since of three deviations from
    a group's own median one is 0, which would make small groups seem quiet; the median, since one instance
    that came up broken must not make all others seem noisy.
    """
    apart: list[float] = []
    for group in groups:
        logs = [math.log(x) for x in group]
        apart += [abs(x - y) for place, x in enumerate(logs) for y in logs[:place]]
    if not apart:
        return None
    return math.expm1(CONSISTENT * statistics.median(apart) / math.sqrt(2))


# How many instances are still needed.


@dataclass(frozen=True, slots=True)
class Needed:
    """Instances that each side still lacks."""

    a: int
    b: int

    @property
    def all(self) -> int:
        """Both sides together."""
        return self.a + self.b


def needed_instances(
    a: Sequence[float], b: Sequence[float], floor: float, level: float = 0.95
) -> Needed | None:
    """Return how many more instances would settle a difference as big as seen; None: over 50 a side.

    Settled is a difference beyond the floor (a fraction) whose whole interval lies beyond it, or one within
    the floor whose interval reaches nowhere beyond twice the floor (``no_difference``). A side of which no
    spread is known is taken to be as noisy as the floor.
    """
    logs_a, logs_b = [math.log(x) for x in a], [math.log(x) for x in b]
    distance = abs(statistics.fmean(logs_b) - statistics.fmean(logs_a))
    edge = math.log1p(floor)
    room = distance - edge if distance > edge else 2 * edge - distance
    of_a, of_b = (statistics.variance(x) if len(x) > 1 else edge**2 for x in (logs_a, logs_b))

    def settled(each: int) -> bool:
        counts = max(each, len(a)), max(each, len(b))
        return _reach(*_error(of_a, counts[0], of_b, counts[1]), level) < room

    # More instances never widen the interval, so the least number can be found by halving.
    each = bisect_left(range(MOST_NEEDED + 1), True, lo=LEAST_INSTANCES, key=settled)
    if each > MOST_NEEDED:
        return None
    return Needed(max(0, each - len(a)), max(0, each - len(b)))


# What an interval says against a floor.


def beyond(interval: Interval, floor: float) -> int:
    """Return 1 where the whole interval lies above ``1 + floor``, -1 below ``1 / (1 + floor)``, else 0."""
    if interval.low is None or interval.high is None:
        return 0
    if interval.low > 1.0 + floor:
        return 1
    return -1 if interval.high < 1.0 / (1.0 + floor) else 0


def no_difference(interval: Interval, floor: float) -> bool:
    """Return whether the ratio lies within the floor and its interval within twice the floor.

    An interval from a half to the double holds 1 too, and tells nothing.
    """
    if interval.low is None or interval.high is None:
        return False
    edge = math.log1p(floor)
    within = abs(math.log(interval.ratio)) <= edge
    return within and math.log(interval.low) > -2 * edge and math.log(interval.high) < 2 * edge


# Student's t distribution.


def t_quantile(probability: float, freedom: float) -> float:
    """Return t with ``P(T <= t) = probability`` for a probability from 0.5 up to 1, freedom above 0.

    ``P(T > t)`` is convex in t above 0, so Newton's steps from the left come near without passing it.
    """
    if not (0.5 <= probability < 1.0 and freedom > 0.0):
        raise ValueError(f"no quantile of t at {probability} with {freedom} degrees of freedom")
    tail, t = 1.0 - probability, 0.0
    while t_tail(2 * t or 1.0, freedom) > tail:
        t = 2 * t or 1.0
    for _ in range(100):
        step = (t_tail(t, freedom) - tail) / _density(t, freedom)
        t += step
        if abs(step) <= 1e-12 * t:
            break
    return t


def _density(t: float, freedom: float) -> float:
    scale = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - math.log(freedom * math.pi) / 2
    return math.exp(scale - (freedom + 1) / 2 * math.log1p(t * t / freedom))


def t_tail(t: float, freedom: float) -> float:
    """Return ``P(T > t)``, t of 0 or more: half of ``I(freedom / (freedom + t²); freedom / 2, 1 / 2)``."""
    return _incomplete_beta(freedom / (freedom + t * t), freedom / 2, 0.5) / 2


def _incomplete_beta(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function I(x; a, b), 0 <= x <= 1."""
    if x <= 0.0 or x >= 1.0:
        return float(x >= 1.0)
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    # The fraction converges fast below the mean; above it the mirrored one does.
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(x, a, b) / a
    return 1.0 - front * _fraction(1 - x, b, a) / b


def _fraction(x: float, a: float, b: float) -> float:
    """Return the continued fraction of the incomplete beta function by Lentz's method (DLMF 8.17.22)."""
    c, d = 1.0, 1.0 / _away_from_0(1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, 1000):
        for step in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1.0 / _away_from_0(1 + step * d)
            c = _away_from_0(1 + step / c)
            value *= c * d
        if abs(c * d - 1.0) < 1e-15:
            break
    return value


def _away_from_0(value: float) -> float:
    return value if abs(value) > 1e-300 else 1e-300
