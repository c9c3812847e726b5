"""The processes of the host, looked through once a second at little cost.

New processes are read at once and while they are young (an exec changes what they are); the rest in turn, so
that each is read anew every 15 s; members of a server's tree every time, by /proc/PID/stat alone.
"""

from __future__ import annotations

import os
import re

from tui.agent import procfs
from tui.agent.sighting import TITLED_S, YOUNG_S, Sighting

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
    """All processes seen, by pid. ``look`` reads what is due."""

    def __init__(self, patterns: list[Pattern], own: int) -> None:
        self.seen: dict[int, Sighting] = {}
        self.hidden: set[int] = set()
        self._patterns = patterns
        self._own = own
        self._above = _ancestors(own)
        self._threads: set[int] = set()
        self._looks = 0

    def look(self, now_s: float, members: set[int]) -> None:
        """Bring ``seen`` up to date. ``members`` are those of the trees: their state is read every time."""
        pids = {int(name) for name in os.listdir("/proc") if name.isdigit()}
        self._threads &= pids
        self.hidden &= pids
        for pid in self.seen.keys() - pids:
            del self.seen[pid]
        self._looks += 1
        for pid in sorted(pids - self._threads):
            sighting = self.seen.get(pid)
            if sighting is None:
                self._meet(pid, now_s)
            elif pid in members or now_s - sighting.seen_s < YOUNG_S:
                self._follow(sighting, now_s, old=now_s - sighting.seen_s > TITLED_S)
            elif (pid + self._looks) % _TURNS == 0 and self.read(sighting):
                self._follow(sighting, now_s, old=True)

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
        return changed

    def forget_arguments(self, members: set[int]) -> None:
        """Drop what only members need: a host has thousands of processes."""
        for pid, sighting in self.seen.items():
            if pid not in members:
                sighting.argv = None

    def engines(self) -> dict[int, str]:
        """Return the engines of the processes that matched one."""
        return {pid: sighting.engine for pid, sighting in self.seen.items() if sighting.engine is not None}

    def parents(self) -> dict[int, int]:
        """Return the parent of each process, our own processes left out."""
        return {pid: sighting.ppid for pid, sighting in self.seen.items()}

    def _meet(self, pid: int, now_s: float) -> None:
        stat = procfs.stat_of(pid)
        if stat is None:
            return
        if _KTHREADD in (pid, stat.ppid):
            self._threads.add(pid)
            return
        self.seen[pid] = Sighting(pid, stat, now_s)
        self.read(self.seen[pid])

    def _follow(self, sighting: Sighting, now_s: float, *, old: bool) -> None:
        """Read the state, and the command line as long as it may change: it is slow to read in trouble."""
        stat = procfs.stat_of(sighting.pid)
        if stat is None or stat.ticks != sighting.ticks:
            del self.seen[sighting.pid]
            if stat is not None:
                self._meet(sighting.pid, now_s)
            return
        changed = stat.comm != sighting.comm
        sighting.take(stat)
        if changed or not old:
            self.read(sighting)

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
