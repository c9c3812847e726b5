"""One process as seen in /proc: what is read of it, and when it is worth reading again."""

from __future__ import annotations

import os
import re

from tui.agent.hello import user_name
from tui.agent.mask import mask_argv, mask_environment, mask_text
from tui.agent.pids import numbers
from tui.agent.processes import keys, procfs

# A server's arguments are all of interest, a helper's only as far as they tell what it is.
_ARGUMENT_BYTES = 4096
_CONTAINER = re.compile(
    r"(?:docker|libpod|crio|cri-containerd|containerd|kubepods[^/]*/pod[^/]*|lxc|buildkit)?[-/:](?P<id>[0-9a-f]{64})"
)
_SHORT_ID = 12
# An exec follows its fork within milliseconds; a title is set within a minute of the start.
YOUNG_S = 10.0
TITLED_S = 60.0
# A read from disk passes; one that is still waiting after three looks is a state of its own.
_DISK_LOOKS = 3


class Sighting:
    """What is known of one process. ``argv`` and ``environment`` stay what they were before a new title."""

    # fmt: off
    __slots__ = (
        "_disk_looks", "_environment_read", "_line", "argv", "comm", "container", "cwd", "engine",
        "environment", "inner_pid", "pid", "ppid", "started_s", "state", "stderr", "stdout", "ticks", "title",
        "uid", "user",
    )
    # fmt: on

    def __init__(self, pid: int, stat: procfs.Stat) -> None:
        self.pid = pid
        self.ticks = stat.ticks
        self.started_s = procfs.started_s(stat.ticks)
        self.engine: str | None = None
        self.argv: list[str] | None = None
        self.title = stat.comm
        self.uid: int | None = None
        self.inner_pid: int | None = None
        self.user = ""
        self.cwd: str | None = None
        self.stdout: str | None = None
        self.stderr: str | None = None
        self.container: str | None = None
        self.environment: dict[str, str] | None = None
        self._disk_looks = 0
        self._environment_read = False
        self._line = 0
        self.take(stat)

    def take(self, stat: procfs.Stat) -> None:
        """Take in what changes all the time."""
        self.comm, self.ppid, self.state = stat.comm, stat.ppid, stat.state
        self._disk_looks = self._disk_looks + 1 if stat.state == "D" else 0

    def age_s(self, now_s: float) -> float:
        """Return for how long it has run."""
        return now_s - self.started_s

    def condition(self) -> str:
        """Return its state as far as a change of it is news: running and sleeping are one."""
        if self.state in "RSIDPKW":
            return "D" if self._disk_looks >= _DISK_LOOKS else "S"
        return self.state

    def read_arguments(self) -> bool:
        """Read the command line, or the title in its place; return whether it is another. May block.

        Raises OSError.
        """
        data = procfs.read("/proc/%d/cmdline" % self.pid)
        argv = keys.split_arguments(data)
        line = hash((data, self.comm))
        if not argv or (line == self._line and self.argv is not None):
            return False  # nothing new; without arguments it is a zombie, or in the middle of an exec
        new, self._line = line != self._line, line
        if is_title(data, argv):
            self.title = argv[0]
            self.argv = self.argv if self.argv is not None else argv
            return new
        if new:
            self.uid = None
        self.argv = argv
        self.title = argv[0] if len(argv) == 1 else self.comm
        return new

    def describe(self, prefixes: tuple[str, ...] | None) -> None:
        """Read what is told of a member of a tree, once. Without ``prefixes`` no environment. May block."""
        if self.uid is None:
            self.uid, self.inner_pid = _uid_and_inner_pid(self.pid)
            self.user = _name_of(self.uid)
            self.container = _container(self.pid)
            self.cwd = _link(self.pid, "cwd")
            self.look_at_output()
            self._environment_read = False
        if prefixes is not None and not self._environment_read:
            self._environment_read = True
            self.environment = read_environment(self.pid, prefixes)

    def look_at_output(self) -> None:
        """Read where the standard streams lead."""
        self.stdout, self.stderr = _link(self.pid, "fd/1"), _link(self.pid, "fd/2")

    def fields(self, engine: str | None) -> dict[str, object]:
        """Return the fields of events.Process, secrets hidden."""
        argv = self.argv
        return {
            "pid": self.pid,
            "ppid": self.ppid,
            "started_s": self.started_s,
            "uid": self.uid,
            "user": self.user,
            "state": self.state,
            "title": mask_text(self.title),
            "argv": None if argv is None else [part[:_ARGUMENT_BYTES] for part in mask_argv(argv)],
            "matched": engine,
            "cwd": self.cwd,
            "stdout": self.stdout,
            "stderr": self.stderr,
            "container": self.container,
            "environment": self.environment,
            "api_key_in_argv": argv is not None and keys.key_in(argv) is not None,
            "inner_pid": self.inner_pid,
        }


def is_title(data: bytes, argv: list[str]) -> bool:
    """Return whether a cmdline holds a title (setproctitle pads it with NULs) instead of arguments."""
    return len(argv) == 1 and (data.endswith(b"\0\0") or not data.endswith(b"\0"))


def read_environment(pid: int, prefixes: tuple[str, ...]) -> dict[str, str] | None:
    """Return the variables with these prefixes, masked; None when there is nothing left to read. May block.

    A new title overwrites the variables' memory with NULs, the first ones first: those are just not there.
    """
    try:
        data = procfs.read("/proc/%d/environ" % pid)
    except OSError:
        return None
    if not data.strip(b"\0"):
        return None
    found: dict[str, str] = {}
    for entry in data.split(b"\0"):
        name, sign, value = entry.decode("utf-8", "backslashreplace").partition("=")
        if sign and name.startswith(prefixes):
            found[name] = value
    return mask_environment(found)


def container_in(cgroup: str) -> str | None:
    """Return the short id of the container that a /proc/PID/cgroup names, None for none."""
    match = _CONTAINER.search(cgroup)
    return None if match is None else match.group("id")[:_SHORT_ID]


def _container(pid: int) -> str | None:
    try:
        return container_in(procfs.read("/proc/%d/cgroup" % pid, 8192).decode("utf-8", "replace"))
    except OSError:
        return None


def _link(pid: int, name: str) -> str | None:
    try:
        return os.readlink(b"/proc/%d/%s" % (pid, name.encode("ascii"))).decode("utf-8", "backslashreplace")
    except OSError:
        return None


def _uid_and_inner_pid(pid: int) -> tuple[int | None, int | None]:
    """Return the effective user id, and the pid in a container's own numbers; None for what is not there.

    The owner of /proc/PID itself is root for some processes of others.
    """
    try:
        status = procfs.read("/proc/%d/status" % pid, 16 * 1024)
    except OSError:
        return None, None
    match = re.search(rb"^Uid:\s+\d+\s+(\d+)", status, re.MULTILINE)
    known = numbers(status)
    return None if match is None else int(match.group(1)), known[-1] if len(known) > 1 else None


_names: dict[int, str] = {}


def _name_of(uid: int | None) -> str:
    if uid is None:
        return ""
    if uid not in _names:
        _names[uid] = user_name(uid)
    return _names[uid]
