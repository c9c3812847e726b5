"""The server whose locks are looked for: its environment, home and processes, and the files that it sees."""

from __future__ import annotations

import os
import pwd

from tui.agent.locks.places import Place, existence_places, lock_roots
from tui.agent.mounts import Mount, mount_of, mounts_of
from tui.agent.processes import procfs
from tui.agent.signals.stat import stat_of

_LEVELS = 64


class Server:
    """What is known of the server with this pid. May block; raises nothing for what may not be read."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._below = {pid}
        environment = environment_of(pid)
        home = environment.get("HOME") or _home_of(pid)
        # Another mount namespace (a container's) is seen through the process, where this user may.
        self.begins = "" if _same_files(pid) else "/proc/%d/root" % pid
        places = existence_places(environment, home) if home else []
        mounts = _mounts_of(pid)
        self.places: list[Place] = [place for place in places if not in_user_space(place.root, mounts)]
        self.lock_roots = lock_roots(environment, home) if home else []

    def has(self, pid: int) -> bool:
        """Return whether a process is one of the server's: below its main process, now or when first seen."""
        above = pid
        for _ in range(_LEVELS):
            if above in self._below:
                self._below.add(pid)
                return True
            stat = stat_of(above)
            if stat is None or stat.ppid <= 1:
                return False
            above = stat.ppid
        return False

    def caches(self, path: str) -> bool:
        """Return whether a path lies in one of the known caches."""
        return any(path.startswith(root + "/") for root in self.lock_roots)


def environment_of(pid: int) -> dict[str, str]:
    """Return the environment that a process was started with, empty where it may not be read."""
    found: dict[str, str] = {}
    for entry in _read("/proc/%d/environ" % pid).split(b"\0"):
        name, equals, value = entry.partition(b"=")
        if equals:
            found[os.fsdecode(name)] = os.fsdecode(value)
    return found


def in_user_space(path: str, mounts: list[Mount]) -> bool:
    """Return whether a program of its own serves a path; the path is compared, not followed."""
    found = mount_of(os.fsencode(path), mounts)
    return found is not None and found.user_space


def _mounts_of(pid: int) -> list[Mount]:
    try:
        return mounts_of(pid)
    except OSError:
        return []


def _same_files(pid: int) -> bool:
    try:
        return os.readlink("/proc/%d/ns/mnt" % pid) == os.readlink("/proc/self/ns/mnt")
    except OSError:
        return True  # whose files may not be seen, their locks neither


def _home_of(pid: int) -> str:
    try:
        return pwd.getpwuid(os.stat("/proc/%d" % pid).st_uid).pw_dir
    except (OSError, KeyError):
        return ""


def _read(path: str) -> bytes:
    try:
        return procfs.read(path)
    except OSError:
        return b""
