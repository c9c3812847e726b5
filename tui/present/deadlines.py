"""The time-outs that will end the load, counting down."""

from collections.abc import Sequence

from tui.watch.deadlines import RunningDeadline
from tui.watch.words import clock_text
from widgets.values import DeadlineRow, Mood

NEAR_S = 120.0
"""What strikes within this time is shown also while the load moves."""


def deadline_rows(found: Sequence[RunningDeadline]) -> tuple[DeadlineRow, ...]:
    """Return all of them, the nearest first."""
    return tuple(_row(each) for each in found)


def nearest(found: Sequence[RunningDeadline], *, standing: bool) -> RunningDeadline | None:
    """Return the one to show beside the verdict: the next, if it is near or the load stands still."""
    known = next((each for each in found if each.left_s is not None), None)
    if known is None or known.left_s is None:
        return None
    return known if standing or known.left_s <= NEAR_S else None


def _row(each: RunningDeadline) -> DeadlineRow:
    length = "" if each.seconds is None else f"{each.seconds:.0f} s, "
    near = each.left_s is not None and each.left_s <= NEAR_S
    return DeadlineRow(
        name=each.name,
        left="at a time that is not known" if each.left_s is None else f"in {clock_text(each.left_s)}",
        source=f"{each.strikes} {each.unless} ({length}{each.source})",
        mood=Mood.WARNING if near else Mood.IDLE,
    )
