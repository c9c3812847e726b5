"""The ranks of a load, each with its own place."""

from collections.abc import Iterator
from dataclasses import dataclass

from tui.engines.base import Engine
from tui.engines.marks import Mark, MarkKind, RankIdentity, Speaker
from tui.engines.phase import Phase

LANES = 512
"""More ranks than that are not kept: a log with ever new process ids must not grow memory."""

_MOVES = (MarkKind.BEGINS, MarkKind.WITHIN, MarkKind.ENDS, MarkKind.PROGRESS)
_RANK_DEPTH = 2
# The size of the KV cache is agreed on by all ranks of a model: where one begins it, none still loads.
_AGREED = Phase.KV_CACHE


@dataclass(slots=True)
class Lane:
    """One rank: its name as the engine writes it, where it stands, since which line's time.

    ``step`` counts the lines that every rank prints, on one scale for all: who stands at a lower one lags.
    None before the first. ``phase_ended``: its own last word was that the phase is over, at ``ended_s``.
    ``depth`` is 2 for ranks, 1 for engine cores of data parallelism, which are compared among themselves.
    """

    name: str
    role: str = ""
    pid: int | None = None
    depth: int = _RANK_DEPTH
    source: int = 0
    phase: Phase | None = None
    since_s: float | None = None
    step: int | None = None
    phase_ended: bool = False
    ended_s: float | None = None
    identity: RankIdentity | None = None


