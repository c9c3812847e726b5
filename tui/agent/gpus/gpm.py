"""What a GPU does and receives, by the driver's GPM counters (Hopper and newer; older GPUs do not say).

While weights are loaded, what came over PCIe is the one figure of a GPU that grows with them: memory is taken
all at once. How busy its multiprocessors, tensor cores and memory are tells work from a wait at "100 %".
A reading costs two calls, about 1 ms, however many figures it asks for. So it belongs to the slow tier also
in the weights phase: at 1 Hz its two calls would break the budget of 5 a second, and 8 GPUs would cost 0.8 %
of a core instead of 0.2 %.
"""

from __future__ import annotations

import math

from tui.agent.gpus import nvml

TYPE_CHECKING = False  # as in worker.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# NVML_GPM_METRIC_PCIE_RX_PER_SEC: MiB/s. This and all others are means over the time between two samples.
_PCIE_RECEIVED = 21
_RECEIVED = "pcie_received_mib"
# ..._SM_UTIL, ..._ANY_TENSOR_UTIL, ..._DRAM_BW_UTIL: percent.
_SHARES = {"sm_pct": 2, "tensor_pct": 5, "dram_pct": 10}
# ..._NVLINK_TOTAL_RX_PER_SEC: MiB/s.
_RATES = {"nvlink_received_mib_s": 60}
_ASKED = (_PCIE_RECEIVED, *_SHARES.values(), *_RATES.values())
FIELDS = (_RECEIVED, *_SHARES, *_RATES)
UNKNOWN: dict[str, float | None] = dict.fromkeys(FIELDS)
_VERSION = 1
# Not supported, no permission, function not found, version of an argument not known, deprecated.
_FOR_GOOD = frozenset((nvml.NOT_SUPPORTED, nvml.NO_PERMISSION, nvml.FUNCTION_NOT_FOUND, 25, 26))


class Counters:
    """The GPM figures of one GPU: a running total of what it received, and means since the reading before.

    ``clock`` gives seconds that only grow. A reading that fails leaves the sample before it in place, so that
    the next one covers the whole time in between.
    """

    def __init__(self, library: nvml.Library, device: nvml.Device, clock: Callable[[], float]) -> None:
        self._library = library
        self._device = device
        self._clock = clock
        self._samples: list[object] = []  # the last one taken, the one to take next
        self._at_s: float | None = None
        self._total_mib: float | None = 0.0  # None once PCIe's figure was refused for good
        self._silent = False

    def read(self) -> dict[str, float | None]:
        """Return FIELDS: None for what the GPU does not say (now or ever), and before there are two samples.

        The total counts in MiB from the first reading that succeeded. Raises GpuTrouble or DriverTrouble.
        """
        if self._silent:
            return dict(UNKNOWN)
        try:
            return self._read() if self._prepared() else dict(UNKNOWN)
        except (nvml.GpuTrouble, nvml.DriverTrouble):
            raise
        except nvml.Refusal as no:
            self._silent = no.code in _FOR_GOOD
            return dict(UNKNOWN)

    def free(self) -> None:
        """Give the samples back; to be called before the library is shut down."""
        samples, self._samples, self._silent = self._samples, [], True
        for sample in samples:
            try:
                self._library.call("nvmlGpmSampleFree", sample)
            except nvml.Refusal:
                return  # the library is gone, and they with it

    def _prepared(self) -> bool:
        if not self._samples:
            support = self._device.ask("gpm")
            if support is None:
                self._silent = not self._device.gives("gpm")
                return False
            if not getattr(support, "isSupportedDevice", 0):
                self._silent = True
                return False
        while len(self._samples) < 2:
            self._samples.append(self._library.call("nvmlGpmSampleAlloc"))
        return True

    def _read(self) -> dict[str, float | None]:
        before, sample = self._samples
        self._device.call("nvmlGpmSampleGet", sample)
        now_s = self._clock()
        figures = dict(UNKNOWN)
        if self._at_s is not None:
            metrics = self._metrics(before, sample)
            for place, name in enumerate(FIELDS):
                figures[name] = _figure(name, metrics[place])
            rate = figures.pop(_RECEIVED)
            refused_for_good = metrics[0].nvmlReturn in _FOR_GOOD
            if rate is None and not refused_for_good:
                return dict(UNKNOWN, **figures)
            self._total_mib = (
                None
                if rate is None or self._total_mib is None
                else (self._total_mib + rate * (now_s - self._at_s))
            )
        self._at_s, self._samples = now_s, [sample, before]
        figures[_RECEIVED] = None if self._total_mib is None else round(self._total_mib, 1)
        return figures

    def _metrics(self, before: object, sample: object) -> list[Any]:
        """Ask for all figures between two samples at once. Raises Refusal, also when all are for good."""
        asked = self._library.struct("c_nvmlGpmMetricsGet_t")
        asked.version, asked.numMetrics = _VERSION, len(_ASKED)
        asked.sample1, asked.sample2 = before, sample
        for place, number in enumerate(_ASKED):
            metric = asked.metrics[place]
            metric.metricId, metric.nvmlReturn, metric.value = number, 0, math.nan
        self._library.call("nvmlGpmMetricsGet", asked)
        metrics = [asked.metrics[place] for place in range(len(_ASKED))]
        trouble = nvml.refusal(metrics[0].nvmlReturn)
        if isinstance(trouble, (nvml.GpuTrouble, nvml.DriverTrouble)):
            raise trouble
        if all(metric.nvmlReturn in _FOR_GOOD for metric in metrics):
            raise trouble
        return metrics


def _figure(name: str, metric: Any) -> float | None:
    """Return what a metric says, None when it is refused or no figure."""
    value = float(metric.value)
    if metric.nvmlReturn or not math.isfinite(value) or value < 0:
        return None
    if name == _RECEIVED:
        return value  # to be added up
    return round(min(value, 100.0) if name in _SHARES else value, 1)
