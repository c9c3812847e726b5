"""Where py-spy is on this host.

A folder of the user's own PATH is the user's choice. The bin folder of the server's Python is not: what lies
there is run only where neither the server's user nor anyone else could have put another program in its place.
"""

from __future__ import annotations

import os
import re
import stat
import sys

from tui.agent.processes import procfs

TYPE_CHECKING = False  # as in the agent's worker.py
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

NAME = "py-spy"
MAPS_BYTES = 4 * 1024 * 1024
_OWN_FOLDERS = ("~/.local/bin", "~/.cargo/bin")
_ENVIRONMENT = re.compile(r"\s(/[^\n]*?)/lib(?:64)?/python3\.\d+/(?:site|dist)-packages/")


def find(pids: Iterable[int], told: str | None = None) -> tuple[str | None, str]:
    """Return the path of py-spy and "", or None and why there is none. May block."""
    for path in (told, *own()):
        if path is not None and _is_program(path):
            return path, ""
    refused = ""
    for path in beside(pids):
        if not _is_program(path):
            continue
        if is_safe(path):
            return path, ""
        refused = "; %s is not run: others than root and this user could have replaced it" % path
    places = "on this user's PATH or in the bin folder of the server's Python"
    return None, "no py-spy %s (pip install py-spy)%s" % (places, refused)


def own() -> Iterator[str]:
    """Give where this user would have it: PATH, the usual folders at home, beside this very Python."""
    folders = os.environ.get("PATH", "").split(os.pathsep)
    folders += [os.path.expanduser(folder) for folder in _OWN_FOLDERS]
    folders += [os.path.dirname(sys.executable)] if sys.executable else []
    for folder in folders:
        if os.path.isabs(folder):
            yield os.path.join(folder, NAME)


def beside(pids: Iterable[int]) -> Iterator[str]:
    """Give where the Python environments of these processes would have it, each once.

    A virtual environment is known by the libraries that are mapped from it: its Python is a link elsewhere.
    A process that sees other file systems (a container) is left out.
    """
    seen: set[str] = set()
    for pid in pids:
        if other_namespace(pid, "mnt"):
            continue
        for folder in _folders(pid):
            path = os.path.join(folder, NAME)
            if path not in seen:
                seen.add(path)
                yield path


def other_namespace(pid: int, kind: str) -> bool:
    """Return whether a process lives in another namespace (mnt, net) than this one; False: not known."""
    try:
        return os.readlink("/proc/%d/ns/%s" % (pid, kind)) != os.readlink("/proc/self/ns/%s" % kind)
    except OSError:
        return False


def is_safe(path: str) -> bool:
    """Return whether only root and this user can have put there what lies at a path. May block."""
    real = os.path.realpath(path)
    while True:
        try:
            status = os.stat(real)
        except OSError:
            return False
        if not _is_ours(status):
            return False
        above = os.path.dirname(real)
        if above == real:
            return True
        real = above


def _is_ours(status: os.stat_result) -> bool:
    if status.st_uid not in (0, os.geteuid()):
        return False
    sticky = stat.S_ISDIR(status.st_mode) and bool(status.st_mode & stat.S_ISVTX)
    if status.st_mode & stat.S_IWOTH and not sticky:
        return False
    # A group of one user's own is usual; to root every other group is a stranger.
    return bool(os.geteuid() or status.st_gid == 0 or not status.st_mode & stat.S_IWGRP)


def _folders(pid: int) -> Iterator[str]:
    try:
        yield os.path.dirname(os.readlink("/proc/%d/exe" % pid))
        maps = procfs.read("/proc/%d/maps" % pid, MAPS_BYTES).decode("utf-8", "replace")
    except OSError:
        return
    for prefix in sorted(set(_ENVIRONMENT.findall(maps))):
        yield prefix + "/bin"


def _is_program(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)
