"""T-: how long until ready, by past loads and by this load's own rate; never a figure without a basis.

Everything here is a pure function of the load and of the time: asked twice at one time it says the same.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from tui.engines.marks import Progress
from tui.engines.phase import Phase
from tui.past_load import PastLoad, PhaseTime
from tui.watch.history import Matching
from tui.watch.pace import Pace
from tui.watch.timeline import PhaseSpan
from tui.watch.words import clock_text

NO_ESTIMATE = "no estimate yet"
_NAMES = frozenset(phase.value for phase in Phase)
Basis = Literal["past loads", "own rate", "both"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """How long until ready (or, with ``of_phase``, until the bar under way is full), and what tells so.

    ``remaining_s`` is the median over ``loads`` past loads, ``low_s`` and ``high_s`` their range; None where
    they tell no more (this load takes longer than any of them did). ``at_least``: only the later phases are
    in it, not the one under way; ``at_most``: steps become faster, so it is a bound. ``sentence`` says it all
    in words.
    """

    remaining_s: float | None
    low_s: float | None
    high_s: float | None
    basis: Basis
    loads: int
    sentence: str
    of_phase: bool = False
    at_least: bool = False
    at_most: bool = False


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a load stands: its stays so far, its rate, when its server started (None: not known).

    ``place`` gives a phase's place in this engine's loads. ``received_left_s``: how long the weights still
    take at the rate at which they come over PCIe. All times are on one clock.
    """

    spans: Sequence[PhaseSpan]
    pace: Pace
    started_s: float | None
    place: Callable[[Phase], int]
    received_left_s: float | None = None

    def rate_left_s(self, now_s: float) -> float | None:
        """What is left of the work under way at this load's own rate: its bar's, else that of the bytes."""
        left_s = self.pace.left_s(now_s)
        in_weights = bool(self.spans) and self.spans[-1].phase is Phase.WEIGHTS
        return self.received_left_s if left_s is None and in_weights else left_s


@dataclass(frozen=True, slots=True)
class _Left:
    """What one past load says is left. ``left_s`` None: it was through this phase (or ready) by now.

    ``later_s`` is what came after the phase, None where the whole load is compared; ``limit_s`` is how long
    the past load took for what it is compared by. ``rated``: this load's own rate is in it.
    """

    left_s: float | None
    later_s: float | None
    limit_s: float | None
    rated: bool = False


def estimate(standing: Standing, matching: Matching, now_s: float) -> Estimate | None:
    """Return how long until ready, None where nothing tells."""
    phase = standing.spans[-1].phase if standing.spans else None
    if phase is Phase.READY:
        return None
    lefts = [_left(standing, load, now_s) for load in matching.loads]
    return _by_past(phase, [left for left in lefts if left is not None], matching) or _by_rate(
        phase, standing, matching, now_s
    )


def fraction(phase: Phase | None, progress: Progress | None, received: float | None) -> float | None:
    """Return how much of the phase is done (0 to 1) by its bar, None where neither bar nor GPUs tell.

    ``received`` is the share of the weights that came over PCIe: it moves between two steps of the bar.
    """
    shares: list[float] = []
    if progress is not None and progress.total:
        shares.append(progress.done / progress.total)
    if phase is Phase.WEIGHTS and received is not None:
        shares.append(received)
    return min(1.0, max(0.0, *shares)) if shares else None


def words(found: Estimate | None, matching: Matching) -> str:
    """Return the estimate in a sentence; without one, why there is none."""
    if found is not None:
        return found.sentence
    return f"{NO_ESTIMATE}: {matching.words}" if matching.words and not matching.loads else NO_ESTIMATE


# By past loads.


def _by_past(phase: Phase | None, lefts: Sequence[_Left], matching: Matching) -> Estimate | None:
    if not lefts:
        return None
    left = sorted(each.left_s for each in lefts if each.left_s is not None)
    if not left:
        return _longer_than_ever(phase, lefts, matching)
    middle, low, high = median(left), left[0], left[-1]
    within = f" ({clock_text(low)} to {clock_text(high)})" if len(left) > 1 else ""
    faster = len(lefts) - len(left)
    beside = f", {faster} of them faster than this one is" if faster else ""
    rated = any(each.rated for each in lefts)
    own = "its own rate and " if rated else ""
    sentence = f"{clock_text(middle)} left{within} by {own}{matching.words}{beside}"
    return Estimate(middle, low, high, "both" if rated else "past loads", len(left), sentence)