class Lanes:
    """The ranks that have spoken, in the order of their names.

    The load stands where its slowest rank stands. Only lines that every rank prints can show that one lags:
    most lines come from the first rank alone. A line of a process above the ranks (engine core, API server)
    comes after all ranks are through, so it brings them all along. A rank that is first heard late (a log
    whose top was cut off) is placed by what the others said in that place.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lanes: dict[object, Lane] = {}
        # Depth and line (by phase and whether it ends it): the step at which it was first said.
        self._said: dict[int, dict[tuple[int, bool], int]] = {}
        self._slowest: Lane | None = None
        self._stale = False

    def __iter__(self) -> Iterator[Lane]:
        return iter(self.all)

    @property
    def all(self) -> list[Lane]:
        """The ranks, by name."""
        return sorted(self._lanes.values(), key=lambda lane: (_natural(lane.name), lane.source))

    @property
    def slowest(self) -> Lane | None:
        """The rank that holds the load back, None when none is behind another."""
        if self._stale:
            behind = self._behind()
            self._slowest = min(behind, key=self._reached, default=None)
            self._stale = False
        return self._slowest

    @property
    def lagging(self) -> list[Lane]:
        """All ranks that are behind the first one: who stands where it stands is not, whatever it printed."""
        front = max(self._lanes.values(), key=lambda lane: lane.step or 0, default=None)
        if front is None:
            return []
        stands = (front.phase, front.phase_ended)
        behind = {id(lane) for lane in self._behind() if (lane.phase, lane.phase_ended) != stands}
        return [lane for lane in self.all if id(lane) in behind]

    def of(self, speaker: Speaker, source: int = 0) -> Lane | None:
        """Return the lane of who writes, None for one that has none (yet)."""
        return self._lanes.get(_key(speaker, None, source))

    def again(self, mark: Mark, source: int = 0) -> bool:
        """Whether a phase begins again for who says so: it had been there (a draft model is loaded)."""
        if mark.phase is None:
            return False
        if mark.speaker.rank is None and mark.speaker.depth != _RANK_DEPTH:
            return True
        lane = self.of(mark.speaker, source)
        if lane is None:
            return not self._lanes
        return self._place(lane.phase) >= self._place(mark.phase)

    def take(self, mark: Mark, at_s: float | None, source: int = 0) -> None:
        """Note what a mark says of the rank that wrote it."""
        speaker = mark.speaker
        if mark.kind is MarkKind.IDENTITY or speaker.rank is not None or speaker.depth == _RANK_DEPTH:
            lane = self._lane(mark, source)
            if lane is not None:
                self._note(lane, mark, at_s)
        elif mark.kind in (MarkKind.BEGINS, MarkKind.WITHIN, MarkKind.READY):
            self._from_above(mark, at_s, source)

    def _lane(self, mark: Mark, source: int) -> Lane | None:
        speaker = mark.speaker
        key = _key(speaker, mark.identity, source)
        if key is None:
            return None
        lane = self._lanes.get(key)
        if lane is None:
            if len(self._lanes) >= LANES:
                return None
            depth = _RANK_DEPTH if speaker.depth is None else speaker.depth
            lane = Lane(_name(speaker, mark.identity), speaker.role, speaker.pid, depth, source)
            self._lanes[key] = lane
        elif speaker.rank is not None or mark.identity is not None:
            # A process is known by its pid before its name says which rank it is.
            lane.name = speaker.rank or (lane.name if lane.identity else _name(speaker, mark.identity))
        return lane

    def _note(self, lane: Lane, mark: Mark, at_s: float | None) -> None:
        if mark.identity is not None:
            lane.identity = mark.identity
        if mark.phase is None or mark.kind not in _MOVES:
            return
        if mark.each:
            self._step(lane, mark)
        if mark.phase is _AGREED:
            self._agree(lane, at_s, (lane.step or 0) - 1 if mark.each else None)
        ends = mark.kind is MarkKind.ENDS
        if mark.kind is MarkKind.BEGINS or self._place(mark.phase) > self._place(lane.phase):
            if lane.phase is not mark.phase:
                lane.phase, lane.since_s = mark.phase, at_s
            lane.phase_ended, lane.ended_s = ends, at_s
        elif lane.phase is mark.phase:
            lane.phase_ended, lane.ended_s = ends, at_s
        self._stale = True
        if lane.depth < _RANK_DEPTH:
            self._bring(mark.phase, at_s, self._below(lane))

    # Steps.

    def _step(self, lane: Lane, mark: Mark) -> None:
        said = self._said.setdefault(lane.depth, {})
        line = (self._place(mark.phase), mark.kind is MarkKind.ENDS)
        lane.step = _first_step(said, line) if lane.step is None else lane.step + 1
        said.setdefault(line, lane.step)

    def _behind(self) -> list[Lane]:
        """The lanes below the highest step of their kind."""
        most: dict[int, int] = {}
        for lane in self._lanes.values():
            if lane.step is not None:
                most[lane.depth] = max(lane.step, most.get(lane.depth, lane.step))
        return [
            lane for lane in self._lanes.values() if lane.step is not None and lane.step < most[lane.depth]
        ]

    def _reached(self, lane: Lane) -> tuple[int, int]:
        return (lane.step or 0, self._place(lane.phase))

    # What one line says of other ranks.

    def _from_above(self, mark: Mark, at_s: float | None, source: int) -> None:
        phase = mark.phase
        if phase is None:
            return
        # Who writes without a name may be any rank, until the load is at what the main process alone does.
        if mark.speaker.depth is None and self._place(phase) < self._place(Phase.START_API):
            return
        self._bring(phase, at_s, [lane for lane in self._lanes.values() if lane.source == source])

    def _bring(self, phase: Phase, at_s: float | None, lanes: list[Lane]) -> None:
        most = max((lane.step for lane in lanes if lane.step is not None), default=None)
        for lane in lanes:
            if self._place(phase) > self._place(lane.phase):
                lane.step = most
                lane.phase, lane.since_s, lane.phase_ended = phase, at_s, False
                self._stale = True

    def _below(self, core: Lane) -> list[Lane]:
        """The ranks of a data-parallel engine core."""
        start = core.name + " "
        return [lane for lane in self._lanes.values() if lane.name.startswith(start)]

    def _agree(self, lane: Lane, at_s: float | None, step: int | None) -> None:
        for other in self._partners(lane):
            if self._place(other.phase) < self._place(_AGREED):
                other.phase, other.since_s, other.phase_ended = _AGREED, at_s, False
                if step is not None and other.step is not None:
                    other.step = max(other.step, step)

    def _partners(self, lane: Lane) -> list[Lane]:
        """The other ranks of the same model: replicas of data parallelism name the same ranks again."""
        others = [other for other in self._lanes.values() if other.depth == lane.depth and other is not lane]
        within = [_without_replica(other.name) for other in (lane, *others)]
        if len(set(within)) == len(within):
            return others
        replica = _replica(lane.name)
        return [other for other in others if _replica(other.name) == replica]

    def _place(self, phase: Phase | None) -> int:
        return -1 if phase is None else self._engine.place(phase)


def _key(speaker: Speaker, identity: RankIdentity | None, source: int) -> object:
    """Return what a rank is known by: its process, its name, its number."""
    if speaker.pid is not None:
        return (source, speaker.pid)
    if speaker.rank is not None:
        return speaker.rank
    if identity is not None and identity.global_rank is not None:
        return ("rank", identity.global_rank)
    return None


def _name(speaker: Speaker, identity: RankIdentity | None) -> str:
    if speaker.rank is not None:
        return speaker.rank
    if identity is not None and identity.global_rank is not None:
        return f"rank {identity.global_rank}"
    return f"pid {speaker.pid}"


def _first_step(said: dict[tuple[int, bool], int], line: tuple[int, bool]) -> int:
    """Return the step of a rank whose first line this is."""
    if line in said:
        return said[line]
    before = [step for other, step in said.items() if other < line]
    if before:
        return max(before) + 1
    return min(said.values(), default=2) - 1


def _replica(name: str) -> str:
    return next((word for word in name.split() if word.startswith("DP")), "")


def _without_replica(name: str) -> str:
    return " ".join(word for word in name.split() if not word.startswith("DP"))


def _natural(name: str) -> tuple[tuple[str, int, str], ...]:
    """Order "TP10" behind "TP9"."""
    parts: list[tuple[str, int, str]] = []
    for word in name.split():
        letters = word.rstrip("0123456789")
        digits = word[len(letters) :].lstrip("0")
        parts.append((letters, len(digits), digits))
    return tuple(parts)
