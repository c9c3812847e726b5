"""One row of what ``nvidia-smi --query-gpu=... --format=csv`` prints, and what it says of a GPU.

Its manual promises no stable output: any cell may hold a text where a number should be ([N/A], [Not
Supported], [Unknown Error], ERR!, nothing at all). Such a cell is not known; it is never 0.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from tui.agent.gpus.row import number as counter
from tui.agent.gpus.row import percent
from tui.events import GpuDetail, GpuFact, GpuSample

_NUMBER = re.compile(r"\+?(\d{1,20}(?:\.\d{1,9})?)(?: *(?:MiB|W|MHz|%|C))?", re.ASCII)
_MASK = re.compile(r"0x[0-9a-fA-F]{1,16}")
_LOST = re.compile(r"\bis lost\b|\bGPU lost\b", re.IGNORECASE)
_BROKEN = re.compile(r"\bERR!|\[?Unknown Error\]?|requires reset", re.IGNORECASE)
_UNREACHED = re.compile(r"unable to determine the device handle|fallen off the bus", re.IGNORECASE)
_UNKNOWN = ("N/A", "ERR!", "Not Supported", "Unknown Error")

# What a column is called, by the field that it fills; the first that is there counts.
NAMES: Mapping[str, tuple[str, ...]] = {
    "time": ("timestamp",),
    "index": ("index",),
    "uuid": ("uuid", "gpu_uuid"),
    "bus_id": ("pci.bus_id", "gpu_bus_id"),
    "name": ("name", "gpu_name"),
    "driver": ("driver_version",),
    "used": ("memory.used",),
    "reserved": ("memory.reserved",),
    "total": ("memory.total",),
    "utilisation": ("utilization.gpu",),
    "memory_utilisation": ("utilization.memory",),
    "power": ("power.draw.instant", "power.draw", "power.draw.average"),
    "limit": ("enforced.power.limit", "power.limit"),
    "temperature": ("temperature.gpu",),
    "sm_clock": ("clocks.current.sm", "clocks.sm", "clocks.current.graphics", "clocks.gr"),
    "memory_clock": ("clocks.current.memory", "clocks.mem"),
    "reasons": ("clocks_event_reasons.active", "clocks_throttle_reasons.active"),
    "ecc": ("ecc.errors.uncorrected.volatile.total",),
    "generation": ("pcie.link.gen.gpucurrent", "pcie.link.gen.current"),
    "width": ("pcie.link.width.current",),
    "generation_max": ("pcie.link.gen.gpumax", "pcie.link.gen.max"),
    "width_max": ("pcie.link.width.max",),
}
DETAILS = ("temperature", "sm_clock", "memory_clock", "reasons", "ecc", "generation", "width")
"""The fields of the slow tier."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: when it was read, which GPU it is of ("" where it does not say), its cells."""

    wall_s: float
    gpu: str
    cells: Mapping[str, str]

    def text(self, field: str) -> str | None:
        """Return a cell, None where there is none or the driver does not say."""
        text = self.cells.get(field, "")
        return None if not text or text.startswith("[") or text in _UNKNOWN else text

    def number(self, field: str) -> float | None:
        """Return a cell's number without its unit, None where there is none or it stands for "not known"."""
        found = _NUMBER.fullmatch(self.text(field) or "")
        if found is None or (found[1].isdigit() and counter(int(found[1])) is None):
            return None
        return float(found[1])

    def whole(self, field: str) -> int | None:
        """Return a cell's whole number, None where there is none."""
        number = self.number(field)
        return None if number is None else int(number)

    def share(self, field: str) -> float | None:
        """Return a cell's percentage, None for what is none."""
        return percent(self.whole(field))

    @property
    def trouble(self) -> str | None:
        """The first cell that tells of a GPU which cannot be reached or read."""
        return next(
            (text for text in self.cells.values() if _LOST.search(text) or _BROKEN.search(text)), None
        )


def row_fact(index: int, row: Row, before: GpuFact | None) -> GpuFact:
    """Return what does not change about a GPU; of one in trouble what was known before."""
    if before is not None and row.trouble is not None:
        return before
    return GpuFact(
        index=index,
        uuid=row.text("uuid"),
        name=row.text("name"),
        bus_id=row.text("bus_id"),
        memory_total_mib=row.number("total"),
        power_limit_w=row.number("limit"),
        pcie_generation_max=row.whole("generation_max"),
        pcie_width_max=row.whole("width_max"),
    )


def told_lost(text: str) -> bool:
    """Say whether nvidia-smi's words tell of a GPU that is lost."""
    return _LOST.search(text) is not None


def told_trouble(text: str) -> bool:
    """Say whether nvidia-smi's words tell of a GPU that cannot be reached or read."""
    return _UNREACHED.search(text) is not None or told_lost(text) or _BROKEN.search(text) is not None


def row_sample(index: int, row: Row) -> GpuSample:
    """Return the fast tier of a GPU; of a lost one nothing but that."""
    trouble = row.trouble
    lost = trouble is not None and _LOST.search(trouble) is not None
    # A total of 0 is how GPU and host that share one memory are told of at times.
    total = row.number("total") or None
    used = None if lost or row.number("total") == 0 else row.number("used")
    # One figure that cannot be read is no trouble of the GPU.
    failed = trouble is not None and used is None and "used" in row.cells
    return GpuSample(
        index=index,
        state="lost" if lost else "error" if failed else "ok",
        memory_used_mib=used,
        memory_reserved_mib=row.number("reserved"),
        memory_total_mib=total,
        utilisation_pct=None if lost else row.share("utilisation"),
        memory_utilisation_pct=None if lost else row.share("memory_utilisation"),
        power_w=None if lost else row.number("power"),
        sentence=f"nvidia-smi says {trouble.strip('[]')}" if trouble and (lost or failed) else None,
    )


def row_detail(index: int, row: Row) -> GpuDetail:
    """Return the slow tier of a GPU."""
    mask = _MASK.fullmatch(row.text("reasons") or "")
    return GpuDetail(
        index=index,
        temperature_c=row.number("temperature"),
        sm_clock_mhz=row.number("sm_clock"),
        memory_clock_mhz=row.number("memory_clock"),
        event_reasons=None if mask is None else int(mask[0], 16),
        ecc_uncorrected=row.whole("ecc"),
        pcie_generation=row.whole("generation"),
        pcie_width=row.whole("width"),
    )
