"""The processes of the host, looked through once a second at little cost.

New processes are read at once and while they are young (an exec changes what they are); the rest in turn, so
that each is read anew every 15 s; members of a server's tree every time, by /proc/PID/stat alone.
"""

from __future__ import annotations

import os
import re

from tui.agent.processes import procfs
from tui.agent.processes.sighting import TITLED_S, YOUNG_S, Sighting

_TURNS = 15
_KTHREADD = 2


class Pattern:
    """One matcher, compiled."""

    def __init__(self, matcher: dict[str, list[str]], engine: str) -> None:
        self.engine = engine
        self.argv = [re.compile(text) for text in matcher["argv"]]
        self.titles = [re.compile(text) for text in matcher["titles"]]
        self.environment = tuple(matcher["environment"])

    def fits(self, sighting: Sighting) -> bool:
        """Return whether this is a process of the engine."""
        line = " ".join(sighting.argv or ()).replace("\n", " ")  # a dot in a pattern matches no newline
        return any(pattern.search(line) for pattern in self.argv) or any(
            pattern.search(sighting.title) or pattern.search(sighting.comm) for pattern in self.titles
        )


class Scanner:
    """All processes seen, by pid. ``members`` are those in a server's tree, whose state is always read."""

    def __init__(self, patterns: list[Pattern], own: int) -> None:
        self.seen: dict[int, Sighting] = {}
        self.hidden: set[int] = set()
        self.members: set[int] = set()
        self._patterns = patterns
        self._own = own
        self._above = _ancestors(own)
        self._threads: set[int] = set()
        self._young: set[int] = set()
        self._waiting: list[int] = []
        self._share = 1

    def look(self, now_s: float) -> None:
        """Bring ``seen`` up to date."""
        pids = set(map(int, filter(str.isdigit, os.listdir("/proc"))))
        for known in (self._threads, self._young, self.hidden):
            known &= pids
        for pid in self.seen.keys() - pids:
            del self.seen[pid]
        for pid in sorted(pids - self.seen.keys() - self._threads - self.hidden):
            self._meet(pid, now_s)
        for pid in sorted((self.members | self._young) & self.seen.keys()):
            self._follow(self.seen[pid], now_s)
        for pid in self._turn():
            if pid in self.seen and self.read(self.seen[pid]):
                self._follow(self.seen[pid], now_s)

    def others_are_hidden(self) -> bool:
        """Return whether this user sees only its own processes (/proc mounted with hidepid=2)."""
        return 1 not in self.seen and 1 not in self.hidden

    def read(self, sighting: Sighting) -> bool:
        """Read the command line and see whose it is; return whether it is another than before. May block."""
        try:
            changed = sighting.read_arguments()
        except (FileNotFoundError, ProcessLookupError):
            return False  # it ended; the next look misses it
        except PermissionError:
            self.hidden.add(sighting.pid)
            return False
        if changed and not self._ours(sighting):
            fitting = [pattern.engine for pattern in self._patterns if pattern.fits(sighting)]
            sighting.engine = fitting[0] if fitting else None
        if sighting.engine is None and sighting.pid not in self.members:
            sighting.argv = None  # a host has thousands of processes; a member is read once more
        return changed

    def engines(self) -> dict[int, str]:
        """Return the engines of the processes that matched one."""
        return {pid: sighting.engine for pid, sighting in self.seen.items() if sighting.engine is not None}

    def parents(self) -> dict[int, int]:
        """Return the parent of each process, our own processes left out."""
        return {pid: sighting.ppid for pid, sighting in self.seen.items()}

    def _meet(self, pid: int, now_s: float) -> None:
        stat = procfs.stat_of(pid)
        if stat is None:
            if procfs.forbidden(pid):
                self.hidden.add(pid)
            return
        if _KTHREADD in (pid, stat.ppid):
            self._threads.add(pid)
            return
        self.seen[pid] = Sighting(pid, stat)
        if self.seen[pid].age_s(now_s) < YOUNG_S:
            self._young.add(pid)
        self.read(self.seen[pid])

    def _follow(self, sighting: Sighting, now_s: float) -> None:
        """Read the state, and the command line as long as it may change: it is slow to read in trouble."""
        stat = procfs.stat_of(sighting.pid)
        if stat is None or stat.ticks != sighting.ticks:
            del self.seen[sighting.pid]
            if stat is not None:
                self._meet(sighting.pid, now_s)
            return
        changed = stat.comm != sighting.comm
        sighting.take(stat)
        age_s = sighting.age_s(now_s)
        if age_s > YOUNG_S:
            self._young.discard(sighting.pid)
        if changed or age_s < TITLED_S or sighting.argv is None:
            self.read(sighting)

    def _turn(self) -> list[int]:
        """Return those whose turn it is: all of them once in so many looks."""
        if not self._waiting:
            self._waiting = list(self.seen)
            self._share = len(self._waiting) // _TURNS + 1
        turn, self._waiting = self._waiting[: self._share], self._waiting[self._share :]
        return [pid for pid in turn if pid not in self.members]

    def _ours(self, sighting: Sighting) -> bool:
        return sighting.pid in self._above or self._own in (sighting.pid, sighting.ppid)


def _ancestors(pid: int) -> set[int]:
    """Return the processes above ``pid`` but the first, which in a container may be a server."""
    above: set[int] = set()
    stat = procfs.stat_of(pid)
    while stat is not None and stat.ppid > 1 and stat.ppid not in above:
        above.add(stat.ppid)
        stat = procfs.stat_of(stat.ppid)
    return above
