"""Reading /proc: small bounded reads, the fields of stat, and start times on the monotonic clock."""

from __future__ import annotations

import os
import time

# Arguments and environment can be megabytes; no server needs more than this to be known.
READ_BYTES = 128 * 1024
# A host of many containers has thousands of mounts, and a half list would name the wrong one.
MOUNTS_BYTES = 4 * 1024 * 1024
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


class Stat:
    """What /proc/PID/stat says of one process; ``ticks`` (its start, since boot) tells re-used pids apart."""

    __slots__ = ("comm", "ppid", "state", "ticks")

    def __init__(self, comm: str, state: str, ppid: int, ticks: int) -> None:
        self.comm = comm
        self.state = state
        self.ppid = ppid
        self.ticks = ticks


def read(path: str, size: int = READ_BYTES) -> bytes:
    """Return the beginning of a file under /proc. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        pieces: list[bytes] = []
        while size > 0:
            piece = os.read(descriptor, min(size, 32 * 1024))
            if not piece:
                break
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)
    finally:
        os.close(descriptor)


def stat_of(pid: int) -> Stat | None:
    """Return the stat of a process, None when there is none of that pid."""
    try:
        return parse_stat(read("/proc/%d/stat" % pid, 4096))
    except OSError:
        return None


def forbidden(pid: int) -> bool:
    """Return whether this user may not even see what a process is (/proc mounted with hidepid=1)."""
    try:
        os.stat("/proc/%d/stat" % pid)
    except PermissionError:
        return True
    except OSError:
        return False
    return False


def guarded(pid: int) -> bool:
    """Return whether this user may not look into a process; one that has ended has nothing to see."""
    try:
        os.readlink("/proc/%d/cwd" % pid)
    except PermissionError:
        return True
    except OSError:
        return False
    return False


def parse_stat(data: bytes) -> Stat | None:
    """Take a stat line apart; the name in it may hold spaces and parentheses."""
    begin, end = data.find(b"("), data.rfind(b")")
    fields = data[end + 2 :].split()
    if begin < 0 or len(fields) < 20:
        return None
    comm = data[begin + 1 : end].decode("utf-8", "backslashreplace")
    return Stat(comm, fields[0].decode("ascii"), int(fields[1]), int(fields[19]))


def started_s(ticks: int) -> float:
    """Return the monotonic time of a start given in ticks since boot (which go on during a suspend)."""
    suspended_s = time.clock_gettime(time.CLOCK_BOOTTIME) - time.monotonic()
    return ticks / _TICKS_PER_S - suspended_s
