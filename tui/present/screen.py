"""One paint of the main screen."""

from tui.present.bench import bench_panel
from tui.present.beside import Beside
from tui.present.gpus import gpu_panel
from tui.present.header import header, status
from tui.present.log import line, log_panel
from tui.present.phases import phase_panel
from tui.present.readiness import ladder
from tui.present.verdict import verdict_panel, with_deadline
from tui.watch.meaning import Meaning
from widgets.values import LogLine, ScreenValues, VerdictPanel


def present(
    state: Meaning,
    client_now_s: float,
    width: int | None = None,
    beside: Beside | None = None,
    name: str = "",
) -> ScreenValues:
    """Return what one paint needs, as of the client's monotonic time. Equal while nothing changes.

    ``width`` is the screen's in cells, where known: a wider one gets a longer history. ``beside`` saves the
    work that was done for the paint before. ``name`` is what the person called the host.
    """
    beside = beside or Beside()
    stale = state.link.stale_s(client_now_s) is not None
    return ScreenValues(
        header=header(state, client_now_s),
        gpus=gpu_panel(state, width, stale=stale),
        ladder=ladder(state),
        log=log_panel(state, client_now_s),
        bench=bench_panel(state),
        status=status(state, client_now_s, name),
        alerts=state.alerts,
        phases=phase_panel(state, client_now_s),
        verdict=_verdict(state, client_now_s, beside),
        lanes=beside.lanes,
        stale=stale,
    )


def _verdict(state: Meaning, client_now_s: float, beside: Beside) -> VerdictPanel:
    now_s = state.source_now(client_now_s)
    if now_s is None:
        return VerdictPanel()
    beside.look(state, now_s)
    # As of the newest event: that is judged once a second, however often it is painted.
    panel = verdict_panel(state.judged, now_s, ended=state.outcome == "failed")
    return with_deadline(panel, beside.deadlines(now_s))


def log_lines(state: Meaning, after: int) -> list[LogLine]:
    """Return the log lines with a higher number than ``after``, oldest first (at most 20,000)."""
    return [line(buffered) for buffered in state.log.after(after)]