def _longer_than_ever(phase: Phase | None, lefts: Sequence[_Left], matching: Matching) -> Estimate:
    """Every past load was through by now: the next phases are still to come, and no more is known."""
    compared = [each for each in lefts if each.later_s is not None] or list(lefts)
    longest = max((each.limit_s for each in compared if each.limit_s is not None), default=0.0)
    later_s = median([each.later_s or 0.0 for each in compared])
    least = later_s if later_s >= 1.0 else None
    by_phase = phase is not None and compared[0].later_s is not None
    what = f"{phase.words} takes" if phase is not None and by_phase else "this load takes"
    sentence = f"{what} longer than ever before (max {clock_text(longest)}), by {matching.words}"
    if least is not None:
        sentence += f"; the later phases took {clock_text(least)}"
    return Estimate(least, least, None, "past loads", len(lefts), sentence, at_least=True)


def _left(standing: Standing, load: PastLoad, now_s: float) -> _Left | None:
    """Return what a past load says is left, by the phases after this one or else by its time to ready."""
    if not standing.spans:
        return _by_total(standing, load, now_s, None, None)
    at = _aligned(standing, load.phases)
    later_s = _total(load.phases[at.after :])
    spent_s = standing.spans[-1].seconds(now_s)
    rate_s = standing.rate_left_s(now_s)
    if later_s is None or (spent_s is None and rate_s is None):
        return _by_total(standing, load, now_s, later_s, at.seconds)
    if rate_s is not None and standing.spans[-1].phase is Phase.WEIGHTS:
        return _Left(rate_s + later_s, later_s, None, rated=True)
    if at.seconds is None or spent_s is None:
        return _by_total(standing, load, now_s, later_s, None)
    if spent_s < at.seconds:
        return _Left(at.seconds - spent_s + later_s, later_s, None)
    if rate_s is not None:
        return _Left(rate_s + later_s, later_s, None, rated=True)
    return _Left(None, later_s, at.seconds)


def _by_total(
    standing: Standing, load: PastLoad, now_s: float, later_s: float | None, stay_s: float | None
) -> _Left | None:
    """By the time since the start; what is left of the phases bounds it where it is known."""
    if standing.started_s is None:
        return None
    left_s = load.ready_s - (now_s - standing.started_s)
    if later_s is not None:
        left_s = max(left_s, later_s)
        if stay_s is not None:
            left_s = min(left_s, later_s + stay_s)
    return _Left(left_s if left_s > 0 else None, None, load.ready_s)


@dataclass(frozen=True, slots=True)
class _Stay:
    """Where this load's stay is found in a past one: how long it took, and where the later stays begin."""

    seconds: float | None
    after: int


def _aligned(standing: Standing, stays: Sequence[PhaseTime]) -> _Stay:
    """Find the stay that is this load's now: the second one in a phase is the second one there."""
    phase = standing.spans[-1].phase
    found = [number for number, stay in enumerate(stays) if stay.phase == phase.value]
    if found:
        nth = sum(span.phase is phase for span in standing.spans)
        number = found[min(nth, len(found)) - 1]
        return _Stay(stays[number].seconds, number + 1)
    for number, stay in enumerate(stays):
        if _place(standing, stay.phase) > standing.place(phase):
            return _Stay(None, number)
    return _Stay(None, len(stays))


def _place(standing: Standing, name: str) -> int:
    return standing.place(Phase(name)) if name in _NAMES else -1


def _total(stays: Iterable[PhaseTime]) -> float | None:
    seconds = [stay.seconds for stay in stays]
    known = [each for each in seconds if each is not None]
    return sum(known) if len(known) == len(seconds) else None


# By this load alone.


def _by_rate(phase: Phase | None, standing: Standing, matching: Matching, now_s: float) -> Estimate | None:
    """The bar under way: nothing tells of what comes after it."""
    left_s = standing.rate_left_s(now_s)
    if left_s is None or phase is None:
        return None
    at_most = phase is Phase.CAPTURE
    what = phase.words if phase is Phase.WEIGHTS else f"this bar ({phase.words})"
    bound = "at most " if at_most else ""
    rest = f"; {matching.words}" if matching.words and not matching.loads else ""
    sentence = f"{bound}{clock_text(left_s)} left of {what} at its own rate{rest}"
    return Estimate(
        left_s, None, left_s if at_most else None, "own rate", 0, sentence, of_phase=True, at_most=at_most
    )
