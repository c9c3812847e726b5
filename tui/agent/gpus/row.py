"""One GPU of the host: its place for the whole watch, its handle while it has one, and its readings.

A GPU that is lost keeps its row. Readings have the fields of GpuSample, GpuDetail and GpuFact in
tui/events.py; what the driver does not give is None.
"""

from __future__ import annotations

import time

from tui.agent.gpus import driver_words, nvml
from tui.agent.gpus.gpm import FIELDS, UNKNOWN, Counters

TYPE_CHECKING = False  # as in worker.py
if TYPE_CHECKING:
    from collections.abc import Callable

    Fields = dict[str, object]

_MIB = 1024 * 1024
# NVML's "not available" in 32 and 64 bits, and the blanks of DCGM that drivers let through (0x7ff…f0 to …f4,
# among them 9223372036854775794).
_BLANKS = frozenset(
    [0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF, *range(0x7FFFFFF0, 0x7FFFFFF5), *range(2**63 - 16, 2**63 - 11)]
)
_HOTTEST_C = 250
# What seldom changes is asked at every third slow reading, so that all stays under 5 calls a second and GPU.
_SELDOM = 3
_LOST = frozenset((nvml.GPU_IS_LOST, nvml.GPU_NOT_FOUND))


def number(answer: object) -> int | None:
    """Return a counter or reading; None for no answer and for the values that mean "not available"."""
    return answer if isinstance(answer, int) and answer >= 0 and answer not in _BLANKS else None


def scaled(answer: object, unit: float, digits: int) -> float | None:
    """Return a reading in another unit (divided by ``unit``), None where there is none."""
    value = number(answer)
    return None if value is None else round(value / unit, digits)


def percent(answer: object) -> float | None:
    """Return a share of 0 to 100, None for anything else."""
    value = number(answer)
    return float(value) if value is not None and value <= 100 else None


def text(answer: object) -> str | None:
    """Return a name, None for an empty one or none."""
    return answer if isinstance(answer, str) and answer else None


def memory_mib(answer: object) -> tuple[float | None, float | None, float | None]:
    """Return used, reserved and total of a memory answer; v1 counts what is reserved as used.

    A total of 0 is how some drivers say that GPU and host share one memory: nothing is known then.
    """
    total = scaled(getattr(answer, "total", None), _MIB, 2)
    if not total:
        return None, None, None
    used = scaled(getattr(answer, "used", None), _MIB, 2)
    return used, scaled(getattr(answer, "reserved", None), _MIB, 2), total


