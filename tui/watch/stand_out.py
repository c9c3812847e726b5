"""Which lines of a log a person should find again, and by which phase."""

from tui.engines.marks import Mark, MarkKind
from tui.engines.phase import Phase

_STAND_OUT = (MarkKind.START, MarkKind.BEGINS, MarkKind.ENDS, MarkKind.READY, MarkKind.SHUTDOWN)


def stands_out(marks: tuple[Mark, ...]) -> Phase | None:
    """Return the phase for which a line of the log stands out, None for one that does not."""
    for mark in marks:
        if mark.kind in _STAND_OUT:
            return Phase.STOPPED if mark.kind is MarkKind.SHUTDOWN else mark.phase
    return None
