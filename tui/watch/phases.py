"""What an engine's log says of the load, line by line: phases, ranks, figures, outcome and root cause."""

import re
from typing import Literal

import msgspec

from tui.engines.base import Engine
from tui.engines.marks import FaultKind, Figure, Mark, MarkKind, Progress, Speaker, Steady, together
from tui.engines.phase import Phase
from tui.engines.reader import SILENCE, Heard, LineReader
from tui.watch.lanes import Lanes
from tui.watch.root_cause import QUOTE_LENGTH, Cause, Quote, Suspects

Outcome = Literal["unfinished", "ready", "failed", "stopped"]
# A draft model's comes after that of the model proper.
_FIRST_COUNTS = frozenset(("checkpoint_gib",))
_OVER = ("failed", "stopped")
_BACK_UNTIL = Phase.CAPTURE
_WORDLESS = (Phase.COMPILE, Phase.CAPTURE)
# A program that only warns goes on: "WARNING 11-29", "[W1129 10:00:00", llama.cpp's "0.00.037.775 W ".
_WARNS = re.compile(r"(?:^|[\s\[|])WARN(?:ING)?\b|(?:^|\[)W\d{3,4} \d\d:\d\d|\d W [a-z]")
_HEAD = 160
_PEEKED = (MarkKind.PROGRESS, MarkKind.BEGINS, MarkKind.WITHIN)


