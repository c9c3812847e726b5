"""Which processes hold memory on a GPU: asked for when memory moved, and no more often than is cheap.

A list costs up to four calls (compute and graphics processes, each its size and then its entries), and a load
moves memory at every tick. So each GPU has an allowance, which the first lists of a load find full.

In a container older drivers number the processes as the host does, newer ones as the container does (drivers
of both kinds: gpu-monitoring-tools#63, open-gpu-kernel-modules#614). So there a number counts as the
container's own only where the process of that number is seen to use a GPU.
"""

from __future__ import annotations

import re

from tui.agent import pids
from tui.agent.gpus import nvml
from tui.agent.gpus.row import Row, scaled

_MOVED_MIB = 1.0
_QUIET_S = 60.0
# Calls a second and GPU on average, so that with the fast tier (3 at 1 Hz), the slow one (7 in 5 s) and the
# facts all stays under 5 from the first minute on; and how many may be saved up.
_CALLS_PER_S = 0.3
_SAVED_CALLS = 3.0
# /proc/sys/kernel/pid_max cannot be set higher on 64 bits.
_PID_MAX = 4194304
_MIB = 1024 * 1024
# Drivers 535.43 to 535.98 laid the entries out differently under the same name; no process is shown then.
_POISONED = ((535, 43), (535, 98))


def trusted(version: str | None) -> bool:
    """Return whether process lists of this driver version can be read rightly ("535.54.03" cannot)."""
    found = re.match(r"(\d+)\.(\d+)", version or "")
    return found is None or not _POISONED[0] <= (int(found.group(1)), int(found.group(2))) <= _POISONED[1]


class Allowance:
    """Calls that may be spent: a steady rate, saved up to a limit. ``now_s`` is any clock that only grows."""

    def __init__(self, per_s: float = _CALLS_PER_S, saved: float = _SAVED_CALLS) -> None:
        self._per_s = per_s
        self._limit = saved
        self._saved = saved
        self._at_s: float | None = None

    def left(self, now_s: float) -> bool:
        """Return whether anything is left to spend."""
        if self._at_s is not None:
            self._saved = min(self._limit, self._saved + (now_s - self._at_s) * self._per_s)
        self._at_s = now_s
        return self._saved > 0

    def spend(self, calls: int) -> None:
        """Take off what a list turned out to cost, below nothing if need be."""
        self._saved -= calls


class Users:
    """The processes on one GPU. ``held`` maps pid to MiB, None where the driver does not say.

    ``foreign`` are the pids that are not known to be numbered as this container numbers its processes.
    """

    def __init__(self) -> None:
        self.held: dict[int, float | None] = {}
        self.foreign: set[int] = set()
        self._contained = pids.contained()
        self._allowance = Allowance()
        self._at_mib: float | None = None
        self._at_s: float | None = None

    def update(self, row: Row, now_s: float) -> None:
        """List the processes anew if that is due. Raises DriverTrouble."""
        if row.device is None:
            self.held, self._at_s = {}, None
        elif self._due(row.used_mib, now_s) and self._allowance.left(now_s):
            self._at_mib, self._at_s = row.used_mib, now_s
            self._list(row.device)

    def fields(self, index: int) -> list[dict[str, object]]:
        """Return the entries in the fields of GpuProcess, ordered by pid."""
        return [
            {
                "index": index,
                "pid": pid,
                "memory_mib": mib,
                **({"foreign": True} if pid in self.foreign else {}),
            }
            for pid, mib in sorted(self.held.items())
        ]

    def _due(self, used_mib: float | None, now_s: float) -> bool:
        if self._at_s is None or now_s - self._at_s >= _QUIET_S:
            return True
        # Where the driver does not tell the memory it cannot be seen to stand still.
        return used_mib is None or self._at_mib is None or abs(used_mib - self._at_mib) >= _MOVED_MIB

    def _list(self, device: nvml.Device) -> None:
        try:
            compute, graphics = device.ask("compute"), device.ask("graphics")
        except nvml.GpuTrouble:
            return  # the next reading of this GPU says so
        self._allowance.spend(sum(2 if answer else 1 for answer in (compute, graphics)))
        if nvml.is_list(compute):
            self.held = merged(compute, graphics if nvml.is_list(graphics) else [])
            self.look_whose()

    def look_whose(self) -> None:
        """See which of the listed processes are not known to be this container's own."""
        self.foreign = {pid for pid in self.held if self._contained and not pids.uses_gpu(pid)}


def merged(compute: list[object], graphics: list[object]) -> dict[int, float | None]:
    """Return MiB by pid over both lists, the larger where they differ; nothing if one pid is absurd."""
    held: dict[int, float | None] = {}
    for entry in (*compute, *graphics):
        pid = getattr(entry, "pid", 0)
        if not 0 < pid <= _PID_MAX:
            return {}
        mib = scaled(getattr(entry, "usedGpuMemory", None), _MIB, 2)
        known = held.get(pid)
        held[pid] = known if mib is None or (known is not None and known > mib) else mib
    return held
