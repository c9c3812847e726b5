"""What the H200 recorder read from NVML, as a live watch's GPU events: thinned, in the terms of NVML v2.

The slow tier comes each second too, where a live watch has it each 5 s: the recorder read all at once.
"""

from collections.abc import Iterator

from tui.events import (
    AnyEvent,
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
from tui.journal.h200_records import GpuRecord, GpuRow, Launch

DRIVER_RESERVE_MIB = 615.0
"""What the driver kept on these cards: NVML v1 counts it as used, v2 (which a live watch asks) does not."""
EACH_S = 1.0
"""The recorder read five times a second, a watch reads once."""
_WRAP = 1 << 32
_MIB = 1024.0 * 1024.0
_FIELDS = ("nvl_dtx", "nvl_drx", "nvl_rtx", "nvl_rrx", "pcie_tx", "pcie_rx", "pw_inst", "mtemp")
_GPM = ("gr", "sm", "occ", "tensor", "hmma", "dram", "pcie_tx", "pcie_rx", "nvl_rx", "nvl_tx")


class PcieReceived:
    """The running total of a byte counter of 32 bits, which wraps each 4.29 GB (0.7 s at 6 GB/s).

    How often it wrapped between two readings is what fits best with the mean rate that GPM measured in
    between; without one, less than once.
    """

    def __init__(self) -> None:
        self.total_mib: float | None = None
        self._bytes = 0
        self._counter: float | None = None
        self._at_s = 0.0

    def take(self, counter: float | None, rate_mib_s: float | None, at_s: float) -> None:
        """Take a reading in; one without a figure leaves the next to cover the time in between."""
        if counter is None:
            return
        if self._counter is not None:
            came = int(counter - self._counter) % _WRAP
            if rate_mib_s is not None:
                measured = rate_mib_s * _MIB * (at_s - self._at_s)
                came += max(0, round((measured - came) / _WRAP)) * _WRAP
            self._bytes += came
        self._counter, self._at_s = counter, at_s
        self.total_mib = round(self._bytes / _MIB, 1)


class GpmMeans:
    """The means of one GPU's GPM figures over the ticks since they were last told."""

    def __init__(self, places: tuple[int | None, ...]) -> None:
        self._places = places
        self._sums = [0.0] * len(places)
        self._counts = [0] * len(places)

    def take(self, values: list[float | None] | str | None) -> None:
        """Note one tick; what the driver refused counts for nothing."""
        if not isinstance(values, list):
            return
        for number, place in enumerate(self._places):
            value = _value(values, place)
            if value is not None:
                self._sums[number] += value
                self._counts[number] += 1

    def told(self) -> tuple[float | None, ...]:
        """Return the means in the order of the places, None without a figure, and begin anew."""
        pairs = zip(self._sums, self._counts, strict=True)
        means = tuple(round(total / count, 2) if count else None for total, count in pairs)
        self._sums, self._counts = [0.0] * len(means), [0] * len(means)
        return means


class GpuReader:
    """Turns ticks into events: facts at the first, samples, details and process lists once a second."""

    def __init__(self, launch: Launch | None) -> None:
        self._totals = launch.total_mib if launch is not None else []
        gpm = launch.gpm_fields if launch is not None else []
        self._pcie = _place("pcie_rx", launch.fi_fields if launch is not None else [], _FIELDS)
        self._rate = _place("pcie_rx", gpm, _GPM)
        self._told_gpm = tuple(_place(name, gpm, _GPM) for name in ("sm", "tensor", "dram", "nvl_rx"))
        self._means: dict[int, GpmMeans] = {}
        self._received: dict[int, PcieReceived] = {}
        self._procs: dict[str, int] | None = None
        self._told: list[GpuProcess] | None = None
        self._due_s: float | None = None

    def take(self, record: GpuRecord) -> Iterator[AnyEvent]:
        """Give the events of one tick."""
        if record.procs is not None:
            self._procs = record.procs
        if record.g is None:
            return
        for index, row in enumerate(record.g):
            self._count(index, row, record.t)
        if self._due_s is None:
            yield from self._facts(len(record.g), record.t)
            self._due_s = record.t
        if record.t >= self._due_s:
            self._due_s += EACH_S * ((record.t - self._due_s) // EACH_S + 1)
            yield from self._read(record.g, record)

    def _count(self, index: int, row: GpuRow, t: float) -> None:
        received = self._received.setdefault(index, PcieReceived())
        received.take(_value(row.fields, self._pcie), _value(row.gpm, self._rate), t)
        self._means.setdefault(index, GpmMeans(self._told_gpm)).take(row.gpm)

    def _facts(self, count: int, t: float) -> Iterator[AnyEvent]:
        sentence = "NVIDIA driver, its version is not recorded"
        yield GpuDriver(mono_s=t, wall_s=t, state="ok", sentence=sentence)
        yield GpuFacts(mono_s=t, wall_s=t, gpus=[self._fact(index) for index in range(count)])

    def _fact(self, index: int) -> GpuFact:
        return GpuFact(
            index=index,
            uuid=None,
            name=None,
            bus_id=None,
            memory_total_mib=self._total(index),
            power_limit_w=None,
            pcie_generation_max=None,
            pcie_width_max=None,
        )

    def _total(self, index: int) -> float | None:
        return self._totals[index] if index < len(self._totals) else None

    def _read(self, rows: list[GpuRow], record: GpuRecord) -> Iterator[AnyEvent]:
        t = record.t
        samples = [self._sample(index, row) for index, row in enumerate(rows)]
        yield Gpus(mono_s=t, wall_s=t, gpus=samples, cost_ms=record.cost_ms)
        details = [self._detail(index, row) for index, row in enumerate(rows)]
        yield GpuDetails(mono_s=t, wall_s=t, gpus=details, cost_ms=record.cost_ms)
        processes = _processes(self._procs or {})
        if self._procs is not None and processes != self._told:
            self._told = processes
            yield GpuProcesses(mono_s=t, wall_s=t, processes=processes)

    def _sample(self, index: int, row: GpuRow) -> GpuSample:
        used = None if row.used_mib is None else max(0.0, row.used_mib - DRIVER_RESERVE_MIB)
        silent = used is None and row.utilisation_pct is None and row.power_mw is None
        return GpuSample(
            index=index,
            state="error" if silent else "ok",
            memory_used_mib=used,
            memory_reserved_mib=None if used is None else DRIVER_RESERVE_MIB,
            memory_total_mib=self._total(index),
            utilisation_pct=row.utilisation_pct,
            memory_utilisation_pct=row.memory_utilisation_pct,
            power_w=None if row.power_mw is None else round(row.power_mw / 1000, 1),
            sentence="the driver gave no reading" if silent else None,
        )

    def _detail(self, index: int, row: GpuRow) -> GpuDetail:
        sm_pct, tensor_pct, dram_pct, nvlink_received_mib_s = self._means[index].told()
        return GpuDetail(
            index=index,
            temperature_c=row.temperature_c,
            sm_clock_mhz=row.sm_clock_mhz,
            memory_clock_mhz=row.memory_clock_mhz,
            event_reasons=row.event_reasons,
            ecc_uncorrected=None,
            pcie_generation=None,
            pcie_width=None,
            pcie_received_mib=self._received[index].total_mib,
            sm_pct=sm_pct,
            tensor_pct=tensor_pct,
            dram_pct=dram_pct,
            nvlink_received_mib_s=nvlink_received_mib_s,
        )


def _processes(procs: dict[str, int]) -> list[GpuProcess]:
    """Return who holds memory; 0 is how the recorder wrote what the driver did not say."""
    found: list[GpuProcess] = []
    for key, mib in procs.items():
        gpu, _, pid = key.partition(":")
        if gpu.isdecimal() and pid.isdecimal():
            found.append(GpuProcess(index=int(gpu), pid=int(pid), memory_mib=float(mib) if mib else None))
    return sorted(found, key=lambda process: (process.index, process.pid))


def _place(name: str, told: list[str], usual: tuple[str, ...]) -> int | None:
    """Return where a figure stands: the launch names the columns, else they are the usual ones."""
    names = told or list(usual)
    return names.index(name) if name in names else None


def _value(values: list[float | None] | str | None, place: int | None) -> float | None:
    if place is None or not isinstance(values, list) or place >= len(values):
        return None
    return values[place]
