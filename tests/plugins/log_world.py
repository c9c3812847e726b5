"""A log with its writer and its reader, and every way of rotating it: what may happen, in any order."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from tail_reading import Reading


def append(path: Path, data: bytes) -> None:
    """Write at the end of a file."""
    with path.open("ab") as file:
        file.write(data)


def rotated(path: Path, suffix: str = ".1") -> Path:
    """Return the path of a rotated generation."""
    return path.with_name(path.name + suffix)


def copytruncate(log: Path, suffix: str = ".1") -> None:
    """Rotate as logrotate does for writers that do not reopen."""
    shutil.copyfile(log, rotated(log, suffix))
    os.truncate(log, 0)


class World:
    """A log, its writer and its reader; every line written is unique."""

    def __init__(self, folder: Path) -> None:
        self.log = folder / "w.log"
        self.log.write_bytes(b"")
        self.reading = Reading(self.log)
        self.reading.look()
        self.earlier = b""
        self.written = b""
        self.count = 0

    @property
    def text(self) -> bytes:
        """All that was read, over all outages."""
        return self.earlier + self.reading.text

    def write(self) -> None:
        """Append a line."""
        self.count += 1
        line = b"%08d %s\n" % (self.count, b"x" * (self.count * 37 % 200))
        append(self.log, line)
        self.written += line

    def look(self) -> None:
        """Let the reader do all that is due."""
        self.reading.look()

    def shift(self) -> None:
        """Make room for another generation, as logrotate numbers them."""
        for old in range(8, 0, -1):
            if rotated(self.log, f".{old}").exists():
                rotated(self.log, f".{old}").rename(rotated(self.log, f".{old + 1}"))

    def rename(self) -> None:
        """Rotate for a writer that reopens."""
        self.shift()
        self.log.rename(rotated(self.log))
        self.log.write_bytes(b"")

    def copytruncate(self) -> None:
        """Rotate for a writer that does not."""
        self.known_text()
        self.shift()
        copytruncate(self.log)

    def known_text(self) -> None:
        """A copy can only be known by text: have a whole fingerprint of this file read first."""
        self.write()
        self.write()
        self.look()

    def truncate(self) -> None:
        """Restart with > after all was read: nothing is lost."""
        self.look()
        os.truncate(self.log, 0)

    def delete(self) -> None:
        """A file that is made and renamed away between two looks, after a deleted one, is seen by nobody."""
        self.look()
        self.log.unlink()
        self.log.write_bytes(b"")
        self.look()
        self.look()

    def outage(self) -> None:
        """Cut the link: the next reader knows the position only."""
        self.known_text()
        self.earlier += self.reading.text
        self.reading = self.reading.resumed()


STEPS: list[Callable[[World], None]] = [
    World.write,
    World.write,
    World.look,
    World.rename,
    World.copytruncate,
    World.truncate,
    World.delete,
    World.outage,
]
