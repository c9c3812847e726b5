"""What ``logs --timestamps`` prints: lines that begin with the moment at which the runtime took them in.

Docker's form is that of Podman and kubectl too: RFC 3339 with up to nine digits and a zone, one space, the
line. What has no stamp is not of the container: the tool's own words.
"""

import re
from datetime import datetime
from typing import NamedTuple

_STAMP = re.compile(
    rb"(?P<second>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(?P<part>\d{1,9}))?(?P<zone>Z|[+-]\d\d:\d\d)(?: |$)"
)
# A piece's own stamp in the middle of a line; runtimes write all nine digits, programs hardly ever.
_INNER = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}(?:Z|[+-]\d\d:\d\d) ")
# Docker's copier (daemon/logger/copier.go, defaultBufSize) cuts a longer line into pieces of this size. The
# drivers keep them as lines of their own without a newline, so that they come as one, with stamps in between.
DOCKER_PIECE_BYTES = 16 * 1024
# A bar that is redrawn without a newline comes from conmon in pieces, as long as it lasts.
_PIECES_NS = 3600 * 10**9
# A line without end must not grow in memory; what follows is told as of the same moment.
LINE_LIMIT_BYTES = 1024 * 1024
_WORDS_BYTES = 4096


class Entry(NamedTuple):
    """One line of the container, without its stamp (ns since 1970) and with its newline where it is whole."""

    stamp_ns: int
    text: bytes


class StampedLines:
    """Splits a tool's output into entries. ``words`` is what it said itself, the last 4 KiB."""

    def __init__(self, piece_bytes: int | None) -> None:
        self.words = b""
        self._piece_bytes = piece_bytes
        self._rest = bytearray()
        self._cut_ns: int | None = None
        self._seconds: tuple[bytes, int | None] = (b"", None)

    @property
    def unfinished(self) -> bytes:
        """The line at the end that has no newline yet, without its stamp; empty where there is none."""
        found = None if self._cut_ns is not None else self._read(bytes(self._rest))
        return b"" if found is None else found.text

    def feed(self, data: bytes) -> list[Entry]:
        """Take output in; return the lines that it finishes, in the order in which they came."""
        self._rest += data
        *lines, rest = self._rest.split(b"\n")
        self._rest = bytearray(rest)
        entries = [self._line(bytes(line) + b"\n") for line in lines]
        if len(self._rest) > LINE_LIMIT_BYTES:
            entries.append(self._cut())
        return [entry for entry in entries if entry is not None]

    def finish(self) -> None:
        """The output is over: what has no newline may be the tool's last word."""
        if self._rest and self._cut_ns is None and self._read(bytes(self._rest)) is None:
            self._say(bytes(self._rest))
        self._rest.clear()

    def _line(self, line: bytes) -> Entry | None:
        cut_ns, self._cut_ns = self._cut_ns, None
        if cut_ns is not None:
            return Entry(cut_ns, line)
        found = self._read(line)
        if found is None:
            self._say(line)
        return found

    def _cut(self) -> Entry | None:
        text = bytes(self._rest)
        found = self._read(text) if self._cut_ns is None else Entry(self._cut_ns, text)
        self._rest.clear()
        if found is not None:
            self._cut_ns = found.stamp_ns
        return found

    def _say(self, line: bytes) -> None:
        self.words = (self.words + line)[-_WORDS_BYTES:]

    def _read(self, line: bytes) -> Entry | None:
        found = _STAMP.match(line)
        stamp_ns = None if found is None else self._nanoseconds(found)
        if found is None or stamp_ns is None:
            return None
        return Entry(stamp_ns, self._joined(line[found.end() :], stamp_ns, found["second"][:11]))

    def _nanoseconds(self, found: re.Match[bytes]) -> int | None:
        """Return the moment; the second, which many lines share, is read once."""
        second = found["second"] + found["zone"].replace(b"Z", b"+00:00")
        if second != self._seconds[0]:
            self._seconds = (second, _seconds(second.decode("ascii")))
        seconds = self._seconds[1]
        part = (found["part"] or b"").ljust(9, b"0")
        return None if seconds is None else seconds * 10**9 + int(part)

    def _joined(self, text: bytes, stamp_ns: int, day: bytes) -> bytes:
        """Return a line without the stamps of its pieces."""
        if self._piece_bytes is None:
            return self._joined_anywhere(text, stamp_ns) if day in text else text
        pieces: list[bytes] = []
        while len(text) > self._piece_bytes and (inner := _INNER.match(text, self._piece_bytes)):
            pieces.append(text[: self._piece_bytes])
            text = text[inner.end() :]
        return b"".join([*pieces, text])

    def _joined_anywhere(self, text: bytes, stamp_ns: int) -> bytes:
        pieces: list[bytes] = []
        at = 0
        for inner in _INNER.finditer(text, 1):
            found = _STAMP.match(inner[0])
            inner_ns = None if found is None else self._nanoseconds(found)
            if inner_ns is not None and 0 <= inner_ns - stamp_ns <= _PIECES_NS:
                pieces.append(text[at : inner.start()])
                at = inner.end()
        return b"".join([*pieces, text[at:]])


def _seconds(second: str) -> int | None:
    try:
        return int(datetime.fromisoformat(second).timestamp())
    except (ValueError, OverflowError):
        return None  # of that form, but no day of the calendar
