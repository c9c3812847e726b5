"""Reads the recording inside a bundle where it lies: nothing is unpacked onto the disk."""

import errno
import gzip
import io
import tarfile
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

from tui.journal.lines import GZIP, Readable, open_plain

NAMES = ("journal.jsonl.gz", "journal.jsonl")
"""What the recording of a bundle is called."""
SEARCHED_BYTES = 64 * 1024 * 1024
"""What may stand before it, unpacked."""
_BLOCK_BYTES = 512
_TAR = slice(257, 262), b"ustar"
_BROKEN = (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile)


def is_bundle(path: Path) -> bool:
    """Whether a file is a tar archive, packed or not; False for what cannot be read."""
    try:
        with open_plain(path) as file:
            block = _plain(file).read(_BLOCK_BYTES)
    except (*_BROKEN, OSError):
        return False
    place, sign = _TAR
    return block[place] == sign


@contextmanager
def open_bundled(path: Path) -> Generator[Readable]:
    """Open the recording in a bundle at its beginning. Raises OSError with why there is none."""
    with open_plain(path) as file:
        metered = _Metered(_plain(file))
        try:
            tar = tarfile.open(fileobj=metered, mode="r|", bufsize=_BLOCK_BYTES)  # noqa: SIM115
            entry = next((each for each in tar if _is_journal(each)), None)
        except _BROKEN:
            why = "the archive is cut or damaged before the recording in it"
            raise OSError(errno.EINVAL, why, str(path)) from None
        if entry is None:
            raise OSError(errno.ENOENT, f"it is an archive without {NAMES[0]}", str(path))
        metered.left_bytes = None
        stream = cast("BinaryIO", tar.fileobj)
        stream.seek(entry.offset_data)
        yield _UpToFault(stream, entry.size)


def _is_journal(entry: tarfile.TarInfo) -> bool:
    return entry.isfile() and not entry.issparse() and PurePosixPath(entry.name).name in NAMES


def _plain(file: BinaryIO) -> Readable:
    packed = file.read(len(GZIP)) == GZIP
    file.seek(0)
    return cast("Readable", gzip.GzipFile(fileobj=file)) if packed else file


class _Metered(io.RawIOBase):
    """Ends a search that goes on too long: an archive may be made to unpack to anything."""

    def __init__(self, file: Readable) -> None:
        super().__init__()
        self._file = file
        self.left_bytes: int | None = SEARCHED_BYTES

    def read(self, size: int = -1, /) -> bytes:
        if self.left_bytes is not None:
            self.left_bytes -= size
            if self.left_bytes < 0:
                why = f"{NAMES[0]} is not in its first {SEARCHED_BYTES // 1024**2} MiB: unpack it"
                raise OSError(errno.EFBIG, why)
        return self._file.read(size)


class _UpToFault:
    """One file of an archive; where the archive is cut it ends: how the recording ended its own format tells.

    ``tarfile`` would drop all of a read that comes upon the fault.
    """

    def __init__(self, stream: Readable, left_bytes: int) -> None:
        self._stream = stream
        self._left_bytes = left_bytes

    def read(self, size: int, /) -> bytes:
        pieces: list[bytes] = []
        while size > 0 and self._left_bytes > 0:
            piece = self._next(min(size, self._left_bytes, _BLOCK_BYTES))
            pieces.append(piece)
            size -= len(piece)
            self._left_bytes -= len(piece)
        return b"".join(pieces)

    def _next(self, size: int) -> bytes:
        try:
            piece = self._stream.read(size)
        except _BROKEN:
            piece = b""
        if not piece:
            self._left_bytes = 0
        return piece
