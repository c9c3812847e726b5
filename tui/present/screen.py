"""One paint of the main screen."""

from tui.present.bench import bench_panel
from tui.present.gpus import gpu_panel
from tui.present.header import header, status
from tui.present.log import line, log_panel
from tui.present.phases import phase_panel
from tui.present.readiness import ladder
from tui.present.verdict import verdict_of
from tui.watch.meaning import Meaning
from widgets.values import LogLine, ScreenValues


def present(state: Meaning, client_now_s: float, width: int | None = None) -> ScreenValues:
    """Return what one paint needs, as of the client's monotonic time. Equal while nothing changes.

    ``width`` is the screen's in cells, where known: a wider one gets a longer history.
    """
    return ScreenValues(
        header=header(state, client_now_s),
        gpus=gpu_panel(state, width),
        ladder=ladder(state),
        log=log_panel(state),
        bench=bench_panel(state),
        status=status(state),
        alerts=state.alerts,
        phases=phase_panel(state, client_now_s),
        verdict=verdict_of(state, client_now_s),
    )


def log_lines(state: Meaning, after: int) -> list[LogLine]:
    """Return the log lines with a higher number than ``after``, oldest first (at most 20,000)."""
    return [line(buffered) for buffered in state.log.after(after)]
