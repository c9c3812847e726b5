"""One moment laid out for the rules: every rank's movement, who waits, who is the odd one."""

from dataclasses import dataclass

from tui.engines.phase import Phase
from tui.watch.verdict.channels import Channel
from tui.watch.verdict.movement import Movement, RankMoves
from tui.watch.verdict.situation import Situation
from tui.watch.verdict.thresholds import Threshold, stall_after
from tui.watch.verdict.verdict import Confidence, RuleResult, Word
from tui.watch.verdict.words import NONE, Cause

BUSY_PCT = 50.0
"""A process above this works on the CPU (or spins there): its standstill elsewhere proves nothing."""
RUNS_S = 10.0
"""One that was never seen to wait for so long works too, however little of a core others leave it."""
UNSEEN_CPU_PCT = 5.0
"""A process above this may do what cannot be read of it."""
FIRST_S = 5.0
"""Counters move from their second reading on: silence that was seen for less than this tells nothing."""
AWAITED_S = 15.0
"""So long two readings are awaited, three times what the slowest of them take; then they may never come."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule that matched makes of the moment."""

    word: Word
    since_s: float
    sentence: str
    cause: Cause = NONE
    confidence: Confidence = "pattern"
    culprit: RankMoves | None = None
    rank: str | None = None
    pid: int | None = None
    waiting: tuple[str, ...] = ()
    until_s: float | None = None
    then: Word | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """A rule's result and, where it matched, what it makes of the moment; ``until_s``: when it will match."""

    result: RuleResult
    finding: Finding | None = None
    until_s: float | None = None


@dataclass(frozen=True, slots=True)
class Scene:
    """One moment. ``quiet_since_s`` is the newest movement of the whole server."""

    situation: Situation
    movement: Movement
    ranks: tuple[RankMoves, ...]
    rest: RankMoves
    launcher: RankMoves | None
    threshold: Threshold
    quiet_since_s: float

    @property
    def now_s(self) -> float:
        """The moment."""
        return self.situation.now_s

    @property
    def silence_s(self) -> float:
        """For how long nothing of the server has moved."""
        return self.now_s - self.quiet_since_s

    @property
    def unseen_s(self) -> float:
        """How long the blind time was from whose end silence is counted, 0 where something moved since."""
        blinds = self.movement.blinds
        if not blinds or self.quiet_since_s > blinds[-1][1]:
            return 0.0
        return blinds[-1][1] - blinds[-1][0]

    @property
    def waiting(self) -> tuple[RankMoves, ...]:
        """The ranks whose GPUs show the signature of a wait."""
        return tuple(each for each in self.ranks if each.waiting_s is not None)

    @property
    def odd(self) -> RankMoves | None:
        """The one rank unlike the others: it does not wait, it lags, or it alone stands where it stands."""
        if len(self.ranks) < 2:
            return self.ranks[0] if self.ranks else None
        for candidates in (
            [each for each in self.ranks if each.waiting_s is None] if self.waiting else [],
            [each for each in self.ranks if each.rank.behind],
            [each for each in self.ranks if each.in_kernel],
            self._alone(),
        ):
            # Who waits is a victim, however alone it stands.
            if len(candidates) == 1 and candidates[0].waiting_s is None:
                return candidates[0]
        return None

    def _alone(self) -> list[RankMoves]:
        """The one rank that stands as no other does, while all others have their like (research, 3.2)."""
        groups: dict[tuple[object, ...], list[RankMoves]] = {}
        for each in self.ranks:
            groups.setdefault((each.in_kernel, each.rests_in, bool(each.compilers)), []).append(each)
        alone = [group for group in groups.values() if len(group) == 1]
        if len(alone) != 1 or len(groups) < 2 or len(self.ranks) < 3:
            return []
        # Who sleeps while others wait for storage waits for them.
        held_up = any(each.in_kernel for each in self.ranks) and not alone[0][0].in_kernel
        return [] if held_up else alone[0]

    @property
    def judged(self) -> bool:
        """Whether standing still can be told at all: signals are read, and nothing unreadable may work."""
        everyone = (*self.ranks, self.rest)
        if not any(each.signals for each in everyone):
            return False
        return all(not _may_work(each) for each in everyone)

    @property
    def seen(self) -> bool:
        """Whether a load of which nothing moves can be called quiet: it was seen for long enough.

        It is seen anew from the start of the watch, from the end of a blind time, and from the coming of a
        rank; before two readings of any of its processes there is nothing to compare.
        """
        began_s = self.movement.began_s
        if began_s is None or self.now_s - began_s < FIRST_S:
            return False
        if self.movement.blind_s(self.now_s):
            return True  # It is called quiet because nothing is heard of it, and that is known.
        compared = any(each.compared for each in (*self.ranks, self.rest))
        return self.silence_s >= (FIRST_S if compared else AWAITED_S)

    @property
    def compiling(self) -> bool:
        """Whether a compiler moved in the last 30 s."""
        return any(each.state_of(Channel.COMPILE) == "moved" for each in (*self.ranks, self.rest))

    def others(self, culprit: RankMoves | None) -> tuple[str, ...]:
        """Return the names of all ranks but one."""
        return tuple(each.rank.name for each in self.ranks if each is not culprit)

    def pid_of(self, culprit: RankMoves | None) -> int | None:
        """Return whose stack tells most: the culprit's, else that of the first rank."""
        ranks = self.ranks if culprit is None else (culprit,)
        return next((each.rank.pid for each in ranks if each.rank.pid is not None), None)

    @property
    def place(self) -> str:
        """Where the load stands, in a sentence."""
        phase = self.situation.phase
        if phase is None:
            return ""
        bar = self.movement.bar
        if phase in (Phase.CAPTURE, Phase.WEIGHTS) and bar.began_s is not None and bar.done < bar.total:
            return f" in {phase.words} ({bar.words})"
        return " while ready" if phase is Phase.READY else f" in {phase.words}"


def busy(each: RankMoves) -> bool:
    """Whether it works on the CPU, or spins there."""
    runs = each.signals and each.state == "R" and each.state_s >= RUNS_S
    return runs or (each.cpu_pct or 0.0) >= BUSY_PCT


def busy_words(each: RankMoves) -> str:
    """Return how much of the CPU a busy process uses."""
    used = "the CPU" if each.cpu_pct is None else f"{each.cpu_pct:.0f} % of a core"
    return f"{each.rank.name} uses {used}: it may work"


def _may_work(each: RankMoves) -> bool:
    """Whether it may do what cannot be read: files of another user's process, while it uses the CPU."""
    if each.rank.pid is None and each.of(Channel.FILE) is None:
        return False
    unread = "unknown" in (each.state_of(Channel.FILE), each.state_of(Channel.WRITTEN))
    return unread and (each.cpu_pct is None or each.cpu_pct >= UNSEEN_CPU_PCT)


def scene(situation: Situation, movement: Movement) -> Scene:
    """Lay out one moment."""
    now_s = situation.now_s
    # Where two are equally to blame, the same one is named in whatever order they were told.
    ranks = sorted(situation.ranks, key=lambda rank: rank.place)
    each = tuple(movement.of(rank, now_s, rank.phase or situation.phase) for rank in ranks)
    rest = movement.unplaced(ranks, now_s, situation.pids)
    launcher = None if situation.launcher is None else movement.of(situation.launcher, now_s, None)
    quiet = max((one.quiet_since_s for one in (*each, rest)), default=now_s)
    return Scene(situation, movement, each, rest, launcher, stall_after(situation, movement.bar), quiet)
