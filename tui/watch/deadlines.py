"""Which time-outs of the server count down now, and when they will end the load."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tui.engines.deadlines import Deadline, Origin, deadlines_of
from tui.engines.phase import Phase
from tui.watch.lanes import Lane
from tui.watch.meaning import Meaning
from tui.watch.verdict.movement import RankMoves
from tui.watch.verdict.verdict import Word

WAITING_S = 10.0
"""A GPU that waits for less is part of every load."""
FROZEN_S = 60.0
"""A rank in a call of the kernel that has moved nothing for this long may hold up its helper threads too."""
STANDING: tuple[Word, ...] = ("quiet", "stalled", "hung")


@dataclass(frozen=True, slots=True)
class RunningDeadline:
    """A time-out that counts down; ``at_s`` is when it strikes at the earliest, on the host's clock.

    ``left_s`` is 0 once that time is over; both are None where the time-out or its beginning is not known
    (``seconds`` is None for the former), and ``source`` says where it comes from, or why it is not known.
    """

    name: str
    left_s: float | None
    seconds: float | None
    source: str
    strikes: str
    unless: str
    at_s: float | None


def deadlines(state: Meaning, now_s: float) -> tuple[RunningDeadline, ...]:
    """Return the time-outs that can end the load where it stands, the nearest first; none once it is over.

    ``now_s`` is on the host's monotonic clock. None of them is shown before what it counts from was seen.
    """
    server, phase = state.shown, state.phase
    if server is None or phase is None or not state.loading or state.ready:
        return ()
    known = deadlines_of(server.engine, server.main.argv, server.main.environment)
    return running(known, phase, _origins(state, now_s), now_s)


def running(
    known: Iterable[Deadline], phase: Phase, origins: Mapping[Origin, float | None], now_s: float
) -> tuple[RunningDeadline, ...]:
    """Return which of the time-outs run in a phase. ``origins`` holds what has happened, None: not when."""
    found = [
        _counting(each, origins[each.counts_from], now_s)
        for each in known
        if phase in each.phases and each.counts_from in origins
    ]
    return tuple(sorted(found, key=lambda each: (each.left_s is None, each.left_s or 0.0)))


def _counting(deadline: Deadline, began_s: float | None, now_s: float) -> RunningDeadline:
    at_s = None if began_s is None or deadline.seconds is None else began_s + deadline.seconds
    return RunningDeadline(
        name=deadline.name,
        left_s=None if at_s is None else max(0.0, at_s - now_s),
        seconds=deadline.seconds,
        source=deadline.source,
        strikes=deadline.strikes,
        unless=deadline.unless,
        at_s=at_s,
    )


def _origins(state: Meaning, now_s: float) -> dict[Origin, float | None]:
    """Return what has happened, and when."""
    origins: dict[Origin, float | None] = {"process": state.started_s, "phase": state.phase_since_s}
    model = next(rung for rung in state.ladder if rung.name == "model")
    judged = state.judged
    if model.state == "ok":
        origins["model"] = model.since_s
    if state.lagging_ranks:
        origins.update(_first_through(state.lanes))
    if judged is not None and judged.word in STANDING:
        origins["silence"] = judged.since_s
    return origins | _of_ranks(_moves(state, now_s), now_s)


def _first_through(lanes: Iterable[Lane]) -> dict[Origin, float | None]:
    """Return when the first rank had its weights; None where a log that was read late does not tell."""
    through = [lane.ended_s for lane in lanes if lane.phase is Phase.WEIGHTS and lane.phase_ended]
    if not through:
        return {}
    return {"weights": None if None in through else min(each for each in through if each is not None)}


def _moves(state: Meaning, now_s: float) -> list[RankMoves]:
    moment = state.circumstances(now_s)
    ranks = () if moment is None else moment.ranks
    return [state.judging.movement.of(rank, now_s, rank.phase) for rank in ranks]


def _of_ranks(ranks: Sequence[RankMoves], now_s: float) -> dict[Origin, float | None]:
    """Return since when a GPU waits, and since when a rank is stuck in the kernel."""
    origins: dict[Origin, float | None] = {}
    waits = [each.waiting_s for each in ranks if each.waiting_s is not None]
    frozen = [each.frozen_s for each in ranks if each.frozen_s is not None and each.in_kernel]
    if waits and max(waits) >= WAITING_S:
        origins["wait"] = now_s - max(waits)
    if frozen and max(frozen) >= FROZEN_S:
        origins["frozen"] = now_s - max(frozen)
    return origins
