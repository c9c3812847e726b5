"""Where a server's model lies: paths as the server sees them, found from here."""

from __future__ import annotations

import errno
import os
import re

from tui.agent.processes.sighting import read_environment

_LINKS = 40  # as many as the kernel follows
# "org/name" or "name", as the hub allows them.
_HUB_NAME = re.compile(r"[\w.-]{1,96}(?:/[\w.-]{1,96})?$")
_REVISION = re.compile(r"[\w./-]{1,128}$")
_VARIABLES = ("HOME", "HF_", "HUGGINGFACE_HUB_CACHE", "TRANSFORMERS_CACHE", "XDG_CACHE_HOME")


class View:
    """The file system as one process sees it. All paths given are that process's own."""

    def __init__(self, pid: int | None) -> None:
        self._root = "" if pid is None or not _apart(pid) else "/proc/%d/root" % pid

    def from_here(self, path: str) -> bytes:
        """Return where an absolute path of the process is found from here. May block. Raises OSError.

        In a container links are followed by hand: absolute ones would lead out of it.
        """
        if not self._root:
            return _bytes(path)
        done, left = "", _LINKS
        todo = path.split("/")[::-1]
        while todo:
            part = todo.pop()
            if part == "..":
                done = done.rpartition("/")[0]
            if part in ("", ".", ".."):
                continue
            target = _link(self._root + done + "/" + part)
            if target is None:
                done += "/" + part
                continue
            left -= 1
            if left < 0:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            done = "" if target.startswith("/") else done
            todo += target.split("/")[::-1]
        return _bytes(self._root + done)

    def names(self, path: str) -> list[str]:
        """Return the names in a directory. May block. Raises OSError."""
        return [name.decode("utf-8", "surrogateescape") for name in os.listdir(self.from_here(path))]

    def status(self, path: str) -> os.stat_result:
        """Return the status of what is at a path, links followed. May block. Raises OSError."""
        return os.stat(self.from_here(path))

    def is_directory(self, path: str) -> bool:
        """Return whether there is a directory. May block."""
        try:
            self.names(path)
        except OSError as error:
            # One that may not be listed is one all the same.
            return error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
        return True

    def line(self, path: str) -> str | None:
        """Return what stands in a file of one short line, None where there is none. May block."""
        try:
            descriptor = os.open(self.from_here(path), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            return None
        try:
            return os.read(descriptor, 256).decode("utf-8", "replace").strip()
        except OSError:
            return None
        finally:
            os.close(descriptor)


def hub_caches(pid: int | None, told: dict[str, str], first: str | None) -> list[str]:
    """Return the directories in which the hub's client may keep its models, the one that counts first.

    ``told`` are the process's variables as far as known; what is missing is read from the process itself
    (its home among them, which stays here). ``first`` was given on its command line.
    """
    variables = dict(told)
    for name, value in (read_environment(pid, _VARIABLES) or {} if pid is not None else {}).items():
        variables.setdefault(name, value)
    home = variables.get("HOME") or "/root"
    cache = variables.get("XDG_CACHE_HOME") or home + "/.cache"
    hub = variables.get("HF_HOME") or cache + "/huggingface"
    named = [first, *(variables.get(name) for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"))]
    places = [*named, hub + "/hub", variables.get("TRANSFORMERS_CACHE")]
    found: list[str] = []
    for place in places:
        if place and place not in found:
            found.append(home + place[1:] if place.startswith("~/") else place)
    return found


def snapshot(view: View, cache: str, name: str, revision: str | None) -> str | None:
    """Return the directory of a hub's model in a cache, None where it is not there. May block."""
    folder = cache + "/models--" + name.replace("/", "--")
    wanted = revision or "main"
    if not _REVISION.match(wanted) or ".." in wanted:
        return None
    commit = view.line(folder + "/refs/" + wanted)
    found = folder + "/snapshots/" + (commit or wanted)
    if "/" not in (commit or wanted) and view.is_directory(found):
        return found
    if revision is not None:
        return None
    try:
        only = view.names(folder + "/snapshots")
    except OSError:
        return None
    return folder + "/snapshots/" + only[0] if len(only) == 1 else None


def is_hub_name(model: str) -> bool:
    """Return whether a model argument may name one on the hub."""
    return _HUB_NAME.match(model) is not None and ".." not in model


def _apart(pid: int) -> bool:
    """Return whether a process has mounts of its own, as in a container."""
    theirs, ours = _link("/proc/%d/ns/mnt" % pid), _link("/proc/self/ns/mnt")
    return theirs is not None and theirs != ours


def _link(path: str) -> str | None:
    try:
        return os.readlink(_bytes(path)).decode("utf-8", "surrogateescape")
    except OSError:
        return None


def _bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")
