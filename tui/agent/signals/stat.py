"""The figures of /proc/PID/stat that move, read with three calls of the system."""

from __future__ import annotations

import os

_WANTED = 20


class Stat:
    """One reading. ``started_ticks`` (since boot) tells re-used pids apart; faults count since the start."""

    __slots__ = ("comm", "cpu_ticks", "major_faults", "minor_faults", "ppid", "started_ticks", "state")

    def __init__(self, comm: str, fields: list[bytes]) -> None:
        self.comm = comm
        self.state = fields[0].decode("ascii")
        self.ppid = int(fields[1])
        self.minor_faults = int(fields[7])
        self.major_faults = int(fields[9])
        self.cpu_ticks = int(fields[11]) + int(fields[12])
        self.started_ticks = int(fields[19])


def read_small(path: str, size: int = 4096) -> bytes:
    """Return a file under /proc that the kernel gives in one piece. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return os.read(descriptor, size)
    finally:
        os.close(descriptor)


def stat_of(pid: int) -> Stat | None:
    """Return the reading of a process, None when there is none of that pid that may be seen. May block."""
    try:
        data = read_small("/proc/%d/stat" % pid)
    except OSError:
        return None
    # The name may hold spaces and parentheses.
    begin, end = data.find(b"("), data.rfind(b")")
    fields = data[end + 2 :].split(None, _WANTED)
    if begin < 0 or len(fields) < _WANTED:
        return None
    return Stat(data[begin + 1 : end].decode("utf-8", "backslashreplace"), fields)
