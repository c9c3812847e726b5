"""Eight simulated GPUs after a recorded curve: samples for any moment of the demo."""

import json
import time
from bisect import bisect_right
from importlib.resources import files
from typing import cast

from tui.events import GpuDetail, GpuDetails, GpuDriver, GpuFact, GpuFacts, Gpus, GpuSample

GPUS = 8
# Of the recorded GPUs: NVIDIA H200, driver 580.159.04; the driver keeps 615 MiB for itself.
TOTAL_MIB = 143771.0
RESERVED_MIB = 615.0
POWER_LIMIT_W = 700.0
DRIVER = "580.159.04"

Figures = list[float]


class Curve:
    """The recorded samples of two GPUs, read for eight."""

    def __init__(self) -> None:
        text = files("tui.demo").joinpath("data/gpus.json").read_text("utf-8")
        data = cast("dict[str, list[list[object]]]", json.loads(text))
        self._times_s = [cast("float", row[0]) for row in data["load"]]
        self._load = [cast("list[Figures]", row[1:]) for row in data["load"]]
        self._idle = cast("list[list[Figures]]", data["idle"])
        self._busy = cast("list[list[Figures]]", data["busy"])

    def figures(self, at_s: float, *, busy: bool) -> list[Figures]:
        """Return the figures of eight GPUs ``at_s`` seconds (at speed 1) after launch.

        Columns: used MiB, GPU %, memory %, W, SM MHz, memory MHz, °C, event reasons.
        """
        if busy:
            pair = self._busy[int(at_s) % len(self._busy)]
        elif at_s >= self._times_s[-1]:
            pair = self._idle[int(at_s) % len(self._idle)]
        else:
            pair = self._load[max(0, bisect_right(self._times_s, at_s) - 1)]
        return [_apart(pair[index % 2], index) for index in range(GPUS)]

    def samples(self, at_s: float, *, busy: bool) -> Gpus:
        """Return the fast tier as of now."""
        rows = [_sample(index, row) for index, row in enumerate(self.figures(at_s, busy=busy))]
        now_s = time.monotonic()
        return Gpus(mono_s=now_s, wall_s=time.time(), client_s=now_s, gpus=rows, cost_ms=0.0)

    def details(self, at_s: float, *, busy: bool) -> GpuDetails:
        """Return the slow tier as of now."""
        rows = [_detail(index, row) for index, row in enumerate(self.figures(at_s, busy=busy))]
        now_s = time.monotonic()
        return GpuDetails(mono_s=now_s, wall_s=time.time(), client_s=now_s, gpus=rows, cost_ms=0.0)


def facts() -> GpuFacts:
    """Return what does not change about the simulated GPUs."""
    now_s = time.monotonic()
    gpus = [
        GpuFact(
            index=index,
            uuid=f"GPU-simulated-{index}",
            name="NVIDIA H200 (SIMULATED)",
            bus_id=None,
            memory_total_mib=TOTAL_MIB,
            power_limit_w=POWER_LIMIT_W,
            pcie_generation_max=5,
            pcie_width_max=16,
        )
        for index in range(GPUS)
    ]
    return GpuFacts(mono_s=now_s, wall_s=time.time(), client_s=now_s, gpus=gpus)


def driver() -> GpuDriver:
    """Return the state of the simulated driver."""
    now_s = time.monotonic()
    return GpuDriver(
        mono_s=now_s,
        wall_s=time.time(),
        client_s=now_s,
        state="ok",
        sentence="SIMULATED GPUs: a recorded curve of two H200s, shown for eight",
        version=DRIVER,
    )


def _apart(row: Figures, index: int) -> Figures:
    """Set a copied GPU a few watts and a degree or two apart, as the eight of one host are."""
    copy = index // 2
    apart = list(row)
    apart[3] = round(row[3] + 2.1 * copy, 1)
    apart[6] = row[6] + copy
    return apart


def _sample(index: int, row: Figures) -> GpuSample:
    return GpuSample(
        index=index,
        state="ok",
        memory_used_mib=row[0],
        memory_reserved_mib=RESERVED_MIB,
        memory_total_mib=TOTAL_MIB,
        utilisation_pct=row[1],
        memory_utilisation_pct=row[2],
        power_w=row[3],
    )


def _detail(index: int, row: Figures) -> GpuDetail:
    return GpuDetail(
        index=index,
        temperature_c=row[6],
        sm_clock_mhz=row[4],
        memory_clock_mhz=row[5],
        event_reasons=int(row[7]),
        ecc_uncorrected=0,
        pcie_generation=5,
        pcie_width=16,
    )
