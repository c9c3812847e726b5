"""What a GPU received over PCIe, by the driver's GPM counters (Hopper and newer; older GPUs do not say).

While weights are loaded this is the one figure of a GPU that grows with them: memory is taken all at once.
A reading costs two calls, about 1 ms. So it belongs to the slow tier also in the weights phase: at 1 Hz its
two calls would break the budget of 5 a second, and 8 GPUs would cost 0.8 % of a core instead of 0.2 %.
"""

from __future__ import annotations

import math

from tui.agent.gpus import nvml

TYPE_CHECKING = False  # as in worker.py
if TYPE_CHECKING:
    from collections.abc import Callable

# NVML_GPM_METRIC_PCIE_RX_PER_SEC: MiB/s, the mean over the time between two samples.
_PCIE_RECEIVED = 21
_VERSION = 1
# Not supported, no permission, function not found, version of an argument not known, deprecated.
_FOR_GOOD = frozenset((nvml.NOT_SUPPORTED, nvml.NO_PERMISSION, nvml.FUNCTION_NOT_FOUND, 25, 26))


class Received:
    """The running total of one GPU since the first reading that succeeded.

    ``clock`` gives seconds that only grow. A reading that fails leaves the sample before it in place, so that
    the next one covers the whole time in between.
    """

    def __init__(self, library: nvml.Library, device: nvml.Device, clock: Callable[[], float]) -> None:
        self._library = library
        self._device = device
        self._clock = clock
        self._samples: list[object] = []  # the last one taken, the one to take next
        self._at_s: float | None = None
        self._total_mib = 0.0
        self._silent = False

    def read(self) -> float | None:
        """Return the total in MiB, None when the GPU does not say (now or ever).

        Raises GpuTrouble or DriverTrouble.
        """
        if self._silent:
            return None
        try:
            return self._read() if self._prepared() else None
        except (nvml.GpuTrouble, nvml.DriverTrouble):
            raise
        except nvml.Refusal as no:
            self._silent = no.code in _FOR_GOOD
            return None

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

    def _read(self) -> float | None:
        before, sample = self._samples
        self._device.call("nvmlGpmSampleGet", sample)
        now_s = self._clock()
        if self._at_s is not None:
            rate = self._rate(before, sample)
            if rate is None:
                return None
            self._total_mib += rate * (now_s - self._at_s)
        self._at_s, self._samples = now_s, [sample, before]
        return round(self._total_mib, 1)

    def _rate(self, before: object, sample: object) -> float | None:
        """Return MiB/s between two samples, None when there is no such figure."""
        asked = self._library.struct("c_nvmlGpmMetricsGet_t")
        asked.version, asked.numMetrics = _VERSION, 1
        asked.sample1, asked.sample2 = before, sample
        metric = asked.metrics[0]
        metric.metricId, metric.nvmlReturn, metric.value = _PCIE_RECEIVED, 0, math.nan
        self._library.call("nvmlGpmMetricsGet", asked)
        if metric.nvmlReturn:
            raise nvml.refusal(metric.nvmlReturn)
        rate = float(metric.value)
        return rate if math.isfinite(rate) and rate >= 0 else None
