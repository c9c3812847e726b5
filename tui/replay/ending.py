"""How a recording or scenario came out, in the words and exit codes of ``wait``."""

from typing import Literal

from tui.watch.state import WatchState
from tui.watch.words import clock_text

Outcome = Literal["ready", "failed", "timeout", "lost"]

EXIT_CODES: dict[Outcome, int] = {"ready": 0, "failed": 1, "timeout": 3, "lost": 4}


def ending(state: WatchState, length_s: float) -> tuple[Outcome, str | None, str]:
    """Return outcome, fault and reason of a state after which nothing more comes."""
    if state.ready:
        return "ready", None, state.reason
    if state.outcome == "failed":
        return "failed", state.fault, state.reason
    cause = state.log_failure
    if cause is not None:
        return "failed", "log_failure", f"the log tells of a failure: {cause.quote.text}"
    if state.fault == "wrong_model":
        return "failed", state.fault, state.reason
    if state.link.state in ("lost", "failed", "connecting"):
        return "lost", state.link.fault or "lost", state.link.sentence
    why = state.reason or (_unasked(state) if state.loading else "nothing was heard of a server")
    return "timeout", state.fault, f"not ready when it ends, after {clock_text(length_s)}: {why}"


def _unasked(state: WatchState) -> str:
    """Return what nobody asked of a server that is there."""
    rung = next((rung.name for rung in state.ladder if rung.state == "unknown"), "token")
    return f"{rung}: no answer was recorded"
