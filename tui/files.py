"""Opening and locking files, on systems too that lack some of what Linux has for it.

Flags that a system does not have are left out. Windows needs one more, or it changes newlines.
"""

import os


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
