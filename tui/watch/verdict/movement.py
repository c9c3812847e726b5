"""When each channel of each rank last moved, from the events alone."""

from collections import deque
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from statistics import median

from tui.engines.marks import Progress
from tui.engines.phase import Phase
from tui.events import AnyEvent, GpuDetails, GpuFacts, GpuProcesses, Gpus, Processes
from tui.signals import HostSignals, Signals
from tui.watch.verdict.bar import Bar, Bars
from tui.watch.verdict.channels import Channel, Reading, joined, log_reading, reading, stack_reading
from tui.watch.verdict.gpu_moves import GpuMoves
from tui.watch.verdict.holders import Holders
from tui.watch.verdict.meters import FRESH_S, risen
from tui.watch.verdict.process_moves import ProcessMoves
from tui.watch.verdict.situation import Rank
from tui.watch.verdict.thread_moves import Threads

BLIND_S = 3.0
"""No event for so long, and what happened meanwhile was not seen (stalls research, 3.4)."""
BLINDS = 16
PROCESSES = 4096
HALTED = frozenset("TtZXx")
SPINS_PCT = 50.0
"""Who waits for a kernel uses more of a core. Measured: 100 %."""

UNPLACED = Rank("server", None)
"""Who stands for all processes of the server that are no rank, and for lines that name none."""


@dataclass(frozen=True, slots=True)
class RankMoves:
    """One rank at one moment. Times are on the host's monotonic clock, durations in seconds.

    ``quiet_since_s`` is the newest movement on any channel (or since when it is watched), ``waiting_s`` for
    how long its GPUs show the signature of a wait, None while they do not. ``state`` is the letter of its
    main thread, "?" where nobody told; ``asleep_s`` and ``frozen_s`` say for how long neither CPU time nor
    wake-ups, or no counter at all, moved, ``main_asleep_s`` for how long its main thread has slept without a
    wake-up; None where that is not known. ``wchan`` is where it waited when it
    was read, ``rests_in`` where it does most of the time. ``threads`` are told on suspicion. ``compared``:
    two readings of any of its processes have come that can be compared.
    """

    rank: Rank
    readings: tuple[Reading, ...]
    quiet_since_s: float
    gpus: tuple[GpuMoves, ...]
    waiting_s: float | None
    state: str
    state_s: float
    wchan: str | None
    cpu_pct: float | None
    asleep_s: float | None
    frozen_s: float | None
    signals: bool
    compilers: int
    rests_in: str | None = None
    threads: Threads | None = None
    main_asleep_s: float | None = None
    compared: bool = False

    def of(self, channel: Channel) -> Reading | None:
        """Return what one channel says, None where the rank has none such."""
        return next((each for each in self.readings if each.channel is channel), None)

    def state_of(self, channel: Channel) -> str:
        """Return the state of a channel; one that nobody reads is unknown."""
        found = self.of(channel)
        return "unknown" if found is None else found.state

    @property
    def in_kernel(self) -> bool:
        """Whether any of its threads waits in the kernel, in state D."""
        return self.state == "D" or (self.threads is not None and self.threads.blocked_s is not None)

    @property
    def moved(self) -> tuple[Reading, ...]:
        """The channels that moved in the last 30 s."""
        return tuple(each for each in self.readings if each.state == "moved")

    @property
    def unknown(self) -> tuple[Channel, ...]:
        """The channels that cannot be read."""
        return tuple(each.channel for each in self.readings if each.state == "unknown")


