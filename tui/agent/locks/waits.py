"""Locks of the kernel that matter to a server: it waits for them, or they are held in the known caches."""

from __future__ import annotations

import os

from tui.agent.locks import kernel
from tui.agent.locks.openers import openers, path_of

TYPE_CHECKING = False  # as in worker.py
if TYPE_CHECKING:
    from tui.agent.locks.server import Server

    Fields = dict[str, object]
    # Who holds a lock or waits for it, and its file.
    Key = tuple[int, tuple[int, int, int]]


class Waits:
    """What was found out about each lock, while it is held: its path, since when it has been seen."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._paths: dict[Key, str | None] = {}
        self._since: dict[Key, float] = {}
        self._heirs: dict[Key, int | None] = {}

    def read(self, now_s: float) -> list[Fields]:
        """Return the fields of LockFile for each of them. May block."""
        locks = kernel.kernel_locks()
        self._forget(locks)
        told: list[Fields] = []
        for lock in locks:
            waiter = next((pid for pid in lock.waiters if self._server.has(pid)), None)
            path = self._path(lock, waiter)
            if path is None or (waiter is None and not self._server.caches(path)):
                continue
            since_s = self._since.setdefault((waiter or 0, lock.file.key), now_s)
            told.append(self._fields(lock, path, waiter, now_s - since_s))
        return told

    def _forget(self, locks: list[kernel.KernelLock]) -> None:
        held = {(lock.holder, lock.file.key) for lock in locks}
        waited = {(pid, lock.file.key) for lock in locks for pid in lock.waiters}
        self._paths = {key: path for key, path in self._paths.items() if key in held or key in waited}
        waited.update((0, lock.file.key) for lock in locks)
        self._heirs = {key: heir for key, heir in self._heirs.items() if key in held}
        self._since = {key: since_s for key, since_s in self._since.items() if key in waited}

    def _path(self, lock: kernel.KernelLock, waiter: int | None) -> str | None:
        """Return its path by the waiter's descriptors, else the holder's; None where it cannot be seen."""
        key = (lock.holder, lock.file.key) if waiter is None else (waiter, lock.file.key)
        if key not in self._paths:
            self._paths[key] = path_of(key[0], lock.file, locked=waiter is None) if key[0] > 0 else None
        return self._paths[key]

    def _fields(self, lock: kernel.KernelLock, path: str, waiter: int | None, seen_s: float) -> Fields:
        alive = lock.holder > 0 and os.path.exists("/proc/%d" % lock.holder)
        holder = lock.holder if alive else self._heir(lock, path)
        return {
            "path": path,
            "age_s": round(seen_s, 1),
            "kind": "flock",
            "open": None if holder is None else True,
            "holder": holder,
            "waiter": waiter,
        }

    def _heir(self, lock: kernel.KernelLock, path: str) -> int | None:
        """Return who holds on a lock whose taker has ended or cannot be seen: mostly a child of it."""
        key = (lock.holder, lock.file.key)
        if key not in self._heirs:
            self._heirs[key] = openers(path.rpartition("/")[2], lock.file, locked=True).pid
        heir = self._heirs[key]
        return heir if heir is not None and os.path.exists("/proc/%d" % heir) else None
