"""The GPUs of the host as last reported, with their recent past."""

from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, field

from tui.events import GpuDetail, GpuDetails, GpuFact, GpuFacts, GpuProcess, GpuProcesses, Gpus, GpuSample
from tui.watch.transfer import Readings

HISTORY = 240
SLOPE_WINDOW_S = 10.0
MOVED_MIB = 16.0
"""Less than this is the noise of allocators and contexts, not a load that moves."""


@dataclass(slots=True)
class Gpu:
    """One GPU. ``history`` holds the newest utilisation percentages, oldest first, None where none was read.

    ``moved_s`` is when its used memory last changed by more than 16 MiB (host's monotonic clock);
    ``peak_mib`` is the most memory seen used since the current load was taken up. ``received`` is what came
    over PCIe.
    """

    index: int
    fact: GpuFact | None = None
    sample: GpuSample | None = None
    detail: GpuDetail | None = None
    history: deque[float | None] = field(default_factory=lambda: deque[float | None](maxlen=HISTORY))
    moved_s: float | None = None
    peak_mib: float | None = None
    received: Readings = field(default_factory=Readings)
    _memory: deque[tuple[float, float]] = field(default_factory=deque[tuple[float, float]])
    _resting_mib: float | None = None

    def take(self, sample: GpuSample, at_s: float) -> None:
        """Note a reading of the fast tier."""
        self.sample = sample
        self.history.append(sample.utilisation_pct)
        used = sample.memory_used_mib
        if used is None:
            self._memory.clear()
            return
        self._memory.append((at_s, used))
        while len(self._memory) > 2 and self._memory[1][0] <= at_s - SLOPE_WINDOW_S:
            self._memory.popleft()
        self.peak_mib = used if self.peak_mib is None else max(used, self.peak_mib)
        if self._resting_mib is None:
            self._resting_mib = used
        elif abs(used - self._resting_mib) > MOVED_MIB:
            self._resting_mib = used
            self.moved_s = at_s

    def new_load(self) -> None:
        """Start the peak anew."""
        self.peak_mib = self.sample.memory_used_mib if self.sample else None

    @property
    def lost(self) -> bool:
        """Whether the driver cannot reach it any more."""
        return self.sample is not None and self.sample.state == "lost"

    @property
    def slope_gib_s(self) -> float | None:
        """Change of used memory over the last 10 s (or less, from 1 s on) in GiB/s, None when not known."""
        if len(self._memory) < 2:
            return None
        (then_s, then_mib), (now_s, now_mib) = self._memory[0], self._memory[-1]
        if now_s - then_s < 1.0:
            return None
        return (now_mib - then_mib) / 1024.0 / (now_s - then_s)


@dataclass(slots=True)
class GpuBook:
    """All GPUs by index, and which process holds memory on which."""

    by_index: dict[int, Gpu] = field(default_factory=dict[int, Gpu])
    processes: list[GpuProcess] = field(default_factory=list[GpuProcess])

    def _gpu(self, index: int) -> Gpu:
        gpu = self.by_index.get(index)
        if gpu is None:
            gpu = self.by_index[index] = Gpu(index)
        return gpu

    def take(self, event: Gpus | GpuFacts | GpuDetails | GpuProcesses) -> None:
        """Note one event about GPUs."""
        match event:
            case Gpus():
                for sample in event.gpus:
                    self._gpu(sample.index).take(sample, event.mono_s)
            case GpuFacts():
                for fact in event.gpus:
                    self._gpu(fact.index).fact = fact
            case GpuDetails():
                for detail in event.gpus:
                    self._gpu(detail.index).detail = detail
                    self._gpu(detail.index).received.take(event.mono_s, detail.pcie_received_mib)
            case GpuProcesses():
                self.processes = event.processes + self._held_when_lost(event)

    def _held_when_lost(self, event: GpuProcesses) -> list[GpuProcess]:
        """Return who held a GPU that is lost: of it nothing is listed any more, and they hang on it."""
        listed = {process.index for process in event.processes}
        lost = {index for index, gpu in self.by_index.items() if gpu.lost} - listed
        return [process for process in self.processes if process.index in lost]

    def new_load(self) -> None:
        """A load begins: peaks count from here."""
        for gpu in self.by_index.values():
            gpu.new_load()

    @property
    def received(self) -> dict[int, Readings]:
        """What each GPU received over PCIe, by its index."""
        return {index: gpu.received for index, gpu in self.by_index.items()}

    def held_by(self, pids: Collection[int]) -> set[int]:
        """Return the GPUs on which one of these processes holds memory, as far as the driver says."""
        return {process.index for process in self.processes if process.pid in pids and not process.foreign}

    def in_order(self) -> list[Gpu]:
        """Return the GPUs by index."""
        return [self.by_index[index] for index in sorted(self.by_index)]
