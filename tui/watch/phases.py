"""What an engine's log says of the load, line by line: phases, ranks, figures, outcome and root cause."""

from typing import Literal

from tui.engines.base import Engine
from tui.engines.marks import FaultKind, Figure, Mark, MarkKind, Progress, Steady, together
from tui.engines.phase import Phase
from tui.engines.reader import SILENCE, Heard, LineReader
from tui.watch.lanes import Lanes
from tui.watch.root_cause import QUOTE_LENGTH, Cause, Quote, Suspects

Outcome = Literal["unfinished", "ready", "failed", "stopped"]
_BACK_UNTIL = Phase.CAPTURE
_WORDLESS = (Phase.COMPILE, Phase.CAPTURE)


class LogPhases:
    """One start of a server, as its log tells it. ``outcome`` never goes back to unfinished.

    ``phase`` is where the load stands (stood, when it failed or stopped): where its slowest rank does. READY
    here is the log's word, not a generated token. A failure is believed once told, whatever follows (SGLang
    prints its ready line for another server that holds the port); so is a stop that was asked for.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.reader = LineReader(engine)
        self.outcome: Outcome = "unfinished"
        self.front: Phase | None = None
        self.lanes = Lanes(engine)
        self.progress: Progress | None = None
        self.steady: Steady | None = None
        self.figures: dict[str, Figure] = {}
        self.version: str | None = None
        self.arguments: str | None = None
        self.shutdown: Quote | None = None
        self._suspects = Suspects()
        self._traced: Phase | None = None

    @property
    def phase(self) -> Phase | None:
        """Where the load stands, None before its first mark."""
        slowest = self.lanes.slowest
        if slowest is None or slowest.phase is None or self.front is Phase.READY:
            return self.front
        return slowest.phase

    @property
    def cause(self) -> Cause | None:
        """Why it failed, None as long as it has not."""
        return self._suspects.best if self.outcome == "failed" else None

    @property
    def suspect(self) -> Cause | None:
        """What would explain a failure, told or not."""
        return self._suspects.best

    def read(self, line: str, number: int = 0, at_s: float | None = None, source: int = 0) -> Heard:
        """Take one cleaned line in and return what it says. ``at_s`` is its time, on any one clock."""
        heard = self.reader.read(line)
        if heard is not SILENCE:
            self.take(heard, line, number, at_s, source)
        return heard

    def peek(self, line: str, at_s: float | None = None) -> None:
        """Take an unfinished line in: it may begin a phase or tell progress, but it ends nothing."""
        for mark in self.reader.read(line).marks if self.outcome == "unfinished" else ():
            if mark.kind in (MarkKind.PROGRESS, MarkKind.BEGINS, MarkKind.WITHIN):
                self._take_mark(mark, line, 0, at_s, 0)

    def take(self, heard: Heard, line: str, number: int, at_s: float | None, source: int = 0) -> None:
        """Take in what a line says; a START does nothing here (who reads on begins a new LogPhases)."""
        for mark in heard.marks:
            self._take_mark(mark, line, number, at_s, source)

    def _take_mark(self, mark: Mark, line: str, number: int, at_s: float | None, source: int) -> None:
        match mark.kind:
            case MarkKind.FAULT:
                self._take_fault(mark, line, number, source)
            case MarkKind.SHUTDOWN:
                if self.outcome in ("unfinished", "ready"):
                    self.outcome = "stopped"
                    self.shutdown = Quote(number, line.strip()[:QUOTE_LENGTH], source)
            case MarkKind.FRAME:
                self._traced = mark.phase
            case MarkKind.ACCESS | MarkKind.HEARTBEAT:
                pass
            case _:
                self._take_phase(mark, at_s, source)

    def _take_fault(self, mark: Mark, line: str, number: int, source: int) -> None:
        if mark.fault is None or self.outcome == "stopped":
            return
        if mark.fault.phase is not None:
            self._traced = mark.fault.phase
        self._suspects.take(mark, line, number, self._failed_in(), source)
        if mark.fault.terminal and self.outcome != "failed":
            self.outcome = "failed"
            self.front = self._failed_in()

    def _failed_in(self) -> Phase | None:
        """The phase of a failure: a traceback may name one that no line before it did (an excerpt)."""
        now = self.phase
        if self._traced is None or now is Phase.READY:
            return now
        return self._traced if now is None or self._place(self._traced) > self._place(now) else now

    def _take_phase(self, mark: Mark, at_s: float | None, source: int) -> None:
        self.version = mark.version or self.version
        self.arguments = mark.arguments or self.arguments
        if mark.steady is not None:
            self.steady = together(self.steady, mark.steady)
        for figure in mark.figures:
            self.figures[figure.name] = figure
        if self.outcome in ("failed", "stopped"):
            return
        self.lanes.take(mark, at_s, source)
        if mark.phase is not None:
            self._move(mark)
        if mark.progress is not None and (mark.phase is self.front or self._wordless_counts(mark)):
            self.progress = mark.progress
        if mark.kind in (MarkKind.READY, MarkKind.STEADY):
            self.outcome = "ready"
            self.front = Phase.READY

    def _wordless_counts(self, mark: Mark) -> bool:
        """Whether a bar without a word is that of the phase under way: not once one of its own has words."""
        return (
            mark.phase is None
            and self.front in _WORDLESS
            and (self.progress is None or not self.progress.text)
        )

    def _move(self, mark: Mark) -> None:
        phase = mark.phase
        if phase is None or phase is self.front or phase is Phase.READY:
            return
        now = -1 if self.front is None else self._place(self.front)
        back = (
            mark.kind is MarkKind.BEGINS
            and now <= self._place(_BACK_UNTIL)
            and self.front is not Phase.LAUNCH
        )
        if back or self._place(phase) > now:
            self.front = phase
            self.progress = None

    def _place(self, phase: Phase) -> int:
        return self.engine.place(phase)


__all__ = ["Cause", "FaultKind", "LogPhases", "Outcome", "Quote"]
