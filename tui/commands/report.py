"""What ``wait`` prints: each event, already in the state, becomes the lines that it changes something by."""

from collections.abc import Iterator

from tui.commands import records
from tui.commands.records import (
    AnyRecord,
    EndRecord,
    PhaseRecord,
    ProbeRecord,
    ReadinessRecord,
    VerdictRecord,
)
from tui.engines.phase import Phase
from tui.events import AnyEvent, Link, LogSource, Notice, Probe
from tui.watch.state import WatchState

PROBE_EVERY_S = 1.0


class Reporter:
    """Finds what has changed since the last event. One for each command."""

    def __init__(self) -> None:
        self._rungs: dict[str, tuple[str, str]] = {}
        self._answers: dict[str, tuple[str, int | None]] = {}
        self._probe_s = -PROBE_EVERY_S
        self._phase: tuple[str | None, int | None] = (None, None)
        self._verdict: str | None = None

    def records(self, event: AnyEvent, state: WatchState, t: float) -> Iterator[AnyRecord]:
        """Return the records that this event gives rise to, at ``t`` seconds of the command."""
        t = records.seconds(t)
        if isinstance(event, Probe) and self._news(event, t):
            yield records.probe_record(event, state.attempts, t)
        yield from self._changed_rungs(state, t)
        phase = records.phase_record(state, t)
        if (phase.phase, phase.pid) != self._phase:
            self._phase = (phase.phase, phase.pid)
            yield phase
        verdict = records.verdict_of(state)
        if verdict != self._verdict:
            self._verdict = verdict
            if verdict is not None:
                yield VerdictRecord(t=t, verdict=verdict, reason=state.reason)

    def _news(self, event: Probe, t: float) -> bool:
        """Say whether an answer is worth a line: other than the last of its rung, or a second after it."""
        answer = (event.outcome, event.status)
        news = self._answers.get(event.rung) != answer or t - self._probe_s >= PROBE_EVERY_S
        self._answers[event.rung] = answer
        if news:
            self._probe_s = t
        return news

    def _changed_rungs(self, state: WatchState, t: float) -> Iterator[AnyRecord]:
        for rung in state.ladder:
            now = (rung.state, str(rung.outcome))
            if self._rungs.get(rung.name, ("unknown", "None")) != now:
                self._rungs[rung.name] = now
                yield records.readiness_record(rung, state.ready, t)


class Talker:
    """Says the same in lines for people, one a change."""

    def __init__(self) -> None:
        self._choice = ""

    def lines(self, event: AnyEvent, state: WatchState, found: list[AnyRecord]) -> Iterator[str]:
        """Return lines without their time."""
        if isinstance(event, Link) and event.state != "failed":
            yield event.sentence
        if isinstance(event, Notice):
            yield event.sentence
        if isinstance(event, LogSource):
            yield event.sentence
        if state.choice.sentence != self._choice:
            self._choice = state.choice.sentence
            yield self._choice
        for record in found:
            yield words(record)


def words(record: AnyRecord) -> str:
    """Return a record in words, empty for one that is said by another."""
    match record:
        case ProbeRecord():
            return ""
        case ReadinessRecord():
            name = "first token" if record.rung == "token" else record.rung
            return f"{name}: {record.answer or record.state}" if record.state != "unknown" else ""
        case PhaseRecord():
            return f"phase {Phase(record.phase).words}" if record.phase else ""
        case VerdictRecord():
            return f"{record.verdict}: {record.reason}" if record.reason else record.verdict
        case EndRecord():
            return end_words(record)


def end_words(end: EndRecord) -> str:
    """Return the last line for people."""
    head = {"ready": "READY", "failed": "FAILED", "timeout": "TIME-OUT", "lost": "LOST"}[end.outcome]
    model = f" {end.model}" if end.model and end.outcome == "ready" else ""
    tail = f": {end.reason}" if end.reason else ""
    asked = "1 question" if end.attempts == 1 else f"{end.attempts} questions"
    advice = f" ({end.cause.cause} {end.cause.next_step})" if end.cause is not None else ""
    return f"{head}{model} after {end.elapsed_s:.1f} s, {asked} asked{tail}{advice}"


def timed(t: float, text: str) -> str:
    """Return a line with its time in front."""
    return f"{t:7.1f} s  {text}"
