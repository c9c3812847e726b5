"""What is mounted where, by the lines of a mountinfo file: no path is looked at."""

from __future__ import annotations

import re

from tui.agent.processes import procfs

_ESCAPED = re.compile(rb"\\([0-7]{3})")


class Mount:
    """One mount: its number, its device (major, minor), its point (without a slash at its end), its kind.

    The device is that of the file system itself, as the kernel tells it for locks; the stat of a file may
    give another one (btrfs).
    """

    __slots__ = ("device", "kind", "number", "point")

    def __init__(self, number: int, device: tuple[int, int], point: bytes, kind: bytes) -> None:
        self.number = number
        self.device = device
        self.point = point
        self.kind = kind

    @property
    def user_space(self) -> bool:
        """Whether a program of its own serves it (FUSE)."""
        return self.kind in (b"fuse", b"fuseblk") or self.kind.startswith(b"fuse.")


def mounts_of(process: int | str) -> list[Mount]:
    """Return the mounts that a process ("self": this one) sees. Raises OSError. May block."""
    return parse(procfs.read("/proc/%s/mountinfo" % process, procfs.MOUNTS_BYTES))


def parse(mountinfo: bytes) -> list[Mount]:
    """Take the lines apart, in their order; one of another kind is left out."""
    found = [_mount(line) for line in mountinfo.splitlines()]
    return [mount for mount in found if mount is not None]


def mount_of(path: bytes, mounts: list[Mount]) -> Mount | None:
    """Return the mount that holds a path; of two at one place the later one is on top."""
    best: Mount | None = None
    for mount in mounts:
        inside = (path + b"/").startswith(mount.point + b"/")
        if inside and (best is None or len(mount.point) >= len(best.point)):
            best = mount
    return best


def _mount(line: bytes) -> Mount | None:
    before, _, after = line.partition(b" - ")
    fields, kind = before.split(b" "), after.split(b" ")[0]
    if len(fields) < 5 or not kind:
        return None
    major, _, minor = fields[2].partition(b":")
    if not (fields[0].isdigit() and major.isdigit() and minor.isdigit()):
        return None
    point = _ESCAPED.sub(lambda found: bytes([int(found.group(1), 8) & 255]), fields[4]).rstrip(b"/")
    return Mount(int(fields[0]), (int(major), int(minor)), point, kind)
