"""The locks that the kernel keeps, by /proc/locks: who holds them, and who waits for them."""

from __future__ import annotations

from tui.agent.processes import procfs

_KINDS = (b"FLOCK", b"POSIX", b"OFDLCK")
_BYTES = 512 * 1024


class File:
    """Which file a lock is of: an inode counts on its device (major, minor) alone."""

    __slots__ = ("device", "inode")

    def __init__(self, device: tuple[int, int], inode: int) -> None:
        self.device = device
        self.inode = inode

    @property
    def key(self) -> tuple[int, int, int]:
        """What tells it from every other file."""
        return (*self.device, self.inode)


class KernelLock:
    """One lock. ``holder`` is 0 or less where its process cannot be seen from here."""

    __slots__ = ("file", "holder", "waiters")

    def __init__(self, holder: int, file: File) -> None:
        self.holder = holder
        self.file = file
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
        pid, file = fields[3], _file(fields[4])
        if not pid.lstrip(b"-").isdigit() or file is None:
            continue
        if waits:
            if number in by_number:
                by_number[number].waiters.append(int(pid))
        else:
            by_number[number] = KernelLock(int(pid), file)
            found.append(by_number[number])
    return found


def _file(told: bytes) -> File | None:
    """Take "fe:00:2590736" apart; the device is in hexadecimal."""
    try:
        major, minor, inode = told.split(b":")
        return File((int(major, 16), int(minor, 16)), int(inode))
    except ValueError:
        return None
