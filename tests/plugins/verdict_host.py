"""A host whose ranks do what a test says, second by second, as the agent would tell it."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from tui.engines.marks import Progress
from tui.engines.phase import Phase
from tui.events import GpuDetail, GpuDetails, GpuFact, GpuFacts, GpuProcess, GpuProcesses, Gpus, GpuSample
from tui.signals import CompilerSignals, HostSignals, ProcessSignals, Signals, ThreadSignals
from tui.watch.verdict.movement import Movement
from tui.watch.verdict.situation import Rank, Situation

MIB = 1024 * 1024
IDLE_W = 124.0
LIMIT_W = 700.0


@dataclass(slots=True)
class Doing:
    """What one rank does; rates are a second. False in ``io`` or ``gpm``, None elsewhere is "cannot be read".

    ``threads`` are the states of its threads ("SSD"), "" while they are not read.
    """

    state: str = "S"
    wchan: str | None = "futex_do_wait"
    cpu: float = 0.0
    wakeups: float = 0.0
    threads: str = ""
    thread_wakeups: float = 0.0
    blocked_wakeups: float = 0.0
    file_mib: float = 0.0
    disk_mib: float = 0.0
    anon_mib: float = 0.0
    written_mib: float = 0.0
    pcie_mib: float = 0.0
    memory_mib: float = 0.0
    compiler_cpu: float = 0.0
    compilers: tuple[str, ...] = ()
    util: float | None = 0.0
    memory_util: float | None = 0.0
    power_w: float = IDLE_W
    sm: float = 0.0
    tensor: float = 0.0
    dram: float = 0.0
    io: bool = True
    gpm: bool = True
    signals: bool = True


IDLES = Doing()
SPINS = Doing(state="R", wchan="0", cpu=1.0, util=100.0, sm=17.4, power_w=123.0)
LOADS = Doing(state="R", wchan="0", cpu=0.9, wakeups=50.0, file_mib=1500.0, pcie_mib=1900.0, util=5.0)
POLLS = Doing(wchan="hrtimer_nanosleep", cpu=0.005, wakeups=10.0)
STOPPED = Doing(state="T", wchan="do_signal_stop")
COMPILES = Doing(wchan="anon_pipe_read", compiler_cpu=0.95, compilers=("ninja", "nvcc", "cicc"))


@dataclass(slots=True)
class _Figures:
    """The counters of one rank."""

    cpu: float = 20.0
    wakeups: float = 1000.0
    thread_wakeups: float = 9000.0
    blocked_wakeups: float = 400.0
    file_mib: float = 900.0
    chars: float = 5000.0
    disk: float = 57.0
    anon: float = 4000.0
    written: float = 3.0
    pcie: float = 100.0
    memory: float = 60_000.0
    compiler_cpu: float = 0.0
    compilers_started: int = 0
    names: tuple[str, ...] = ()


@dataclass(slots=True)
class VerdictHost:
    """Ranks TP0, TP1, … with pids 101, 102, … and GPUs 0, 1, …; ``doing`` may be changed at any moment."""

    count: int = 2
    now_s: float = 5000.0
    movement: Movement = field(default_factory=Movement)
    doing: list[Doing] = field(default_factory=list[Doing])
    situation: Situation = field(default_factory=lambda: Situation(0.0, Phase.CAPTURE, None))
    order: list[int] = field(default_factory=list[int])
    gpus: bool = True
    memory_full_pct: float = 0.0
    io_some_pct: float = 0.0
    hung_tasks: int = 7
    oom_kills: int = 3
    cgroup_oom_kills: int | None = 0
    _figures: list[_Figures] = field(default_factory=list[_Figures])

    def __post_init__(self) -> None:
        """Make the ranks, idle, and tell of their GPUs."""
        self.doing = self.doing or [IDLES] * self.count
        self.order = self.order or list(range(self.count))
        self._figures = [_Figures() for _ in range(self.count)]
        self.movement.take(GpuFacts(gpus=[_fact(index) for index in range(self.count)], **self._when()))
        users = [GpuProcess(index=at, pid=101 + self.order[at], memory_mib=None) for at in range(self.count)]
        self.movement.take(GpuProcesses(processes=users, **self._when()))
        self.phase(self.situation.phase)

    def _when(self) -> dict[str, float]:
        return {"mono_s": self.now_s, "wall_s": self.now_s, "client_s": self.now_s}

    @property
    def ranks(self) -> tuple[Rank, ...]:
        """The ranks as the state would name them."""
        return tuple(
            Rank(f"TP{self.order[at]}", 101 + self.order[at], phase=self.situation.phase)
            for at in range(self.count)
        )

    def phase(self, phase: Phase | None) -> None:
        """The load comes to a phase."""
        self.situation = replace(self.situation, phase=phase, phase_since_s=self.now_s)
        self.situation = replace(self.situation, ranks=self.ranks)

    def all_do(self, doing: Doing) -> None:
        """Let all ranks do the same."""
        self.doing = [doing] * self.count

    def run(self, seconds: int, each: Callable[[int], None] | None = None) -> None:
        """Let so many seconds pass; ``each`` is called once a second with the second's number, from 1."""
        for second in range(1, seconds + 1):
            self.now_s += 1.0
            self._tell(second)
            if each is not None:
                each(second)

    def bar(self, done: int, total: int, *, unit: str = "items", current: str = "") -> None:
        """Let the log draw a bar."""
        progress = Progress(done, total, unit, current=current)
        self.movement.progress(progress, self.situation.phase, self.now_s)

    def blind(self, seconds: float) -> None:
        """Let time pass in which nothing is told."""
        self.now_s += seconds

    def at(self) -> Situation:
        """The moment as it is now."""
        return replace(self.situation, now_s=self.now_s)

    def _tell(self, second: int) -> None:
        for rank in range(self.count):
            _age(self._figures[rank], self.doing[rank])
        told = [rank for rank in range(self.count) if self.doing[rank].signals]
        if told:
            self.movement.take(
                Signals(
                    processes=[self._process(rank) for rank in told],
                    compilers=[each for rank in told for each in self._compilers(rank)],
                    cost_ms=0.4,
                    **self._when(),
                )
            )
        if self.gpus:
            if second % 5 == 1:
                details = [self._detail(rank) for rank in range(self.count)]
                self.movement.take(GpuDetails(gpus=details, cost_ms=1.0, **self._when()))
            samples = [self._sample(rank) for rank in range(self.count)]
            self.movement.take(Gpus(gpus=samples, cost_ms=0.1, **self._when()))
        if second % 5 == 0:
            self.movement.take(self._host())
        self.movement.heard(self.now_s)

    def _host(self) -> HostSignals:
        return HostSignals(
            oom_kills=self.oom_kills,
            hung_tasks=self.hung_tasks,
            cgroup_oom_kills=self.cgroup_oom_kills,
            memory_full_pct=self.memory_full_pct,
            io_some_pct=self.io_some_pct,
            mono_s=self.now_s,
            wall_s=self.now_s,
            client_s=self.now_s,
        )

    def _process(self, rank: int) -> ProcessSignals:
        doing, figures = self.doing[rank], self._figures[rank]
        return ProcessSignals(
            pid=101 + self.order[rank],
            state=doing.state,
            cpu_s=round(figures.cpu, 2),
            minor_faults=int(figures.file_mib * 3),
            major_faults=4,
            wakeups=int(figures.wakeups),
            rss_file_mib=figures.file_mib,
            rss_anon_mib=figures.anon,
            read_chars_bytes=int(figures.chars * MIB) if doing.io else None,
            read_bytes=int(figures.disk * MIB) if doing.io else None,
            write_bytes=int(figures.written * MIB) if doing.io else None,
            wchan=doing.wchan if doing.io else None,
            shard="" if doing.io else None,
            threads=self._threads(rank) if doing.threads else None,
        )

    def _threads(self, rank: int) -> ThreadSignals:
        states, figures = self.doing[rank].threads, self._figures[rank]
        return ThreadSignals(
            states={state: states.count(state) for state in states},
            wakeups=int(figures.thread_wakeups),
            blocked_in="folio_wait_bit_common" if "D" in states else "",
            blocked_wakeups=int(figures.blocked_wakeups) if "D" in states else None,
        )

    def _compilers(self, rank: int) -> list[CompilerSignals]:
        doing, figures = self.doing[rank], self._figures[rank]
        if not doing.compilers and not figures.compilers_started:
            return []
        return [
            CompilerSignals(
                pid=101 + self.order[rank],
                names=list(doing.compilers),
                running=len(doing.compilers),
                started=figures.compilers_started,
                cpu_s=round(figures.compiler_cpu, 2),
            )
        ]

    def _sample(self, rank: int) -> GpuSample:
        doing = self.doing[rank]
        return GpuSample(
            index=rank,
            state="ok",
            memory_used_mib=self._figures[rank].memory,
            memory_reserved_mib=615.0,
            memory_total_mib=143_771.0,
            utilisation_pct=doing.util,
            memory_utilisation_pct=doing.memory_util,
            power_w=doing.power_w,
        )

    def _detail(self, rank: int) -> GpuDetail:
        doing = self.doing[rank]
        return GpuDetail(
            index=rank,
            temperature_c=40.0,
            sm_clock_mhz=1980.0,
            memory_clock_mhz=3201.0,
            event_reasons=0,
            ecc_uncorrected=0,
            pcie_generation=5,
            pcie_width=16,
            pcie_received_mib=self._figures[rank].pcie,
            sm_pct=doing.sm if doing.gpm else None,
            tensor_pct=doing.tensor if doing.gpm else None,
            dram_pct=doing.dram if doing.gpm else None,
            nvlink_received_mib_s=0.0 if doing.gpm else None,
        )


def _age(figures: _Figures, doing: Doing) -> None:
    figures.cpu += doing.cpu
    figures.wakeups += doing.wakeups
    figures.thread_wakeups += doing.thread_wakeups
    figures.blocked_wakeups += doing.blocked_wakeups
    figures.file_mib += doing.file_mib
    figures.disk += doing.disk_mib
    figures.anon += doing.anon_mib
    figures.written += doing.written_mib
    figures.pcie += doing.pcie_mib
    figures.memory += doing.memory_mib
    figures.compiler_cpu += doing.compiler_cpu
    if doing.compilers != figures.names:
        figures.compilers_started += len(doing.compilers)
        figures.names = doing.compilers


def _fact(index: int) -> GpuFact:
    return GpuFact(
        index=index,
        uuid=f"GPU-{index}",
        name="NVIDIA H200",
        bus_id=None,
        memory_total_mib=143_771.0,
        power_limit_w=LIMIT_W,
        pcie_generation_max=5,
        pcie_width_max=16,
    )
