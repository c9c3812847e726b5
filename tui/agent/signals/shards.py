"""Which weight file a process maps now, by /proc/PID/maps alone: the file itself is never touched.

A process with a GPU has thousands of mappings, and reading them costs the kernel milliseconds: so they are
read seldom, only after the process's memory moved, and for a bounded share of the time.
"""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False  # as in worker.py
if TYPE_CHECKING:
    # Resident file pages in MiB, minor faults since the start.
    Memory = tuple[float | None, int]

_EVERY_S = 5.0
# A process that stands still may have mapped its next file and hang at its first page.
_AT_REST_S = 30.0
_MOVED_MIB = 1.0
# Where the page cache holds large folios one fault brings megabytes, so a few are a sign already.
_FAULTS = 8
_SHARE = 0.0005
_BURST_S = 1.0
_READ_BYTES = 64 * 1024
_MAPS_BYTES = 4 * 1024 * 1024
_ENDINGS = (b".safetensors", b".gguf", b".bin")
_DELETED = b" (deleted)"


class Shards:
    """The last known answer for each process."""

    def __init__(self) -> None:
        self._known: dict[int, _Known] = {}
        self._free_s = 0.0

    def read(self, now_s: float, memory: dict[int, Memory]) -> None:
        """Read anew what is due, given what moves in the memory of the processes. May block."""
        for pid in self._known.keys() - memory.keys():
            del self._known[pid]
        for pid in memory.keys() - self._known.keys():
            self._known[pid] = _Known()
        for pid in sorted(memory, key=lambda pid: self._known[pid].read_s):
            if self._free_s > now_s + _BURST_S:
                return
            if self._known[pid].due(now_s, memory[pid]):
                began_s = time.process_time()
                self._known[pid].read(pid, now_s, memory[pid])
                self._free_s = max(self._free_s, now_s) + (time.process_time() - began_s) / _SHARE

    def of(self, pid: int) -> str | None:
        """Return the last part of the newest weight file mapped: "" for none, None where not allowed."""
        known = self._known.get(pid)
        return None if known is None else known.name


class _Known:
    __slots__ = ("_mapped", "_memory", "name", "read_s")

    def __init__(self) -> None:
        self.name: str | None = None
        self.read_s = -_AT_REST_S
        self._mapped: list[str] = []
        self._memory: Memory | None = None

    def due(self, now_s: float, memory: Memory) -> bool:
        if now_s - self.read_s < _EVERY_S:
            return False
        if self._memory is None or now_s - self.read_s >= _AT_REST_S:
            return True
        moved_mib = abs((memory[0] or 0.0) - (self._memory[0] or 0.0))
        # The next file of the same size leaves as many pages resident as the one before it.
        return moved_mib >= _MOVED_MIB or (bool(self.name) and memory[1] - self._memory[1] >= _FAULTS)

    def read(self, pid: int, now_s: float, memory: Memory) -> None:
        self.read_s, self._memory = now_s, memory
        mapped = mapped_weights(pid)
        if mapped is None:
            self.name = None
            return
        new = [name for name in mapped if name not in self._mapped]
        # The kernel places a new mapping below the others, and lists from below.
        if new:
            self.name = new[0]
        elif self.name not in mapped:
            self.name = mapped[0] if mapped else ""
        self._mapped = mapped


def mapped_weights(pid: int) -> list[str] | None:
    """Return the names of the weight files mapped, the lowest first; None where not allowed. May block."""
    try:
        data = _maps(pid)
    except OSError:
        return None
    found: dict[int, str] = {}
    for ending in _ENDINGS:
        place = data.find(ending)
        while place >= 0:
            end = place + len(ending)
            if data.startswith((b"\n", _DELETED + b"\n"), end):
                begin = max(data.rfind(b"\n", 0, place), data.rfind(b"/", 0, place)) + 1
                found[begin] = data[begin:end].decode("utf-8", "backslashreplace")
            place = data.find(ending, end)
    return list(dict.fromkeys(found[begin] for begin in sorted(found)))


def _maps(pid: int) -> bytes:
    descriptor = os.open("/proc/%d/maps" % pid, os.O_RDONLY)
    try:
        pieces: list[bytes] = []
        left = _MAPS_BYTES
        while left > 0:
            piece = os.read(descriptor, _READ_BYTES)
            if not piece:
                break
            pieces.append(piece)
            left -= len(piece)
        return b"".join(pieces)
    finally:
        os.close(descriptor)
