"""The followed server and everything below it, brought up to date once a second at little cost.

Of the host's other processes only the numbers are known. A process that was once below the server stays a
member when its parent ends. What compilers and compile workers use is summed up, also of those that ended.
"""

from __future__ import annotations

import os

from tui.agent.processes import exits, procfs
from tui.agent.signals import roles
from tui.agent.signals.stat import Stat, read_small, stat_of

# How many looks long a process may still become another (fork, then exec, then a title).
_YOUNG_LOOKS = 3
# A helper that stands still is looked at only so often.
_SELDOM = 4
# The host's other processes are looked at anew in so many turns: a number may be given to another.
_TURNS = 120
_CMDLINE_BYTES = 8192


class Member:
    """One process of the server's tree: ``stat`` its last reading, ``born`` whether it was seen to start."""

    __slots__ = ("base_ticks", "born", "burning", "looks", "parent", "pid", "role", "settled", "stat")

    def __init__(self, pid: int, stat: Stat, parent: Member | None, *, born: bool) -> None:
        self.pid = pid
        self.stat = stat
        self.parent = parent
        self.role: str | None = None
        # What was there before the watch began has used its time before it.
        self.born = born
        self.base_ticks = 0 if born else stat.cpu_ticks
        self.looks = 0
        self.burning = False
        self.settled = False

    @property
    def ended(self) -> bool:
        """Whether it is a zombie."""
        return self.stat.state in "ZX"

    @property
    def used_ticks(self) -> int:
        """CPU time that it has used since the watch began."""
        return self.stat.cpu_ticks - self.base_ticks

    def server(self) -> Member | None:
        """Return the nearest process above that is one of the server's own."""
        above = self.parent
        while above is not None and above.role != roles.SERVER:
            above = above.parent
        return above


class Compilers:
    """What was compiled under one process of the server since the watch began."""

    __slots__ = ("alive", "ended_ticks", "started")

    def __init__(self) -> None:
        self.alive: dict[int, Member] = {}
        self.started = 0
        self.ended_ticks = 0

    @property
    def used_ticks(self) -> int:
        """CPU time of all of them, whether they still run or not."""
        return self.ended_ticks + sum(member.used_ticks for member in self.alive.values())

    def at_work(self) -> list[Member]:
        """Return those that run now; of the compile workers only those that used a core just now."""
        return [
            member
            for member in self.alive.values()
            if not member.ended and (member.role == roles.COMPILER or member.burning)
        ]


class Family:
    """All members by pid. ``lost`` counts processes of the server that were seen to end."""

    def __init__(self, root: int, started_s: float | None, own: set[int]) -> None:
        self.members: dict[int, Member] = {}
        self.compilers: dict[int, Compilers] = {}
        self.lost = 0
        self._root = root
        self._started_s = started_s
        self._own = own
        self._others: set[str] = set()
        self._waiting: list[str] = []
        self._share = 1
        self._looks = 0

    def look(self) -> None:
        """Bring the members up to date. May block."""
        names = set(os.listdir("/proc"))
        for pid in [pid for pid in self.members if str(pid) not in names]:
            self._lose(self.members.pop(pid))
        for member in list(self.members.values()):
            if self._due(member):
                self._look_at(member)
        self._others &= names
        new = names.difference(self._others, map(str, self.members))
        self._meet(new.union(self._turn()))
        self._looks += 1

    def _due(self, member: Member) -> bool:
        if member.role == roles.SERVER or member.burning or member.looks < _YOUNG_LOOKS:
            return True
        return (self._looks + member.pid) % _SELDOM == 0

    def _look_at(self, member: Member) -> None:
        stat = stat_of(member.pid)
        if stat is None or stat.started_ticks != member.stat.started_ticks:
            self._lose(self.members.pop(member.pid))
            return
        renamed = stat.comm != member.stat.comm
        member.burning = stat.cpu_ticks != member.stat.cpu_ticks
        member.settled = member.settled or (member.looks > 0 and not renamed)
        member.stat = stat
        if renamed or member.role is None or member.looks < _YOUNG_LOOKS:
            self._name(member)
        member.looks += 1

    def _turn(self) -> list[str]:
        """Return some of the others, so that each has its turn."""
        if not self._waiting:
            self._waiting = list(self._others)
            self._share = len(self._waiting) // _TURNS + 1
        turn, self._waiting = self._waiting[: self._share], self._waiting[self._share :]
        return turn

    def _meet(self, names: set[str]) -> None:
        """Take in those of these processes that are below a member."""
        found: dict[int, Stat] = {}
        for pid in map(int, filter(str.isdigit, names)):
            stat = None if pid in self._own else stat_of(pid)
            if stat is not None:
                found[pid] = stat
        self._others |= names
        # Parents are older than their children, but of one tick a later number may have begun anew.
        waiting = sorted(found, key=lambda pid: (found[pid].started_ticks, pid))
        while waiting:
            left = [pid for pid in waiting if not self._take(pid, found[pid])]
            if len(left) == len(waiting):
                return
            waiting = left

    def _take(self, pid: int, stat: Stat) -> bool:
        parent = self.members.get(stat.ppid)
        root = pid == self._root and not self._looks and self._is_meant(stat)
        if parent is None and not root:
            return False
        self._others.discard(str(pid))
        self.members[pid] = member = Member(pid, stat, parent, born=self._looks > 0)
        member.settled = not member.born
        self._name(member)
        return True

    def _is_meant(self, stat: Stat) -> bool:
        if self._started_s is None:
            return True
        return abs(procfs.started_s(stat.started_ticks) - self._started_s) < exits.SAME_START_S

    def _name(self, member: Member) -> None:
        """Tell its role, and count it when it is a compiler."""
        known = member.role
        if member.parent is None:
            member.role = roles.SERVER
        else:
            cmdline = b"" if member.stat.comm in roles.COMPILERS else _cmdline(member.pid)
            member.role = roles.role_of(member.stat.comm, cmdline, member.parent.role or "", known)
        if member.role in (roles.COMPILER, roles.COMPILE_WORKER) and member.role != known:
            self._count(member)

    def _count(self, member: Member) -> None:
        server = member.server()
        if server is None:
            return
        group = self.compilers.setdefault(server.pid, Compilers())
        if member.pid not in group.alive:
            group.started += member.born
            group.alive[member.pid] = member

    def _lose(self, member: Member) -> None:
        self.lost += member.role == roles.SERVER and member.settled
        self.compilers.pop(member.pid, None)
        for group in self.compilers.values():
            if group.alive.get(member.pid) is member:
                del group.alive[member.pid]
                group.ended_ticks += member.used_ticks


def _cmdline(pid: int) -> bytes:
    try:
        return read_small("/proc/%d/cmdline" % pid, _CMDLINE_BYTES)
    except OSError:
        return b""
