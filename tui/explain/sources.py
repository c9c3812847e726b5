"""Opening what was named as a log: a file, standard input, plain or gzip; and refusing what is none."""

import errno
import gzip
import os
import shutil
import sys
import tempfile
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import IO, cast

import msgspec

from tui import files
from tui.transport.clean import clean

STANDARD_INPUT = "-"
CHUNK_BYTES = 256 * 1024
# A page of text holds hardly any control characters and next to no broken UTF-8; machine code, images and
# compressed data are full of both.
_SAMPLE_BYTES = 32 * 1024
_CONTROLS = bytes(sorted(set(range(32)) - set(b"\t\n\r\f\b\x1b\x07"))) + b"\x7f"
_CONTROL_SHARE = 0.03
_BROKEN_SHARE = 0.25
_GZIP = b"\x1f\x8b"
_PACKED = {
    b"\x28\xb5\x2f\xfd": ("zstd", "zstd -dc"),
    b"\xfd7zXZ\x00": ("xz", "xz -dc"),
    b"BZh": ("bzip2", "bzip2 -dc"),
    b"PK\x03\x04": ("zip", "unzip -p"),
}
_STREAMS = ("events", "gpu", "proc", "log", "http")
"""What a line of the H200 recorder can be of."""
_FIRST_LINE_BYTES = 8192
_WIDE = (b"\xff\xfe", b"\xfe\xff")


class LogFault(Exception):
    """What was named cannot be read as a log: one sentence with what, where and what to do."""


class LogFile:
    """A log as it was named on the command line. ``name`` is how it is called in answers.

    ``reads_input`` is the command that takes it on standard input instead.
    """

    def __init__(self, given: str, reads_input: str = "tminus explain -") -> None:
        self.given = given
        self.reads_input = reads_input
        self.name = "standard input" if given == STANDARD_INPUT else clean(given)
        self._kept: IO[bytes] | None = None

    def chunks(self, skip_lines: int = 0) -> Iterator[bytes]:
        """Give the text in pieces, from behind so many newlines on. Raises LogFault."""
        with self._told(), self._opened() as file:
            text = _unpacked(file)
            self._refuse_recording(text)
            yield from _without_lines(_checked(self.name, _pieces(text), self.reads_input), skip_lines)

    def keep(self) -> None:
        """See to it that it can be read twice: what is no file on a disk is copied there. Raises LogFault."""
        with self._told():
            if self._kept is not None or (self.given != STANDARD_INPUT and Path(self.given).is_file()):
                return
            with self._opened() as file:
                # It lives as long as this object, and nobody else can open it.
                self._kept = cast("IO[bytes]", tempfile.TemporaryFile())  # noqa: SIM115
                shutil.copyfileobj(file, self._kept, CHUNK_BYTES)

    def close(self) -> None:
        """Drop the copy, if one was made."""
        if self._kept is not None:
            self._kept.close()

    @contextmanager
    def _told(self) -> Generator[None]:
        try:
            yield
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            why = "it ends too early" if isinstance(error, EOFError) else "it is damaged"
            raise LogFault(
                f"{self.name} cannot be unpacked: {why}; copy the file again, or unpack what there is: "
                f"zcat FILE | {self.reads_input}"
            ) from None
        except OSError as error:
            why = error.strerror or str(error)
            raise LogFault(f"{self.name} cannot be read: {why}; {self._advice(error)}") from None

    @contextmanager
    def _opened(self) -> Generator[IO[bytes]]:
        if self._kept is not None:
            self._kept.seek(0)
            yield self._kept
        elif self.given == STANDARD_INPUT:
            yield sys.stdin.buffer
        else:
            if Path(self.given).is_dir():
                raise LogFault(f"{self.name} is a directory; name the log file in it")
            with os.fdopen(files.open_text(self.given), "rb") as file:
                yield file

    def _refuse_recording(self, text: BufferedReader | gzip.GzipFile) -> None:
        if _is_recording(text.peek(_FIRST_LINE_BYTES)):
            piped = self.given == STANDARD_INPUT
            how = "save it as FILE: tminus replay FILE" if piped else f"tminus replay {self.name}"
            raise LogFault(f"{self.name} is a recording, no log; {how} plays it")

    def _advice(self, error: OSError) -> str:
        if isinstance(error, FileNotFoundError):
            return f"check the path, or give the log on standard input: {self.reads_input}"
        if isinstance(error, PermissionError):
            return f"read it as its owner: sudo cat FILE | {self.reads_input}"
        if error.errno == errno.ENODEV:
            return f"name a log file, or give the log on standard input: {self.reads_input}"
        return "copy the file to this machine and name the copy"


class _FirstLine(msgspec.Struct, frozen=True):
    """What the first line of a recording of ours has (``tminus``, ``events``), or of the H200 recorder's."""

    tminus: str = ""
    events: int = 0
    k: str = ""
    t: float | None = None


def _is_recording(head: bytes) -> bool:
    """Whether text begins like what ``replay`` plays."""
    try:
        line = msgspec.json.decode(head.partition(b"\n")[0], type=_FirstLine)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False
    return bool(line.tminus and line.events) or (line.k in _STREAMS and line.t is not None)


def _unpacked(file: IO[bytes]) -> BufferedReader | gzip.GzipFile:
    """Return the text of a file, unpacked if it is gzip's, whatever the file is called."""
    buffered = cast("BufferedReader", file)
    packed = buffered.peek(2)[:2] == _GZIP
    return gzip.GzipFile(fileobj=buffered) if packed else buffered


def _pieces(text: BufferedReader | gzip.GzipFile) -> Iterator[bytes]:
    while piece := text.read(CHUNK_BYTES):
        yield piece


def _checked(name: str, pieces: Iterator[bytes], reads_input: str) -> Iterator[bytes]:
    """Refuse what is no text, by its first bytes. Zeros before them are the hole of a truncated log."""
    is_text = False
    zeros = False
    for given in pieces:
        piece = given
        if not is_text:
            piece = given.lstrip(b"\0")
            zeros = zeros or piece != given
            if not piece:
                continue
            _check(name, piece, reads_input)
            is_text = True
        yield piece
    if zeros and not is_text:
        raise LogFault(f"{name} holds nothing but zero bytes; name a log that was written to")


def _check(name: str, head: bytes, reads_input: str) -> None:
    for sign, (what, how) in _PACKED.items():
        if head.startswith(sign):
            raise LogFault(f"{name} is packed by {what}; unpack it: {how} FILE | {reads_input}")
    if head.startswith(_WIDE):
        raise LogFault(f"{name} is UTF-16 text; convert it: iconv -f UTF-16 -t UTF-8 FILE | {reads_input}")
    sample = head[:_SAMPLE_BYTES]
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    broken = sample.decode("utf-8", "replace").count("\ufffd")
    if controls > _CONTROL_SHARE * len(sample) or broken > _BROKEN_SHARE * len(sample):
        raise LogFault(f"{name} is a binary file; name the text log of the server")


def _without_lines(pieces: Iterator[bytes], count: int) -> Iterator[bytes]:
    """Leave out the text up to and with the newline of that number."""
    left = count
    for piece in pieces:
        if not left:
            yield piece
            continue
        newlines = piece.count(b"\n")
        if newlines < left:
            left -= newlines
            continue
        place = -1
        for _ in range(left):
            place = piece.index(b"\n", place + 1)
        left = 0
        yield piece[place + 1 :]


def same_file(one: str, other: str) -> bool:
    """Return whether two names are one file."""
    if STANDARD_INPUT in (one, other):
        return one == other
    try:
        return os.path.samefile(one, other)
    except OSError:
        return one == other
