"""What changed from one event to the next: phase, verdict and readiness, each with its time and reason."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from tui.watch.ladder import NEEDS_A_PERSON, READY_RUNG
from tui.watch.meaning import Meaning

Kind = Literal["phase", "verdict", "readiness", "fault"]


@dataclass(frozen=True, slots=True)
class Transition:
    """One change at ``t`` seconds. ``before`` and ``after`` are None where nothing was known.

    Readiness is the highest rung reached (process, port, health, model), ``ready``, or what a person has to
    mend (wrong_model, key_needed, tls, not_http). A fault has only an ``after``: the class of what failed.
    ``rank`` and ``pid`` name the culprit, None where there is none.
    """

    t: float
    kind: Kind
    before: str | None
    after: str | None
    reason: str = ""
    rank: str | None = None
    pid: int | None = None


class Transitions:
    """Finds what an event, already taken into the state, has changed. One for each pass over a tape."""

    def __init__(self) -> None:
        self._load = 0
        self._phase: str | None = None
        self._verdict: str | None = None
        self._readiness: str | None = None
        self._fault: tuple[int, str] | None = None

    def take(self, state: Meaning, t: float) -> Iterator[Transition]:
        """Return the changes since the last call, in the order phase, readiness, verdict, fault."""
        phase = None if state.phase is None else state.phase.value
        if phase != self._phase:
            yield Transition(t, "phase", self._phase, phase)
            self._phase = phase
        yield from self._readiness_changed(state, t)
        if state.verdict != self._verdict:
            yield Transition(t, "verdict", self._verdict, state.verdict, state.reason)
            self._verdict = state.verdict
        yield from self._fault_came(state, t)

    def _readiness_changed(self, state: Meaning, t: float) -> Iterator[Transition]:
        now, reason = readiness(state)
        if now != self._readiness:
            yield Transition(t, "readiness", self._readiness, now, reason)
            self._readiness = now

    def _fault_came(self, state: Meaning, t: float) -> Iterator[Transition]:
        """A failure counts once a load, when it is first told: by the log, or by the end of the process."""
        if self._fault is not None and self._fault[0] == state.loads:
            return
        cause = state.log_failure
        if cause is not None:
            self._fault = (state.loads, cause.kind.value)
            yield Transition(t, "fault", None, cause.kind.value, cause.quote.text)
        elif state.outcome == "failed":
            self._fault = (state.loads, state.fault or "died")
            yield Transition(t, "fault", None, state.fault or "died", state.reason)


def readiness(state: Meaning) -> tuple[str | None, str]:
    """Return how ready a server is in one word, and the answer that says so."""
    if state.ready:
        counts = READY_RUNG[state.options.ready_on]
        return "ready", next(rung.answer for rung in state.ladder if rung.name == counts)
    if state.outcome == "failed":
        return None, state.ladder[0].answer
    wrong = next((rung for rung in reversed(state.ladder) if rung.outcome in NEEDS_A_PERSON), None)
    if wrong is not None and wrong.state == "bad":
        return wrong.outcome, wrong.answer
    reached = next((rung for rung in reversed(state.ladder) if rung.state == "ok"), None)
    return (None, "") if reached is None else (reached.name, reached.answer)
