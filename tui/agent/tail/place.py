"""Opening a log by the path that was given, or the sentence why it cannot be read from there."""

from __future__ import annotations

import errno
import os
import stat

from tui.agent.tail import siblings as log_siblings

DELETED = " (deleted)"
# The names that /proc/PID/fd/N gives to what is no file.
_NO_FILES = {
    "pipe:": "a pipe: the output goes into another program (docker, a service manager, tee)",
    "socket:": "a socket: the output goes to a service (systemd's journal, a container runtime)",
    "anon_inode:": "no file but an object of the kernel",
    "/dev/null": "/dev/null: the output is thrown away",
    "/dev/pts/": "a terminal, which can be read by nobody else",
    "/dev/tty": "a terminal, which can be read by nobody else",
}
_HELP = "start the server with > FILE 2>&1 and name FILE with --log"


class Place:
    """The outcome of opening: ``state`` as in LogSource; ``descriptor`` and ``name`` (what to look at again)
    only when it is "open"; ``words`` a sentence, or a remark to an open log ("" for none)."""

    def __init__(self, state: str, words: str, descriptor: int = -1, name: str = "") -> None:
        self.state = state
        self.words = words
        self.descriptor = descriptor
        self.name = name


def open_log(path: str, pid: int | None) -> Place:
    """Open the log of a server; where the path leads elsewhere, through the server's own descriptor."""
    for start, what in _NO_FILES.items():
        if path.startswith(start):
            return Place("not_a_file", "the server's log is %s; %s" % (what, _HELP))
    own = _own_descriptor(path, pid)
    given = os.path.expanduser(path)
    try:
        status = os.stat(given)
    except OSError as error:
        return _open(own, _through(own)) if own else _refused(path, error)
    if own and _differs(own, status):
        return _open(own, _through(own))
    if stat.S_ISDIR(status.st_mode):
        return Place("not_a_file", "%s is a directory: name the log file in it with --log" % path)
    if not stat.S_ISREG(status.st_mode):
        return Place("not_a_file", "%s is %s; %s" % (path, _kind(status.st_mode), _HELP))
    return _open(given, "")


def _open(name: str, words: str) -> Place:
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        return _refused(name, error)
    return Place("open", words, descriptor, name)


def _refused(path: str, error: OSError) -> Place:
    if error.errno in (errno.EACCES, errno.EPERM):
        words = "no permission to read %s: watch as the user who runs the server, or as root" % path
        return Place("unreadable", words)
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return Place("missing", "%s does not exist (yet); waiting for it" % path)
    return Place("unreadable", "%s cannot be read: %s; trying again" % (path, error.strerror))


def _own_descriptor(path: str, pid: int | None) -> str:
    """Return the /proc name of the server's output when that is a file of this path, else ""."""
    for number in (1, 2):
        name = "/proc/%d/fd/%d" % (pid or 0, number)
        try:
            target = os.readlink(name) if pid else ""
        except OSError:
            continue
        if target.partition(DELETED)[0] == path.partition(DELETED)[0] and log_siblings.regular(name):
            return name
    return ""


def _differs(own: str, status: os.stat_result) -> bool:
    mine = log_siblings.regular(own)
    return mine is not None and (mine.st_dev, mine.st_ino) != (status.st_dev, status.st_ino)


def _through(own: str) -> str:
    try:
        deleted = os.readlink(own).endswith(DELETED)
    except OSError:
        deleted = False
    why = "the file was deleted" if deleted else "the path leads elsewhere here (a container?)"
    return "%s; reading it through %s while the server lives" % (why, own)


def _kind(mode: int) -> str:
    if stat.S_ISFIFO(mode):
        return "a named pipe, whose text only one reader gets"
    if stat.S_ISSOCK(mode):
        return "a socket"
    if stat.S_ISCHR(mode):
        return "a device (a terminal?)"
    return "no regular file"
