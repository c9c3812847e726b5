"""Who used the processor while a client measured: the client with all its processes, and everyone else.

Processor times are summed over processes, whose clocks are exact. The machine's own sum in /proc/stat is
sampled by the kernel's tick; a server that wakes every 5 ms is in step with that: it may be off by a core.
"""

import bisect
import os
import threading
import time
from dataclasses import dataclass

import psutil

SAMPLE_S = 0.1
ALL_EVERY = 5  # samples: reading all processes costs more than reading the client's


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
        self._apart = {mock, os.getpid()}
        self._over = threading.Event()
        self._clients: dict[int, psutil.Process] = {client: self._client}
        self._used_s: dict[int, float] = {}
        self._others_s: dict[tuple[int, float], float] = {}
        self._samples: list[tuple[float, float]] = []
        self._all: list[tuple[float, float]] = []

    def run(self) -> None:
        """Sample until told to stop."""
        count = 0
        while not self._over.wait(SAMPLE_S):
            if count % ALL_EVERY == 0:
                self._look_around()
            self._sample()
            count += 1

    def stop(self) -> None:
        """End."""
        self._over.set()
        self.join()

    def shares(self, begin_s: float, end_s: float) -> Shares:
        """Return the shares between two moments (monotonic seconds)."""
        seconds = end_s - begin_s
        client, others = (_at(rows, end_s) - _at(rows, begin_s) for rows in (self._samples, self._all))
        return Shares(client / seconds, others / seconds)

    def _look_around(self) -> None:
        try:
            self._clients |= {child.pid: child for child in self._client.children(recursive=True)}
        except psutil.NoSuchProcess:
            return
        for process in psutil.process_iter():
            if process.pid not in self._clients and process.pid not in self._apart:
                # What a process had used stays in the sum when it ends.
                key = process.pid, process.create_time()
                self._others_s[key] = max(self._others_s.get(key, 0.0), _used_s(process))
        self._all.append((time.monotonic(), sum(self._others_s.values())))

    def _sample(self) -> None:
        for pid, process in self._clients.items():
            self._used_s[pid] = max(self._used_s.get(pid, 0.0), _used_s(process))
        self._samples.append((time.monotonic(), sum(self._used_s.values())))


def _used_s(process: psutil.Process) -> float:
    try:
        used = process.cpu_times()
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return 0.0
    return used.user + used.system


def _at(samples: list[tuple[float, float]], moment_s: float) -> float:
    """Return a sum at a moment, interpolated between samples."""
    after = min(max(bisect.bisect(samples, (moment_s,)), 1), len(samples) - 1)
    low, high = samples[after - 1], samples[after]
    part = min(1.0, max(0.0, (moment_s - low[0]) / (high[0] - low[0])))
    return low[1] + (high[1] - low[1]) * part
