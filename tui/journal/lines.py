"""The lines of a file, gzip or plain, in bounded memory and as far as it is whole."""

import errno
import os
import stat
import zlib
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO, Literal, Protocol

from tui import files

LINE_LIMIT_BYTES = 64 * 1024 * 1024
GZIP_WINDOW_BITS = 31
GZIP = b"\x1f\x8b"
_READ_BYTES = 16 * 1024
_TEXT_BYTES = 256 * 1024

End = Literal["whole", "unfinished", "cut", "damaged", "too_long"]
"""How a file ends.

``unfinished``: gzip data without its end, but no line is torn; ``cut``: in the middle of a line; ``damaged``:
what follows is no gzip data, or its checksum is wrong; ``too_long``: a line beyond the limit follows.
"""


class Readable(Protocol):
    """Bytes that can be read in order."""

    def read(self, size: int, /) -> bytes:
        """Return at most so many bytes, none at the end."""
        ...


Opener = Callable[[Path], AbstractContextManager[Readable]]
"""How a file is opened. Raises OSError."""


class LineFile:
    """Iterates once over the lines of a file, without their newlines.

    A last line without a newline counts as one. When the iteration is over ``end`` says how the file ended
    (``cut`` where the caller finds that last line torn) and ``torn`` whether it lacked its newline. Raises
    OSError for what cannot be read, a directory or a pipe among it. ``opener`` finds the bytes in the file.
    """

    def __init__(self, path: Path, limit_bytes: int = LINE_LIMIT_BYTES, opener: Opener | None = None) -> None:
        self.path = path
        self._opener = opener or open_plain
        self.end: End = "whole"
        self.torn = False
        self._limit_bytes = limit_bytes

    def __iter__(self) -> Generator[bytes]:
        pieces: list[bytes] = []
        size = 0
        for data in self._data():
            first, *lines = data.split(b"\n")
            pieces.append(first)
            size += len(first)
            if size > self._limit_bytes:
                self.end = "too_long"
                return
            if lines:
                yield b"".join(pieces)
                yield from lines[:-1]
                pieces, size = [lines[-1]], len(lines[-1])
        rest = b"".join(pieces)
        if rest and self.end != "damaged":
            self.torn = True
            yield rest

    def _data(self) -> Generator[bytes]:
        with self._opener(self.path) as file:
            data = file.read(_READ_BYTES)
            if data.startswith(GZIP):
                yield from self._unzipped(file, data)
                return
            while data:
                yield data
                data = file.read(_TEXT_BYTES)

    def _unzipped(self, file: Readable, data: bytes) -> Generator[bytes]:
        member = zlib.decompressobj(GZIP_WINDOW_BITS)
        while data or (data := file.read(_READ_BYTES)):
            if member.eof:
                data = _next_member(file, data)
                if not data:
                    break
                if not data.startswith(GZIP):
                    self.end = "damaged"
                    return
                member = zlib.decompressobj(GZIP_WINDOW_BITS)
            before = member.copy()
            try:
                text = member.decompress(data, _TEXT_BYTES)
            except zlib.error:
                self.end = "damaged"
                yield _up_to_fault(before.decompress, data)
                return
            data = member.unused_data if member.eof else member.unconsumed_tail
            yield text
        if not member.eof:
            self.end = "unfinished"
            while text := member.decompress(b"", _TEXT_BYTES):
                yield text


def open_plain(path: Path) -> BinaryIO:
    """Open a file for reading without waiting for what is no plain file. Raises OSError."""
    descriptor = os.open(path, files.READ)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(descriptor, "rb", buffering=0)
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "it is a directory; name a file in it", str(path))
    raise OSError(errno.EINVAL, "it is no plain file; save what it gives to one", str(path))


def _next_member(file: Readable, data: bytes) -> bytes:
    """Return what follows a finished gzip member, without the zeros that may fill up a block."""
    data = data.lstrip(b"\0")
    while len(data) < len(GZIP) and (more := file.read(_READ_BYTES)):
        data = (data + more).lstrip(b"\0")
    return data


def _up_to_fault(unpack: Callable[[bytes], bytes], data: bytes) -> bytes:
    """Return what can be unpacked before the place that cannot: a call that fails gives nothing of it."""
    text = bytearray()
    for place in range(len(data)):
        try:
            text += unpack(data[place : place + 1])
        except zlib.error:
            break
    return bytes(text)
