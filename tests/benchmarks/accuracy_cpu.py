"""Who used the processor while a client measured: the client with all its processes, and everyone else."""

import bisect
import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

SAMPLE_S = 0.1
CHILDREN_EVERY = 5  # samples: looking for new processes costs more than reading known ones


@dataclass(frozen=True, slots=True)
class Shares:
    """Mean cores in a window: of the client, and of processes that are not part of the measurement."""

    client: float
    others: float


class Sampler(threading.Thread):
    """Samples, from ``start`` to ``stop``, processor time: of a client, of all but the measurement."""

    def __init__(self, client: int, mock: int) -> None:
        super().__init__(daemon=True)
        self._client = psutil.Process(client)
        self._mock = psutil.Process(mock)
        self._over = threading.Event()
        self._known: dict[int, psutil.Process] = {client: self._client}
        self._used_s: dict[int, float] = {}
        self._samples: list[tuple[float, float, float]] = []

    def run(self) -> None:
        """Sample until told to stop."""
        count = 0
        while not self._over.wait(SAMPLE_S):
            if count % CHILDREN_EVERY == 0:
                self._look_for_children()
            self._sample()
            count += 1

    def stop(self) -> None:
        """End."""
        self._over.set()
        self.join()

    def shares(self, begin_s: float, end_s: float) -> Shares:
        """Return the shares between two moments (monotonic seconds)."""
        client, machine = (self._at(end_s, at) - self._at(begin_s, at) for at in (1, 2))
        seconds = end_s - begin_s
        return Shares(client / seconds, max(0.0, machine - client) / seconds)

    def _look_for_children(self) -> None:
        try:
            children = self._client.children(recursive=True)
        except psutil.NoSuchProcess:
            return
        for child in children:
            self._known.setdefault(child.pid, child)

    def _sample(self) -> None:
        for pid, process in self._known.items():
            try:
                used = process.cpu_times()
            except (psutil.NoSuchProcess, psutil.ZombieProcess):
                continue  # what it had used stays in the sum
            self._used_s[pid] = used.user + used.system
        own, mock = time.process_time(), self._mock.cpu_times()
        ours = own + mock.user + mock.system
        self._samples.append((time.monotonic(), sum(self._used_s.values()), _busy_s() - ours))

    def _at(self, moment_s: float, column: int) -> float:
        """Return a sum at a moment, interpolated between samples."""
        samples = self._samples
        after = bisect.bisect(samples, (moment_s,))
        after = min(max(after, 1), len(samples) - 1)
        low, high = samples[after - 1], samples[after]
        part = min(1.0, max(0.0, (moment_s - low[0]) / (high[0] - low[0])))
        return low[column] + (high[column] - low[column]) * part


def _busy_s() -> float:
    user, nice, system, _, _, irq, soft, *_ = map(int, Path("/proc/stat").read_text().split()[1:9])
    return (user + nice + system + irq + soft) / os.sysconf("SC_CLK_TCK")
