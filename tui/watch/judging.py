"""What a verdict is made of, gathered from the events of a watch for the load that is followed."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from tui.engines.marks import Progress, Speaker
from tui.engines.phase import Phase
from tui.events import AnyEvent, Exit, GpuDriver
from tui.signals import Evidence, LockFile, Locks
from tui.signals import GpuFault as FaultEvent
from tui.watch.course import VerdictTimes
from tui.watch.diagnosis import Diagnosis
from tui.watch.ranks import name_of, ranks_of
from tui.watch.silences import Silences
from tui.watch.target import Member, Server
from tui.watch.verdict.ends import is_fatal
from tui.watch.verdict.movement import Movement
from tui.watch.verdict.rules import judge_seen
from tui.watch.verdict.situation import GpuFault, Lock, Proof, Rank, Situation
from tui.watch.verdict.verdict import Verdict

LOCKS_FRESH_S = 20.0
"""Locks are told each 5 s while there are any: after four of them left out nobody knows of them."""
TOGETHER_S = 0.5
"""A rank that goes less than this before its server was ended with it."""
FAULTS = 16
"""So many are kept of a load; one that is not fatal makes room for one that is."""
FALLEN = 64
"""More parts than a server has on one host."""
PARTS = ("rank", "engine_core", "controller", "detokenizer")
"""The parts of a server without which it cannot go on."""
RECOVERY_XID = 154
"""The Xid by which the driver asks for a GPU to be recovered (stalls research, 2.4)."""


@dataclass(frozen=True, slots=True)
class Gone:
    """A part of the server that went while its launcher lived: when, on the host's monotonic clock."""

    member: Member
    at_s: float
    sentence: str


