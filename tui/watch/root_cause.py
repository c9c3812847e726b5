"""Which line of a failed load's log tells the true cause."""

import re
from dataclasses import dataclass, replace

from tui.engines.marks import NOBODY, FaultKind, FaultMark, Mark, Speaker, Weight
from tui.engines.phase import Phase
from tui.watch.words import shortened

QUOTE_LENGTH = 300
# A process that ended by signal 9 could not say why: the OOM killer, as a rule.
_KILLED = re.compile(r"(?:code[:= ]{1,3}(?:-9|137)|[Ss]ignal:? 9|: -9)(?!\d)")
_KILLED_CAUSE = (
    "A process was killed from outside (signal 9), most often by the kernel for lack of host memory."
)
# A launcher that names the one of its processes that died: SGLang counts its schedulers from 0.
_ACCUSED = re.compile(
    r"\bRank (?P<number>\d{1,4}) scheduler (?:died|is dead)|\bSubprocess \S+ \(pid=(?P<pid>\d{1,9})\) crashed"
    r"|\bScheduler or DataParallelController (?P<other>\d{1,9}) terminated with"
)
_KILLED_STEP = "See `dmesg` for the OOM killer; give the container more memory, or load with fewer processes."


@dataclass(frozen=True, slots=True)
class Quote:
    """A line of the log that supports a statement; ``source`` counts the files of a load from 0."""

    number: int
    text: str
    source: int = 0


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a load failed: kind, the line that tells it and its speaker, a sentence of cause, one next step.

    ``speaker`` may be nobody: not every line says who wrote it. ``accused`` is who died by what the line
    says, nobody where it does not say.
    """

    kind: FaultKind
    quote: Quote
    cause: str
    next_step: str
    weight: Weight
    speaker: Speaker = NOBODY
    accused: Speaker = NOBODY

    @property
    def blamed(self) -> Speaker:
        """Who failed first: who died by what the line says, else who wrote it."""
        return self.speaker if self.accused is NOBODY else self.accused


_ORDER = {weight: place for place, weight in enumerate(Weight)}
_OUTLIVED = len(_ORDER)
_OUTLIVED_CAUSE = _ORDER[Weight.CAUSE] + 0.5
_FORGIVEN = _OUTLIVED + 1


@dataclass(slots=True)
class _Suspect:
    cause: Cause
    rank: tuple[float, bool, int]
    speaker: Speaker
    terminal: bool


class Suspects:
    """The best explanation among the fault lines so far.

    A named cause beats an unknown exception, which beats consequences, reports and echoes. Among equals a
    process killed from outside counts first, then the lower process (a worker before the engine core before
    the API server), then the earlier line. What a process went on after explains its failure last.
    """

    def __init__(self) -> None:
        self._first: _Suspect | None = None
        self._place = -1

    @property
    def best(self) -> Cause | None:
        """The best explanation, None as long as no line told of trouble."""
        return None if self._first is None else self._first.cause

    def take(
        self, mark: Mark, line: str, number: int, phase: Phase | None, source: int = 0, place: int = -1
    ) -> None:
        """Weigh a fault line; ``phase`` is where the load stood, ``place`` that phase's place in loads."""
        fault = mark.fault
        if fault is None:
            return
        killed = fault.kind in (FaultKind.RANK_DIED, FaultKind.OOM_HOST) and _KILLED.search(line) is not None
        weight = Weight.CONSEQUENCE if killed and fault.weight is Weight.REPORT else fault.weight
        depth = mark.speaker.depth
        rank = (float(_ORDER[weight]), not killed, -(1 if depth is None else depth))
        if self._first is not None and rank >= self._first.rank:
            return
        quote = Quote(number, shortened(line.strip(), QUOTE_LENGTH), source)
        cause = _cause(fault, weight, quote, phase, killed=killed)
        cause = replace(cause, speaker=mark.speaker, accused=_accused(line))
        self._first = _Suspect(cause, rank, mark.speaker, fault.terminal)
        self._place = place

    def outlived(self, speaker: Speaker, place: int) -> None:
        """Note that ``speaker`` went on to ``place``: trouble that it had before explains less now."""
        first = self._first
        if first is None or first.terminal or place <= self._place:
            return
        if not _speaks_for(speaker, first.speaker):
            return
        order = _OUTLIVED_CAUSE if first.cause.weight is Weight.CAUSE else _OUTLIVED
        first.rank = (max(order, first.rank[0]), *first.rank[1:])

    def forgive(self) -> None:
        """Note that the server did its work after all trouble so far: any new line explains more."""
        if self._first is not None:
            self._first.rank = (_FORGIVEN, *self._first.rank[1:])


def _accused(line: str) -> Speaker:
    """Return of whose death a line tells, nobody where it does not say."""
    found = _ACCUSED.search(line)
    if found is None:
        return NOBODY
    pid = found["pid"] or found["other"]
    if pid is not None:
        return Speaker(pid=int(pid))
    return Speaker(rank=f"TP{int(found['number'])}")


def _speaks_for(speaker: Speaker, other: Speaker) -> bool:
    if speaker == other or other == NOBODY:
        return True
    return speaker.depth is not None and other.depth is not None and speaker.depth < other.depth


def _cause(fault: FaultMark, weight: Weight, quote: Quote, phase: Phase | None, *, killed: bool) -> Cause:
    if killed and fault.kind is FaultKind.RANK_DIED:
        return Cause(FaultKind.OOM_HOST, quote, _KILLED_CAUSE, _KILLED_STEP, weight)
    if fault.kind is not None:
        return Cause(fault.kind, quote, fault.cause, fault.next_step, weight)
    cause = (
        f"While it served, {fault.cause[0].lower()}{fault.cause[1:]}" if phase is Phase.READY else fault.cause
    )
    return Cause(_memory_kind(phase), quote, cause, fault.next_step, weight)


def _memory_kind(phase: Phase | None) -> FaultKind:
    """Which kind of memory ran out: that for the weights, for the KV cache, or what comes after it."""
    if phase in (None, Phase.LAUNCH, Phase.DISTRIBUTED, Phase.WEIGHTS):
        return FaultKind.OOM_WEIGHTS
    return FaultKind.OOM_KV if phase in (Phase.KV_CACHE, Phase.COMPILE) else FaultKind.OOM_CAPTURE
