"""Whether configuration B is better than A, worse, no different, or whether nobody can tell yet.

The word of a metric, from its instance means (tui/bench/statistics.py):

- better, worse: the whole interval lies beyond the noise floor, with 3 instances a side or more, and nothing
  blocks it (tui/runs/blockers.py);
- no difference seen: the ratio lies within the floor, and its interval within twice the floor;
- cannot tell: all else, so also whatever a single instance shows.

The verdict goes by one metric that the workload chooses (tui/runs/metrics.py), at 95 %. The others have
intervals of 99 %: of eight metrics one or another differs by chance. Where one of those says the opposite of
the verdict, the verdict is that nobody can tell.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tui.bench.statistics import (
    LEAST_INSTANCES,
    Interval,
    Needed,
    beyond,
    geometric_mean,
    needed_instances,
    no_difference,
    ratio_interval,
)
from tui.benchmark import MetricRatio, Word
from tui.runs.blockers import Blocker, Side, blockers
from tui.runs.comparison_words import doubts, verdict
from tui.runs.entry import RunEntry
from tui.runs.metrics import METRICS, Metric, deciding
from tui.runs.noise import Noise, floor_of
from tui.runs.order import Due, due_next, letters
from tui.runs.samples import means, samples_of

LEVEL = 0.95
LEVEL_OF_OTHERS = 0.99


@dataclass(frozen=True, slots=True)
class Compared:
    """What can be said of B against A: fields as in benchmark.BenchComparison, ``due`` in its parts."""

    word: Word
    sentence: str
    metric: str
    ratios: tuple[MetricRatio, ...]
    a_instances: int
    b_instances: int
    noise: float
    noise_source: str
    blockers: tuple[str, ...]
    notes: tuple[str, ...]
    needed: int | None
    due: Due


def compare(
    a: Sequence[RunEntry],
    b: Sequence[RunEntry],
    noise: Noise | float,
    *,
    own: Sequence[Blocker] = (),
) -> Compared:
    """Compare all runs of configuration B with all of A, of one workload.

    ``own`` are reasons known to the caller. ``noise`` is the floor as a fraction, or the floors by metric.
    """
    sides = Side("A", a, samples_of(a)), Side("B", b, samples_of(b))
    blocking = (*own, *blockers(*sides))
    main = deciding(b[-1].result.spec)
    rows = tuple(row for metric in METRICS if (row := _row(metric, sides, noise, blocking, main)) is not None)
    decisive = next((row for row in rows if row.metric == main.name), None)
    hard = [each.sentence for each in blocking if not each.only_better]
    word, sentence = verdict(main, decisive, rows, blocking, sides)
    settled = decisive is not None and decisive.needed == 0
    return Compared(
        word=word,
        sentence=sentence,
        metric=main.name,
        ratios=rows,
        a_instances=len(sides[0].samples),
        b_instances=len(sides[1].samples),
        noise=floor_of(noise, main),
        noise_source=noise.source(main.name) if isinstance(noise, Noise) else "given",
        blockers=tuple(each.sentence for each in blocking),
        notes=doubts(*sides, main),
        needed=None if hard or decisive is None else decisive.needed,
        due=_due(sides, hard, settled=settled),
    )


def _due(sides: tuple[Side, Side], hard: Sequence[str], *, settled: bool) -> Due:
    digests = {run.fingerprint.digest for side in sides for run in side.runs}
    if len(hard) == 1 and len(digests) == 1 and "" not in digests:
        return Due("", "another configuration, to be B: each start of this one is counted as one of A")
    if hard:
        return Due("", "nothing: more instances would not make the two comparable")
    times_s = ([sample.began_wall_s for sample in side.samples] for side in sides)
    return due_next(letters(*times_s), settled=settled)


def _row(
    metric: Metric,
    sides: tuple[Side, Side],
    noise: Noise | float,
    blocking: Sequence[Blocker],
    main: Metric,
) -> MetricRatio | None:
    """Return one metric's comparison, None where a side does not have it."""
    a, b = (means(side.samples, metric) for side in sides)
    if not a or not b:
        return None
    level = LEVEL if metric is main else LEVEL_OF_OTHERS
    floor, interval = floor_of(noise, metric), ratio_interval(a, b, level)
    enough = min(len(a), len(b)) >= LEAST_INSTANCES
    return MetricRatio(
        metric=metric.name,
        unit=metric.unit,
        a=geometric_mean(a),
        b=geometric_mean(b),
        ratio=interval.ratio,
        low=interval.low,
        high=interval.high,
        word=_word(interval, floor, metric, blocking) if enough else "cannot tell",
        a_instances=len(a),
        b_instances=len(b),
        level=level,
        higher_is_better=metric.higher_is_better,
        noise=floor,
        needed=None if _blocked(blocking) else _all_needed(needed_instances(a, b, floor, level)),
    )


def _blocked(blocking: Sequence[Blocker]) -> bool:
    """Return whether no number of instances would make the sides comparable."""
    return any(not each.only_better for each in blocking)


def _all_needed(needed: Needed | None) -> int | None:
    return None if needed is None else needed.all


def _word(interval: Interval, floor: float, metric: Metric, blocking: Sequence[Blocker]) -> Word:
    """Return the word of a metric with enough instances a side."""
    if _blocked(blocking):
        return "cannot tell"
    where = beyond(interval, floor)
    if where == 0:
        return "no difference seen" if no_difference(interval, floor) else "cannot tell"
    if (where > 0) == metric.higher_is_better:
        return "cannot tell" if blocking else "better"
    return "worse"
