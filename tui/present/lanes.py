"""The ranks, one row each."""

from collections.abc import Sequence

from tui.present.figures import gib
from tui.watch.rank_lanes import RankLane, Wait
from tui.watch.words import clock_text
from widgets.values import LaneRow, Mood

QUIET_S = 30.0
"""For less than this a rank that does not move is not called quiet."""
WAITS: dict[Wait, str] = {
    "computing": "computing",
    "reading": "reading",
    "compiling": "compiling",
    "collective": "waiting in a collective",
    "lock": "waiting for a lock",
    "storage": "waiting for storage",
    "sleeping": "sleeping",
    "stopped": "stopped",
    "gone": "gone",
    "unknown": "not known",
}
"""What a rank does or waits for, in words."""


def lane_rows(lanes: Sequence[RankLane], *, bad: bool = False) -> tuple[LaneRow, ...]:
    """Return the ranks, the odd one on top; ``bad``: the load is held up, and by it."""
    ordered = sorted(lanes, key=lambda lane: not lane.odd)
    return tuple(_row(lane, Mood.BAD if bad else Mood.WARNING) for lane in ordered)


def _row(lane: RankLane, odd: Mood) -> LaneRow:
    return LaneRow(
        name=lane.name,
        pid="" if lane.pid is None else str(lane.pid),
        gpus=",".join(str(index) for index in lane.gpus),
        phase="" if lane.phase is None else lane.phase.words,
        received=_size(lane.received_mib),
        memory=_size(lane.memory_mib),
        state="" if lane.state == "?" else lane.state,
        wait=_wait(lane),
        mood=odd if lane.odd else Mood.IDLE,
    )


def _size(mib: float | None) -> str:
    return "" if mib is None else f"{gib(mib)} GiB"


def _wait(lane: RankLane) -> str:
    """Return what it does or waits for, and for how long; else for how long nothing of it has moved."""
    words = WAITS[lane.wait]
    if lane.wait == "collective" and lane.waits_s is not None:
        return f"{words} {clock_text(lane.waits_s)}"
    quiet = lane.quiet_s is not None and lane.quiet_s >= QUIET_S
    return f"{words}, quiet {clock_text(lane.quiet_s or 0.0)}" if quiet else words
