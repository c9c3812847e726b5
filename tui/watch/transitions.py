"""What changed from one event to the next: phase, verdict and readiness, each with its time and reason."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal

from tui.engines.phase import Phase
from tui.watch.culprit import Culprit, culprit
from tui.watch.ladder import NEEDS_A_PERSON, READY_RUNG
from tui.watch.load_end import End
from tui.watch.log_buffer import BufferedLine, LogBuffer
from tui.watch.meaning import Meaning
from tui.watch.words import shortened

Kind = Literal["phase", "verdict", "readiness", "fault"]

_TOLD_BY_PORT = (Phase.START_API, Phase.WARMUP, Phase.READY)
_REASON_LENGTH = 300


@dataclass(frozen=True, slots=True)
class Transition:
    """One change at ``t`` seconds. ``before`` and ``after`` are None where nothing was known.

    A phase may follow itself: the first of a new load after the last of the one before. Readiness is how far
    the ladder holds from its foot (process, port, health, model), ``ready``, or what a person has to mend
    (wrong_model, key_needed, tls, not_http). A fault has only an ``after``: the class of what failed.
    ``rank`` and ``pid`` name the culprit, None where there is none.
    """

    t: float
    kind: Kind
    before: str | None
    after: str | None
    reason: str = ""
    rank: str | None = None
    pid: int | None = None

    @property
    def words(self) -> str:
        """What it came to, as it is shown: "KV cache", "wrong model", "ready no more"."""
        if self.after is None:
            return f"{_words(self.kind, self.before)} no more"
        return _words(self.kind, self.after)


def _words(kind: Kind, word: str | None) -> str:
    if kind == "phase" and word is not None:
        return Phase(word).words
    return (word or kind).replace("_", " ")


class Transitions:
    """Finds what an event, already taken into the state, has changed. One for each pass over a tape."""

    def __init__(self) -> None:
        self._loads = 0
        self._loading = False
        self._phase: str | None = None
        self._verdict: str | None = None
        self._readiness: str | None = None
        self._seen: tuple[object, ...] = ()
        self._wrong: str | None = None
        self._faults: set[str] = set()
        self._failed_as: str | None = None
        self._ended_s: float | None = None
        self._lines = 0

    def take(self, state: Meaning, t: float) -> Iterator[Transition]:
        """Return the changes since the last call, in the order phase, readiness, verdict, fault.

        Where one event ended a load and began the next, the end comes first.
        """
        new = state.loads != self._loads
        if self._loading and (new or (not state.loading and state.outcome is None)):
            yield from self._passed_over(state.last_end, t)
        if new:
            self._faults, self._failed_as = set(), None
        yield from self._phase_moved(state, t, new_load=new)
        self._lines = state.log.total
        verdict = state.verdict
        # Readiness, and what a person has to mend, come from these alone: few events change them.
        seen = (verdict, *state.ladder)
        if seen != self._seen:
            self._seen, self._wrong = seen, state.fault
            yield from self._readiness_changed(*readiness(state), t)
        if verdict != self._verdict:
            yield from self._judged(state, t)
        yield from self._faults_came(state, t)
        self._loads, self._loading = state.loads, state.loading

    def _phase_moved(self, state: Meaning, t: float, *, new_load: bool) -> Iterator[Transition]:
        now = state.phase
        phase = None if now is None else now.value
        if phase != self._phase or (new_load and phase is not None):
            before, self._phase = self._phase, phase
            yield Transition(t, "phase", before, phase, _phase_reason(state, self._lines))

    def _readiness_changed(self, now: str | None, reason: str, t: float) -> Iterator[Transition]:
        if now != self._readiness:
            before, self._readiness = self._readiness, now
            yield Transition(t, "readiness", before, now, reason)

    def _judged(self, state: Meaning, t: float) -> Iterator[Transition]:
        before, self._verdict = self._verdict, state.verdict
        if state.outcome == "failed":
            who = culprit(state)
            self._ended_s = state.last_end.at_s if state.last_end is not None else None
            yield Transition(t, "verdict", before, "dead", state.reason, who.rank, who.pid)
            return
        judged = state.judged
        if judged is None or state.verdict == "ready":
            yield Transition(t, "verdict", before, state.verdict, readiness(state)[1])
        else:
            yield Transition(t, "verdict", before, judged.word, judged.sentence, judged.rank, judged.pid)

    # Failures.

    def _faults_came(self, state: Meaning, t: float) -> Iterator[Transition]:
        """A failure counts once a load, when it is first told: by the log, or by the end of the process.

        An end whose cause the log tells later counts once more; what a person has to mend counts beside it.
        """
        cause, end = state.log_failure, state.last_end if state.outcome == "failed" else None
        if cause is None and end is not None:
            cause = end.cause
        if cause is not None and self._failed_as in (None, "died"):
            yield from self._failed(cause.kind.value, cause.quote.text, culprit(state), t)
        elif end is not None and self._failed_as is None and end.fault != "shut_down":
            yield from self._failed(end.fault, end.reason, culprit(state), t)
        elif self._wrong in NEEDS_A_PERSON and self._wrong not in self._faults:
            self._faults.add(self._wrong)
            yield Transition(t, "fault", None, self._wrong, state.reason)

    def _failed(self, what: str, reason: str, who: Culprit, t: float) -> Iterator[Transition]:
        before, self._failed_as = self._failed_as, what
        if before != what:
            yield Transition(t, "fault", None, what, reason, who.rank, who.pid)

    def _passed_over(self, end: End | None, t: float) -> Iterator[Transition]:
        """Tell of an end that the same event has left behind: a new server, or a restart of the host."""
        if end is None or end.at_s == self._ended_s:
            return
        self._seen = ()
        yield from self._readiness_changed(None, end.reason, t)
        before, self._verdict = self._verdict, "dead"
        yield Transition(t, "verdict", before, "dead", end.reason)
        if end.fault != "shut_down" and self._failed_as is None:
            what = end.fault if end.cause is None else end.cause.kind.value
            yield Transition(t, "fault", None, what, end.reason)


def _phase_reason(state: Meaning, lines: int) -> str:
    """Return what moved the load: a line of its log behind the first ``lines``, else what its port said."""
    if state.phase is Phase.READY and state.ready:
        return readiness(state)[1]
    found = ""
    for line in _newest(state.log, lines):
        if line.mark is state.phase:
            return shortened(line.text.strip(), _REASON_LENGTH)
        found = found or (shortened(line.text.strip(), _REASON_LENGTH) if line.mark is not None else "")
    if found:
        return found
    if state.phase is Phase.LAUNCH:
        return state.ladder[0].answer
    unfinished = shortened(state.log_tail.strip(), _REASON_LENGTH)
    if unfinished and state.phase not in _TOLD_BY_PORT:
        return unfinished
    return next((rung.answer for rung in reversed(state.ladder) if rung.state == "ok" and rung.answer), "")


def _newest(log: LogBuffer, lines: int) -> Iterator[BufferedLine]:
    """Iterate over the lines with a higher number than ``lines``, newest first."""
    if log.held is not None:
        yield log.held
    yield from takewhile(lambda line: line.number > lines, reversed(log.lines))


def readiness(state: Meaning) -> tuple[str | None, str]:
    """Return how ready a server is in one word, and the answer that says so.

    It is what was heard last: a lost link changes nothing. A rung that was not asked (the process of a URL
    alone, health while models are listed) holds up none above it.
    """
    if state.ready:
        if state.options.ready_on == "log":
            return "ready", "its log says so"
        answers = {rung.name: rung.answer for rung in state.ladder}
        return "ready", answers[READY_RUNG[state.options.ready_on]]
    if state.outcome == "failed":
        return None, state.reason
    for rung in reversed(state.ladder):
        if rung.state == "bad" and rung.outcome in NEEDS_A_PERSON:
            return rung.outcome, rung.answer
    reached: tuple[str | None, str] = (None, "")
    for rung in state.ladder[:-1]:
        if rung.state in ("waiting", "bad"):
            break
        if rung.state == "ok":
            reached = (rung.name, rung.answer)
    return reached
