"""The log pane's title and sentence, and its lines."""

from tui.present.figures import size_text
from tui.watch.follow import log_sentence
from tui.watch.log_buffer import BufferedLine
from tui.watch.meaning import Meaning
from tui.watch.words import clock_text
from widgets.values import LogLine, LogPanel, Mood

BEHIND_BYTES = 64 * 1024
"""Less than this still to be read is the ordinary delay of a busy log."""


def log_panel(state: Meaning, client_now_s: float) -> LogPanel:
    """Return what the pane shows besides its lines."""
    return LogPanel(
        title=_title(state, state.source_now(client_now_s)),
        sentence=_sentence(state),
        tail=state.log_tail,
        fault_number=_fault_number(state),
    )


def _fault_number(state: Meaning) -> int | None:
    if state.log_failure is not None:
        return state.log_failure.quote.number
    end = state.last_end if state.outcome == "failed" else None
    return end.quote.number if end is not None and end.quote is not None else None


def line(buffered: BufferedLine) -> LogLine:
    """Return a line as it is drawn."""
    if buffered.level == "error":
        mood = Mood.BAD
    elif buffered.level == "warning":
        mood = Mood.WARNING
    else:
        mood = Mood.ACTIVE if buffered.mark is not None else Mood.IDLE
    return LogLine(buffered.number, buffered.text, mood, mark=buffered.mark is not None)


def _title(state: Meaning, now_s: float | None) -> str:
    path = state.log_source.path if state.log_source is not None else None
    if path is None and state.wanted is not None:
        path = state.wanted.log_path
    return " · ".join(word for word in (_behind(state, now_s), path or "") if word)


def _behind(state: Meaning, now_s: float | None) -> str:
    """Say how far the reading is behind, and what can be done where that is far."""
    stamp_lag_s = None if now_s is None else state.log_lag.stamp_lag_s(now_s)
    if stamp_lag_s is not None:
        return f"{clock_text(stamp_lag_s)} behind"
    behind = state.log_behind_bytes
    if behind <= BEHIND_BYTES:
        return ""
    words = f"{size_text(behind)} behind"
    lag = None if now_s is None else state.log_lag.lag(now_s)
    if now_s is None or lag is None or not state.log_lag.is_far(now_s):
        return words
    least = "at least " if lag.at_least else ""
    return f"{words}, {least}{clock_text(lag.seconds)}: J jumps to its end"


def _sentence(state: Meaning) -> str:
    source = state.log_source
    if source is not None and source.state != "none":
        return "" if source.state == "open" else source.sentence
    if state.shown is not None:
        return log_sentence(state.shown, state.options)
    if state.log.total:
        return ""
    if state.without_agent:
        return "a URL alone is watched: its server's log is not seen"
    if state.without_python:
        return "no log: without python3 there it is not found; name it with --log PATH"
    return "no log: no server is followed yet"
