"""The phase of a load: what its log says, and the time spent in each."""

import re
from dataclasses import dataclass, field, replace

from tui.engines.base import Engine, Phase
from tui.engines.lines import troubling

QUOTE_LENGTH = 300


@dataclass(frozen=True, slots=True)
class PhaseSpan:
    """A stay in a phase. ``began_s`` is None where that was not seen; ``ended_s`` None while it lasts."""

    phase: Phase
    began_s: float | None
    ended_s: float | None = None

    def seconds(self, now_s: float) -> float | None:
        """Return how long it lasted (until now while it lasts), None when its beginning was not seen."""
        if self.began_s is None:
            return None
        return max(0.0, (now_s if self.ended_s is None else self.ended_s) - self.began_s)


@dataclass(frozen=True, slots=True)
class Quote:
    """A line of the log that supports a statement; ``weight`` 0 names a cause, higher ones less so."""

    number: int
    text: str
    weight: int = 0


def _joined(engine: Engine, phase: Phase) -> re.Pattern[str] | None:
    patterns = [row.pattern.pattern for row in engine.phases if row.phase is phase]
    return re.compile("|".join(f"(?:{text})" for text in patterns)) if patterns else None


class LogPhases:
    """What an engine's log says of the load, line by line.

    ``phase`` only goes forward, but for rows with ``back`` while no later phase than CAPTURE is reached: a
    coarse view of a load whose ranks interleave. READY here is the log's word, not a generated token.
    """

    def __init__(self, engine: Engine | None) -> None:
        self.engine = engine
        self.phase: Phase | None = None
        self.fatal: Quote | None = None
        self.shutdown: Quote | None = None
        self._forward: list[tuple[Phase, re.Pattern[str]]] = []
        self._back: list[tuple[Phase, re.Pattern[str]]] = []
        if engine is not None:
            for phase in reversed(Phase):
                joined = _joined(engine, phase)
                if joined is not None:
                    self._forward.append((phase, joined))
            self._back = [(row.phase, row.pattern) for row in engine.phases if row.back]

    def read(self, line: str, number: int = 0, *, troubled: bool | None = None) -> Phase | None:
        """Take one line in; return the phase that it moved the load to, None when to none.

        ``troubled`` is what ``troubling`` says of the line, where it was asked already.
        """
        if troubling(line) if troubled is None else troubled:
            self._note_end(line, number)
        return self.peek(line)

    def peek(self, line: str) -> Phase | None:
        """Take an unfinished line in: it may begin a phase, but it ends nothing."""
        reached = self._reached(line)
        if reached is not None:
            self.phase = reached
        return reached

    def _reached(self, line: str) -> Phase | None:
        now = -1 if self.phase is None else self.phase.order
        for phase, pattern in self._forward:
            if phase.order <= now:
                break
            if phase is Phase.READY and self._cannot_be_ready:
                continue  # SGLang prints its ready line for another server that holds the port
            if pattern.search(line):
                return phase
        if self.phase is Phase.CAPTURE:
            for phase, pattern in self._back:
                if pattern.search(line):
                    return phase
        return None

    @property
    def _cannot_be_ready(self) -> bool:
        return self.fatal is not None and self.fatal.weight == 0

    def _note_end(self, line: str, number: int) -> None:
        if self.engine is None:
            return
        best = len(self.engine.fatal) if self.fatal is None else self.fatal.weight
        for weight, pattern in enumerate(self.engine.fatal[:best]):
            if pattern.search(line):
                self.fatal = Quote(number, line.strip()[:QUOTE_LENGTH], weight)
                return
        if self.shutdown is None and self.fatal is None and self.engine.shutdown.search(line):
            self.shutdown = Quote(number, line.strip()[:QUOTE_LENGTH])


@dataclass(slots=True)
class Timeline:
    """The phases of a load in order, with their times on the host's monotonic clock."""

    spans: list[PhaseSpan] = field(default_factory=list[PhaseSpan])

    @property
    def phase(self) -> Phase | None:
        """The phase where it stands, None before the first."""
        return self.spans[-1].phase if self.spans else None

    @property
    def since_s(self) -> float | None:
        """When that phase began, None when that was not seen."""
        return self.spans[-1].began_s if self.spans else None

    def move(self, phase: Phase, at_s: float | None) -> bool:
        """Go to a phase at a time (None: the moment was not seen). Return whether that was a move."""
        if phase is self.phase:
            return False
        self.close(at_s)
        self.spans.append(PhaseSpan(phase, at_s))
        return True

    def close(self, at_s: float | None) -> None:
        """End the last span. One whose end was not seen has no beginning either: no seconds are invented."""
        if self.spans and self.spans[-1].ended_s is None:
            began_s = self.spans[-1].began_s if at_s is not None else None
            self.spans[-1] = replace(self.spans[-1], began_s=began_s, ended_s=at_s)

    def reopen(self) -> None:
        """The last span goes on after all."""
        if self.spans:
            self.spans[-1] = replace(self.spans[-1], ended_s=None)
