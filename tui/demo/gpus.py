"""The GPUs of the simulated host at any moment of a scenario."""

import math
from collections.abc import Callable, Iterator

from msgspec.structs import replace

from tui.demo.clock import stamp
from tui.demo.curve import Activity, Figures, curve
from tui.demo.processes import Host
from tui.demo.scenario import RankFreezes, Scenario
from tui.demo.script import Script
from tui.demo.weights import Weights
from tui.events import (
    GpuDetail,
    GpuDetails,
    GpuDriver,
    GpuFact,
    GpuFacts,
    GpuProcess,
    GpuProcesses,
    Gpus,
    GpuSample,
)

# Of the recorded GPUs: NVIDIA H200, driver 580.159.04; the driver keeps 615 MiB for itself.
TOTAL_MIB = 143771.0
RESERVED_MIB = 615.0
POWER_LIMIT_W = 700.0
DRIVER = "580.159.04"
RECEIVED = 1.07
"""Measured: MiB over PCIe for a MiB of weights."""
SPIN_W = 3.0
"""Measured: a GPU on which a rank waits in a collective takes no more than this over idle."""
SPIN_ACTIVITY = (17.42, 0.0, 0.0, 0.0)
"""Measured: SM, tensor, DRAM % and NVLink MiB/s of such a GPU; the one that is waited for shows 0."""
MOVED_MIB = 16.0
DETAILS_EVERY_S = 5.0


def never_busy() -> bool:
    """Say that the server generates nothing: so in every scenario, but for a benchmark of the live one."""
    return False


class SimulatedGpus:
    """Figures of every GPU by the recorded curve and by what has happened."""

    def __init__(self, scenario: Scenario, script: Script, host: Host, busy: Callable[[], bool]) -> None:
        self._scenario = scenario
        self._script = script
        self._host = host
        self._busy = busy
        self._curve = curve(scenario.gpus)
        self._ready_s = script.when(scenario.log.ready)
        self._weights = Weights(scenario)
        happened = zip(script.moments, scenario.happens, strict=True)
        self._freezes = [(at_s, each) for at_s, each in happened if isinstance(each, RankFreezes)]

    def events(self, t: float) -> Iterator[Gpus | GpuDetails | GpuProcesses]:
        """Return what is read at a whole second of the scenario."""
        indexes = range(self._scenario.server.ranks)
        rows = [self.figures(t, index) for index in indexes]
        yield Gpus(**stamp(t), gpus=[_sample(index, row) for index, row in enumerate(rows)], cost_ms=1.2)
        if t % DETAILS_EVERY_S == 0:
            each = [self._detail(t, index, row) for index, row in enumerate(rows)]
            yield GpuDetails(**stamp(t), gpus=each, cost_ms=9.0)
        before = [self.figures(t - 1.0, index) for index in indexes]
        if any(abs(now[0] - then[0]) > MOVED_MIB for now, then in zip(rows, before, strict=True)):
            yield GpuProcesses(**stamp(t), processes=self._held(t, rows))

    def figures(self, t: float, index: int) -> Figures:
        """Return the figures of one GPU."""
        if t >= self._host.gone_s(index):
            return self._curve.gone(index)
        busy = t >= self._ready_s and self._busy()
        row = self._curve.figures(self._script.clocks.recorded_s(t), index, busy=busy)
        frozen = self._frozen(t)
        if frozen is not None:
            # No work of the recording goes on: the one that is waited for is idle, the others spin.
            row[1:4] = [0.0, 0.0, _idle_w(row)] if frozen == index else [100.0, 0.0, _idle_w(row) + SPIN_W]
        return row

    def received_mib(self, t: float, index: int) -> float:
        """Return what came over PCIe since the reader's start: the rank's weights, and a little besides."""
        now_s = self._script.clocks.recorded_s(max(0.0, min(t, self._host.gone_s(index))))
        return round(RECEIVED * self._weights.loaded_mib(now_s, index) + 0.5 * max(0.0, t), 1)

    def activity(self, t: float, index: int) -> Activity | None:
        """Return what the parts of one GPU do, None where the recording does not tell."""
        frozen = self._frozen(t)
        if t >= self._host.gone_s(index) or frozen == index:
            return [0.0] * len(SPIN_ACTIVITY)
        if frozen is not None:
            return list(SPIN_ACTIVITY)
        busy = t >= self._ready_s and self._busy()
        return self._curve.activity(self._script.clocks.recorded_s(t), index, busy=busy)

    def _frozen(self, t: float) -> int | None:
        return next((each.rank for at_s, each in self._freezes if _lasts(at_s, each, t)), None)

    def _detail(self, t: float, index: int, row: Figures) -> GpuDetail:
        detail = _detail(index, row, self.received_mib(t, index))
        activity = self.activity(t, index)
        if activity is None:
            return detail
        sm_pct, tensor_pct, dram_pct, nvlink_received_mib_s = activity
        return replace(
            detail,
            sm_pct=sm_pct,
            tensor_pct=tensor_pct,
            dram_pct=dram_pct,
            nvlink_received_mib_s=nvlink_received_mib_s,
        )

    def _held(self, t: float, rows: list[Figures]) -> list[GpuProcess]:
        return [
            GpuProcess(index=index, pid=self._host.rank_pid(index), memory_mib=row[0])
            for index, row in enumerate(rows)
            if row[0] > 0 and self._host.lives(t, index)
        ]


def facts(t: float, count: int) -> GpuFacts:
    """Return what does not change about the simulated GPUs."""
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
        for index in range(count)
    ]
    return GpuFacts(**stamp(t), gpus=gpus)


def driver(t: float) -> GpuDriver:
    """Return the state of the simulated driver."""
    sentence = "SIMULATED GPUs: a recorded curve of two H200s, shown for all"
    return GpuDriver(**stamp(t), state="ok", sentence=sentence, version=DRIVER)


def _lasts(at_s: float, freeze: RankFreezes, t: float) -> bool:
    return at_s <= t < at_s + (math.inf if freeze.for_s is None else freeze.for_s)


def _idle_w(row: Figures) -> float:
    """Return the power of a GPU with a context and nothing to do; recorded: 120 to 135 W."""
    return min(row[3], 126.0)


def _sample(index: int, row: Figures) -> GpuSample:
    return GpuSample(
        index=index,
        state="ok",
        memory_used_mib=row[0],
        memory_reserved_mib=RESERVED_MIB,
        memory_total_mib=TOTAL_MIB,
        utilisation_pct=row[1],
        memory_utilisation_pct=row[2],
        power_w=round(row[3], 1),
    )


def _detail(index: int, row: Figures, received_mib: float) -> GpuDetail:
    return GpuDetail(
        index=index,
        temperature_c=row[6],
        sm_clock_mhz=row[4],
        memory_clock_mhz=row[5],
        event_reasons=int(row[7]),
        ecc_uncorrected=0,
        pcie_generation=5,
        pcie_width=16,
        pcie_received_mib=received_mib,
    )
