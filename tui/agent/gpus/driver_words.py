"""What NVML's codes mean for the person who watches: what is wrong, why most likely, what to do."""

from __future__ import annotations

from tui.agent.gpus import nvml

# The names of the codes, from the documentation of nvmlReturn_t.
_NAMES = {
    1: "not initialised",
    2: "invalid argument",
    3: "not supported",
    4: "no permission",
    6: "not found",
    8: "external power cable not attached",
    9: "driver not loaded",
    10: "time-out",
    11: "interrupt problem",
    12: "library not found",
    13: "function not found",
    14: "corrupted infoROM",
    15: "GPU is lost",
    16: "GPU requires reset",
    17: "blocked by the operating system",
    18: "driver and library versions differ",
    20: "out of memory",
    21: "no data",
    23: "insufficient resources",
    27: "not ready",
    28: "GPU not found",
    29: "invalid state",
    999: "unknown error",
}

_ABSENT = (
    "No NVIDIA driver was found here (no libnvidia-ml.so.1). If this host has GPUs, install the driver; "
    "a container must be started with its GPUs (docker run --gpus all)."
)
_FAILED = {
    4: (
        "The NVIDIA driver refuses this user. Watch as a user who may open /dev/nvidiactl "
        "(see its group with ls -l), or give the container the right to its GPUs."
    ),
    9: (
        "The NVIDIA driver is installed but not loaded. As root, run modprobe nvidia; "
        "if that fails, dmesg says why (after a kernel update its module may have to be built anew)."
    ),
    15: (
        "The NVIDIA driver has lost a GPU and cannot start. dmesg names the Xid; the host needs a reboot, "
        "or that GPU a reset."
    ),
    18: (
        "The NVIDIA driver and its library are of different versions, most likely after an update "
        "without a reboot. Reboot the host, or unload the nvidia kernel modules and load them again."
    ),
    999: (
        'The NVIDIA driver answers "unknown error". In a container this mostly means that it lost its GPUs '
        "(systemctl daemon-reload on the host does that): restart the container. Else look at dmesg for NVRM."
    ),
}
NO_GPU = (
    "The NVIDIA driver answers, but shows no GPU here. A container must be started with its GPUs "
    "(docker run --gpus all); otherwise see nvidia-smi and dmesg."
)
NO_BINDINGS = "The GPUs cannot be read: pynvml did not come along with tminus. Install tminus anew."

UNIFIED = "GPU and host share one memory here; the driver gives no figure for the GPU alone."
MIG = "MIG is on: the driver gives no utilisation for the GPU as a whole."
MEMORY_REFUSED = "This user may not read this GPU's memory (in a container with MIG that is usual)."


def of_driver(code: int, detail: str | None = None) -> tuple[str, str]:
    """Return the state (absent, failed) and the sentence for a driver that does not start with this code.

    ``detail`` is the loader's own text when the library is there and cannot be loaded.
    """
    if code == nvml.LIBRARY_NOT_FOUND:
        if detail is None:
            return "absent", _ABSENT
        return "failed", "The NVIDIA library is here, but does not load (%s). Reinstall the driver." % detail
    known = _FAILED.get(code)
    if known is not None:
        return "failed", known
    what = "The NVIDIA driver does not start: %s. Run nvidia-smi there, and look at dmesg for NVRM or Xid."
    return "failed", what % name(code)


def of_gpu(index: int, code: int) -> str:
    """Return the sentence for a GPU that cannot be reached."""
    if code == nvml.GPU_IS_LOST:
        return (
            "GPU %d is lost: the driver cannot reach it any more. dmesg names the Xid; "
            "it needs a reset or the host a reboot, once all that uses it (tminus too) has ended." % index
        )
    if code == nvml.RESET_REQUIRED:
        return "GPU %d needs a reset (nvidia-smi --gpu-reset -i %d, once all that uses it has ended)." % (
            index,
            index,
        )
    if code == nvml.NO_PERMISSION:
        return "GPU %d: this user may not read it." % index
    return "GPU %d does not answer: %s. See nvidia-smi and dmesg." % (index, name(code))


def missing(index: int) -> str:
    """Return the sentence for a GPU that was there before the driver was loaded anew."""
    return "GPU %d is gone since the driver was loaded anew. See nvidia-smi and dmesg." % index


def unreliable_lists(version: str) -> str:
    """Return the sentence for a driver whose process lists cannot be read rightly."""
    return (
        "Driver %s lists GPU processes in a layout of its own, so they are not shown; "
        "535.104 and newer are right again." % version
    )


def name(code: int) -> str:
    """Return what a code is called."""
    return _NAMES.get(code, "error") + " (%d)" % code
