"""The locks that the kernel keeps, by /proc/locks: who holds them, and who waits for them."""

from __future__ import annotations

from tui.agent.processes import procfs

_KINDS = (b"FLOCK", b"POSIX", b"OFDLCK")
_BYTES = 512 * 1024


class KernelLock:
    """One lock. ``holder`` is 0 or less where its process cannot be seen from here."""

    __slots__ = ("holder", "inode", "waiters")

    def __init__(self, holder: int, inode: int) -> None:
        self.holder = holder
        self.inode = inode
        self.waiters: list[int] = []


def kernel_locks() -> list[KernelLock]:
    """Return all locks of files on this host, as far as they are told. May block."""
    try:
        return parse(procfs.read("/proc/locks", _BYTES))
    except OSError:
        return []


def parse(data: bytes) -> list[KernelLock]:
    """Take the lines of /proc/locks apart; who waits stands below what it waits for, behind an arrow."""
    found: list[KernelLock] = []
    by_number: dict[bytes, KernelLock] = {}
    for line in data.splitlines():
        number, *fields = line.split()
        waits = fields[:1] == [b"->"]
        fields = fields[waits:]
        if len(fields) < 5 or fields[0] not in _KINDS:
            continue
        pid, inode = fields[3], fields[4].rpartition(b":")[2]
        if not pid.lstrip(b"-").isdigit() or not inode.isdigit():
            continue
        if waits:
            if number in by_number:
                by_number[number].waiters.append(int(pid))
        else:
            by_number[number] = KernelLock(int(pid), int(inode))
            found.append(by_number[number])
    return found
