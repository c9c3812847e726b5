"""What the kernel asks of a file system in user space, and the answers: a folder of equal files of zeros.

Read only, and only as much of the protocol (include/uapi/linux/fuse.h, 7.31) as reading takes. Nothing may be
kept by the kernel's caches of names: every look at a path asks anew, so that who looks is seen.
"""

import errno
import stat
import struct
from dataclasses import dataclass
from enum import IntEnum

MOST_BYTES = 1 << 20
READ_BYTES = 128 * 1024
BLOCK = 4096
ROOT = 1

_IN = struct.Struct("<IIQQIIII")
_OUT = struct.Struct("<IiQ")
_INIT_IN = struct.Struct("<IIII")
_INIT_OUT = struct.Struct("<IIIIHHIIHHII24x")
_ATTRIBUTES = struct.Struct("<QQQQQQIIIIIIIIII")
_ENTRY = struct.Struct("<QQQQII")
_VALIDITY = struct.Struct("<QII")
_OPENED = struct.Struct("<QIi")
_READ_IN = struct.Struct("<QQIIQII")
_DIRENT = struct.Struct("<QQII")
_STATFS = struct.Struct("<QQQQQIIII24x")
_ASYNC_READ = 1
_MINOR = 31


class Op(IntEnum):
    """The questions that are known here; the others are answered by "not implemented"."""

    LOOKUP = 1
    FORGET = 2
    GETATTR = 3
    OPEN = 14
    READ = 15
    STATFS = 17
    RELEASE = 18
    FLUSH = 25
    INIT = 26
    OPENDIR = 27
    READDIR = 28
    RELEASEDIR = 29
    INTERRUPT = 36
    BATCH_FORGET = 42


_UNANSWERED = (Op.FORGET, Op.INTERRUPT, Op.BATCH_FORGET)


@dataclass(frozen=True, slots=True)
class Question:
    """One question of the kernel: by which process (0: none), about which node (a file, or the folder)."""

    op: int
    unique: int
    node: int
    pid: int
    body: bytes

    @property
    def name(self) -> str:
        """The question's name, its number where it is not known."""
        return Op(self.op).name if self.op in set(Op) else str(self.op)

    @property
    def read_bytes(self) -> int:
        """How much it wants to read."""
        return _READ_IN.unpack_from(self.body)[2] if self.op == Op.READ else 0


def question(data: bytes) -> Question:
    """Take a question apart."""
    _, op, unique, node, _, _, pid, _ = _IN.unpack_from(data)
    return Question(op, unique, node, pid, data[_IN.size :])


class Folder:
    """A folder of files of the same size, and what is answered about it."""

    def __init__(self, names: list[str], size: int) -> None:
        self.names = names
        self.size = size
        self._zeros = bytes(READ_BYTES)

    def answer(self, asked: Question) -> bytes | None:
        """Return the whole answer, None where the kernel expects none."""
        if asked.op in _UNANSWERED:
            return None
        try:
            body = self._body(asked)
        except OSError as error:
            return _OUT.pack(_OUT.size, -(error.errno or errno.EIO), asked.unique)
        return _OUT.pack(_OUT.size + len(body), 0, asked.unique) + body

    def _body(self, asked: Question) -> bytes:
        match asked.op:
            case Op.INIT:
                return _agreed(asked.body)
            case Op.LOOKUP:
                return self._entry(asked.body.rstrip(b"\0").decode())
            case Op.GETATTR:
                return _VALIDITY.pack(0, 0, 0) + self._attributes(asked.node)
            case Op.OPEN | Op.OPENDIR:
                return _OPENED.pack(0, 0, 0)
            case Op.READ:
                return self._read(asked.body)
            case Op.READDIR:
                return self._listed(asked.body)
            case Op.STATFS:
                return _STATFS.pack(0, 0, 0, len(self.names), 0, BLOCK, 255, BLOCK, 0)
            case Op.RELEASE | Op.RELEASEDIR | Op.FLUSH:
                return b""
            case _:
                raise OSError(errno.ENOSYS, "not implemented")

    def _entry(self, name: str) -> bytes:
        if name not in self.names:
            raise OSError(errno.ENOENT, "no such file")
        node = self.names.index(name) + ROOT + 1
        return _ENTRY.pack(node, 0, 0, 0, 0, 0) + self._attributes(node)

    def _attributes(self, node: int) -> bytes:
        folder = node == ROOT
        mode = stat.S_IFDIR | 0o755 if folder else stat.S_IFREG | 0o644
        size = BLOCK if folder else self.size
        return _ATTRIBUTES.pack(
            node, size, size // 512, 0, 0, 0, 0, 0, 0, mode, 1 + folder, 0, 0, 0, BLOCK, 0
        )

    def _read(self, body: bytes) -> bytes:
        _, offset, size, *_ = _READ_IN.unpack_from(body)
        return self._zeros[: max(0, min(size, self.size - offset))]

    def _listed(self, body: bytes) -> bytes:
        _, offset, size, *_ = _READ_IN.unpack_from(body)
        listed = b""
        for place, name in enumerate(self.names[offset:], offset):
            entry = _DIRENT.pack(ROOT + 1 + place, place + 1, len(name), stat.S_IFREG >> 12) + name.encode()
            entry += bytes(-len(entry) % 8)
            if len(listed) + len(entry) > size:
                break
            listed += entry
        return listed


def _agreed(body: bytes) -> bytes:
    major, _, ahead, _ = _INIT_IN.unpack_from(body)
    flags = _ASYNC_READ
    return _INIT_OUT.pack(major, _MINOR, min(ahead, READ_BYTES), flags, 12, 9, BLOCK, 1, 0, 0, 0, 0)
