"""An incident bundle as a file: one folder in a .tar.gz, the same bytes for the same content."""

import gzip
import io
import os
import secrets
import tarfile
import tempfile
import time
import zlib
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import msgspec

from tui import files
from tui.events import AnyEvent, encode
from tui.journal.header import Header
from tui.transport.clean import clean

SUFFIX = ".tar.gz"
ENDINGS = (SUFFIX, ".tgz")
"""What the name of a bundle may end in."""
_HIDDEN, _PART = ".tminus-", ".part"
_LEFT_S = 60.0
"""An unfinished bundle that was not written to for so long, and that nobody has locked, is left over."""
_GZIP_WINDOW_BITS = 31
_SPOOL_BYTES = 32 * 1024 * 1024


def folder_name(name: str) -> str:
    """Return the name of the folder in a bundle of that name: one that can be unpacked anywhere."""
    bare = clean(bare_name(name)).replace("\\", "_").strip()
    return bare if bare.strip(".") else "bundle"


def bare_name(name: str) -> str:
    """Return the name of a file without the ending of a bundle."""
    return next((name.removesuffix(end) for end in ENDINGS if name.endswith(end)), name)


class BundleExists(Exception):
    """There is a file of that name already."""


class PackedJournal:
    """A recording that is written beside the bundle and then put into it; small ones stay in memory."""

    def __init__(self, header: Header) -> None:
        self._file = tempfile.SpooledTemporaryFile[bytes](max_size=_SPOOL_BYTES)
        # zlib's own gzip header names neither a time nor a file.
        self._squeeze = zlib.compressobj(6, zlib.DEFLATED, _GZIP_WINDOW_BITS)
        self.events = 0
        self._write(msgspec.json.encode(header))

    def append(self, event: AnyEvent) -> None:
        """Write one event."""
        self.events += 1
        self._write(encode(event))

    def finish(self) -> tuple[IO[bytes], int]:
        """Return the whole file, at its beginning, and its size in bytes."""
        self._file.write(self._squeeze.flush(zlib.Z_FINISH))
        size_bytes = self._file.tell()
        self._file.seek(0)
        return self._file, size_bytes

    def close(self) -> None:
        """Drop it; closing twice is allowed."""
        self._file.close()

    def _write(self, line: bytes) -> None:
        self._file.write(self._squeeze.compress(line + b"\n"))


@contextmanager
def new_bundle(path: Path, folder: str) -> Generator["Bundle"]:
    """Write a bundle; it appears under its name, whole, when the block ends, and never without.

    Raises BundleExists where the name is taken, and OSError where nothing can be written there. A process
    that is killed outright (SIGKILL) leaves a hidden file beside it, which the next one takes away.
    """
    if os.path.lexists(path):
        raise BundleExists
    _remove_left_over(path.parent)
    # Named before it is there, so that no exception of a signal's handler can come between.
    part = path.parent / f"{_HIDDEN}{secrets.token_hex(8)}{_PART}"
    try:
        with os.fdopen(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
            files.lock(file.fileno(), alone=True)
            with (
                gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as squeezed,
                tarfile.open(fileobj=squeezed, mode="w", format=tarfile.PAX_FORMAT) as tar,
            ):
                yield Bundle(tar, folder)
            file.flush()
            os.fsync(file.fileno())
        _name(part, path)
    finally:
        part.unlink(missing_ok=True)


class Bundle:
    """What can be put into a bundle. Nothing in it tells when, by whom or where it was made."""

    def __init__(self, tar: tarfile.TarFile, folder: str) -> None:
        self._tar = tar
        self._folder = folder
        entry = tarfile.TarInfo(folder)
        entry.type, entry.mode = tarfile.DIRTYPE, 0o700
        tar.addfile(entry)

    def add(self, name: str, data: bytes) -> None:
        """Put a file in."""
        self.add_open(name, io.BytesIO(data), len(data))

    def add_open(self, name: str, file: IO[bytes], size_bytes: int) -> None:
        """Put a file in that is open at its beginning."""
        entry = tarfile.TarInfo(f"{self._folder}/{name}")
        entry.size, entry.mode = size_bytes, 0o600
        self._tar.addfile(entry, file)


def _remove_left_over(folder: Path) -> None:
    """Remove what exports that were killed left in a folder; what cannot be removed stays."""
    for part in folder.glob(f"{_HIDDEN}*{_PART}"):
        with suppress(OSError):
            if time.time() - part.lstat().st_mtime > _LEFT_S and _is_unlocked(part):
                part.unlink()


def _is_unlocked(part: Path) -> bool:
    file = os.open(part, files.READ | files.NO_LINK)
    try:
        return files.lock(file, alone=True) is True
    finally:
        os.close(file)


def _name(part: Path, path: Path) -> None:
    """Give a finished file its name, unless that has been taken meanwhile."""
    try:
        os.link(part, path)
    except FileExistsError:
        raise BundleExists from None
    except OSError:
        # A file system without links: the check is not quite at the moment of the renaming there.
        if os.path.lexists(path):
            raise BundleExists from None
        part.rename(path)
