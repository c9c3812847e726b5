"""The lines of ``--json``: an object a line, each with ``event`` and ``t`` (seconds of the command)."""

import msgspec

from tui.events import Probe
from tui.replay.ending import Outcome
from tui.watch.ladder import Rung
from tui.watch.state import WatchState


class Record(msgspec.Struct, frozen=True, kw_only=True, tag_field="event"):
    """What every line carries."""

    t: float


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


class VerdictRecord(Record, frozen=True, kw_only=True, tag="verdict"):
    """What is to be thought of the load."""

    verdict: str
    reason: str


class CausePart(msgspec.Struct, frozen=True, kw_only=True):
    """Why a load failed, by its log: the kind, the line that tells it, the cause and a next step in words."""

    kind: str
    line: str
    cause: str
    next_step: str


class EndRecord(Record, frozen=True, kw_only=True, tag="end", omit_defaults=True):
    """The last line of every command that waits, and of every replay; ``cause`` is a failure's alone."""

    outcome: Outcome
    phase: str | None
    verdict: str | None
    fault: str | None
    elapsed_s: float
    attempts: int
    model: str | None
    reason: str
    cause: CausePart | None = None


AnyRecord = ProbeRecord | ReadinessRecord | PhaseRecord | VerdictRecord | EndRecord


def line(record: AnyRecord) -> str:
    """Return a record as its JSON line, without the newline."""
    return msgspec.json.encode(record).decode()


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


def verdict_of(state: WatchState) -> str | None:
    """Return the verdict in one word, None while nothing is certain."""
    return state.verdict


def end_record(state: WatchState, outcome: Outcome, fault: str | None, reason: str, t: float) -> EndRecord:
    """Return the last line."""
    return EndRecord(
        t=t,
        outcome=outcome,
        phase=None if state.phase is None else state.phase.value,
        verdict=verdict_of(state),
        fault=fault,
        elapsed_s=t,
        attempts=state.attempts,
        model=state.model,
        reason=reason,
        cause=cause_part(state) if outcome == "failed" else None,
    )


def cause_part(state: WatchState) -> CausePart | None:
    """Return the root cause of the load that failed, None where its log tells none."""
    cause = None if state.last_end is None else state.last_end.cause
    if cause is None:
        return None
    return CausePart(
        kind=cause.kind.value, line=cause.quote.text, cause=cause.cause, next_step=cause.next_step
    )
