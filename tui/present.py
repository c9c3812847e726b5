"""WatchState -> the plain values that widgets draw, and the words for the commands. Pure."""

from tui.watch.state import WatchState
from widgets.values import LogLine, ScreenValues


def present(state: WatchState, client_now_s: float, width: int | None = None) -> ScreenValues:
    """Return what one paint needs, as of the client's monotonic time. Equal while nothing changes.

    ``width`` is the screen's, in cells, where known: longer sentences are then used where there is room.
    """
    raise NotImplementedError


def log_lines(state: WatchState, after: int) -> list[LogLine]:
    """Return the log lines with a higher number than ``after``, oldest first (at most 20,000)."""
    raise NotImplementedError


def exit_summary(state: WatchState, client_now_s: float) -> list[str]:
    """Return at most six lines that stay in the terminal when the screen is left."""
    raise NotImplementedError


def title(state: WatchState, client_now_s: float) -> str:
    """Return the terminal's title: outcome or phase, model, host."""
    raise NotImplementedError


def clock_text(seconds: float) -> str:
    """Return a duration as the clock shows it: 3:07, 1:02:03."""
    raise NotImplementedError
