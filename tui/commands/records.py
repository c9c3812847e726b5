"""The lines of ``--json``: an object a line, each with ``event`` and ``t`` (seconds of the command)."""

import msgspec

from tui.events import Probe
from tui.replay.ending import Outcome
from tui.watch.ladder import Rung
from tui.watch.state import WatchState
from tui.watch.verdict.verdict import SEVERITY, Confidence, Verdict


class Record(msgspec.Struct, frozen=True, kw_only=True, tag_field="event"):
    """What every line carries."""

    t: float


class PlaceRecord(Record, frozen=True, kw_only=True, tag="place"):
    """The agent is in a container, pod or job: which one on which host, and what that calls itself."""

    place: str
    host: str


class ProbeRecord(Record, frozen=True, kw_only=True, tag="probe"):
    """An answer of the server's port. Repeated answers are left out; ``attempts`` counts them all."""

    rung: str
    outcome: str
    status: int | None
    latency_ms: float
    detail: str
    attempts: int


class ReadinessRecord(Record, frozen=True, kw_only=True, tag="readiness"):
    """A rung of the readiness ladder has changed."""

    rung: str
    state: str
    answer: str
    ready: bool


class PhaseRecord(Record, frozen=True, kw_only=True, tag="phase"):
    """The load has entered a phase."""

    phase: str | None
    pid: int | None
    model: str | None


class JudgementPart(msgspec.Struct, frozen=True, kw_only=True):
    """A verdict with its evidence. What is not known is null, "" or empty.

    ``since`` and ``until`` (when a quiet load will count as ``then``) are seconds on the clock of the
    ``t`` beside them; since before the command began is below 0. ``confidence`` is that of the ``cause``:
    proof, pattern or guess. ``rank`` and ``pid`` are the culprit, ``waiting`` the ranks that wait for it.
    """

    verdict: str
    reason: str
    since: float | None = None
    until: float | None = None
    then: str | None = None
    figures: tuple[str, ...] = ()
    cause: str = ""
    confidence: Confidence | None = None
    rank: str | None = None
    pid: int | None = None
    waiting: tuple[str, ...] = ()
    next_step: str = ""
    not_to_do: str = ""


class VerdictRecord(JudgementPart, frozen=True, tag="verdict", tag_field="event"):
    """What is to be thought of the load; told when the word, the culprit or the cause has changed."""

    t: float


class CausePart(msgspec.Struct, frozen=True, kw_only=True):
    """Why a load failed, by its log: the kind, the line that tells it, the cause and a next step in words."""

    kind: str
    line: str
    cause: str
    next_step: str


class EndRecord(Record, frozen=True, kw_only=True, tag="end", omit_defaults=True):
    """The last line of every command that waits, and of every replay.

    ``cause`` is what the log of a failed load tells, ``judgement`` what speaks for a verdict that is neither
    good nor an end; both are left out where there is none.
    """

    outcome: Outcome
    phase: str | None
    verdict: str | None
    fault: str | None
    elapsed_s: float
    attempts: int
    model: str | None
    reason: str
    cause: CausePart | None = None
    judgement: JudgementPart | None = None


AnyRecord = PlaceRecord | ProbeRecord | ReadinessRecord | PhaseRecord | VerdictRecord | EndRecord


def line(record: AnyRecord) -> str:
    """Return a record as its JSON line, without the newline."""
    return msgspec.json.encode(record).decode()


def of_target(text: str, target: str) -> str:
    """Return the JSON line of an object with the host first that it is of, as the person named it."""
    return f'{{"target":{msgspec.json.encode(target).decode()},{text.removeprefix("{")}'


def seconds(value: float) -> float:
    """Round a time to the millisecond, which is what an event loop can tell."""
    return round(value, 3)


def probe_record(event: Probe, attempts: int, t: float) -> ProbeRecord:
    """Return the record of one answer."""
    return ProbeRecord(
        t=t,
        rung=event.rung,
        outcome=event.outcome,
        status=event.status,
        latency_ms=round(event.latency_ms, 2),
        detail=event.detail,
        attempts=attempts,
    )


def readiness_record(rung: Rung, ready: bool, t: float) -> ReadinessRecord:
    """Return the record of a changed rung."""
    return ReadinessRecord(t=t, rung=rung.name, state=rung.state, answer=rung.answer, ready=ready)


def phase_record(state: WatchState, t: float) -> PhaseRecord:
    """Return the record of the phase that the load is in."""
    shown = state.shown
    return PhaseRecord(
        t=t,
        phase=None if state.phase is None else state.phase.value,
        pid=None if shown is None else shown.pid,
        model=state.model,
    )


def judged_of(state: WatchState) -> Verdict | None:
    """Return the verdict with its evidence; None where only the outcome of the load is known."""
    found = state.judged
    return found if found is not None and found.word == state.verdict else None


def judgement_part(state: WatchState, t: float, now_s: float | None) -> JudgementPart | None:
    """Return the verdict, None while nothing is certain. ``now_s`` is the host's clock at ``t``."""
    word, found = state.verdict, judged_of(state)
    if word is None:
        return None
    if found is None:
        return JudgementPart(verdict=word, reason=state.reason)
    told = state.reason if state.outcome == "failed" or found.sentence == word else found.sentence
    return part_of(found, told, t, now_s)


def part_of(found: Verdict, reason: str, t: float, now_s: float | None) -> JudgementPart:
    """Return a verdict with its evidence. ``now_s`` is the host's clock at ``t``, None where not known."""
    return JudgementPart(
        verdict=found.word,
        reason=reason,
        since=_on_clock(found.since_s, t, now_s),
        until=_on_clock(found.until_s, t, now_s),
        then=found.then,
        figures=found.figures,
        cause=found.cause,
        confidence=found.confidence if found.cause else None,
        rank=found.rank,
        pid=found.pid,
        waiting=found.waiting,
        next_step=found.next_step,
        not_to_do=found.not_to_do,
    )


def verdict_record(part: JudgementPart, t: float) -> VerdictRecord:
    """Return the record of a verdict that was told at ``t``."""
    return VerdictRecord(t, **msgspec.structs.asdict(part))


def _on_clock(at_s: float | None, t: float, now_s: float | None) -> float | None:
    return None if at_s is None or now_s is None else seconds(t + at_s - now_s)


def end_record(
    state: WatchState, outcome: Outcome, fault: str | None, reason: str, t: float, now_s: float | None = None
) -> EndRecord:
    """Return the last line. ``now_s`` is the host's clock at ``t``."""
    part = judgement_part(state, t, now_s)
    return EndRecord(
        t=t,
        outcome=outcome,
        phase=None if state.phase is None else state.phase.value,
        verdict=None if part is None else part.verdict,
        fault=fault,
        elapsed_s=t,
        attempts=state.attempts,
        model=state.model,
        reason=reason,
        cause=cause_part(state) if outcome == "failed" else None,
        judgement=part if state.outcome != "failed" and SEVERITY[state.verdict or "ready"] else None,
    )


def cause_part(state: WatchState) -> CausePart | None:
    """Return the root cause of the load that failed, None where its log tells none."""
    end = state.last_end if state.outcome == "failed" else None
    cause = state.log_failure if end is None else end.cause
    if cause is None:
        return None
    return CausePart(
        kind=cause.kind.value, line=cause.quote.text, cause=cause.cause, next_step=cause.next_step
    )
