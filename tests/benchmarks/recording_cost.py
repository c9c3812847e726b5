"""Measure what recording adds to a watch of a quiet load: processor time and bytes an hour.

    python tests/benchmarks/recording_cost.py [--minutes 60] [--gpus 8] [--lines 12]

Makes the events that the agent sends of 8 GPUs at 1 Hz while a server waits for requests: a fast reading,
an answered ping and a tick each second, a slow reading and a round of readiness questions each 5 s, a few
log lines a minute. Figures wander as those of real GPUs do. The processor time is that of writing alone
(of this process and of the kernel for it), spread over the time that the events stand for. Prints one
JSON object; exit code 1 where a goal is missed.
"""

import argparse
import json
import random
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tui.events import (
    AnyEvent,
    GpuDetail,
    GpuDetails,
    Gpus,
    GpuSample,
    Hello,
    Log,
    Pong,
    Probe,
    Tick,
)
from tui.journal.header import Asked
from tui.journal.reader import Recording
from tui.journal.writer import open_journal

GOAL_CPU_PCT = 1.0
GOAL_MB_AN_HOUR = 5.0
MODEL = "Qwen/Qwen3-235B-A22B"
URL = "http://127.0.0.1:30000"


class QuietLoad:
    """The events of one watch, second by second."""

    def __init__(self, gpus: int, lines_a_minute: int) -> None:
        self._random = random.Random(7)
        self._gpus = gpus
        self._lines_a_minute = lines_a_minute
        self._offset = 0
        self._received_mib = [29_000.0 + self._random.random() for _ in range(gpus)]

    def events(self, seconds: int) -> Iterator[AnyEvent]:
        """Iterate over everything that is received in so many seconds."""
        yield Hello(
            **self._at(0.0), protocol=1, host="gpu01", user="ml", uid=1000, pid=4242, boot_id="b" * 36,
            python="3.12.3", kernel="6.8.0-45-generic", cpu_count=192, memory_total_mib=2_063_000,
        )  # fmt: skip
        for second in range(seconds):
            yield self._fast(second + 0.1)
            if second % 5 == 0:
                yield self._slow(second + 0.2)
                yield from self._answers(second + 0.3)
            if self._lines_a_minute and second % max(1, 60 // self._lines_a_minute) == 0:
                yield self._log(second + 0.4)
            yield Pong(**self._at(second + 0.5), sent_s=1000.0 + second + self._random.random())
            yield Tick(**self._at(second + 0.6))

    def _at(self, t: float) -> dict[str, Any]:
        t += self._random.random() / 1000
        lag_s = self._random.random() / 1000
        return {"mono_s": 86_400.0 + t, "wall_s": 1_780_000_000.0 + t, "client_s": 5_000.0 + t + lag_s}

    def _fast(self, t: float) -> Gpus:
        samples = [
            GpuSample(
                index=index,
                state="ok",
                memory_used_mib=133_274.81,
                memory_reserved_mib=615.0,
                memory_total_mib=143_771.0,
                utilisation_pct=float(self._random.choice((0, 0, 0, 0, 1))),
                memory_utilisation_pct=0.0,
                power_w=round(self._random.gauss(118.0, 2.0), 3),
            )
            for index in range(self._gpus)
        ]
        return Gpus(**self._at(t), gpus=samples, cost_ms=round(self._random.uniform(0.3, 0.6), 3))

    def _slow(self, t: float) -> GpuDetails:
        details = [
            GpuDetail(
                index=index,
                temperature_c=float(self._random.choice((34, 34, 35))),
                sm_clock_mhz=float(self._random.choice((1980, 1980, 1965))),
                memory_clock_mhz=3201.0,
                event_reasons=0,
                ecc_uncorrected=0,
                pcie_generation=5,
                pcie_width=16,
                pcie_received_mib=round(self._received(index), 1),
            )
            for index in range(self._gpus)
        ]
        return GpuDetails(**self._at(t), gpus=details, cost_ms=round(self._random.uniform(8.0, 13.0), 3))

    def _received(self, index: int) -> float:
        self._received_mib[index] += self._random.uniform(0.0, 5.0)
        return self._received_mib[index]

    def _answers(self, t: float) -> Iterator[Probe]:
        for rung in ("port", "models"):
            at, latency_ms = self._at(t), self._random.uniform(0.2, 3.0)
            if rung == "port":
                yield Probe(
                    **at, rung="port", outcome="ok", latency_ms=latency_ms, url=URL,
                    detail="port 30000 accepts connections",
                )  # fmt: skip
            else:
                yield Probe(
                    **at, rung="models", outcome="ok", latency_ms=latency_ms, url=URL, detail=MODEL,
                    status=200, models=[MODEL], server="uvicorn",
                )  # fmt: skip

    def _log(self, t: float) -> Log:
        clock = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(1_780_000_000 + t))
        port = self._random.randrange(30_000, 60_000)
        line = f'[{clock}] INFO:     127.0.0.1:{port} - "GET /v1/models HTTP/1.1" 200 OK'
        self._offset += len(line) + 1
        return Log(
            **self._at(t), lines=[line], tail="", returns=[], path="/home/ml/server.log", device=66306,
            inode=1_234_567, offset=self._offset,
        )  # fmt: skip


def cost(events: list[AnyEvent], folder: Path) -> tuple[float, int]:
    """Return the processor time in seconds and the bytes that recording these events takes."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    journal = open_journal(folder, "gpu01", "benchmark", Asked(port=30_000))
    for event in events:
        journal.append(event)
    journal.close()
    after = resource.getrusage(resource.RUSAGE_SELF)
    assert sum(1 for _ in Recording(journal.path).events()) == len(events)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu_s, journal.path.stat().st_size


def main() -> None:
    """Print the figures beside their goals."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--minutes", type=int, default=60)
    parser.add_argument("--gpus", type=int, default=8)
    parser.add_argument("--lines", type=int, default=12, help="log lines a minute")
    wanted = parser.parse_args()
    seconds = wanted.minutes * 60
    events = list(QuietLoad(wanted.gpus, wanted.lines).events(seconds))
    with tempfile.TemporaryDirectory() as folder:
        cpu_s, size_bytes = min(cost(events, Path(folder)) for _ in range(3))
    cpu_pct, mb_an_hour = 100 * cpu_s / seconds, size_bytes / 1e6 * 3600 / seconds
    found = {
        "events": len(events),
        "cpu_pct_of_a_core": round(cpu_pct, 3),
        "mb_an_hour": round(mb_an_hour, 2),
        "goals": {"cpu_pct_of_a_core": GOAL_CPU_PCT, "mb_an_hour": GOAL_MB_AN_HOUR},
    }
    sys.stdout.write(json.dumps(found, indent=1) + "\n")
    sys.exit(cpu_pct > GOAL_CPU_PCT or mb_an_hour > GOAL_MB_AN_HOUR)


if __name__ == "__main__":
    main()
