"""Load pynvml, or rather the tenth of it that the GPU reader calls.

The whole module has 8,000 lines: compiling it costs 65 ms of CPU and leaves 15 MiB behind in a process of
9 MiB (measured with CPython 3.11). The part that is needed is cut out of the same text by name instead: 9 ms,
and 2 MiB. Where the cut does not give all that was asked for, the whole is loaded.
"""

from __future__ import annotations

import re
import sys
import types

from tui.agent import sources

TYPE_CHECKING = False  # as in worker.py
if TYPE_CHECKING:
    from collections.abc import Sequence

CALLS = (
    "nvmlInitWithFlags",
    "nvmlShutdown",
    "nvmlSystemGetDriverVersion",
    "nvmlDeviceGetCount",
    "nvmlDeviceGetHandleByIndex",
    "nvmlDeviceGetName",
    "nvmlDeviceGetUUID",
    "nvmlDeviceGetPciInfo",
    "nvmlDeviceGetEnforcedPowerLimit",
    "nvmlDeviceGetMaxPcieLinkGeneration",
    "nvmlDeviceGetMaxPcieLinkWidth",
    "nvmlDeviceGetMigMode",
    "nvmlDeviceGetMemoryInfo",
    "nvmlDeviceGetUtilizationRates",
    "nvmlDeviceGetPowerUsage",
    "nvmlDeviceGetTemperatureV",
    "nvmlDeviceGetTemperature",
    "nvmlDeviceGetClockInfo",
    "nvmlDeviceGetCurrentClocksEventReasons",
    "nvmlDeviceGetCurrentClocksThrottleReasons",
    "nvmlDeviceGetTotalEccErrors",
    "nvmlDeviceGetCurrPcieLinkGeneration",
    "nvmlDeviceGetCurrPcieLinkWidth",
    "nvmlDeviceGetComputeRunningProcesses_v3",
    "nvmlDeviceGetComputeRunningProcesses_v2",
    "nvmlDeviceGetGraphicsRunningProcesses_v3",
    "nvmlDeviceGetGraphicsRunningProcesses_v2",
    "nvmlGpmQueryDeviceSupport",
    "nvmlGpmSampleAlloc",
    "nvmlGpmSampleGet",
    "nvmlGpmSampleFree",
    "nvmlGpmMetricsGet",
    "nvmlEventSetCreate",
    "nvmlEventSetFree",
    "nvmlEventSetWait_v2",
    "nvmlDeviceGetSupportedEventTypes",
    "nvmlDeviceRegisterEvents",
    "nvmlDeviceGetFieldValues",
    "nvmlDeviceGetPersistenceMode",
    "nvmlDeviceGetNvLinkState",
    "nvmlDeviceGetNvLinkRemotePciInfo",
    "nvmlDeviceGetTopologyCommonAncestor",
)
# Its callers make this one themselves.
STRUCTURES = ("c_nvmlGpmMetricsGet_t",)
_LIBRARY = "libnvidia-ml.so.1"
# Where it lies beyond the loader's own search: WSL, containers of some clouds, NixOS.
_PLACES = ("/usr/lib/wsl/lib", "/usr/local/nvidia/lib64", "/run/opengl-driver/lib")
# pynvml makes its exception classes from the names with this prefix.
_ERRORS = "NVML_ERROR_"

# What stands in the first column: a decorator, a definition, an assignment, an imported name, a statement.
_BLOCK = re.compile(
    r"^(?:(@)|(?:def|class)[ ]+(\w+)|(\w+)[ ]*=(?!=)|from[ ]+[\w.]+[ ]+import[ ]+(\w+)[ ]*$|[A-Za-z_])", re.M
)
_WORD = re.compile(r"[A-Za-z_]\w*")


def load() -> types.ModuleType | None:
    """Return pynvml (once loaded: the same again), or None when its source is nowhere to be found.

    Nothing of the driver is touched.
    """
    if "pynvml" in sys.modules:
        return sys.modules["pynvml"]
    found = sources.aside(lambda: _compiled(whole=False))
    module = found and _run(*found)
    if found and (module is None or not all(hasattr(module, name) for name in (*CALLS, *STRUCTURES))):
        module = _run(*sources.aside(lambda: _compiled(whole=True)))
        if module is None:
            raise ImportError("pynvml from %s cannot be loaded" % found[1])
    return module


def find_library(places: Sequence[str] = _PLACES) -> tuple[bool, str | None]:
    """Return whether the driver's library can be loaded, and the loader's text when it is there but broken.

    It stays loaded: pynvml asks for it by its bare name and then finds it, wherever it was.
    """
    import ctypes  # 0.3 MB, in this process alone

    wanted = [_LIBRARY, *(place + "/" + _LIBRARY for place in places)]
    broken: str | None = None
    for path in wanted:
        try:
            ctypes.CDLL(path)
        except OSError as error:
            absent = "No such file" in str(error) and path + ":" in str(error)
            broken = broken if absent else str(error)
        else:
            return True, None
    return False, broken


def reduced(source: str) -> str:
    """Return the part of pynvml's source that defines CALLS, STRUCTURES and all they stand on, in its order.

    The licence at its head stays; what is reduced already stays as it is.
    """
    blocks, by_name, statements = _blocks(source)
    todo = list(statements)
    for name, places in by_name.items():
        if name in CALLS or name in STRUCTURES or name.startswith(_ERRORS):
            todo += places
    kept: dict[int, str] = {}
    while todo:
        place = todo.pop()
        if place not in kept:
            kept[place] = blocks[place]
            for word in set(_WORD.findall(blocks[place])):
                todo += by_name.get(word, ())
    return "".join(kept[place] for place in sorted(kept))


def _blocks(source: str) -> tuple[list[str], dict[str, list[int]], list[int]]:
    """Return the blocks of a module, their places by the name they define, the places of the nameless."""
    starts: list[int] = [0]
    by_name: dict[str, list[int]] = {}
    statements: list[int] = [0]
    decorated: int | None = None
    for match in _BLOCK.finditer(source):
        decorator, defined, assigned, imported = match.groups()
        if decorator:
            decorated = match.start() if decorated is None else decorated
            continue
        name = defined or assigned or imported
        places = statements if name is None else by_name.setdefault(name, [])
        places.append(len(starts))
        starts.append(match.start() if decorated is None else decorated)
        decorated = None
    ends = [*starts[1:], len(source)]
    return [source[start : ends[place]] for place, start in enumerate(starts)], by_name, statements


def _compiled(*, whole: bool) -> tuple[types.CodeType | None, str] | None:
    """Return the code (None where it is none for this Python) and where it is from; None where nothing is."""
    found = sources.text("pynvml")
    if found is None:
        return None
    source, origin = found
    try:
        return sources.code_of(source if whole else reduced(source), origin), origin
    except (SyntaxError, ValueError):
        return None, origin


def _run(code: types.CodeType | None, origin: str) -> types.ModuleType | None:
    sys.modules.pop("pynvml", None)
    if code is None:
        return None
    module = types.ModuleType("pynvml")
    sys.modules["pynvml"] = module  # it looks itself up there while it runs
    try:
        exec(code, module.__dict__)
    except (NameError, AttributeError, LookupError, TypeError, ValueError):
        del sys.modules["pynvml"]
        return None
    return module