class LogPhases:
    """One start of a server, as its log tells it. ``outcome`` never goes back to unfinished.

    ``phase`` is where the load stands (stood, when it failed or stopped): where its slowest rank does. READY
    here is the log's word, not a generated token. A failure is believed once told, whatever follows (SGLang
    prints its ready line for another server that holds the port); so is a stop that was asked for. Lines
    after the failure may still tell where it was: the frames of its traceback, or any where none before did.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.reader = LineReader(engine)
        self.outcome: Outcome = "unfinished"
        self.front: Phase | None = None
        self.lanes = Lanes(engine)
        self.steady: Steady | None = None
        self.figures: dict[str, Figure] = {}
        self.version: str | None = None
        self.arguments: str | None = None
        self.shutdown: Quote | None = None
        self._progress: Progress | None = None
        self._progress_of: Phase | None = None
        self._suspects = Suspects()
        self._traced: Phase | None = None
        self._peeker: LineReader | None = None

    @property
    def phase(self) -> Phase | None:
        """Where the load stands, None before its first mark."""
        if self.outcome != "unfinished":
            return self.front
        slowest = self.lanes.slowest
        return self.front if slowest is None or slowest.phase is None else slowest.phase

    @property
    def progress(self) -> Progress | None:
        """How much of that phase is done, None where nothing tells."""
        return self._progress if self.phase is self._progress_of else None

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
        """Take an unfinished line in: it may begin a phase or tell progress, and ends or counts nothing."""
        if self.outcome != "unfinished":
            return
        if self._peeker is None:
            # A reader of its own: the line comes again, and a traceback must not hear it twice.
            self._peeker = LineReader(self.engine)
        for mark in self._peeker.read(line).marks:
            if mark.kind in _PEEKED:
                self._go(mark, 0)

    def take(self, heard: Heard, line: str, number: int, at_s: float | None, source: int = 0) -> None:
        """Take in what a line says; a START does nothing here (who reads on begins a new LogPhases)."""
        for mark in heard.marks:
            self._take_mark(mark, line, number, at_s, source)

    def _take_mark(self, mark: Mark, line: str, number: int, at_s: float | None, source: int) -> None:
        match mark.kind:
            case MarkKind.FAULT:
                self._take_fault(mark, line, number, source)
            case MarkKind.SHUTDOWN:
                # A row with a phase counts only once the server is ready.
                if self.outcome == "ready" or (mark.phase is None and self.outcome not in _OVER):
                    self.front = self.phase
                    self.outcome = "stopped"
                    self.shutdown = Quote(number, line.strip()[:QUOTE_LENGTH], source)
            case MarkKind.FRAME:
                self._trace(mark.phase)
            case MarkKind.ACCESS | MarkKind.HEARTBEAT:
                pass
            case _:
                self._take_phase(mark, at_s, source)

    # Failures.

    def _take_fault(self, mark: Mark, line: str, number: int, source: int) -> None:
        fault = mark.fault
        if fault is None or self.outcome == "stopped":
            return
        if fault.terminal and _WARNS.search(line, 0, _HEAD):
            fault = msgspec.structs.replace(fault, terminal=False)
            mark = msgspec.structs.replace(mark, fault=fault)
        self._trace(fault.phase)
        stood = self._stood(mark.speaker, source)
        self._suspects.take(mark, line, number, stood, source, self._place(stood))
        served = fault.while_loading and self.outcome == "ready"
        if fault.terminal and self.outcome != "failed" and not served:
            self.outcome = "failed"
            self.front = stood

    def _trace(self, phase: Phase | None) -> None:
        """Note a phase that a traceback went through or a fault belongs to: it counts if that is the end."""
        self._traced = self._later(self._traced, phase)
        if self.outcome == "failed" and self.front is not Phase.READY:
            self.front = self._later(self.front, phase)

    def _stood(self, speaker: Speaker, source: int) -> Phase | None:
        """Where it failed: where the rank that failed was, or where a traceback says."""
        now = self.phase
        if now is Phase.READY:
            return now
        lane = self.lanes.of(speaker, source)
        return self._later(self._later(now, None if lane is None else lane.phase), self._traced)

    def _later(self, one: Phase | None, other: Phase | None) -> Phase | None:
        return other if self._place(other) > self._place(one) else one

    # Phases.

    def _take_phase(self, mark: Mark, at_s: float | None, source: int) -> None:
        self.version = mark.version or self.version
        self.arguments = mark.arguments or self.arguments
        if mark.steady is not None:
            self.steady = together(self.steady, mark.steady)
        for figure in mark.figures:
            if figure.name not in _FIRST_COUNTS or figure.name not in self.figures:
                self.figures[figure.name] = figure
        if self.outcome in _OVER:
            if self.front is None and mark.phase is not Phase.READY:
                self.front = mark.phase
            return
        self._go(mark, source)
        self.lanes.take(mark, at_s, source)
        if mark.phase is not None:
            self._suspects.outlived(mark.speaker, self._place(mark.phase))
        if mark.kind in (MarkKind.READY, MarkKind.STEADY):
            self.outcome = "ready"
            self.front = Phase.READY

    def _go(self, mark: Mark, source: int) -> None:
        """Let a mark move the load, and tell how much of its phase is done."""
        if mark.phase is not None:
            self._move(mark, source)
        if mark.progress is None:
            return
        # Others may be further than the rank that holds the load back: its bar counts as well.
        if mark.phase is self.front or self._wordless_counts(mark) or mark.phase is self.phase:
            self._progress, self._progress_of = mark.progress, mark.phase or self.front

    def _wordless_counts(self, mark: Mark) -> bool:
        """Whether a bar without a word is that of the phase under way: not once one of its own has words."""
        return (
            mark.phase is None
            and self.front in _WORDLESS
            and (self._progress is None or self._progress_of is not self.front or not self._progress.text)
        )

    def _move(self, mark: Mark, source: int) -> None:
        phase = mark.phase
        if phase is None or phase is self.front or phase is Phase.READY:
            return
        now = self._place(self.front)
        back = mark.kind is MarkKind.BEGINS and now <= self._place(_BACK_UNTIL)
        if self._place(phase) > now:
            self._traced = None
        elif not back or not self.lanes.again(mark, source):
            return
        self.front = phase
        if self._progress_of is phase:
            self._progress = None

    def _place(self, phase: Phase | None) -> int:
        return -1 if phase is None else self.engine.place(phase)


__all__ = ["Cause", "FaultKind", "LogPhases", "Outcome", "Quote"]
