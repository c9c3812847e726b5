"""How a recording or scenario came out, in the words and exit codes of ``wait``."""

from typing import Literal

from tui.watch.state import WatchState
from tui.watch.verdict.verdict import SEVERITY, Verdict
from tui.watch.words import clock_text

Outcome = Literal["ready", "failed", "timeout", "lost"]

EXIT_CODES: dict[Outcome, int] = {"ready": 0, "failed": 1, "timeout": 3, "lost": 4}


def ending(state: WatchState, length_s: float) -> tuple[Outcome, str | None, str]:
    """Return outcome, fault and reason of a state after which nothing more comes.

    A load that hangs, is suspended or has lost a part of its server has failed, with that word as the fault.
    """
    if state.outcome == "failed":
        return "failed", state.fault, state.reason
    stuck = stuck_of(state)
    if state.ready and stuck is None:
        return "ready", None, state.reason
    cause = state.log_failure
    if cause is not None:
        return "failed", "log_failure", f"the log tells of a failure: {cause.quote.text}"
    if state.fault == "wrong_model":
        return "failed", state.fault, state.reason
    if stuck is not None:
        return "failed", stuck.word, stuck.sentence
    if state.link.state in ("lost", "failed", "connecting"):
        return "lost", state.link.fault or "lost", state.link.sentence
    why = not_yet(state) or (_unasked(state) if state.loading else "nothing was heard of a server")
    return "timeout", state.fault, f"not ready when it ends, after {clock_text(length_s)}: {why}"


def stuck_of(state: WatchState) -> Verdict | None:
    """Return the verdict on a load that hangs or cannot go on although its launcher lives, else None."""
    found = state.judged
    return found if found is not None and found.severity >= SEVERITY["hung"] else None


def not_yet(state: WatchState) -> str:
    """Return why a load is not ready, in one sentence: its verdict, or what its port says; "" for neither.

    A port that a person has to see to comes first. A load that goes on is told with what is not there yet.
    """
    found = state.judged
    if found is None or found.word == "ready" or state.fault is not None:
        return state.reason
    if found.severity > SEVERITY["progressing"]:
        return found.sentence
    return "; ".join(text for text in (found.sentence, state.reason) if text)


def _unasked(state: WatchState) -> str:
    """Return what nobody asked of a server that is there."""
    rung = next((rung.name for rung in state.ladder if rung.state == "unknown"), "token")
    return f"{rung}: no answer was recorded"
