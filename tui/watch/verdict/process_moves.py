"""What one process did: files, memory, written bytes, compilers, state; from Signals, reading by reading."""

from dataclasses import dataclass, field

from tui.signals import CompilerSignals, ProcessSignals
from tui.watch.verdict.channels import Channel, Reading, amount_words, level_words, reading
from tui.watch.verdict.meters import FRESH_S, WINDOW_S, Level, Steps, Unchanged
from tui.watch.verdict.thread_moves import ThreadMoves

MIB = 1024.0 * 1024.0
MOVED_FILE_MIB = 1.0
MOVED_WRITTEN_MIB = 1.0
MOVED_ANON_MIB = 16.0
COMPILER_SHARE = 0.05
"""So much of a core makes a compiler one that works: 5 % (stalls research, P5)."""
COMPILER_SPAN_S = 5.0
RUNS = "0"
"""What the kernel tells of where a process waits that runs."""
HELD = ("T", "t")
"""Stopped by a signal, or held by a tracer."""
SUSPENDED_S = 3.0
"""Signals stop a process for moments in healthy loads too (a profiler's dump takes 0.1 s)."""
CPU_NOISE_S = 0.02
"""Two ticks of the kernel's 10 ms clock: less is no CPU time."""


def _in_mib(value: int | None) -> float | None:
    return None if value is None else value / MIB


@dataclass(slots=True)
class CompilerMoves:
    """The compilers under one process: they move by CPU time or by a new one."""

    moved_s: float | None = None
    read_s: float | None = None
    running: int = 0
    names: tuple[str, ...] = ()
    cpu: Steps = field(default_factory=lambda: Steps(float("inf")))
    _started: int | None = None
    _base: tuple[float, float] | None = None

    def take(self, signals: CompilerSignals, at_s: float) -> None:
        """Note a reading."""
        self.read_s, self.running, self.names = at_s, signals.running, tuple(signals.names)
        self.cpu.take(signals.cpu_s, at_s)
        before = self._started
        self._started = signals.started
        if (before is None and signals.running) or (before is not None and signals.started > before):
            self.moved_s = at_s
        self._judge_cpu(signals.cpu_s, at_s)

    def _judge_cpu(self, cpu_s: float, at_s: float) -> None:
        base = self._base
        if base is None:
            self._base = (at_s, cpu_s)
            return
        used, passed = cpu_s - base[1], at_s - base[0]
        if passed > 0 and used >= COMPILER_SHARE * passed:
            self.moved_s = at_s
            self._base = (at_s, cpu_s)
        elif passed >= COMPILER_SPAN_S:
            self._base = (at_s, cpu_s)

    def none_seen(self, at_s: float) -> None:
        """Note a reading of the process in which no compiler was named."""
        self.read_s, self.running, self.names = at_s, 0, ()
        self._started = self._started or 0

    def void(self) -> None:
        """Forget the baselines after a blind time."""
        self.moved_s = self.read_s = self._started = self._base = None
        self.cpu.void()


