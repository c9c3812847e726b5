"""One process's figures, with the fields of tui.signals.ProcessSignals."""

from __future__ import annotations

import os

from tui.agent.signals.stat import read_small

TYPE_CHECKING = False  # as in worker.py
if TYPE_CHECKING:
    from tui.agent.signals.stat import Stat

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_KIB_PER_MIB = 1024


def reading(pid: int, stat: Stat) -> dict[str, object]:
    """Return all but the mapped weight file; what may not be read is None. May block."""
    status = _small("/proc/%d/status" % pid)
    io = _small("/proc/%d/io" % pid)
    return {
        "pid": pid,
        "state": stat.state,
        "cpu_s": round(stat.cpu_ticks / TICKS_PER_S, 2),
        "minor_faults": stat.minor_faults,
        "major_faults": stat.major_faults,
        "wakeups": _number(status, b"\nvoluntary_ctxt_switches:"),
        "rss_file_mib": _mib(_number(status, b"\nRssFile:")),
        "rss_anon_mib": _mib(_number(status, b"\nRssAnon:")),
        "read_chars_bytes": _number(io, b"rchar:"),
        "read_bytes": _number(io, b"\nread_bytes:"),
        "write_bytes": _number(io, b"\nwrite_bytes:"),
        "wchan": _wchan(pid, may_look=bool(io)),
    }


def _wchan(pid: int, *, may_look: bool) -> str | None:
    """Return where it waits. Who may not look at a process (nor at its io) reads 0, as if it ran."""
    text = _small("/proc/%d/wchan" % pid).decode("ascii", "backslashreplace")
    return text if text and (may_look or text != "0") else None


def _small(path: str) -> bytes:
    try:
        return read_small(path)
    except OSError:
        return b""


def _number(data: bytes, label: bytes) -> int | None:
    place = data.find(label)
    if place < 0:
        return None
    value = data[place + len(label) : place + len(label) + 32].split(None, 1)[0]
    return int(value) if value.isdigit() else None


def _mib(kib: int | None) -> float | None:
    return None if kib is None else round(kib / _KIB_PER_MIB, 1)
