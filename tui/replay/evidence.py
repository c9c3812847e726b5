"""What a recording tells of a load, gathered in one pass for a bug report. Pure: no I/O of its own."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from tui.events import AnyEvent, Gpus, Log, Processes
from tui.journal.header import Header
from tui.replay.evidence_gpus import GpuChart, GpuSeries
from tui.replay.evidence_log import LeftOut, LogDigest
from tui.replay.evidence_processes import ProcessBook, ProcessList
from tui.replay.headless import Run, Step
from tui.replay.tape import Tape
from tui.watch.log_buffer import BufferedLine
from tui.watch.root_cause import Cause
from tui.watch.state import WatchState
from tui.watch.transitions import Transition
from tui.watch.verdict.verdict import Verdict, Word

STUCK: tuple[Word, ...] = ("stalled", "hung", "suspended")
PRINTED = 30
PRINTED_WITHIN = 2000
"""Versions are looked for in so many lines of each start."""
_NAMED = r"torch|transformers|triton|nccl|cuda|cudnn|flashinfer|vllm|sglang|llama\.cpp|driver|python"
_VERSION = re.compile(
    rf"\b(?:(?:{_NAMED})(?:[-_ ](?:runtime|driver))?(?:[-_ ]version)?|version)[\"']?"
    r"(?:\s?[=:(]{1,2}\s?|\s)[\"']?v?\d+\.\d+|\bbuild:? \d+ \(",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """One load (the last of a recording) and what was seen of it.

    ``t`` counts in seconds as the tape does; ``now_s`` is the host's monotonic clock at its end, None where
    nothing was heard of the host. ``processes`` are those of the servers that were followed. ``stuck`` is the
    newest verdict by which it was stalled, hung or suspended, None where it never was.
    """

    name: str
    header: Header
    state: WatchState
    length_s: float
    now_s: float | None
    transitions: tuple[Transition, ...]
    log: tuple[BufferedLine | LeftOut, ...]
    gpus: tuple[GpuSeries, ...]
    processes: ProcessList
    printed: tuple[BufferedLine, ...]
    stuck: Verdict | None = None

    @property
    def cause(self) -> Cause | None:
        """Why it failed by its log, None where it did not or the log does not say."""
        return cause_of(self.state)

    def t_of(self, mono_s: float | None) -> float | None:
        """Return a time of the host's clock as seconds of the tape."""
        if mono_s is None or self.now_s is None:
            return None
        return self.length_s + mono_s - self.now_s


@dataclass(frozen=True, slots=True)
class Ended:
    """How it came out, as ``replay`` and ``wait`` say it."""

    outcome: str
    fault: str | None
    reason: str


def cause_of(state: WatchState) -> Cause | None:
    """Return the root cause of a failure, whether its process has ended or lives on."""
    if state.log_failure is not None:
        return state.log_failure
    end = state.last_end if state.outcome == "failed" else None
    return None if end is None else end.cause


def gather(tape: Tape, header: Header, keep: Callable[[AnyEvent], None]) -> Evidence:
    """Run a tape through; ``keep`` gets every event on the way. Raises what the tape raises."""
    gathering = _Gathering(Run(tape))
    for step in gathering.run.steps():
        keep(step.event)
        gathering.take(step)
    return gathering.evidence(tape, header)


class _Gathering:
    def __init__(self, run: Run) -> None:
        self.run = run
        self._log = LogDigest()
        self._chart = GpuChart()
        self._changes: list[Transition] = []
        self._processes = ProcessBook()
        self._printed: dict[str, BufferedLine] = {}
        self._stuck: Verdict | None = None
        self._loads = 0
        self._begun = 0

    def take(self, step: Step) -> None:
        self._changes += step.changes
        match step.event:
            case Gpus():
                self._chart.take(step.event, step.t)
            case Processes():
                self._take_processes(step.event)
            case _:
                pass
        if self.run.state.loads != self._loads:
            self._loads = self.run.state.loads
            self._log.begin()
            self._begun = self._log.total
            self._stuck = None
        judged = self.run.state.judged
        if judged is not None and judged.word in STUCK:
            self._stuck = judged
        self._take_log()
        if isinstance(step.event, Log) or step.changes:
            self._take_cause()

    def _take_processes(self, event: Processes) -> None:
        state = self.run.state
        self._processes.take(event, next((each for each in state.servers if each.same_as(state.shown)), None))

    def _take_log(self) -> None:
        fresh = self.run.state.log.after(self._log.total)
        self._log.take(fresh)
        for line in fresh[: max(0, self._begun + PRINTED_WITHIN - self._log.total + len(fresh))]:
            if len(self._printed) < PRINTED and _VERSION.search(line.text):
                self._printed.setdefault(line.text.split("] ")[-1], line)

    def _take_cause(self) -> None:
        cause = cause_of(self.run.state)
        if cause is not None and cause.quote.number:
            self._log.cause(cause.quote.number, self.run.state.log.lines)

    def evidence(self, tape: Tape, header: Header) -> Evidence:
        self.run.state.log.settle()
        self._take_log()
        self._take_cause()
        return Evidence(
            name=tape.name,
            header=header,
            state=self.run.state,
            length_s=self.run.t,
            now_s=self.run.now_s,
            transitions=tuple(self._changes),
            log=tuple(self._log.lines()),
            gpus=self._chart.series(),
            processes=self._processes.list(),
            printed=tuple(self._printed.values()),
            stuck=self._stuck,
        )
