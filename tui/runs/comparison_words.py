"""The verdict of a comparison in one sentence, and doubts that block nothing."""

from collections.abc import Iterator, Sequence

from tui.bench.statistics import LEAST_INSTANCES
from tui.benchmark import MetricRatio, Word
from tui.runs.blockers import Blocker, Side, failures
from tui.runs.metrics import Metric
from tui.runs.order import apart, letters
from tui.runs.samples import not_counted

_OPPOSITE: dict[Word, Word] = {"better": "worse", "worse": "better"}


def verdict(
    main: Metric,
    decisive: MetricRatio | None,
    rows: Sequence[MetricRatio],
    blocking: Sequence[Blocker],
    sides: tuple[Side, Side],
) -> tuple[Word, str]:
    """Return the word for B and the sentence that says why; the sentence begins with the word."""
    if decisive is None:
        return "cannot tell", f"cannot tell: {_without(main, blocking, sides)}"
    against = [row.metric for row in rows if row.word == _OPPOSITE.get(decisive.word)]
    if against:
        opposite = f"{_OPPOSITE[decisive.word]} in {_listed(against)}"
        return "cannot tell", f"cannot tell: {decisive.word} in {main.name}, {opposite}"
    if decisive.word == "cannot tell":
        return decisive.word, f"cannot tell: {_why_not(decisive, blocking, sides)}"
    return decisive.word, f"{decisive.word}: {_ratio(decisive)}{_others(decisive, rows)}"


def ratio_text(ratio: float) -> str:
    """Return a ratio with three figures or so."""
    return f"{ratio:.3f}" if ratio < 10 else f"{ratio:.1f}"


def _ratio(row: MetricRatio) -> str:
    """Return the ratio with its interval and the numbers of instances."""
    interval = ""
    if row.low is not None and row.high is not None:
        interval = f" ({ratio_text(row.low)} to {ratio_text(row.high)} at {row.level:.0%})"
    return (
        f"{row.metric} {ratio_text(row.ratio)} times that of A{interval}, "
        f"{row.b_instances} instances against {row.a_instances}"
    )


def _others(decisive: MetricRatio, rows: Sequence[MetricRatio]) -> str:
    """Return what other metrics say that the verdict does not."""
    words: tuple[Word, ...] = ("better", "worse")
    told = [
        f"{word} in {_listed(names)}"
        for word in words
        if word != decisive.word and (names := [row.metric for row in rows if row.word == word])
    ]
    return f"; {' and '.join(told)}" if told else ""


def _without(main: Metric, blocking: Sequence[Blocker], sides: tuple[Side, Side]) -> str:
    for side in sides:
        if not side.samples:
            reasons = sorted(set(not_counted(side.runs)))
            return f"no run of {side.name} counts ({' or '.join(reasons)})"
    return blocking[0].sentence if blocking else f"there is no {main.name} of both sides"


def _why_not(row: MetricRatio, blocking: Sequence[Blocker], sides: tuple[Side, Side]) -> str:
    """Return why nothing can be said: what blocks, how few there are, or how many more it takes."""
    hard = [each.sentence for each in blocking if not each.only_better]
    if hard:
        return _and_more(hard)
    lacks = [
        f"{LEAST_INSTANCES - count} more of {side.name}"
        for side, count in zip(sides, (row.a_instances, row.b_instances), strict=True)
        if count < LEAST_INSTANCES
    ]
    if lacks:
        return f"needs {LEAST_INSTANCES} instances a side or more, {' and '.join(lacks)}"
    if row.needed == 0:
        # Settled, and not said: B would be better if nothing had failed.
        return _and_more([each.sentence for each in blocking])
    if row.needed is None:
        return f"{_ratio(row)}, and too noisy to be settled by 50 instances a side"
    return f"{_ratio(row)}; needs about {row.needed} more instances in all"


def _and_more(sentences: Sequence[str]) -> str:
    more = len(sentences) - 1
    return sentences[0] + (f" (and {more} more {'reasons' if more > 1 else 'reason'})" if more else "")


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


# Doubts.


def doubts(a: Side, b: Side, main: Metric) -> tuple[str, ...]:
    """Return what makes the comparison doubtful and blocks nothing."""
    return tuple([*_drift(a, b), *_side(a), *_side(b), *_failed(a), *_zero(main, a), *_zero(main, b)])


def _drift(a: Side, b: Side) -> Iterator[str]:
    order = letters([each.began_wall_s for each in a.samples], [each.began_wall_s for each in b.samples])
    first = apart(order)
    if first is not None:
        other = "B" if first == "A" else "A"
        yield (
            f"all instances of {first} were started before those of {other}: "
            "a drift of the host in that time would look like a difference"
        )


def _side(side: Side) -> Iterator[str]:
    """Give what is doubtful of one side's runs."""
    reasons = not_counted(side.runs)
    for reason in sorted(set(reasons)):
        count = reasons.count(reason)
        yield f"{count} {_runs(count)} of {side.name} left out, {reason}"
    results = [run.result for run in side.counted]
    unsettled = sum(each.warmup is not None and each.warmup.agreed is False for each in results)
    if unsettled:
        yield f"{unsettled} {_runs(unsettled)} of {side.name} began before the rate had settled"
    warm = sum(each.flush in ("unconfirmed", "refused") for each in results)
    if warm:
        yield f"the prefix cache was perhaps not empty in {warm} {_runs(warm)} of {side.name}"
    if any(run.fingerprint.environment_known == "partly" for run in side.runs):
        yield f"the environment of {side.name}'s server is known in part"


def _failed(a: Side) -> Iterator[str]:
    count = sum(sum(failures(run.result).values()) for run in a.runs)
    if count:
        yield f"{count} {'request' if count == 1 else 'requests'} of A failed; its figures are of the others"


def _zero(main: Metric, side: Side) -> Iterator[str]:
    if any(main.read(run.result) == 0.0 for run in side.counted):
        yield f"{main.name} of {side.name} was 0, of which there is no ratio"


def _runs(count: int) -> str:
    return "run" if count == 1 else "runs"
