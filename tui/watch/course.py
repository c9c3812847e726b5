"""The course of one load from its start: its phases, the verdicts that stood, how it came out."""

from dataclasses import dataclass, field, replace
from typing import Literal

from tui.watch.load import Load
from tui.watch.target import Server
from tui.watch.timeline import PhaseSpan
from tui.watch.verdict.verdict import Verdict, Word

Outcome = Literal["ready", "failed", "stopped", "gone", "left"]

SPANS = 200
"""So many verdicts are kept of a load: those behind the first go where it goes to and fro."""


@dataclass(frozen=True, slots=True)
class VerdictSpan:
    """A verdict that stood, from when to when on the host's monotonic clock; the last of its sentences."""

    word: Word
    sentence: str
    began_s: float
    ended_s: float


@dataclass(slots=True)
class VerdictTimes:
    """The verdicts of a load while it loads, in order."""

    spans: list[VerdictSpan] = field(default_factory=list[VerdictSpan])
    _stands: bool = False

    def take(self, verdict: Verdict | None, at_s: float) -> None:
        """Note what was judged at a time; the verdict before stood until then. None: nothing could tell."""
        stood = self._stands
        self.close(at_s)
        self._stands = verdict is not None
        if verdict is None:
            return
        if stood and self.spans[-1].word == verdict.word:
            self.spans[-1] = replace(self.spans[-1], sentence=verdict.sentence)
            return
        if len(self.spans) >= SPANS:
            del self.spans[1]
        self.spans.append(VerdictSpan(verdict.word, verdict.sentence, at_s, at_s))

    def close(self, at_s: float) -> None:
        """Let the verdict that stands have stood until a time, and no longer."""
        if self._stands:
            self.spans[-1] = replace(self.spans[-1], ended_s=max(at_s, self.spans[-1].ended_s))
        self._stands = False


@dataclass(frozen=True, slots=True)
class Course:
    """One load of a server. Times are on the host's monotonic clock; ``until_s`` is as far as it was seen.

    ``ready_s`` is None where it never was ready, or the link was lost when it became so. ``sentence`` says
    why it is not ready, "" where it is.
    """

    server: Server
    outcome: Outcome
    until_s: float
    ready_s: float | None
    spans: tuple[PhaseSpan, ...]
    verdicts: tuple[VerdictSpan, ...]
    sentence: str


def course_of(load: Load | None, verdicts: VerdictTimes, now_s: float) -> Course | None:
    """Return a load's course until now, None where no process of a server is known or it was ready before."""
    if load is None or load.server is None or (load.ready and not load.ready_seen):
        return None
    ends = (load.ready_s, load.ended_s)
    return Course(
        server=load.server,
        outcome=_outcome(load),
        until_s=next((each for each in ends if each is not None), now_s),
        ready_s=load.ready_s if load.ready_known else None,
        spans=tuple(load.timeline.spans),
        verdicts=tuple(verdicts.spans),
        sentence=_sentence(load),
    )


def _outcome(load: Load) -> Outcome:
    end = load.end
    if load.ready:
        return "ready"
    if end is None:
        return "left" if load.log_failure is None else "failed"
    if end.fault == "shut_down":
        return "stopped"
    # Neither an exit was told nor does the log say why: it was there, and then it was not.
    unseen = load.exit is None and end.cause is None and end.quote is None
    return "gone" if unseen else "failed"


def _sentence(load: Load) -> str:
    if load.ready:
        return ""
    if load.end is not None:
        return load.end.reason
    return load.missing if load.log_failure is None else load.log_failure.quote.text
