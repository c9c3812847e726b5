"""What /proc and the kernel tell of a server's processes and of their host: what a verdict is made of.

``None`` is "cannot be read": another user's process without root (io, wchan, maps), or a kernel without it.
"""

from tui.agent import wire
from tui.event_base import Event, Part


class ProcessSignals(Part, frozen=True, kw_only=True):
    """One reading of one process of the followed server; counters count from the process's start.

    ``state`` is the letter of /proc/PID/stat, ``cpu_s`` user and system time of all its threads, ``wakeups``
    its voluntary context switches. ``read_chars_bytes`` is rchar (what read() returned), ``read_bytes`` what
    came from a disk: neither moves for every loader (research of stalls, section 4). ``wchan`` is where the
    main thread waits in the kernel, "0" where it runs. ``shard`` is the last part of the weight file that is
    mapped now, "" when none is.
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
    pressure stall information.
    """

    oom_kills: int | None = None
    hung_tasks: int | None = None
    cgroup_oom_kills: int | None = None
    memory_full_pct: float | None = None
    io_some_pct: float | None = None
