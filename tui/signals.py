"""What /proc and the kernel tell of a server's processes and of their host: what a verdict is made of.

``None`` is "cannot be read": another user's process without root (io, wchan, maps), or a kernel without it.
"""

from typing import Literal

from tui.agent import wire
from tui.event_base import Event, Part


class ThreadSignals(Part, frozen=True, kw_only=True):
    """All threads of one process: how many stand in each state (by its letter), their wake-ups together.

    ``blocked_in`` is where one in state D waits in the kernel, "" where none is; None: cannot be read.
    ``blocked_wakeups`` are the wake-ups of those in state D alone (None: there are none): they tell slow
    storage from dead. Read anew each 10 s or less often; ``age_s`` is how old the reading is.
    """

    states: dict[str, int]
    wakeups: int | None = None
    blocked_in: str | None = None
    blocked_wakeups: int | None = None
    age_s: float = 0.0


class ProcessSignals(Part, frozen=True, kw_only=True):
    """One reading of one process of the followed server; counters count from the process's start.

    ``state`` is the letter of /proc/PID/stat, ``cpu_s`` user and system time of all its threads, ``wakeups``
    its voluntary context switches. ``read_chars_bytes`` is rchar (what read() returned), ``read_bytes`` what
    came from a disk: neither moves for every loader (research of stalls, section 4). ``wchan`` is where the
    main thread waits in the kernel, "0" where it runs. ``shard`` is the last part of the weight file that is
    mapped now, "" when none is.

    ``threads`` are read only on suspicion (neither CPU time nor wake-ups rose for a while), for it is costly.
    """

    pid: int
    state: str
    cpu_s: float
    minor_faults: int
    major_faults: int
    wakeups: int | None = None
    rss_file_mib: float | None = None
    rss_anon_mib: float | None = None
    read_chars_bytes: int | None = None
    read_bytes: int | None = None
    write_bytes: int | None = None
    wchan: str | None = None
    shard: str | None = None
    threads: ThreadSignals | None = None


class CompilerSignals(Part, frozen=True, kw_only=True):
    """The compilers at work under one process (nvcc, cicc, ptxas, cc1plus, ninja, compile workers).

    ``pid`` is the process of the server under which they run, ``started`` how many were seen to start since
    the watch began, ``cpu_s`` the CPU time that all of them have used since then: both only ever rise.
    """

    pid: int
    names: list[str]
    running: int
    started: int
    cpu_s: float


class Signals(Event, frozen=True, kw_only=True, tag=wire.SIGNALS):
    """One reading of the followed server's processes, once a second. Droppable."""

    processes: list[ProcessSignals]
    compilers: list[CompilerSignals]
    cost_ms: float


class HostSignals(Event, frozen=True, kw_only=True, tag=wire.HOST_SIGNALS):
    """What the host's kernel counts, each 5 s: counters since its boot, shares of the last 10 s in percent.

    ``cgroup_oom_kills`` is that of the server's control group, ``memory_full_pct`` and ``io_some_pct`` are
    pressure stall information. ``model_file_system`` is the type of the mount on which the model lies
    ("nfs4", "fuse.juicefs"), None where that is not known.
    """

    oom_kills: int | None = None
    hung_tasks: int | None = None
    cgroup_oom_kills: int | None = None
    memory_full_pct: float | None = None
    io_some_pct: float | None = None
    model_file_system: str | None = None


class LockFile(Part, frozen=True, kw_only=True):
    """A lock file of a known cache, or a lock of the kernel that a process of the server waits for.

    ``existence``: whoever comes waits until the file is gone; it is stale where no process has it open.
    ``flock``: the kernel holds it for ``holder``. ``open`` is None where it cannot be seen who has it open,
    ``waiter`` is the pid that waits for it, None where that is not known.
    """

    path: str
    age_s: float | None
    kind: Literal["existence", "flock"]
    open: bool | None = None
    holder: int | None = None
    waiter: int | None = None


class Locks(Event, frozen=True, kw_only=True, tag=wire.LOCKS):
    """The lock files there are, each 5 s while there are any, and once when none is left. Droppable."""

    locks: list[LockFile]


class GpuFault(Event, frozen=True, kw_only=True, tag=wire.GPU_FAULT):
    """What the driver reported of a GPU by an event of its own; ``index`` None: it does not say of which."""

    fault: Literal["xid", "lost", "recovery"]
    sentence: str
    index: int | None = None
    xid: int | None = None


class Evidence(Event, frozen=True, kw_only=True, tag=wire.EVIDENCE):
    """One answer of a diagnosis that a person asked for: a stack dump of one process, or NCCL RAS.

    ``round`` counts from 1. ``sentence`` says what was found, or why nothing was (``found`` False).
    ``stacks`` are the threads' stacks, "thread name: frame < frame < ..." with the leaf first;
    ``lines`` is what NCCL RAS answered. ``last``: nothing more comes of this diagnosis.
    """

    asked: Literal["stacks", "ras", "diagnosis"]
    found: bool
    sentence: str
    pid: int | None = None
    round: int = 1
    stacks: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    last: bool = False
