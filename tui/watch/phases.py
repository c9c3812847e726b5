"""What an engine's log says of the load, line by line: phases, ranks, figures, outcome and root cause."""

import re
from typing import Literal

import msgspec

from tui.engines.base import Engine
from tui.engines.marks import (
    NOBODY,
    FaultKind,
    FaultMark,
    Figure,
    Mark,
    MarkKind,
    Progress,
    Speaker,
    Steady,
    together,
)
from tui.engines.phase import Phase
from tui.engines.reader import SILENCE, Heard, LineReader
from tui.watch.lanes import Lanes
from tui.watch.root_cause import QUOTE_LENGTH, Cause, Quote, Suspects
from tui.watch.words import shortened

Outcome = Literal["unfinished", "ready", "failed", "stopped"]
# A draft model's comes after that of the model proper.
_FIRST_COUNTS = frozenset(("checkpoint_gib",))
_OVER = ("failed", "stopped")
_BACK_UNTIL = Phase.CAPTURE
_WORDLESS = (Phase.COMPILE, Phase.CAPTURE)
# A program that only warns goes on: "WARNING 11-29", "[W1129 10:00:00", llama.cpp's "0.00.037.775 W ",
# TensorRT-LLM's "[W]".
_WARNS = re.compile(r"(?:^|[\s\[|])WARN(?:ING)?\b|(?:^|\[)W\d{3,4} \d\d:\d\d|\d W [a-z]|\[W\] |\bWarning: ")
_HEAD = 160
# So does one that says how.
_GOES_ON = re.compile(
    r"\b(?:retry(?:ing)?|skip(?:ping|ped)|fall(?:ing|s)? ?back|ignor(?:ed|ing)|disabl(?:e|ed|ing)"
    r"|failed to import|trying (?:another|the next|\d+))\b",
    re.IGNORECASE,
)
_SAID_WITHIN = 600
# SGLang prints its ready line also when another server answers at its port.
_NOT_BY_READY = (FaultKind.PORT_IN_USE, FaultKind.WARMUP_FAILED)
_GENERATING = 2
_FIGURES = 3
_OF_NO_PHASE = (MarkKind.ACCESS, MarkKind.HEARTBEAT)
_OF_AN_END = (MarkKind.FAULT, MarkKind.SHUTDOWN, MarkKind.FRAME)
_PEEKED = (MarkKind.PROGRESS, MarkKind.BEGINS, MarkKind.WITHIN)


class _ProofOfLife:
    """What a server did since its last trouble; ``needed``: its own ready line alone proves nothing."""

    def __init__(self) -> None:
        self.needed = False
        self._generated = 0
        self._printed = 0

    @property
    def generating(self) -> bool:
        """Whether it has generated since."""
        return self._generated >= _GENERATING

    @property
    def enough(self) -> bool:
        """Whether it lives; what a dead engine's front end prints is a row or two, or rows of zeros."""
        return self.generating or self._printed >= _FIGURES

    def begin_again(self) -> None:
        """Note trouble: what was done before proves nothing now."""
        self._generated = self._printed = 0

    def take(self, steady: Steady) -> None:
        """Count a row of figures."""
        output, prompt = steady.output_tokens_per_s, steady.prompt_tokens_per_s
        self._generated += bool(output)
        self._printed += output != 0 or bool(prompt)


class LogPhases:
    """One start of a server, as its log tells it. ``outcome`` never goes back to unfinished.

    ``phase`` is where the load stands (stood, when it failed or stopped): where its slowest rank does. READY
    here is the log's word, not a generated token. A stop that was asked for is final. A failure that the
    server outlived was none: it is ready again with its own ready line (where it failed while loading; not
    where its port was taken, since SGLang prints that line for another server too) or once it generates.
    Lines after the failure may still tell where it was: the frames of its traceback, or any where none did.
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
        # Of the process whose word it was that the server is ready.
        self._prefixed = False
        self._proof = _ProofOfLife()

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
            if mark.kind in _OF_AN_END:
                self._take_end(mark, line, number, source)
            elif mark.kind not in _OF_NO_PHASE:
                self._take_phase(mark, at_s, source)

    def _take_end(self, mark: Mark, line: str, number: int, source: int) -> None:
        if mark.kind is MarkKind.FAULT:
            self._take_fault(mark, line, number, source)
        elif mark.kind is MarkKind.FRAME:
            self._trace(mark.phase)
        # A shutdown's row with a phase counts only once the server is ready.
        elif self.outcome == "ready" or (mark.phase is None and self.outcome not in _OVER):
            self.front = self.phase
            self.outcome = "stopped"
            self.shutdown = Quote(number, shortened(line.strip(), QUOTE_LENGTH), source)

    # Failures.

    def _take_fault(self, mark: Mark, line: str, number: int, source: int) -> None:
        fault = mark.fault
        if fault is None or self.outcome == "stopped":
            return
        if fault.terminal and not self._ends(fault, mark.speaker, line):
            fault = msgspec.structs.replace(fault, terminal=False)
            mark = msgspec.structs.replace(mark, fault=fault)
        self._proof.begin_again()
        self._trace(fault.phase)
        stood = self._stood(mark.speaker, source)
        self._suspects.take(mark, line, number, stood, source, self._place(stood))
        if not fault.terminal:
            return
        self._proof.needed |= fault.kind in _NOT_BY_READY
        if self.outcome != "failed":
            self.front = stood
            self.outcome = "failed"

    def _ends(self, fault: FaultMark, speaker: Speaker, line: str) -> bool:
        """Whether a terminal line is the end here, by who says it, how and when."""
        ready = self.outcome == "ready"
        if fault.uncaught:
            # All processes of such a server have a prefix: bare lines are another program's, or quoted.
            return not (ready and self._prefixed and speaker == NOBODY)
        if _WARNS.search(line, 0, _HEAD):
            return False
        return not fault.while_loading or not (ready or _GOES_ON.search(line, 0, _SAID_WITHIN))

    def _outlive(self, mark: Mark) -> None:
        """Take a failure back, or trouble while serving, after which the server still does its work."""
        ready = mark.kind is MarkKind.READY and self.front is not Phase.READY and not self._proof.needed
        if mark.steady is not None:
            self._proof.take(mark.steady)
        if not ready and not (self._proof.enough if self.outcome == "failed" else self._proof.generating):
            return
        self._suspects.forgive()
        self._proof = _ProofOfLife()
        if self.outcome == "failed":
            self._serve(mark)

    def _serve(self, mark: Mark) -> None:
        self.outcome = "ready"
        self.front = Phase.READY
        self._prefixed |= mark.kind is MarkKind.READY and mark.speaker.pid is not None

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
        if mark.phase is Phase.READY and self.outcome in ("ready", "failed"):
            self._outlive(mark)
        if self.outcome in _OVER:
            if self.front is None and mark.phase is not Phase.READY:
                self.front = mark.phase
            return
        self._go(mark, source)
        self.lanes.take(mark, at_s, source)
        if mark.phase is not None and self._suspects.best is not None:
            self._suspects.outlived(mark.speaker, self._place(mark.phase))
        if mark.kind in (MarkKind.READY, MarkKind.STEADY):
            self._serve(mark)

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
