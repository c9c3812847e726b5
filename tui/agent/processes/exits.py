"""The followed process: told gone within a quarter of a second, whatever else on the host hangs.

/proc/PID/stat takes no lock of the process, so that the agent may read it itself; where the kernel gives a
pidfd its end is an event.
"""

from __future__ import annotations

import os

from tui.agent import wire
from tui.agent.processes import procfs

POLL_S = 0.25
# Start times come in ticks of 10 ms, and go to the client and back as seconds.
SAME_START_S = 0.5


class Followed:
    """One process, known by pid and start."""

    def __init__(self, pid: int, started_s: float | None) -> None:
        self.pid = pid
        self.ended = False
        self._title = ""
        self._ticks: int | None = None
        self._descriptor = _pidfd(pid)
        stat = procfs.stat_of(pid)
        if stat is not None and _same(stat, started_s):
            self._title, self._ticks = stat.comm, stat.ticks

    def fileno(self) -> int:
        """Return the descriptor that becomes readable at its end, -1 where it must be asked."""
        return self._descriptor

    @property
    def must_be_asked(self) -> bool:
        """Whether only asking each POLL_S tells of its end."""
        return self._descriptor < 0 and not self.ended

    def close(self) -> None:
        """Let go of the descriptor; from now on it must be asked."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def ask(self) -> dict[str, object] | None:
        """Return its Exit message once it is gone, None before that and after it was told."""
        if self.ended:
            return None
        how = self._how()
        if how is None:
            return None
        self.ended = True
        self.close()
        return wire.stamped(
            wire.EXIT,
            pid=self.pid,
            main=True,
            title=self._title,
            how=how,
            code=None,
            sentence=_sentence(self.pid, self._title, how),
        )

    def _how(self) -> str | None:
        stat = procfs.stat_of(self.pid)
        if stat is None or stat.ticks != self._ticks:
            return "gone"
        self._title = stat.comm
        return "zombie" if stat.state in "ZX" else None


def _same(stat: procfs.Stat, started_s: float | None) -> bool:
    return started_s is None or abs(procfs.started_s(stat.ticks) - started_s) < SAME_START_S


def _sentence(pid: int, title: str, how: str) -> str:
    name = "process %d (%s)" % (pid, title) if title else "process %d" % pid
    return name + (" has ended and waits to be reaped by its parent" if how == "zombie" else " is gone")


def _pidfd(pid: int) -> int:
    opener = getattr(os, "pidfd_open", None)  # Python 3.9, Linux 5.3
    if opener is None:
        return -1
    try:
        descriptor: int = opener(pid)
    except OSError:  # gone already, an older kernel, or a container that forbids the call
        return -1
    return descriptor
