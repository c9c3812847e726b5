"""What the rules have to know beside movement: a moment of one load, in values that a state can fill in."""

from dataclasses import dataclass, field
from typing import Literal

from tui.engines.phase import Phase
from tui.watch.verdict.words import Cause


@dataclass(frozen=True, slots=True)
class Rank:
    """One rank: its name as the engine writes it ("TP0") and its process id, None where not known.

    ``helpers`` are its descendants that are no ranks. ``gpus`` are its GPUs by index; empty: those on which
    the driver sees its processes. ``phase`` is where it stands. ``behind`` is True where its own lines say
    that it lags behind others. ``gone`` says in words how its process ended ("" while it lives), ``gone_s``
    when, on the host's monotonic clock. ``blamed``: the log says that it failed first.
    """

    name: str
    pid: int | None
    helpers: frozenset[int] = frozenset()
    gpus: tuple[int, ...] = ()
    phase: Phase | None = None
    behind: bool = False
    gone: str = ""
    gone_s: float | None = None
    blamed: bool = False

    @property
    def place(self) -> tuple[int, str, int]:
        """What ranks are ordered by: their names as a person counts them, for process ids wrap around."""
        return len(self.name), self.name, self.pid or 0

    @property
    def pids(self) -> frozenset[int]:
        """Its process and its descendants."""
        return self.helpers if self.pid is None else self.helpers | {self.pid}

    @property
    def words(self) -> str:
        """The rank as it is shown."""
        return self.name if self.pid is None else f"{self.name} (pid {self.pid})"


@dataclass(frozen=True, slots=True)
class Past:
    """What past loads of the same key took in this phase, in this cache mode, newest last; seconds, MiB/s."""

    silences_s: tuple[float, ...] = ()
    durations_s: tuple[float, ...] = ()
    best_rate_mib_s: float | None = None


@dataclass(frozen=True, slots=True)
class End:
    """How a load ended: in words, with the rank and pid that went first, None where that is not known."""

    sentence: str
    rank: str | None = None
    pid: int | None = None
    shut_down: bool = False
    at_s: float | None = None


@dataclass(frozen=True, slots=True)
class GpuFault:
    """What the driver says of a GPU (None: of all): lost, an Xid, a call without an answer.

    ``began_s`` is when it said so first (host's monotonic clock), ``silent_s`` how long it has been silent.
    """

    kind: Literal["lost", "xid", "silent"]
    sentence: str
    gpu: int | None = None
    xid: int | None = None
    silent_s: float | None = None
    began_s: float | None = None


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock file of a known cache, and who has it open; where nobody has, an existence lock is stale.

    ``open`` is None where this user cannot see who has it open. ``waiter`` is the pid that waits for it.
    ``named``: the log's last lines name it.
    """

    path: str
    age_s: float
    open: bool | None
    holder: int | None = None
    waiter: int | None = None
    kind: Literal["existence", "flock"] = "existence"
    named: bool = False


@dataclass(frozen=True, slots=True)
class Proof:
    """What was found on request: an answer of NCCL RAS, or stacks that are the same three times over.

    It counts while nothing has moved since ``began_s``, the first look (None: whatever moved before).
    """

    kind: Literal["ras", "stacks"]
    sentence: str
    rank: str | None = None
    pid: int | None = None
    began_s: float | None = None


@dataclass(frozen=True, slots=True)
class Situation:
    """One moment of one load. ``now_s`` and all other times are on the host's monotonic clock.

    ``phase`` and ``phase_since_s`` are those of the load (its slowest rank's). ``rate_mib_s`` is how fast
    bytes reach the GPUs now. ``unanswered_s`` is for how long a server that was ready has not answered,
    ``nodes`` over how many hosts it runs, ``pids`` are the server's processes (None: not known).
    ``launcher`` is the main process where it is no rank itself. ``answers`` says what is wrong where the
    server answers, but not as it was expected to (another model, a key that is missing). ``failure`` is why
    the load has failed by its log, None where the log tells none. ``shutting_down``: the log tells of an
    orderly end.
    """

    now_s: float
    phase: Phase | None
    phase_since_s: float | None
    ranks: tuple[Rank, ...] = ()
    launcher: Rank | None = None
    ready: bool = False
    ready_since_s: float | None = None
    end: End | None = None
    failure: Cause | None = None
    shutting_down: bool = False
    parent_gone: str = ""
    faults: tuple[GpuFault, ...] = ()
    locks: tuple[Lock, ...] = ()
    proofs: tuple[Proof, ...] = ()
    past: Past = field(default_factory=Past)
    rate_mib_s: float | None = None
    nodes: int = 1
    network_storage: bool = False
    downloading: bool = False
    unanswered_s: float | None = None
    answers: str = ""
    pids: frozenset[int] | None = None
