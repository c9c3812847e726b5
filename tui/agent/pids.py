"""Whose numbers processes have here: the host's, or those of a container's own namespace."""

from __future__ import annotations

import os

from tui.agent.processes import procfs

# The kernel's number of the first namespace of processes, that of the host.
HOSTS_PIDS = "pid:[4026531836]"


def contained() -> bool:
    """Return whether /proc numbers processes otherwise than the host does; False where that is not known.

    NSpid alone does not tell: it begins with the namespace that /proc was mounted in, so that inside a
    container it shows one number as on the host. Several numbers: the host's own /proc is mounted here.
    """
    try:
        if os.readlink("/proc/self/ns/pid") == HOSTS_PIDS:
            return False
        return len(numbers(procfs.read("/proc/self/status", 8192))) == 1
    except OSError:
        return False


def numbers(status: bytes) -> list[int]:
    """Return the pids of a /proc/PID/status, outermost namespace first; empty before Linux 4.1."""
    for line in status.splitlines():
        if line.startswith(b"NSpid:"):
            return [int(word) for word in line.split()[1:]]
    return []


def uses_gpu(pid: int) -> bool:
    """Return whether the process of this number has a device of the NVIDIA driver open, as far as is seen."""
    folder = "/proc/%d/fd" % pid
    try:
        names = os.listdir(folder)
    except OSError:
        return False
    return any(_is_nvidia(folder + "/" + name) for name in names)


def _is_nvidia(link: str) -> bool:
    try:
        return os.readlink(link).startswith("/dev/nvidia")
    except OSError:  # closed meanwhile
        return False
