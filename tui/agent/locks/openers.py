"""Who has a file open, by the links in /proc/PID/fd and the inode in fdinfo: no file itself is touched."""

from __future__ import annotations

import os

from tui.agent.mounts import mounts_of
from tui.agent.signals.stat import read_small

TYPE_CHECKING = False  # as in worker.py
if TYPE_CHECKING:
    from tui.agent.locks.kernel import File

_INODE = b"\nino:\t"
_MOUNT = b"\nmnt_id:\t"
_LOCK = b"\nlock:\t"
_UID = b"\nUid:\t"
_STATUS_BYTES = 1024


class _Seen:
    """What is told of a descriptor: inode, number of the mount, whether the kernel keeps a lock by it."""

    __slots__ = ("inode", "locks", "mount")

    def __init__(self, inode: int | None, mount: int | None, *, locks: bool) -> None:
        self.inode = inode
        self.mount = mount
        self.locks = locks


class Openers:
    """``pid`` is one that has the file open (one that holds a lock of the kernel on it, where asked for).

    ``unseen`` are the users of those processes that could not be looked into.
    """

    __slots__ = ("descriptor", "pid", "unseen")

    def __init__(self) -> None:
        self.pid: int | None = None
        self.descriptor = ""
        self.unseen: set[int] = set()


def openers(name: str, file: File, *, locked: bool = False) -> Openers:
    """Look for a process that has this file, of this name (its last part), open. May block.

    One whose file is of that inode, but by its mount not of that device, is taken where there is no better.
    """
    found, own, elsewhere = Openers(), str(os.getpid()), None
    for pid in os.listdir("/proc"):
        if not pid.isdigit() or pid == own:
            continue
        for descriptor in _descriptors(pid, found):
            if not _link(pid, descriptor).endswith("/" + name):
                continue
            seen = _seen(pid, descriptor)
            if seen.inode == file.inode and (seen.locks or not locked):
                if _on_device(pid, seen, file):
                    found.pid, found.descriptor = int(pid), descriptor
                    return found
                elsewhere = elsewhere or (int(pid), descriptor)
    if elsewhere is not None:
        found.pid, found.descriptor = elsewhere
    return found


def still_open(pid: int, descriptor: str, inode: int) -> bool:
    """Return whether a process still has the file under that descriptor."""
    return _seen(str(pid), descriptor).inode == inode


def path_of(pid: int, file: File, *, locked: bool) -> str | None:
    """Return the path of this file that a process has open; None where that cannot be seen.

    One of that inode, but by its mount not of that device, is taken where there is no better.
    """
    elsewhere = ""
    for descriptor in _descriptors(str(pid), Openers()):
        seen = _seen(str(pid), descriptor)
        if seen.inode == file.inode and (seen.locks or not locked):
            path = _link(str(pid), descriptor)
            if path and _on_device(str(pid), seen, file):
                return path
            elsewhere = elsewhere or path
    return elsewhere or None


def _descriptors(pid: str, found: Openers) -> list[str]:
    """Return all descriptors of a process; none, and whose it is noted, where it may not be looked into."""
    try:
        return os.listdir("/proc/" + pid + "/fd")
    except PermissionError:
        found.unseen.add(_user_of(pid))
        return []
    except OSError:  # it has ended
        return []


def _link(pid: str, descriptor: str) -> str:
    try:
        return os.readlink("/proc/%s/fd/%s" % (pid, descriptor))
    except OSError:
        return ""


def _seen(pid: str, descriptor: str) -> _Seen:
    try:
        data = read_small("/proc/%s/fdinfo/%s" % (pid, descriptor))
    except OSError:
        return _Seen(None, None, locks=False)
    inode = _number(data, _INODE)
    if inode is None:  # kernels before 5.14 do not say it there
        inode = _inode_of("/proc/%s/fd/%s" % (pid, descriptor))
    return _Seen(inode, _number(data, _MOUNT), locks=_LOCK in data)


def _inode_of(path: str) -> int | None:
    try:
        return os.stat(path).st_ino
    except OSError:
        return None


def _number(data: bytes, begins: bytes) -> int | None:
    begin = data.find(begins)
    words = data[begin + len(begins) :].split(None, 1)[:1] if begin >= 0 else []
    return int(words[0]) if words and words[0].isdigit() else None


def _on_device(pid: str, seen: _Seen, file: File) -> bool:
    """Return whether the mount by which a file is open is of the file's device."""
    try:
        mounts = mounts_of(pid)
    except OSError:
        return False
    return any(mount.number == seen.mount and mount.device == file.device for mount in mounts)


def _user_of(pid: str) -> int:
    """Return the user of a process, -1 where that cannot be read. (Who owns its folder may be root.)"""
    try:
        data = read_small("/proc/%s/status" % pid, _STATUS_BYTES)
    except OSError:
        return -1
    begin = data.find(_UID)
    fields = data[begin + len(_UID) :].split(None, 2) if begin >= 0 else []
    return int(fields[1]) if len(fields) > 1 and fields[1].isdigit() else -1
