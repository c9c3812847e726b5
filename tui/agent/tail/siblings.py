"""The files that rotation leaves beside a log: where a renamed one went, its copy, and what came after it."""

from __future__ import annotations

import os
import re
import stat

from tui.agent import wire

TYPE_CHECKING = False  # as in worker.py
if TYPE_CHECKING:
    from tui.agent.tail.file import Position

_PACKED = (".gz", ".xz", ".bz2", ".zst", ".lz4", ".lzo", ".zip", ".Z")
_DIGITS = re.compile(r"[0-9]+")
# logrotate's and Python's counting: the higher the older. Longer numbers are dates or process ids.
_COUNTED = re.compile(r"[.-]([0-9]{1,3})")
# Copies are looked for by content in so many of the newest siblings.
_COPIES = 32
_COPY_SLACK_S = 60.0
# What rotation adds to a log's name: a count or a date. A copy of unknown content is known by nothing else.
_ADDED = re.compile(r"[.-][0-9][0-9T._-]*")
_LINKS = 8
# What lies beside a descriptor in /proc are the server's other files, its model among them.
_DESCRIPTORS = re.compile(r"/proc/\w+/fd$")


class Sibling:
    """A regular file that belongs to a log by its name."""

    def __init__(self, path: str, status: os.stat_result, base: str) -> None:
        name = os.path.basename(path)
        counted = _COUNTED.fullmatch(name[len(base) :]) if name.startswith(base) else None
        self.path = path
        self.status = status
        self.shape = _DIGITS.sub("#", name)
        self._count = int(counted.group(1)) if counted else None

    def is_newer_than(self, other: Sibling) -> bool:
        """Say whether this is a later generation of the same rotation."""
        if self.shape != other.shape or self.status.st_mtime_ns < other.status.st_mtime_ns:
            return False
        return self.order() > other.order()

    def order(self) -> tuple[int, int, str]:
        """Return the key that puts generations of one shape in order, oldest first."""
        if self._count is not None:
            return (-self._count, 0, "")
        return (0, self.status.st_mtime_ns, self.path)


def siblings(path: str) -> list[Sibling]:
    """Return the rotated generations beside a log, in no order: ``name*`` and ``stem*extension``."""
    folder, base = _home(path)
    if _DESCRIPTORS.match(folder):
        return []
    stem, extension = os.path.splitext(base)
    found: list[Sibling] = []
    for name in _names(folder):
        related = name.startswith(base) or (name.startswith(stem) and name.endswith(extension))
        if name == base or not related or name.endswith(_PACKED):
            continue
        status = regular(os.path.join(folder, name))
        if status is not None:
            found.append(Sibling(os.path.join(folder, name), status, base))
    return found


def same_text(path: str, named: int | None, position: Position) -> int | None:
    """Return a descriptor of the file that holds what was read before an outage, None when none does.

    ``named`` is an open descriptor of the file that has the log's name now; it is returned or closed. The
    same file is preferred, whatever its name; then the same text under the log's name; then in a copy.
    """
    if named is not None and os.fstat(named).st_ino == position.inode and position.agrees(named):
        copy = None if position.length or position.offset else _first_copy(path, position.crc)
        if copy is not None:
            os.close(named)
        return named if copy is None else copy
    moved = _renamed(path, position)
    if moved is None and named is not None and position.agrees(named):
        return named
    if named is not None:
        os.close(named)
    return copied(path, position, None) if moved is None else moved


def copied(path: str, position: Position, since_wall_s: float | None) -> int | None:
    """Return a descriptor of a sibling that is a copy of what was read and more, None when there is none.

    ``since_wall_s`` is when the log itself was last seen to hold that text: a copy is not much older, while a
    log of an earlier run may begin alike. Where that is not known, only a whole fingerprint counts.
    """
    if position.length < (wire.FINGERPRINT_BYTES if since_wall_s is None else 1):
        return None
    newest = sorted(siblings(path), key=lambda one: one.status.st_mtime_ns, reverse=True)
    for candidate in newest[:_COPIES]:
        status = candidate.status
        recent = since_wall_s is None or status.st_ctime > since_wall_s - _COPY_SLACK_S
        if not recent or status.st_size < position.offset or status.st_ino == position.inode:
            continue
        descriptor = _agreeing(candidate.path, position)
        if descriptor is not None:
            return descriptor
    return None


def _first_copy(path: str, empty_ms: int) -> int | None:
    """Return a descriptor of the first copy made of a log since it was seen empty, None without one."""
    base = _home(path)[1]
    made = [
        one
        for one in siblings(path)
        if empty_ms
        and one.status.st_ctime_ns > empty_ms * 1_000_000
        and one.status.st_size
        and _ADDED.fullmatch(os.path.basename(one.path)[len(base) :])
    ]
    return opened(min(made, key=Sibling.order).path) if made else None


def _renamed(path: str, position: Position) -> int | None:
    """Return a descriptor of the very file, found in its folder under another name."""
    related = [one.path for one in siblings(path)]
    for candidate in [*related, *_by_inode(_home(path)[0], position.inode)]:
        status = regular(candidate)
        if status is not None and (status.st_dev, status.st_ino) == (position.device, position.inode):
            return _agreeing(candidate, position)
    return None


def _agreeing(path: str, position: Position) -> int | None:
    descriptor = opened(path)
    if descriptor is None or position.agrees(descriptor):
        return descriptor
    os.close(descriptor)
    return None


def successor(path: str, device: int, inode: int) -> str:
    """Return the generation written right after that file: a later sibling, or the log itself."""
    generations = siblings(path)
    mine = [one for one in generations if (one.status.st_dev, one.status.st_ino) == (device, inode)]
    if not mine:
        return path
    later = [one for one in generations if one.is_newer_than(mine[0])]
    return min(later, key=Sibling.order).path if later else path


def opened(path: str) -> int | None:
    """Open a regular file for reading, None when that cannot be done."""
    try:
        return os.open(path, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None


def regular(path: str) -> os.stat_result | None:
    """Return the status of a regular file, None for anything else."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status if stat.S_ISREG(status.st_mode) else None


def _home(path: str) -> tuple[str, str]:
    """Return folder and name of a log, links of its own name followed.

    Links in its folder's name stay: /proc/PID/root leads into a container only for those who do not read it.
    """
    for _ in range(_LINKS):
        try:
            target = os.readlink(path)
        except OSError:
            break
        if target.startswith("/") and path.startswith("/proc/"):
            break
        path = os.path.join(os.path.dirname(path), target)
    return os.path.split(path)


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:  # a folder that may be entered but not listed: no sibling can be found
        return []


def _by_inode(folder: str, inode: int) -> list[str]:
    if _DESCRIPTORS.match(folder):
        return []
    try:
        with os.scandir(folder) as entries:
            return [entry.path for entry in entries if entry.inode() == inode]
    except OSError:
        return []
