"""Opening and locking files, on systems too that lack some of what Linux has for it.

Flags that a system does not have are left out. Windows needs one more, or it changes newlines.
"""

import errno
import os
import stat
from threading import Thread


def _flag(name: str) -> int:
    return getattr(os, name, 0)


_ALWAYS = _flag("O_CLOEXEC") | _flag("O_BINARY")
READ = os.O_RDONLY | _flag("O_NONBLOCK") | _ALWAYS
"""For ``os.open``: read, and never wait for what is no plain file."""
WRITE = os.O_WRONLY | _ALWAYS
"""For ``os.open``: write."""
APPEND = os.O_RDWR | os.O_APPEND | os.O_CREAT | _flag("O_NONBLOCK") | _ALWAYS
"""For ``os.open``: add to a file that is made where there is none, and read it."""
NO_LINK = _flag("O_NOFOLLOW")
"""For ``os.open``, beside others: fail where the name is a symbolic link."""


PIPE_S = 5.0
"""So long a named pipe may have nobody who writes to it before it is given up."""


def is_pipe(path: str | os.PathLike[str]) -> bool:
    """Return whether it is a named pipe, the opening of which may never end."""
    return os.path.exists(path) and stat.S_ISFIFO(os.stat(path).st_mode)


def open_text(path: str, pipe_s: float = PIPE_S) -> int:
    """Open what has an end, to read: a file, or a pipe that somebody writes to.

    Raises OSError, also for a device and for a pipe that has had no writer for so long.
    """
    if is_pipe(path):
        return _open_pipe(path, pipe_s)
    file = os.open(path, READ)
    mode = os.fstat(file).st_mode
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        os.close(file)
        raise OSError(errno.ENODEV, "it is a device")
    return file


def _open_pipe(path: str, wait_s: float) -> int:
    """Open a pipe when somebody writes to it; nothing is taken out of it by looking."""
    opened: list[int | OSError] = []

    def wait() -> None:
        try:
            opened.append(os.open(path, os.O_RDONLY | _ALWAYS))
        except OSError as error:
            opened.append(error)

    waiting = Thread(target=wait, daemon=True)
    waiting.start()
    waiting.join(wait_s)
    is_in_time = bool(opened)
    if not is_in_time:
        os.close(os.open(path, WRITE | _flag("O_NONBLOCK")))  # ends the waiting
        waiting.join()
    found = opened[0]
    if isinstance(found, OSError):
        raise found
    if not is_in_time:
        os.close(found)
        raise OSError(errno.ENODEV, "it is a pipe that nobody writes to")
    return found


def open_folder(path: str | os.PathLike[str]) -> int | None:
    """Open a folder, to lock it; None where that cannot be done."""
    try:
        return os.open(path, os.O_RDONLY | _flag("O_DIRECTORY") | _ALWAYS)
    except OSError:
        return None


def lock(file: int, *, alone: bool, waits: bool = False) -> bool | None:
    """Lock an open file until it is closed, ``alone`` or with others who lock it not alone.

    Return whether it was had, and None where files cannot be locked: Windows, some network file systems.
    """
    try:
        import fcntl
    except ImportError:
        return None
    how = (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | (0 if waits else fcntl.LOCK_NB)
    try:
        fcntl.flock(file, how)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def read_at(file: int, size: int, offset: int) -> bytes:
    """Return up to ``size`` bytes of an open file from ``offset`` on; moves its position."""
    os.lseek(file, offset, os.SEEK_SET)
    return os.read(file, size)
