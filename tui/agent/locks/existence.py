"""Existence locks that are there: how old, who has them open, and whether that can be told at all."""

from __future__ import annotations

import os
import stat
import time

from tui.agent.locks.kernel import File
from tui.agent.locks.openers import Openers, openers, still_open
from tui.agent.mounts import mounts_of
from tui.agent.pids import HOSTS_PIDS

TYPE_CHECKING = False  # as in worker.py
if TYPE_CHECKING:
    Fields = dict[str, object]

AGE_S = 5.0
_AGAIN_S = 30.0
_SHARED = (b"nfs", b"nfs4", b"cifs", b"smb3", b"ceph", b"lustre", b"gpfs", b"beegfs", b"glusterfs", b"9p")
_SHARED_TOO = (b"virtiofs", b"afs", b"ocfs2", b"gfs2", b"wekafs")


class Existence:
    """One lock file, looked at each 5 s; its openers are looked for seldom, for that costs milliseconds."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._found = Openers()
        self._file = File((0, 0), 0)
        self._looked_s: float | None = None

    def fields(self, now_s: float) -> Fields | None:
        """Return the fields of LockFile, None for one that is gone or was made just now. May block."""
        try:
            status = os.lstat(self.path)
        except OSError:
            return None
        age_s = max(0.0, time.time() - status.st_mtime)
        if not stat.S_ISREG(status.st_mode) or age_s < AGE_S:
            return None
        file = File((os.major(status.st_dev), os.minor(status.st_dev)), status.st_ino)
        if file.key != self._file.key:
            self._file, self._looked_s = file, None
        self._look(now_s)
        holder = self._found.pid
        seen = None if holder is None and not self._all_seen(status) else holder is not None
        return {
            "path": self.path,
            "age_s": round(age_s, 1),
            "kind": "existence",
            "open": seen,
            "holder": holder,
        }

    def _look(self, now_s: float) -> None:
        """Keep the opener that is known; look for one, where there was none, each 30 s."""
        found = self._found
        if self._looked_s is not None:
            if found.pid is not None and still_open(found.pid, found.descriptor, self._file.inode):
                return
            if found.pid is None and now_s - self._looked_s < _AGAIN_S:
                return
        self._looked_s = now_s
        self._found = openers(self.path.rpartition("/")[2], self._file)

    def _all_seen(self, status: os.stat_result) -> bool:
        """Return whether whoever might have it open could be looked into.

        That is its owner, who made it. Not to be seen are other users' processes, other hosts that share the
        file system, and, from a container, processes outside that share the folder.
        """
        if os.geteuid() not in (0, status.st_uid):
            return False
        if {status.st_uid, -1} & self._found.unseen:
            return False
        return not shared(status.st_dev)


def shared(device: int) -> bool:
    """Return whether the file system of this number may be used by processes that are not listed here.

    True too where that cannot be told: then nothing is called stale.
    """
    try:
        outside = os.readlink("/proc/self/ns/pid") != HOSTS_PIDS and os.lstat("/").st_dev != device
        mounts = mounts_of("self")
    except OSError:  # a kernel without namespaces, or a /proc that is cut short
        return True
    if outside:
        return True
    number = (os.major(device), os.minor(device))
    kind = next((mount.kind for mount in mounts if mount.device == number), b"")
    return kind in _SHARED or kind in _SHARED_TOO or kind.startswith(b"fuse")
