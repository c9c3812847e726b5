"""What ``wait`` prints: each event, already in the state, becomes the lines that it changes something by."""

from collections.abc import Iterator

from tui.commands import records
from tui.commands.records import (
    AnyRecord,
    EndRecord,
    JudgementPart,
    PhaseRecord,
    PlaceRecord,
    ProbeRecord,
    ReadinessRecord,
    VerdictRecord,
)
from tui.engines.phase import Phase
from tui.events import AnyEvent, Hello, Link, LogSource, Notice, Probe
from tui.watch.state import WatchState
from tui.watch.verdict.words import CONFIDENCE_WORDS
from tui.watch.words import clock_text

PROBE_EVERY_S = 1.0


class Reporter:
    """Finds what has changed since the last event. One for each command."""

    def __init__(self) -> None:
        self._rungs: dict[str, tuple[str, str]] = {}
        self._answers: dict[str, tuple[str, int | None]] = {}
        self._probe_s = -PROBE_EVERY_S
        self._phase: tuple[str | None, int | None] = (None, None)
        self._verdict: tuple[object, ...] = (None,)

    def records(self, event: AnyEvent, state: WatchState, t: float) -> Iterator[AnyRecord]:
        """Return the records that this event gives rise to, at ``t`` seconds of the command."""
        t = records.seconds(t)
        if isinstance(event, Hello) and event.place is not None:
            yield records.PlaceRecord(t=t, place=event.place, host=event.host)
        if isinstance(event, Probe) and self._news(event, t):
            yield records.probe_record(event, state.attempts, t)
        yield from self._changed_rungs(state, t)
        phase = records.phase_record(state, t)
        if (phase.phase, phase.pid) != self._phase:
            self._phase = (phase.phase, phase.pid)
            yield phase
        yield from self._changed_verdict(state, t, event.client_s)

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

    def _changed_verdict(self, state: WatchState, t: float, client_s: float) -> Iterator[VerdictRecord]:
        found = records.judged_of(state)
        told = () if found is None else (found.rank, found.pid, found.cause)
        if (state.verdict, *told) != self._verdict:
            self._verdict = (state.verdict, *told)
            part = records.judgement_part(state, t, state.source_now(client_s))
            if part is not None:
                yield records.verdict_record(part, t)


class Talker:
    """Says the same in lines for people, one a change."""

    def __init__(self, host: str = "") -> None:
        self._host = host
        self._choice = ""
        self._judged = False

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
            if isinstance(record, VerdictRecord) and not self._news(record):
                continue
            yield words(record, self._host)

    def _news(self, record: VerdictRecord) -> bool:
        """Say whether a verdict is worth a line: that it goes on is none before it did not."""
        self._judged |= record.verdict != "progressing" or record.rank is not None
        return self._judged


def words(record: AnyRecord, host: str = "") -> str:
    """Return a record in words, empty for one that is said by another.

    ``host`` is where a next step is to be taken, "" where there is one host alone.
    """
    match record:
        case PlaceRecord() | ProbeRecord():
            return ""
        case ReadinessRecord():
            name = "first token" if record.rung == "token" else record.rung
            return f"{name}: {record.answer or record.state}" if record.state != "unknown" else ""
        case PhaseRecord():
            return f"phase {Phase(record.phase).words}" if record.phase else ""
        case VerdictRecord():
            return verdict_words(record, record.t, host)
        case EndRecord():
            return end_words(record, host)


def verdict_words(part: JudgementPart, t: float, host: str = "") -> str:
    """Return a verdict in a line as of ``t``, on the clock of its times; ``host`` as for words."""
    begins = part.reason.startswith(part.verdict)
    said = [part.reason if begins else ": ".join(text for text in (part.verdict, part.reason) if text)]
    if part.until is not None:
        said.append(f"counts as {part.then} in {clock_text(round(part.until - t))}")
    if part.verdict in ("progressing", "quiet", "ready", "dead"):
        return "; ".join(said)
    if part.cause:
        said.append(f"{part.cause} ({CONFIDENCE_WORDS[part.confidence or 'guess']})")
    said += [_next(part.next_step, host), part.not_to_do]
    return "; ".join(text for text in said if text)


def _next(step: str, host: str) -> str:
    """Return what to do next: what is copied into a shell says of which host it is meant."""
    where = f"on {host}: " if host else ""
    return f"next: {where}{step}" if step else ""


def end_words(end: EndRecord, host: str = "") -> str:
    """Return the last line for people; ``host`` as for words."""
    head = {"ready": "READY", "failed": "FAILED", "timeout": "TIME-OUT", "lost": "LOST"}[end.outcome]
    model = f" {end.model}" if end.model and end.outcome == "ready" else ""
    tail = f": {end.reason}" if end.reason else ""
    asked = "1 request" if end.attempts == 1 else f"{end.attempts} requests"
    return f"{head}{model} after {end.elapsed_s:.1f} s, {asked} sent{tail}{_advice(end, host)}"


def _advice(end: EndRecord, host: str) -> str:
    if end.cause is not None:
        return f" ({end.cause.cause} {end.cause.next_step})"
    part = end.judgement
    return f" ({_next(part.next_step, host)})" if part is not None and part.next_step else ""


def timed(t: float, text: str) -> str:
    """Return a line with its time in front."""
    return f"{t:7.1f} s  {text}"
