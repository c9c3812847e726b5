"""The framing of HTTP/1.1 responses: bytes of the wire in, bytes of the body out.

Chunked, sized and until-close bodies, in whatever pieces they arrive. It knows no clock and no socket, and is
cheap enough (about 2 µs a read) to run as data arrives; what a body means is read later (load_stream.py).
"""

from __future__ import annotations

HEAD_LIMIT_BYTES = 256 * 1024
LINE_LIMIT_BYTES = 16 * 1024
BODY_LIMIT_BYTES = 64 * 1024 * 1024
TOO_LARGE = "a response of more than %d MiB" % (BODY_LIMIT_BYTES >> 20)


class FramingError(Exception):
    """The bytes are no HTTP/1.1 response, or one larger than anything a benchmark asks for."""


class Response:
    """One response being received. ``status`` is 0 until its head is complete; ``done`` says it is whole.

    ``lone`` is the size line of what was fed last if that was exactly one chunk, else b"". Other bytes of the
    same length that begin with it and end with CRLF are one chunk, too.
    """

    __slots__ = (
        "_after_data",
        "_chunked",
        "_left",
        "_rest",
        "_size",
        "_trailers",
        "done",
        "headers",
        "lone",
        "status",
    )

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.done = False
        self._rest = bytearray()
        self._chunked = False
        self._left: int | None = None  # of the body or the chunk; None while unknown or until close
        self._after_data = False
        self._trailers = False
        self._size = 0
        self.lone = b""

    @property
    def until_close(self) -> bool:
        """True when only the end of the connection ends this body."""
        return self.status != 0 and not self.done and not self._chunked and self._left is None

    @property
    def reusable(self) -> bool:
        """True when the connection may carry another request after this response."""
        return self.done and not self._rest and "close" not in self.headers.get("connection", "").lower()

    @property
    def between_chunks(self) -> bool:
        """True when what comes next is the size line of a chunk, or the last one."""
        return self._chunked and not (
            self._left or self._after_data or self._trailers or self._rest or self.done
        )

    def feed(self, data: bytes) -> bytes:
        """Take what arrived and return the part of the body in it. Raises FramingError."""
        self.lone = b""
        if self.status == 0:
            data = self._head(data)
            if self.status == 0:
                return b""
        body = (self._one_chunk(data) or self._dechunk(data)) if self._chunked else self._plain(data)
        self._size += len(body)
        if self._size > BODY_LIMIT_BYTES:
            raise FramingError(TOO_LARGE)
        return body

    def _head(self, data: bytes) -> bytes:
        searched = max(0, len(self._rest) - 3)
        self._rest += data
        while self.status == 0:
            end = self._rest.find(b"\r\n\r\n", searched)
            if end < 0:
                self._check_head()
                return b""
            self._parse_head(bytes(self._rest[:end]))
            del self._rest[: end + 4]
            searched = 0
        rest, self._rest = bytes(self._rest), bytearray()
        return rest

    def _check_head(self) -> None:
        if not self._rest.startswith(b"HTTP/1."[: len(self._rest)]):
            raise FramingError("not an HTTP/1.1 answer: %r" % bytes(self._rest[:40]))
        if len(self._rest) > HEAD_LIMIT_BYTES:
            raise FramingError("a head of more than %d KiB" % (HEAD_LIMIT_BYTES >> 10))

    def _parse_head(self, head: bytes) -> None:
        first, *lines = head.decode("latin-1").split("\r\n")
        version, _, words = first.partition(" ")
        if not version.startswith("HTTP/1.") or not words[:3].isdigit():
            raise FramingError("not an HTTP/1.1 answer: %r" % first[:40])
        status = int(words[:3])
        if status < 200:  # 100 Continue, 103 Early Hints: another head follows
            return
        self.headers = {name.strip().lower(): value.strip() for name, _, value in _fields(lines)}
        if version == "HTTP/1.0" and self.headers.get("connection", "").lower() != "keep-alive":
            self.headers["connection"] = "close"
        self.status = status
        self._choose_framing()

    def _choose_framing(self) -> None:
        if self.headers.get("content-encoding", "identity").lower() != "identity":
            raise FramingError("a compressed answer that was not asked for")
        self._chunked = self.headers.get("transfer-encoding", "").lower().endswith("chunked")
        length = self.headers.get("content-length")
        if self._chunked:
            self._left = 0
        elif self.status in (204, 304):
            self._left, self.done = 0, True
        elif length is not None:
            if not length.isdigit():
                raise FramingError("a length that is no number: %r" % length[:40])
            self._left = int(length)
            self.done = self._left == 0

    def _plain(self, data: bytes) -> bytes:
        if self._left is None:
            return data
        body = data[: self._left]
        self._left -= len(body)
        self.done = self._left == 0
        self._rest += data[len(body) :]
        return body

    def _one_chunk(self, data: bytes) -> bytes:
        """Return the body of a read that is exactly one chunk, as most are; b"" for any other."""
        if not data.endswith(b"\r\n") or not self.between_chunks:
            return b""
        end = data.find(b"\r\n", 1, 16)
        size = len(data) - end - 4
        if end < 0 or size < 1 or not data[:end].isalnum() or _chunk_size(data[:end]) != size:
            return b""
        self.lone = data[: end + 2]
        return data[end + 2 : -2]

    def _dechunk(self, data: bytes) -> bytes:
        if self._rest:
            data = bytes(self._rest) + data
        pieces: list[bytes] = []
        at = 0
        while at < len(data) and not self.done:
            if self._left:
                piece = data[at : at + self._left]
                pieces.append(piece)
                self._left -= len(piece)
                at += len(piece)
                continue
            end = data.find(b"\n", at)
            if end < 0:
                break
            self._line(data[at:end].rstrip(b"\r"))
            at = end + 1
        self._rest = bytearray(data[at:])
        if len(self._rest) > LINE_LIMIT_BYTES and not self.done:
            raise FramingError("a chunk without a size")
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _line(self, line: bytes) -> None:
        """Take a line of the chunk framing: the end of a chunk, a size, or a trailer."""
        if self._after_data:
            self._after_data = False
            if line:
                raise FramingError("a chunk longer than its size")
        elif self._trailers:
            self.done = not line
        else:
            self._left = _chunk_size(line)
            self._after_data = self._left > 0
            self._trailers = self._left == 0


def _fields(lines: list[str]) -> list[tuple[str, str, str]]:
    return [line.partition(":") for line in lines]


def _chunk_size(line: bytes) -> int:
    digits = line.split(b";", 1)[0].strip()
    try:
        size = int(digits, 16)
    except ValueError:
        size = -1
    if size < 0:
        raise FramingError("a chunk without a size: %r" % line[:40])
    return size