@dataclass(slots=True)
class Judging:
    """Movement, driver faults, locks and losses of the current load, and the diagnosis asked for in it."""

    movement: Movement = field(default_factory=Movement)
    gone: list[Gone] = field(default_factory=list[Gone])
    faults: list[GpuFault] = field(default_factory=list[GpuFault])
    _locks: tuple[Lock, ...] = ()
    _locks_s: float = 0.0
    diagnosis: Diagnosis = field(default_factory=Diagnosis)
    silences: Silences = field(default_factory=Silences)
    verdicts: VerdictTimes = field(default_factory=VerdictTimes)
    _names: dict[int, str] = field(default_factory=dict[int, str])
    _logged: dict[int, str] = field(default_factory=dict[int, str])  # by the pids that the log tells
    _outer_pids: dict[int, int] = field(default_factory=dict[int, int])  # by those of a container
    _ranks: frozenset[str] = frozenset()
    _found: tuple[Rank, ...] = ()
    _named: Server | None = None

    def take(self, event: AnyEvent) -> None:
        """Note one event that the host has made."""
        self.movement.take(event)
        match event:
            case FaultEvent():
                self._take_fault(event)
            case Locks():
                self._locks, self._locks_s = tuple(_lock(each) for each in event.locks), event.mono_s
            case GpuDriver():
                self._take_driver(event)
            case Evidence():
                self.diagnosis.take(event, self._outer_pids)
                for pid, moved_s in self.diagnosis.moved.items():
                    self.movement.stack_moved(pid, moved_s)
            case _:
                pass

    def new_load(self, at_s: float) -> None:
        """Another load begins: nothing of the one before counts against it."""
        self.movement.new_load(at_s)
        self.gone.clear()
        self.faults.clear()
        self._locks, self.diagnosis = (), Diagnosis()
        self.silences.clear()
        self.verdicts = VerdictTimes()
        self._names, self._logged, self._ranks, self._named = {}, {}, frozenset(), None
        self._outer_pids = {}

    @property
    def names(self) -> dict[int, str]:
        """Which process belongs to which rank, by its pid."""
        return self._names

    @property
    def proofs(self) -> tuple[Proof, ...]:
        """What the diagnosis proves where nothing moves."""
        return self.diagnosis.proofs(self._names)

    def went(self, member: Member, event: Exit) -> None:
        """A part of the server has gone while its launcher lives."""
        known = any(each.member.pid == member.pid for each in self.gone)
        if member.role.kind in PARTS and not known and len(self.gone) < FALLEN:
            self.gone.append(Gone(member, event.mono_s, _how(event)))

    def fallen_by(self, now_s: float) -> int:
        """Return of how many parts it is known by now that they went on their own."""
        return sum(now_s - each.at_s >= TOGETHER_S for each in self.gone)

    @property
    def calm(self) -> bool:
        """Whether nothing is gone, stopped, cut off or faulty: what comes without warning."""
        return not (self.gone or self.faults or self.movement.link_down or self.movement.halted)

    def judge(self, moment: Situation) -> Verdict | None:
        """Return the verdict, None while nothing could have been seen to move yet."""
        return judge_seen(moment, self.movement)

    def locks(self, now_s: float) -> tuple[Lock, ...]:
        """Return the locks as they were told of late; none where their reader tells nothing any more."""
        return self._locks if now_s - self._locks_s <= LOCKS_FRESH_S else ()

    def of_server(self, server: Server | None) -> None:
        """Learn which process is which rank."""
        if server is not None and server is not self._named:
            self._replaced(server)
            self._named = server
            self._found = ranks_of(server)
            self._ranks = frozenset(rank.name for rank in self._found)
            self._names = names = {pid: rank.name for rank in self._found for pid in rank.pids}
            self._outer_pids = {
                member.inner_pid: member.pid for member in server.members if member.inner_pid is not None
            }
            self._logged = {
                member.logged_pid: names[member.pid] for member in server.members if member.pid in names
            }

    def ranks_of(self, server: Server) -> tuple[Rank, ...]:
        """Return the ranks of the server that is followed."""
        self.of_server(server)
        return self._found

    def _replaced(self, server: Server) -> None:
        """Mourn no rank for which another one came: the server has started it anew."""
        before = {member.pid for member in self._named.members} if self._named is not None else set[int]()
        came = {member.role for member in server.members if member.pid not in before and member.role.rank}
        self.gone = [each for each in self.gone if each.member.role not in came]

    # The log.

    def said(self, speakers: Iterable[Speaker], at_s: float) -> None:
        """Note who told of progress."""
        for name in {self._name(speaker) for speaker in speakers}:
            self.movement.log_moved(name, at_s)

    def bar(self, progress: Progress | None, phase: Phase | None, at_s: float) -> None:
        """Note how far a bar of the log has come in a phase."""
        if progress is not None and progress.total is not None:
            self.movement.progress(progress, phase, at_s)

    def _name(self, speaker: Speaker) -> str | None:
        if speaker.rank is not None and speaker.rank in self._ranks:
            return speaker.rank
        return None if speaker.pid is None else self._logged.get(speaker.pid)

    # The driver.

    def _take_fault(self, event: FaultEvent) -> None:
        """Note what the driver reported, once: the first of its kind says since when."""
        kind = "lost" if event.fault == "lost" else "xid"
        xid = RECOVERY_XID if event.fault == "recovery" else event.xid
        known = any((each.kind, each.gpu, each.xid) == (kind, event.index, xid) for each in self.faults)
        if known:
            return
        self.faults.append(GpuFault(kind, event.sentence, event.index, xid, began_s=event.mono_s))
        if len(self.faults) > FAULTS:
            least = next((each for each in self.faults if not is_fatal(each)), self.faults[-1])
            self.faults.remove(least)

    def _take_driver(self, event: GpuDriver) -> None:
        self.faults = [fault for fault in self.faults if fault.kind != "silent"]
        if event.state == "silent":
            self.faults.append(GpuFault("silent", event.sentence, silent_s=event.silent_s))


def _how(event: Exit) -> str:
    return "is gone" if event.code is None else f"is gone (exit code {event.code})"


def _lock(file: LockFile) -> Lock:
    return Lock(file.path, file.age_s or 0.0, file.open, file.holder, file.waiter, file.kind)


def fallen(gone: Iterable[Gone], blamed: Speaker, until_s: float) -> list[Rank]:
    """Return the parts that went on their own until a time, the first to go first.

    That one did of which the log says so is known at once.
    """
    found = [(each.at_s, rank_of_gone(each)) for each in gone]
    own = [rank for at_s, rank in found if until_s - at_s >= TOGETHER_S or _is_meant(rank, blamed)]
    return sorted(own, key=lambda rank: rank.gone_s or 0.0)


def blame(ranks: Iterable[Rank], blamed: Speaker) -> tuple[Rank, ...]:
    """Mark the one rank that the log says failed first; of several that it may mean none."""
    found = list(ranks)
    meant = {rank.pid for rank in found if _is_meant(rank, blamed)}
    return tuple(replace(rank, blamed=len(meant) == 1 and rank.pid in meant) for rank in found)


def _is_meant(rank: Rank, blamed: Speaker) -> bool:
    if blamed.pid is not None and rank.pid == blamed.pid:
        return True
    return blamed.rank is not None and (rank.name == blamed.rank or rank.name.endswith(f" {blamed.rank}"))


def rank_of_gone(gone: Gone) -> Rank:
    """Return a part that has gone as a rank of the situation."""
    return Rank(name_of(gone.member), gone.member.pid, gone=gone.sentence, gone_s=gone.at_s)