class Row:
    """A GPU's row. ``uuid`` and ``bus_id`` identify it when the driver is loaded anew."""

    def __init__(self, index: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.index = index
        self._clock = clock
        self.place: int | None = None  # NVML's own index, None for a GPU that is gone
        self.device: nvml.Device | None = None
        self.uuid: str | None = None
        self.fact: Fields = {"index": index, **dict.fromkeys(_FACTS)}
        self.code: int | None = None
        self.used_mib: float | None = None
        self._state = "lost"
        self._sentence: str | None = None
        self._mig = False
        self._counters: Counters | None = None
        self._details = 0
        self._seldom: Fields = {}

    def open(self, library: nvml.Library, place: int) -> bool:
        """Take the handle at NVML's index ``place`` and read the facts; False when the GPU is out of reach.

        Raises DriverTrouble.
        """
        try:
            device = nvml.Device(library, library.call("nvmlDeviceGetHandleByIndex", place))
            self._mig = _mig(device)
            self.fact = _fact(self.index, device)
        except nvml.DriverTrouble:
            raise
        except nvml.Refusal as no:
            self._lose(no.code)
            return False
        self.let_go()
        self.device, self.uuid = device, text(self.fact["uuid"])
        self._counters = None if self._mig else Counters(library, device, self._clock)
        self._details = 0
        return True

    def close(self, sentence: str) -> None:
        """Let go of the handle: the GPU is gone, as the sentence says."""
        self.let_go()
        self.device, self.used_mib, self.code = None, None, nvml.GPU_IS_LOST
        self._state, self._sentence = "lost", sentence

    def let_go(self) -> None:
        """Give back what the library keeps for this GPU; to be called before it is shut down."""
        if self._counters is not None:
            self._counters.free()
            self._counters = None

    def sample(self) -> Fields:
        """Return the fast tier. Raises DriverTrouble."""
        if self.device is not None:
            try:
                return self._sample(self.device)
            except nvml.GpuTrouble as trouble:
                self._lose(trouble.code)
        return self._outcome(memory=(None, None, self.fact["memory_total_mib"]))

    def detail(self) -> Fields:
        """Return the slow tier. Raises DriverTrouble."""
        if self.device is not None:
            try:
                return self._detail(self.device)
            except nvml.GpuTrouble as trouble:
                self._lose(trouble.code)
        return {"index": self.index, **dict.fromkeys(_DETAILS)}

    def _detail(self, device: nvml.Device) -> Fields:
        figures = UNKNOWN if self._counters is None else self._counters.read()
        if self._details % _SELDOM == 0:
            self._seldom = _seldom(device)
        self._details += 1
        return {"index": self.index, **_often(device), **self._seldom, **figures}

    def _sample(self, device: nvml.Device) -> Fields:
        memory = memory_mib(device.ask(nvml.MEMORY))
        busy = None if self._mig else device.ask(nvml.UTILISATION)
        power = scaled(device.ask(nvml.POWER), 1000, 1)
        self.used_mib = memory[0]
        silent = memory[2] is None and busy is None and power is None
        self.code = _transient(device) if silent else None
        if self.code is not None:
            self._state, self._sentence = "error", driver_words.of_gpu(self.index, self.code)
        else:
            self._state, self._sentence = "ok", self._remark(device, memory[2])
        return self._outcome(memory, busy, power)

    def _remark(self, device: nvml.Device, total_mib: float | None) -> str | None:
        if total_mib is None:
            refused = device.codes.get(nvml.MEMORY) == nvml.NO_PERMISSION
            unified = not device.gives(nvml.MEMORY) or nvml.MEMORY not in device.codes
            return driver_words.MEMORY_REFUSED if refused else driver_words.UNIFIED if unified else None
        return driver_words.MIG if self._mig else None

    def _outcome(
        self, memory: tuple[object, object, object], busy: object = None, power: object = None
    ) -> Fields:
        used, reserved, total = memory
        return {
            "index": self.index,
            "state": self._state,
            "memory_used_mib": used,
            "memory_reserved_mib": reserved,
            "memory_total_mib": total,
            "utilisation_pct": percent(getattr(busy, "gpu", None)),
            "memory_utilisation_pct": percent(getattr(busy, "memory", None)),
            "power_w": power,
            "sentence": self._sentence,
        }

    def _lose(self, code: int) -> None:
        self.let_go()
        self.device, self.used_mib, self.code = None, None, code
        self._state = "lost" if code in _LOST else "error"
        self._sentence = driver_words.of_gpu(self.index, code)


_FACTS = (
    "uuid",
    "name",
    "bus_id",
    "memory_total_mib",
    "power_limit_w",
    "pcie_generation_max",
    "pcie_width_max",
)
_DETAILS = (
    "temperature_c",
    "sm_clock_mhz",
    "memory_clock_mhz",
    "event_reasons",
    "ecc_uncorrected",
    "pcie_generation",
    "pcie_width",
    *FIELDS,
)


def _fact(index: int, device: nvml.Device) -> Fields:
    return {
        "index": index,
        "uuid": text(device.ask("uuid")),
        "name": text(device.ask("name")),
        "bus_id": text(getattr(device.ask("pci"), "busId", None)),
        "memory_total_mib": memory_mib(device.ask(nvml.MEMORY))[2],
        "power_limit_w": scaled(device.ask("power_limit"), 1000, 1),
        "pcie_generation_max": number(device.ask("pcie_generation_max")),
        "pcie_width_max": number(device.ask("pcie_width_max")),
    }


def _often(device: nvml.Device) -> Fields:
    temperature = number(device.ask("temperature"))
    return {
        "temperature_c": temperature if temperature is not None and temperature <= _HOTTEST_C else None,
        "sm_clock_mhz": number(device.ask("sm_clock")),
        "event_reasons": number(device.ask("event_reasons")),
    }


def _seldom(device: nvml.Device) -> Fields:
    return {
        "memory_clock_mhz": number(device.ask("memory_clock")),
        "ecc_uncorrected": number(device.ask("ecc")),
        "pcie_generation": number(device.ask("pcie_generation")),
        "pcie_width": number(device.ask("pcie_width")),
    }


def _mig(device: nvml.Device) -> bool:
    answer = device.ask("mig")
    return nvml.is_list(answer) and answer[:1] == [1]


def _transient(device: nvml.Device) -> int | None:
    """Return the code of a fast call that may yet succeed, None when all are refused for good."""
    for value in (nvml.MEMORY, nvml.UTILISATION, nvml.POWER):
        if device.gives(value) and value in device.codes:
            return device.codes[value]
    return None