@dataclass(slots=True)
class ProcessMoves:
    """One process of the server. ``state_since_s`` is since when it was seen in its state, without a gap.

    ``began_s`` is since when its silence counts: it was first seen, or went on after it had been suspended.
    ``asleep`` stands still while neither wake-ups nor CPU time rise, ``frozen`` while no counter at all does,
    ``main_asleep`` while the main thread does not wake up, whatever the others use.
    """

    pid: int
    first_s: float
    state: str = "?"
    state_since_s: float = 0.0
    state_read_s: float | None = None
    continued_s: float | None = None
    read_s: float | None = None
    wchan: str | None = None
    shard: str | None = None
    shard_s: float | None = None
    rss_file: Steps = field(default_factory=lambda: Steps(MOVED_FILE_MIB))
    read_chars: Steps = field(default_factory=lambda: Steps(MOVED_FILE_MIB))
    disk: Steps = field(default_factory=lambda: Steps(MOVED_FILE_MIB))
    written: Steps = field(default_factory=lambda: Steps(MOVED_WRITTEN_MIB))
    anon: Level = field(default_factory=lambda: Level(MOVED_ANON_MIB))
    cpu: Steps = field(default_factory=lambda: Steps(float("inf")))
    compilers: CompilerMoves = field(default_factory=CompilerMoves)
    asleep: Unchanged = field(default_factory=Unchanged)
    frozen: Unchanged = field(default_factory=Unchanged)
    main_asleep: Unchanged = field(default_factory=Unchanged)
    threads: ThreadMoves = field(default_factory=ThreadMoves)
    _rests_in: str | None = None
    _rested_s: float | None = None
    _cpu_rest_s: float | None = None
    _cpu_since_s: float | None = None

    def take(self, signals: ProcessSignals, at_s: float) -> None:
        """Note a reading of the process itself."""
        self.read_s, self.wchan = at_s, signals.wchan
        if signals.wchan not in (None, "", RUNS):
            self._rests_in, self._rested_s = signals.wchan, at_s
        self.in_state(signals.state, at_s)
        self._take_shard(signals.shard, at_s)
        self.rss_file.take(signals.rss_file_mib, at_s)
        self.read_chars.take(_in_mib(signals.read_chars_bytes), at_s)
        self.disk.take(_in_mib(signals.read_bytes), at_s)
        self.written.take(_in_mib(signals.write_bytes), at_s)
        self.anon.take(signals.rss_anon_mib, at_s)
        if self._cpu_since_s is None:
            self._cpu_since_s = at_s
        self.cpu.take(signals.cpu_s, at_s)
        self._take_stillness(signals, at_s)
        self.threads.take(signals.threads, at_s)

    def in_state(self, state: str, at_s: float) -> None:
        """Note its state letter."""
        if state != self.state or self.state_read_s is None:
            if self.state in HELD and state not in HELD and at_s - self.state_since_s >= SUSPENDED_S:
                self.continued_s = at_s
            self.state, self.state_since_s = state, at_s
        self.state_read_s = at_s

    def _take_shard(self, shard: str | None, at_s: float) -> None:
        if shard and self.shard is not None and shard != self.shard:
            self.shard_s = at_s
        self.shard = shard

    def _take_stillness(self, signals: ProcessSignals, at_s: float) -> None:
        rest = self._cpu_rest_s
        if rest is None or abs(signals.cpu_s - rest) > CPU_NOISE_S:
            rest = self._cpu_rest_s = signals.cpu_s
        self.asleep.take((signals.wakeups, rest), at_s)
        self.main_asleep.take((signals.wakeups if signals.state in ("S", "I") else None,), at_s)
        faults = (signals.minor_faults, signals.major_faults)
        self.frozen.take((signals.wakeups, rest, *faults, signals.rss_file_mib), at_s)

    @property
    def began_s(self) -> float:
        """Since when its silence counts."""
        return self.first_s if self.continued_s is None else self.continued_s

    @property
    def file_moved_s(self) -> float | None:
        """When file data last moved, by any of its figures."""
        times = (self.rss_file.moved_s, self.read_chars.moved_s, self.disk.moved_s, self.shard_s)
        return max((each for each in times if each is not None), default=None)

    def rests_in(self, now_s: float) -> str | None:
        """Return where it waits in the kernel, for one that looks now and then: between its looks."""
        rests = self._rested_s is not None and now_s - self._rested_s <= FRESH_S
        return self._rests_in if rests else self.wchan

    def cpu_pct(self, now_s: float) -> float | None:
        """Return the CPU time of the last 30 s in percent of a core, None where it is not known (yet)."""
        if self._cpu_since_s is None or not self.cpu.known(now_s):
            return None
        span = min(WINDOW_S, now_s - self._cpu_since_s)
        return 100.0 * self.cpu.total(now_s) / span if span >= 1.0 else None

    def readings(self, now_s: float) -> list[Reading]:
        """Return P3 to P6 as this process tells them."""
        return [self._file(now_s), self._memory(now_s), self._compile(now_s), self._written(now_s)]

    def _file(self, now_s: float) -> Reading:
        meters = (self.rss_file, self.read_chars, self.disk)
        most = max(meter.total(now_s) for meter in meters)
        known = all(meter.known(now_s) for meter in meters)
        figure = f"{amount_words(most)} of file data in {WINDOW_S:.0f} s"
        return reading(Channel.FILE, now_s, self.file_moved_s, known=known, amount=most, figure=figure)

    def _memory(self, now_s: float) -> Reading:
        figure = level_words("host memory", self.anon.value, self.anon.change)
        known = self.anon.known(now_s)
        return reading(Channel.HOST_MEMORY, now_s, self.anon.moved_s, known=known, amount=0.0, figure=figure)

    def _compile(self, now_s: float) -> Reading:
        compilers = self.compilers
        used = compilers.cpu.total(now_s)
        names = ", ".join(compilers.names[:3])
        amount = f"{used:.0f} s of CPU in {WINDOW_S:.0f} s" if used >= 0.5 else "started"
        figure = f"{names or 'compilers'}: {amount}" if used or names else ""
        known = compilers.read_s is not None and now_s - compilers.read_s <= FRESH_S
        figure = figure or "no compiler runs"
        return reading(Channel.COMPILE, now_s, compilers.moved_s, known=known, amount=used, figure=figure)

    def _written(self, now_s: float) -> Reading:
        total = self.written.total(now_s)
        figure = f"{amount_words(total)} written in {WINDOW_S:.0f} s"
        known = self.written.known(now_s)
        return reading(Channel.WRITTEN, now_s, self.written.moved_s, known=known, amount=total, figure=figure)

    @property
    def compared(self) -> bool:
        """Whether there are two readings of it without a blind time between them."""
        return self._cpu_since_s is not None and self.read_s is not None and self.read_s > self._cpu_since_s

    @property
    def read(self) -> bool:
        """Whether the host tells signals of it, or of compilers under it."""
        return self.read_s is not None or self.compilers.read_s is not None

    def stale(self, now_s: float) -> bool:
        """Whether readings of it have come before, and come no more."""
        return self.read_s is not None and now_s - self.read_s > FRESH_S

    def void(self) -> None:
        """Forget all windows: a blind time lies between the readings."""
        for meter in (self.rss_file, self.read_chars, self.disk, self.written, self.anon, self.cpu):
            meter.void()
        self.compilers.void()
        self.asleep.void()
        self.frozen.void()
        self.main_asleep.void()
        self.threads.void()
        self._rested_s = self.shard_s = self.read_s = self.state_read_s = self._cpu_since_s = (
            self._cpu_rest_s
        ) = None
