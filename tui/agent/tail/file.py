"""An open log file and how far it was read, with the proof that it is still the same text.

The proof is the fingerprint: the last bytes (at most 64) before the offset. Every read takes them along and
compares, so that a file which was truncated and grew past the offset between two looks is not mistaken for
its old self. At offset 0 it is the first bytes, as far as they were seen. Only ``fstat`` and ``pread`` touch
the file, which also suits NFS and FUSE.
"""

from __future__ import annotations

import os
import time
import zlib

from tui.agent import wire

_ZERO = b"\0"


class Position:
    """Where a log was read to: ``LogPosition`` of tui/requests.py.

    Of an empty file ``crc`` is when it was seen so, in milliseconds since 1970 by this host's clock.
    """

    def __init__(self, device: int, inode: int, offset: int, length: int, crc: int) -> None:
        self.device = device
        self.inode = inode
        self.offset = offset
        self.length = length
        self.crc = crc

    def agrees(self, descriptor: int) -> bool:
        """Say whether that open file holds, before our offset, the text that we read (at 0: that we saw)."""
        size = os.fstat(descriptor).st_size
        if not self.length:
            return size >= self.offset
        return size >= self.offset and zlib.crc32(_before(descriptor, self.offset, self.length)) == self.crc


def position_from(fields: dict[str, object]) -> Position:
    """Return the position that a follow request names in ``resume``."""
    names = ("device", "inode", "offset", "fingerprint_bytes", "fingerprint_crc")
    device, inode, offset, length, crc = (int(str(fields[name])) for name in names)
    return Position(device, inode, offset, length, crc)


class LogFile:
    """One descriptor with its offset (bytes).

    ``seen_size`` is its size and ``agreed_wall_s`` the time (since 1970) when it last held the text read.
    """

    def __init__(self, descriptor: int, offset: int) -> None:
        status = os.fstat(descriptor)
        self.descriptor = descriptor
        self.device = status.st_dev
        self.inode = status.st_ino
        self.offset = offset
        self.seen_size = status.st_size
        self.agreed_wall_s = time.time()
        self._last = self._head = b""
        self._mark()
        self._calm_ns: int | None = None

    def close(self) -> None:
        """Let go of the descriptor."""
        os.close(self.descriptor)

    def is_at(self, status: os.stat_result) -> bool:
        """Say whether a status is that of this file."""
        return status.st_ino == self.inode and status.st_dev == self.device

    def position(self) -> Position:
        """Return where it stands, with the fingerprint."""
        proof = self._last if self.offset else self._head
        if not proof:
            return Position(self.device, self.inode, self.offset, 0, int(time.time() * 1000))
        return Position(self.device, self.inode, self.offset, len(proof), zlib.crc32(proof))

    @property
    def behind_bytes(self) -> int:
        """Bytes known to lie unread."""
        return max(0, self.seen_size - self.offset)

    def read(self) -> bytes | None:
        """Return the next bytes (none at the end) and go past them; None when the text read is gone.

        Holes, which a writer without O_APPEND leaves before its old offset when its file was truncated, are
        passed over: nobody wrote those zeros.
        """
        while True:
            before = self._last
            data = self._read_once()
            if not data or not data.startswith(_ZERO) or before.strip(_ZERO):
                return data
            written = data.lstrip(_ZERO)
            if written:
                return written
            self._leap()

    def go_to(self, offset: int) -> None:
        """Go to an offset, whatever was read before."""
        self.offset = offset
        self.seen_size = os.fstat(self.descriptor).st_size
        self._mark()
        self._calm_ns = None

    def _mark(self) -> None:
        """Take the fingerprint of where it stands."""
        found = _before(self.descriptor, self.offset, wire.FINGERPRINT_BYTES)
        self._last, self._head = (found, b"") if self.offset else (b"", found)

    def skip(self) -> int:
        """Go to the beginning of the last line under way, however far; return how many bytes lie between."""
        size = os.fstat(self.descriptor).st_size
        end = os.pread(self.descriptor, wire.LOG_CHUNK_BYTES, max(0, size - wire.LOG_CHUNK_BYTES))
        unfinished = len(end) - end.rfind(b"\n") - 1
        offset = size - (unfinished if b"\n" in end else 0)
        skipped = offset - self.offset
        if skipped > 0:
            self.go_to(offset)
        return max(0, skipped)

    def _read_once(self) -> bytes | None:
        status = os.fstat(self.descriptor)
        if status.st_size < self.offset:
            return None
        if status.st_size == self.offset and status.st_mtime_ns == self._calm_ns:
            self.agreed_wall_s = time.time()
            return b""
        known = len(self._last)
        data = os.pread(self.descriptor, known + wire.LOG_CHUNK_BYTES, self.offset - known)
        if data[:known] != self._last or not data.startswith(self._head):
            return None
        self.agreed_wall_s = time.time()
        data = data[known:]
        self.offset += len(data)
        self._last = (self._last + data)[-wire.FINGERPRINT_BYTES :]
        self._head = b""
        self.seen_size = max(status.st_size, self.offset)
        self._calm_ns = None if data else status.st_mtime_ns
        return data

    def _leap(self) -> None:
        """Go to the end of a hole in one step where the file system knows it."""
        try:
            self.offset = os.lseek(self.descriptor, self.offset, os.SEEK_DATA)
        except OSError:  # no data after it (yet), or a file system without holes
            return
        self._mark()


def _before(descriptor: int, offset: int, length: int) -> bytes:
    length = min(length, offset) if offset else length
    return os.pread(descriptor, length, max(0, offset - length))
