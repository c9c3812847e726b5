"""Writes a watch to a recording as it happens: gzip JSON lines, readable to the last second after a kill."""

import errno
import os
import re
import stat
import tempfile
import time
import zlib
from dataclasses import dataclass
from pathlib import Path

import msgspec

from tui import files
from tui.events import VERSION, AnyEvent, encode
from tui.journal.header import Asked, Header, masked
from tui.journal.lines import GZIP_WINDOW_BITS

FLUSH_S = 1.0
FLUSH_BYTES = 64 * 1024
TRIM_BYTES = 16 * 1024 * 1024
"""How much a recording grows until the older ones are looked at again."""
SUFFIX = ".jsonl.gz"
NOTHING_ASKED = Asked()


@dataclass(frozen=True, slots=True)
class Keep:
    """How many recordings are kept, and how large they may be in all."""

    files: int = 50
    size_bytes: int = 500 * 1024 * 1024


DEFAULT_KEEP = Keep()


class JournalWriter:
    """Appends events to one recording, which no other user can read.

    It is locked while it is written, so that the trimming of another watch leaves it. What stands in the file
    are whole lines at any time. ``append`` raises OSError when the disk is full, or when this recording alone
    has reached the size that may be kept; the recording is then closed and whole up to there.
    """

    def __init__(self, path: Path, header: Header, keep: Keep = DEFAULT_KEEP) -> None:
        self.path = path
        self._keep = keep
        self._file = _created(path)
        self._closed = False
        self._squeeze = zlib.compressobj(6, zlib.DEFLATED, GZIP_WINDOW_BITS)
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        self._flushed_s = 0.0
        self._size_bytes = 0
        self._trimmed_bytes = 0
        self._add(msgspec.json.encode(masked(header)))
        try:
            self._flush(zlib.Z_SYNC_FLUSH)
        except OSError:
            path.unlink(missing_ok=True)
            raise

    def append(self, event: AnyEvent) -> None:
        """Write one event; once a second everything so far is made readable."""
        self._add(encode(event))
        if abs(event.client_s - self._flushed_s) >= FLUSH_S or self._waiting_bytes >= FLUSH_BYTES:
            self._flushed_s = event.client_s
            self._flush(zlib.Z_SYNC_FLUSH)
            self._check_size()

    def close(self) -> None:
        """Finish the file; closing twice is allowed. Without room for its end it says that it has none."""
        if self._closed:
            return
        try:
            self._flush(zlib.Z_FINISH)
        except OSError:
            return  # cut back to whole lines and closed; a reader tells that the end is missing
        self._shut()

    def _add(self, line: bytes) -> None:
        squeezed = self._squeeze.compress(line + b"\n")
        if squeezed:
            self._waiting.append(squeezed)
            self._waiting_bytes += len(squeezed)

    def _flush(self, mode: int) -> None:
        """Write what waits up to a whole line; where that fails the file is cut back to the last one."""
        data = b"".join((*self._waiting, self._squeeze.flush(mode)))
        self._waiting, self._waiting_bytes = [], 0
        try:
            _write_all(self._file, data)
        except OSError:
            try:
                os.ftruncate(self._file, self._size_bytes)
            finally:
                self._shut()
            raise
        self._size_bytes += len(data)

    def _check_size(self) -> None:
        if self._size_bytes >= self._keep.size_bytes:
            self.close()
            size_mib = self._keep.size_bytes // 1024**2
            raise OSError(errno.EFBIG, f"it has reached the {size_mib} MiB of keep_recordings_mib")
        if self._size_bytes - self._trimmed_bytes >= TRIM_BYTES:
            self._trimmed_bytes = self._size_bytes
            trim(self.path.parent, self._keep)

    def _shut(self) -> None:
        self._closed = True
        os.close(self._file)


def check_folder(folder: Path) -> None:
    """Make a folder for recordings when it is missing, for this user alone.

    Raises OSError, also where no file can be made in it.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.TemporaryFile(dir=folder):
        pass


def open_journal(
    folder: Path,
    host: str,
    version: str,
    asked: Asked = NOTHING_ASKED,
    keep: Keep = DEFAULT_KEEP,
    began_wall_s: float | None = None,
) -> JournalWriter:
    """Start a recording in ``folder`` (made when missing, for this user alone) and drop the oldest ones.

    ``began_wall_s`` is when its watch began, None: now. Raises OSError where the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    trim(folder, keep, room=1)
    began_s = time.time() if began_wall_s is None else began_wall_s
    header = masked(Header(tminus=version, events=VERSION, host=host, began_wall_s=began_s, asked=asked))
    stamp = time.strftime("%Y%m%dT%H%M%S", time.localtime(began_s))
    name = re.sub(r"[^A-Za-z0-9._-]+", "_", header.host)[:60] or "host"
    for number in range(1000):
        mark = f"-{number}" if number else ""
        try:
            return JournalWriter(folder / f"{stamp}-{name}{mark}{SUFFIX}", header, keep)
        except FileExistsError:
            continue
    raise FileExistsError(f"{folder}: a thousand recordings begun in one second")


def trim(folder: Path, keep: Keep = DEFAULT_KEEP, *, room: int = 0) -> None:
    """Delete the oldest recordings beyond what is to be kept, with room for so many more.

    Of those written last at one moment (a file system counts in milliseconds) the one that began last is the
    newest, by its name. One that is being written is left, and so is what is no plain file.
    """
    total_bytes = 0
    for number, (_, path, size_bytes) in enumerate(sorted(_plain(folder), reverse=True), start=1):
        total_bytes += size_bytes
        if (number > keep.files - room or total_bytes > keep.size_bytes) and not being_written(path):
            path.unlink(missing_ok=True)


def being_written(path: Path) -> bool:
    """Return whether a watch is writing this recording now; False where the file system has no locks."""
    try:
        file = os.open(path, files.READ)
    except OSError:
        return False
    try:
        return files.lock(file, alone=False) is False
    finally:
        os.close(file)


def _plain(folder: Path) -> list[tuple[int, Path, int]]:
    """Return when each recording was last written (in ns), its place and its size in bytes."""
    found: list[tuple[int, Path, int]] = []
    for path in folder.glob(f"*{SUFFIX}"):
        try:
            facts = path.lstat()
        except FileNotFoundError:
            continue  # another watch has just dropped it
        if stat.S_ISREG(facts.st_mode):
            found.append((facts.st_mtime_ns, path, facts.st_size))
    return found


def _created(path: Path) -> int:
    """Return a new file, locked before it has its name: whoever trims never sees it unlocked.

    Raises FileExistsError where the name is taken.
    """
    hidden = path.with_name(f".{path.name}.{os.getpid()}")
    file = os.open(hidden, files.WRITE | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        files.lock(file, alone=True)
        os.link(hidden, path)
    except FileExistsError:
        os.close(file)
        raise
    except OSError:  # no hard links there: named first, locked at once
        os.close(file)
        file = os.open(path, files.WRITE | os.O_CREAT | os.O_EXCL, 0o600)
        files.lock(file, alone=True)
    finally:
        hidden.unlink(missing_ok=True)
    return file


def _write_all(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]