@dataclass(slots=True)
class Movement:
    """What moved on one host, for one load. Every method takes the host's monotonic time.

    ``link_down``: the link is known to be lost.

    ``blinds`` keeps the newest times in which nothing was heard, from and to: they void all windows, and
    silence is counted from their ends.
    """

    began_s: float | None = None
    heard_s: float | None = None
    link_down: bool = False
    bars: Bars = field(default_factory=Bars)
    host: HostSignals | None = None
    blinds: deque[tuple[float, float]] = field(
        default_factory=lambda: deque[tuple[float, float]](maxlen=BLINDS)
    )
    oom_kills: int = 0
    cgroup_oom_kills: int = 0
    hung_tasks: int = 0
    _processes: dict[int, ProcessMoves] = field(default_factory=dict[int, ProcessMoves])
    _gpus: dict[int, GpuMoves] = field(default_factory=dict[int, GpuMoves])
    _holders: Holders = field(default_factory=Holders)
    _logs: dict[str | None, float] = field(default_factory=dict[str | None, float])
    _stacks: dict[int, float] = field(default_factory=dict[int, float])
    _ended: dict[Channel, Reading] = field(default_factory=dict[Channel, Reading])

    # Taking in.

    def take(self, event: AnyEvent) -> None:
        """Note one event of the host. Events of the client (tick, link) are none: see ``link_lost``."""
        at_s = event.mono_s
        self.heard(at_s)
        match event:
            case Signals():
                self._take_signals(event, at_s)
            case HostSignals():
                self._take_host(event)
            case Gpus():
                self._take_gpus(event, at_s)
            case GpuDetails():
                for detail in event.gpus:
                    self._gpu(detail.index).take_detail(detail, at_s)
            case GpuFacts():
                for fact in event.gpus:
                    self._gpu(fact.index).limit_w = fact.power_limit_w
            case GpuProcesses():
                lost = {gpu.index for gpu in self._gpus.values() if gpu.lost}
                self._holders.take(event.processes, lost, at_s)
            case Processes():
                for process in event.processes:
                    self._process(process.pid, at_s).in_state(process.state, at_s)
            case _:
                pass

    def heard(self, at_s: float) -> None:
        """Something came from the host: after more than 3 s without, all windows start anew."""
        self.link_down = False
        if self.began_s is None:
            self.began_s = at_s
        if self.heard_s is not None and at_s - self.heard_s > BLIND_S:
            self._void(self.heard_s, at_s)
        self.heard_s = at_s if self.heard_s is None else max(at_s, self.heard_s)

    def link_lost(self, at_s: float) -> None:
        """The link is down since then: the next event ends a blind time, however soon it comes."""
        if self.heard_s is not None:
            self._void(self.heard_s, max(at_s, self.heard_s))
            self.link_down = True

    def log_moved(self, rank: str | None, at_s: float) -> None:
        """Note a line that tells of progress (no heartbeat, no own access line); None: whose is not known."""
        self.heard(at_s)
        self._logs[rank] = at_s

    def stack_moved(self, pid: int, at_s: float) -> None:
        """Note that a stack dump of a process differs from the one before it (P8)."""
        self._stacks[pid] = max(at_s, self._stacks.get(pid, at_s))

    def progress(self, progress: Progress, phase: Phase | None, at_s: float) -> None:
        """Note a bar of the log; only one that moves on is a movement, or one whose item is another."""
        self.heard(at_s)
        if self.bars.take(progress, phase, at_s):
            self._logs[None] = at_s

    def new_load(self, at_s: float) -> None:
        """Another load begins: nothing that moved before tells of it; what was learnt of the GPUs stays."""
        self.began_s, self.heard_s, self.bars = at_s, at_s, Bars()
        self._processes.clear()
        self._holders.void()
        self._logs.clear()
        self._stacks.clear()
        self._ended.clear()
        self.blinds.clear()
        # The counts of another server's control group are no beginning for those of this one's.
        self.host, self.oom_kills, self.cgroup_oom_kills, self.hung_tasks = None, 0, 0, 0
        for gpu in self._gpus.values():
            gpu.void()

    def _void(self, from_s: float, to_s: float) -> None:
        self.blinds.append((from_s, to_s))
        self._logs.clear()
        self._stacks.clear()
        self._ended.clear()
        self.bars.blind()
        for process in self._processes.values():
            process.void()
        self._holders.void()
        for gpu in self._gpus.values():
            gpu.void()

    def _take_signals(self, event: Signals, at_s: float) -> None:
        compilers = {each.pid: each for each in event.compilers}
        for signals in event.processes:
            process = self._process(signals.pid, at_s)
            process.take(signals, at_s)
            if signals.pid not in compilers:
                process.compilers.none_seen(at_s)
        for pid, found in compilers.items():
            self._process(pid, at_s).compilers.take(found, at_s)
        listed = {signals.pid for signals in event.processes}
        for process in [each for each in self._processes.values() if each.stale(at_s)]:
            if process.pid not in listed:
                self._went(process)

    def _went(self, process: ProcessMoves) -> None:
        """A process is listed no more; what it moved still counts, as long as what others move."""
        del self._processes[process.pid]
        for each in process.readings(process.read_s or process.first_s):
            before = self._ended.get(each.channel)
            if before is None or (each.moved_s or 0.0) > (before.moved_s or 0.0):
                self._ended[each.channel] = each

    def _take_host(self, event: HostSignals) -> None:
        before, self.host = self.host, event
        if before is not None:
            self.oom_kills += risen(before.oom_kills, event.oom_kills)
            self.cgroup_oom_kills += risen(before.cgroup_oom_kills, event.cgroup_oom_kills)
            self.hung_tasks += risen(before.hung_tasks, event.hung_tasks)

    def _take_gpus(self, event: Gpus, at_s: float) -> None:
        idles = [gpu.idle_w for gpu in self._gpus.values()]
        known = [idle for idle in idles if idle is not None]
        peers = median(known) if known else None
        for sample in event.gpus:
            self._gpu(sample.index).take(sample, at_s, peers)

    def _process(self, pid: int, at_s: float) -> ProcessMoves:
        found = self._processes.get(pid)
        if found is None and len(self._processes) >= PROCESSES:
            oldest = min(self._processes.values(), key=lambda each: each.read_s or each.first_s)
            del self._processes[oldest.pid]
        return found or self._processes.setdefault(pid, ProcessMoves(pid, at_s))

    def _gpu(self, index: int) -> GpuMoves:
        return self._gpus.get(index) or self._gpus.setdefault(index, GpuMoves(index))

    # Telling.

    @property
    def bar(self) -> Bar:
        """The bar of the log that moved last."""
        return self.bars.newest

    @property
    def halted(self) -> bool:
        """Whether any process is stopped or a zombie."""
        return any(each.state in HALTED for each in self._processes.values())

    @property
    def silence_began_s(self) -> float:
        """Since when silence can be counted: the start of the watch, or the end of the last blind time."""
        return max(self.began_s or 0.0, self.blinds[-1][1] if self.blinds else 0.0)

    def blind_s(self, now_s: float) -> float:
        """Return for how long nothing has been heard, 0 while it is less than 3 s and the link is up."""
        silent = 0.0 if self.heard_s is None else now_s - self.heard_s
        return silent if silent > (0.0 if self.link_down else BLIND_S) else 0.0

    def of(self, rank: Rank, now_s: float, phase: Phase | None) -> RankMoves:
        """Return what one rank did, by its own processes, its GPUs and the lines that name it."""
        known = [self._processes[pid] for pid in sorted(rank.pids) if pid in self._processes]
        # Of compilers and of helpers that never work no signals are told: they hide nothing.
        found = [each for each in known if each.pid == rank.pid or each.read]
        return self._moves(rank, found, self._gpus_of(rank), now_s, phase)

    def unplaced(
        self, ranks: Collection[Rank], now_s: float, pids: Collection[int] | None = None
    ) -> RankMoves:
        """Return what the server did beside its ranks: launcher, downloads, lines that name no rank.

        ``pids`` are the server's processes, None for all that were told of. Without any rank, GPUs that are
        its own count here too.
        """
        owned: set[int] = {pid for rank in ranks for pid in rank.pids}
        rest = [
            each
            for pid, each in sorted(self._processes.items())
            if pid not in owned and (pids is None or pid in pids) and each.read_s is not None
        ]
        gpus = () if ranks else tuple(self._gpus[index] for index in sorted(self._gpus))
        return self._moves(UNPLACED, rest, gpus, now_s, None)

    def _gpus_of(self, rank: Rank) -> tuple[GpuMoves, ...]:
        held = rank.gpus or self._holders.held_by(rank.pids)
        return tuple(self._gpus[index] for index in sorted(held) if index in self._gpus)

    def _waiting_s(
        self, rank: Rank, gpus: Iterable[GpuMoves], cpu: float | None, now_s: float
    ) -> float | None:
        """Return for how long all of a rank's GPUs show the signature of a wait, None while they do not.

        On a GPU that it shares, whose kernel spins is not told: who waits for it spins on the CPU too.
        """
        waits = [
            None
            if self._holders.shared(gpu.index, rank.pids) and (cpu or 0.0) < SPINS_PCT
            else gpu.waiting_s(now_s)
            for gpu in gpus
        ]
        waited = [each for each in waits if each is not None]
        return min(waited) if waited and len(waited) == len(waits) else None

    def _moves(
        self,
        rank: Rank,
        processes: list[ProcessMoves],
        gpus: tuple[GpuMoves, ...],
        now_s: float,
        phase: Phase | None,
    ) -> RankMoves:
        readings = self._readings(rank, processes, gpus, now_s, phase)
        main = next((each for each in processes if each.pid == rank.pid), None)
        moved = [each.moved_s for each in readings if each.moved_s is not None]
        began = max(self.silence_began_s, 0.0 if main is None else main.began_s)
        cpu_pct = _summed(each.cpu_pct(now_s) for each in processes)
        told = main is not None and main.state_read_s is not None
        read = main if _fresh(main, now_s) else None
        return RankMoves(
            rank=rank,
            readings=readings,
            quiet_since_s=max([began, *moved]),
            gpus=gpus,
            waiting_s=self._waiting_s(rank, gpus, cpu_pct, now_s),
            state=main.state if main is not None and told else "?",
            state_s=now_s - main.state_since_s if main is not None and told else 0.0,
            wchan=read.wchan if read is not None else None,
            rests_in=read.rests_in(now_s) if read is not None else None,
            cpu_pct=cpu_pct,
            asleep_s=_since(read.asleep.since_s if read is not None else None, now_s),
            frozen_s=_since(read.frozen.since_s if read is not None else None, now_s),
            main_asleep_s=_since(read.main_asleep.since_s if read is not None else None, now_s),
            signals=any(_fresh(each, now_s) for each in (processes if rank is UNPLACED else [main])),
            compilers=sum(each.compilers.running for each in processes),
            threads=read.threads.seen if read is not None else None,
            compared=any(each.compared for each in processes),
        )

    def _readings(
        self,
        rank: Rank,
        processes: list[ProcessMoves],
        gpus: tuple[GpuMoves, ...],
        now_s: float,
        phase: Phase | None,
    ) -> tuple[Reading, ...]:
        said_s = self._logs.get(None if rank is UNPLACED else rank.name)
        by_channel: dict[Channel, list[Reading]] = {Channel.LOG: [log_reading(said_s, now_s)]}
        for process in processes:
            for each in process.readings(now_s):
                by_channel.setdefault(each.channel, []).append(each)
        pids = rank.pids.union(each.pid for each in processes)
        by_channel[Channel.STACK] = [
            stack_reading(moved_s, now_s) for pid, moved_s in self._stacks.items() if pid in pids
        ]
        for channel, each in self._ended.items() if rank is UNPLACED else ():
            told = reading(channel, now_s, each.moved_s, known=True, amount=0.0, figure=each.figure)
            by_channel.setdefault(channel, []).append(told)
        for gpu in gpus:
            for each in self._of_gpu(gpu, rank, now_s, phase):
                by_channel.setdefault(each.channel, []).append(each)
        return tuple(joined(by_channel[channel]) for channel in Channel if by_channel.get(channel))

    def _of_gpu(self, gpu: GpuMoves, rank: Rank, now_s: float, phase: Phase | None) -> Iterator[Reading]:
        """Give what a GPU tells of one rank. Of what another job does on it too, nothing is told."""
        ours = {pid for pid, each in self._processes.items() if each.read}
        foreign = self._holders.shared(gpu.index, rank.pids, ours)
        for each in gpu.readings(now_s):
            match each.channel:
                case Channel.PCIE if foreign or phase is not Phase.WEIGHTS:
                    continue
                case Channel.GPU_WORK if self._holders.shared(gpu.index, rank.pids):
                    continue
                case Channel.GPU_MEMORY if foreign:
                    yield self._holders.memory(gpu, rank.pids, now_s)
                case _:
                    yield each


def _fresh(process: ProcessMoves | None, now_s: float) -> bool:
    return process is not None and process.read_s is not None and now_s - process.read_s <= FRESH_S


def _summed(shares: Iterable[float | None]) -> float | None:
    known = [share for share in shares if share is not None]
    return sum(known) if known else None


def _since(since_s: float | None, now_s: float) -> float | None:
    return None if since_s is None else now_s - since_s
