"""Writes a watch to a recording as it happens: gzip JSON lines, readable to the last second after a kill."""

import re
import time
import zlib
from pathlib import Path
from typing import BinaryIO

import msgspec

from tui.events import VERSION, AnyEvent, encode
from tui.journal.header import Asked, Header

FLUSH_S = 1.0
KEEP_FILES = 50
KEEP_BYTES = 500 * 1024 * 1024
GZIP_WINDOW_BITS = 31
SUFFIX = ".jsonl.gz"
NOTHING_ASKED = Asked()


class JournalWriter:
    """Appends events to one recording. Raises OSError from ``append`` when the disk is full."""

    def __init__(self, path: Path, header: Header) -> None:
        self.path = path
        self._file: BinaryIO = path.open("xb")
        self._squeeze = zlib.compressobj(6, zlib.DEFLATED, GZIP_WINDOW_BITS)
        self._flushed_s = 0.0
        self._write(msgspec.json.encode(header))

    def append(self, event: AnyEvent) -> None:
        """Write one event; once a second everything so far is made readable."""
        self._write(encode(event))
        if event.client_s - self._flushed_s >= FLUSH_S:
            self._flushed_s = event.client_s
            self._file.write(self._squeeze.flush(zlib.Z_SYNC_FLUSH))
            self._file.flush()

    def close(self) -> None:
        """Finish the file; closing twice is allowed."""
        if self._file.closed:
            return
        self._file.write(self._squeeze.flush(zlib.Z_FINISH))
        self._file.close()

    def _write(self, line: bytes) -> None:
        self._file.write(self._squeeze.compress(line + b"\n"))


def open_journal(folder: Path, host: str, version: str, asked: Asked = NOTHING_ASKED) -> JournalWriter:
    """Start a recording in ``folder`` (made when missing, for this user alone) and drop the oldest ones.

    Raises OSError where the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    trim(folder)
    began_s = time.time()
    stamp = time.strftime("%Y%m%dT%H%M%S", time.localtime(began_s))
    name = re.sub(r"[^A-Za-z0-9._-]+", "_", host)[:60] or "host"
    header = Header(tminus=version, events=VERSION, host=host, began_wall_s=began_s, asked=asked)
    for number in range(1000):
        mark = f"-{number}" if number else ""
        try:
            return JournalWriter(folder / f"{stamp}-{name}{mark}{SUFFIX}", header)
        except FileExistsError:
            continue
    raise FileExistsError(f"{folder}: a thousand recordings begun in one second")


def trim(folder: Path, keep_files: int = KEEP_FILES, keep_bytes: int = KEEP_BYTES) -> None:
    """Delete the oldest recordings beyond a count and a total size; room is left for one more."""
    sizes: list[tuple[float, int, Path]] = []
    for path in folder.glob(f"*{SUFFIX}"):
        facts = path.stat()
        sizes.append((facts.st_mtime, facts.st_size, path))
    total_bytes = 0
    for number, (_, size_bytes, path) in enumerate(sorted(sizes, reverse=True), start=1):
        total_bytes += size_bytes
        if number >= keep_files or total_bytes > keep_bytes:
            path.unlink(missing_ok=True)
