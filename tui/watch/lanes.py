"""The ranks of a load, each with its own place."""

from dataclasses import dataclass

from tui.engines.base import Engine
from tui.engines.marks import Mark, MarkKind, RankIdentity, Speaker
from tui.engines.phase import Phase

LANES = 4096
"""More ranks than that are not kept: a log with ever new process ids must not grow memory."""


@dataclass(slots=True)
class Lane:
    """One rank: its name as the engine writes it, where it stands, since which line's time.

    ``steps`` counts the lines that every rank prints: who has fewer of them than another lags.
    ``phase_ended``: its own last word was that the phase is over.
    """

    name: str
    role: str = ""
    pid: int | None = None
    phase: Phase | None = None
    since_s: float | None = None
    steps: int = 0
    phase_ended: bool = False
    identity: RankIdentity | None = None


class Lanes:
    """The ranks that have spoken, in the order of their names.

    The load stands where its slowest rank stands. Only lines that every rank prints can show that one lags:
    most lines come from the first rank alone. A line of a process above the ranks (engine core, API server)
    comes after all ranks are through, so it brings them all along.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lanes: dict[object, Lane] = {}

    def __iter__(self):  # noqa: ANN204
        return iter(self.all)

    @property
    def all(self) -> list[Lane]:
        """The ranks, by name."""
        return sorted(self._lanes.values(), key=lambda lane: _natural(lane.name))

    @property
    def slowest(self) -> Lane | None:
        """The rank that holds the load back, None when none is behind another."""
        told = [lane for lane in self._lanes.values() if lane.steps]
        if len(told) < 2:
            return None
        least = min(told, key=lambda lane: (lane.steps, self._place(lane.phase)))
        return least if least.steps < max(lane.steps for lane in told) else None

    @property
    def lagging(self) -> list[Lane]:
        """All ranks that are behind the first one."""
        if self.slowest is None:
            return []
        most = max(lane.steps for lane in self._lanes.values())
        return [lane for lane in self.all if 0 < lane.steps < most]

    def take(self, mark: Mark, at_s: float | None, source: int = 0) -> None:
        """Note what a mark says of the rank that wrote it."""
        speaker = mark.speaker
        if mark.kind is MarkKind.IDENTITY or speaker.rank is not None or speaker.depth == 2:
            lane = self._lane(speaker, source)
            if lane is not None:
                self._note(lane, mark, at_s)
        elif mark.phase is not None and mark.kind in (MarkKind.BEGINS, MarkKind.WITHIN, MarkKind.READY):
            self._bring_along(mark.phase, at_s)

    def _lane(self, speaker: Speaker, source: int) -> Lane | None:
        # A process is known by its pid before its name says which rank it is.
        key = (source, speaker.pid) if speaker.pid is not None else speaker.rank
        if key is None:
            return None
        lane = self._lanes.get(key)
        if lane is None:
            if len(self._lanes) >= LANES:
                return None
            lane = self._lanes[key] = Lane(speaker.rank or f"pid {speaker.pid}", speaker.role, speaker.pid)
        elif speaker.rank is not None and lane.name != speaker.rank:
            lane.name = speaker.rank
        return lane

    def _note(self, lane: Lane, mark: Mark, at_s: float | None) -> None:
        if mark.identity is not None:
            lane.identity = mark.identity
        if mark.phase is None or mark.kind not in _MOVES:
            return
        lane.steps += mark.each
        back = mark.kind is MarkKind.BEGINS
        if back or lane.phase is None or self._place(mark.phase) > self._place(lane.phase):
            if lane.phase is not mark.phase:
                lane.phase, lane.since_s = mark.phase, at_s
            lane.phase_ended = mark.kind is MarkKind.ENDS
        elif lane.phase is mark.phase:
            lane.phase_ended = mark.kind is MarkKind.ENDS

    def _bring_along(self, phase: Phase, at_s: float | None) -> None:
        most = max((lane.steps for lane in self._lanes.values()), default=0)
        for lane in self._lanes.values():
            lane.steps = most
            if lane.phase is None or self._place(phase) > self._place(lane.phase):
                lane.phase, lane.since_s, lane.phase_ended = phase, at_s, False

    def _place(self, phase: Phase | None) -> int:
        return -1 if phase is None else self._engine.place(phase)


_MOVES = (MarkKind.BEGINS, MarkKind.WITHIN, MarkKind.ENDS, MarkKind.PROGRESS)


def _natural(name: str) -> tuple[tuple[str, int], ...]:
    """Order "TP10" behind "TP9"."""
    parts: list[tuple[str, int]] = []
    for word in name.split():
        letters = word.rstrip("0123456789")
        digits = word[len(letters) :]
        parts.append((letters, int(digits) if digits else -1))
    return tuple(parts)
