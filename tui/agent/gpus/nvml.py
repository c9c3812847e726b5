"""Calls to NVML that tell what failed: for good, for now, for this GPU, or for the whole driver.

pynvml raises for everything that is not success. Here a call about one GPU gives a value or None, remembers
what the GPU will never answer, and raises only what changes more than that one value: ``GpuTrouble`` when
the GPU is out of reach, ``DriverTrouble`` when the library is. Codes are those of nvmlReturn_t.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in worker.py
if TYPE_CHECKING:
    import types
    from collections.abc import Callable
    from typing import Any, TypeGuard

    Way = tuple[object, ...]

NOT_SUPPORTED = 3
NO_PERMISSION = 4
LIBRARY_NOT_FOUND = 12
FUNCTION_NOT_FOUND = 13
GPU_IS_LOST = 15
RESET_REQUIRED = 16
VERSION_MISMATCH = 18
GPU_NOT_FOUND = 28
UNKNOWN = 999

# The GPU or its driver will not answer otherwise until the driver is loaded anew: not supported, function not
# found, version of an argument not known, deprecated.
_FOR_GOOD = frozenset((NOT_SUPPORTED, FUNCTION_NOT_FOUND, 25, 26))
_GPU = frozenset((GPU_IS_LOST, RESET_REQUIRED, GPU_NOT_FOUND))
# Uninitialised, driver not loaded, library not found, library and driver of different versions.
_DRIVER = frozenset((1, 9, LIBRARY_NOT_FOUND, VERSION_MISMATCH))

_MEMORY_V2 = 0x02000028
_TEMPERATURE_GPU = 0
_CLOCK_SM = 1
_CLOCK_MEMORY = 2
_UNCORRECTED = 1
_VOLATILE = 0

# Each value with the ways to it (a function's name and what it takes after the handle), the best first; a way
# that is refused for good gives place to the next.
MEMORY = "memory"
UTILISATION = "utilisation"
POWER = "power"
WAYS: dict[str, tuple[Way, ...]] = {
    "name": (("nvmlDeviceGetName",),),
    "uuid": (("nvmlDeviceGetUUID",),),
    "pci": (("nvmlDeviceGetPciInfo",),),
    "power_limit": (("nvmlDeviceGetEnforcedPowerLimit",),),
    "pcie_generation_max": (("nvmlDeviceGetMaxPcieLinkGeneration",),),
    "pcie_width_max": (("nvmlDeviceGetMaxPcieLinkWidth",),),
    "mig": (("nvmlDeviceGetMigMode",),),
    MEMORY: (("nvmlDeviceGetMemoryInfo", _MEMORY_V2), ("nvmlDeviceGetMemoryInfo",)),
    UTILISATION: (("nvmlDeviceGetUtilizationRates",),),
    POWER: (("nvmlDeviceGetPowerUsage",),),
    "temperature": (
        ("nvmlDeviceGetTemperatureV", _TEMPERATURE_GPU),
        ("nvmlDeviceGetTemperature", _TEMPERATURE_GPU),
    ),
    "sm_clock": (("nvmlDeviceGetClockInfo", _CLOCK_SM),),
    "memory_clock": (("nvmlDeviceGetClockInfo", _CLOCK_MEMORY),),
    "event_reasons": (
        ("nvmlDeviceGetCurrentClocksEventReasons",),
        ("nvmlDeviceGetCurrentClocksThrottleReasons",),
    ),
    "ecc": (("nvmlDeviceGetTotalEccErrors", _UNCORRECTED, _VOLATILE),),
    "pcie_generation": (("nvmlDeviceGetCurrPcieLinkGeneration",),),
    "pcie_width": (("nvmlDeviceGetCurrPcieLinkWidth",),),
    "gpm": (("nvmlGpmQueryDeviceSupport",),),
    "compute": (
        ("nvmlDeviceGetComputeRunningProcesses_v3",),
        ("nvmlDeviceGetComputeRunningProcesses_v2",),
    ),
    "graphics": (
        ("nvmlDeviceGetGraphicsRunningProcesses_v3",),
        ("nvmlDeviceGetGraphicsRunningProcesses_v2",),
    ),
}


class Refusal(Exception):
    """NVML answered with a code that is not success."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class GpuTrouble(Refusal):
    """The GPU is out of reach as a whole."""


class DriverTrouble(Refusal):
    """The driver or its library is out of reach as a whole."""


class Library:
    """pynvml, with its exceptions turned into ours."""

    def __init__(self, module: types.ModuleType) -> None:
        self._module = module
        # A name that is not UTF-8 is garbage, as lost GPUs give it. (pynvml's NVMLLibraryMismatchError comes
        # only from names without a version, which are not used here.)
        self._errors: tuple[type[Exception], ...] = (module.NVMLError, UnicodeDecodeError)
        self._functions: dict[str, Callable[..., object]] = {}
        self._structs: dict[str, Any] = {}

    def call(self, name: str, *arguments: object) -> object:
        """Return what the function gives. Raises Refusal, or the kind of it that fits the code."""
        try:
            return self._function(name)(*arguments)
        except self._errors as error:
            raise refusal(getattr(error, "value", UNKNOWN)) from None

    def struct(self, name: str) -> Any:
        """Return the one structure of this type, made once: that of GPM has 19 KB."""
        if name not in self._structs:
            self._structs[name] = getattr(self._module, name)()
        return self._structs[name]

    def _function(self, name: str) -> Callable[..., object]:
        function = self._functions.get(name)
        if function is None:
            function = self._functions[name] = getattr(self._module, name)
        return function


def refusal(code: int) -> Refusal:
    """Return the exception that fits a code."""
    if code in _GPU:
        return GpuTrouble(code)
    return DriverTrouble(code) if code in _DRIVER else Refusal(code)


class Device:
    """One GPU's handle, and which ways to which values it does not know."""

    def __init__(self, library: Library, handle: object) -> None:
        self._library = library
        self.handle = handle
        self._place: dict[str, int] = {}
        self.codes: dict[str, int] = {}

    def ask(self, value: str) -> object:
        """Return the value by the best way that works, None when there is none (now or for good).

        ``codes`` holds the last refusal of each value that is None. Raises GpuTrouble or DriverTrouble.
        """
        ways = WAYS[value]
        place = self._place.get(value, 0)
        while place < len(ways):
            name, *arguments = ways[place]
            try:
                answer = self._library.call(str(name), self.handle, *arguments)
            except (GpuTrouble, DriverTrouble):
                raise
            except Refusal as no:
                self.codes[value] = no.code
                if no.code not in _FOR_GOOD:
                    return None
                place += 1
                self._place[value] = place
            else:
                self.codes.pop(value, None)
                return answer
        return None

    def call(self, name: str, *arguments: object) -> object:
        """Return what a function gives that takes the handle first. Raises Refusal."""
        return self._library.call(name, self.handle, *arguments)

    def gives(self, value: str) -> bool:
        """Return False once every way to the value was refused for good."""
        return self._place.get(value, 0) < len(WAYS[value])


def is_list(answer: object) -> TypeGuard[list[object]]:
    """Return whether an answer is a list."""
    return isinstance(answer, list)
