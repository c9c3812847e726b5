"""Which line of a failed load's log tells the true cause."""

from dataclasses import dataclass

from tui.engines.marks import FaultKind, Mark, Weight
from tui.engines.phase import Phase

QUOTE_LENGTH = 300
_HOST_KILL = ("code: -9", "exit code -9", "signal 9", "code 137", "code: 137")


@dataclass(frozen=True, slots=True)
class Quote:
    """A line of the log that supports a statement; ``source`` counts the files of a load from 0."""

    number: int
    text: str
    source: int = 0


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a load failed: the kind, the line that tells it, one sentence of cause, one next step."""

    kind: FaultKind
    quote: Quote
    cause: str
    next_step: str
    weight: Weight


_ORDER = {weight: place for place, weight in enumerate(Weight)}


class Suspects:
    """The best explanation among the fault lines so far.

    A named cause beats an unknown exception, which beats consequences, reports and echoes. Among equals the
    lower process counts (a worker before the engine core before the API server), then the earlier line.
    """

    def __init__(self) -> None:
        self.best: Cause | None = None
        self._rank: tuple[int, int] | None = None

    def take(self, mark: Mark, line: str, number: int, phase: Phase | None, source: int = 0) -> None:
        """Weigh a fault line; ``phase`` is where the load stood."""
        fault = mark.fault
        if fault is None:
            return
        depth = mark.speaker.depth
        rank = (_ORDER[fault.weight], -(1 if depth is None else depth))
        if self._rank is not None and rank >= self._rank:
            return
        self._rank = rank
        kind = _memory_kind(phase) if fault.kind is None else fault.kind
        if kind is FaultKind.RANK_DIED and any(text in line for text in _HOST_KILL):
            kind = FaultKind.OOM_HOST
        quote = Quote(number, line.strip()[:QUOTE_LENGTH], source)
        self.best = Cause(kind, quote, fault.cause, fault.next_step, fault.weight)


def _memory_kind(phase: Phase | None) -> FaultKind:
    """Which kind of memory ran out: that for the weights, for the KV cache, or what comes after it."""
    if phase in (None, Phase.LAUNCH, Phase.DISTRIBUTED, Phase.WEIGHTS):
        return FaultKind.OOM_WEIGHTS
    return FaultKind.OOM_KV if phase in (Phase.KV_CACHE, Phase.COMPILE) else FaultKind.OOM_CAPTURE
