"""Who has a file open, by the links in /proc/PID/fd and the inode in fdinfo: no file itself is touched."""

from __future__ import annotations

import os

from tui.agent.signals.stat import read_small

_INODE = b"\nino:\t"
_LOCK = b"\nlock:\t"
_UID = b"\nUid:\t"
_STATUS_BYTES = 1024


class Openers:
    """``pid`` is one that has the file open (one that holds a lock of the kernel on it, where asked for).

    ``unseen`` are the users of those processes that could not be looked into.
    """

    __slots__ = ("descriptor", "pid", "unseen")

    def __init__(self) -> None:
        self.pid: int | None = None
        self.descriptor = ""
        self.unseen: set[int] = set()


def openers(name: str, inode: int, *, locked: bool = False) -> Openers:
    """Look for a process that has a file of this name (its last part) and inode open. May block."""
    found = Openers()
    own = str(os.getpid())
    for pid in os.listdir("/proc"):
        if not pid.isdigit() or pid == own:
            continue
        descriptor = _descriptor(pid, "/" + name, inode, found, locked=locked)
        if descriptor:
            found.pid, found.descriptor = int(pid), descriptor
            return found
    return found


def still_open(pid: int, descriptor: str, inode: int) -> bool:
    """Return whether a process still has the file under that descriptor."""
    return _inode_of(str(pid), descriptor)[0] == inode


def path_of(pid: int, inode: int, *, locked: bool) -> str | None:
    """Return the path of the file of this inode that a process has open; None where that cannot be seen."""
    folder = "/proc/%d/fd" % pid
    try:
        names = os.listdir(folder)
    except OSError:
        return None
    for name in names:
        found, holds = _inode_of(str(pid), name)
        if found == inode and (holds or not locked):
            try:
                return os.readlink(folder + "/" + name)
            except OSError:
                continue
    return None


def _descriptor(pid: str, ending: str, inode: int, found: Openers, *, locked: bool) -> str:
    folder = "/proc/" + pid + "/fd"
    try:
        names = os.listdir(folder)
    except PermissionError:
        found.unseen.add(_user_of(pid))
        return ""
    except OSError:  # it has ended
        return ""
    for name in names:
        try:
            link = os.readlink(folder + "/" + name)
        except OSError:
            continue
        if link.endswith(ending):
            same, holds = _inode_of(pid, name)
            if same == inode and (holds or not locked):
                return name
    return ""


def _inode_of(pid: str, descriptor: str) -> tuple[int | None, bool]:
    """Return the inode of a descriptor, and whether a lock of the kernel is held by it."""
    try:
        data = read_small("/proc/%s/fdinfo/%s" % (pid, descriptor))
    except OSError:
        return None, False
    begin = data.find(_INODE)
    if begin >= 0:
        value = data[begin + len(_INODE) :].split(None, 1)[0]
        return (int(value) if value.isdigit() else None), _LOCK in data
    try:  # kernels before 5.14 do not say it there
        return os.stat("/proc/%s/fd/%s" % (pid, descriptor)).st_ino, _LOCK in data
    except OSError:
        return None, False


def _user_of(pid: str) -> int:
    """Return the user of a process, -1 where that cannot be read. (Who owns its folder may be root.)"""
    try:
        data = read_small("/proc/%s/status" % pid, _STATUS_BYTES)
    except OSError:
        return -1
    begin = data.find(_UID)
    fields = data[begin + len(_UID) :].split(None, 2) if begin >= 0 else []
    return int(fields[1]) if len(fields) > 1 and fields[1].isdigit() else -1
