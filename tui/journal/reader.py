"""Reads a recording: event after event, up to where it is whole."""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tui.events import VERSION, AnyEvent, Notice, decode
from tui.journal.header import Header


class RecordingFault(Exception):
    """A file that cannot be read as a recording: one sentence with what, where and what to do."""


class Recording:
    """One recording on disk. ``events`` reads it anew at each call, without holding it in memory.

    Raises RecordingFault for what is no recording, or a newer one.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.header = _header(path)

    def events(self) -> Iterator[AnyEvent]:
        """Iterate over the events, oldest first; where the file is cut a notice that says so is the last."""
        lines = _lines(self.path)
        next(lines, None)
        last: AnyEvent | None = None
        for number, line in enumerate(lines, start=2):
            try:
                last = decode(line)
            except (msgspec.ValidationError, msgspec.DecodeError):
                yield _cut(last, f"the recording is broken from line {number} on")
                return
            yield last


def _header(path: Path) -> Header:
    for line in _lines(path):
        try:
            header = msgspec.json.decode(line, type=Header)
        except (msgspec.ValidationError, msgspec.DecodeError):
            break
        if header.events > VERSION:
            raise RecordingFault(
                f"{path} was recorded by tminus {header.tminus}, which is newer: update tminus"
            )
        return header
    raise RecordingFault(f"{path} is no recording of tminus")


def _lines(path: Path) -> Iterator[bytes]:
    """Iterate over the whole lines of a file; it may end in the middle of anything."""
    try:
        with gzip.open(path) as file:
            for line in file:
                if not line.endswith(b"\n"):
                    return
                yield line
    except (EOFError, zlib.error, gzip.BadGzipFile):
        return
    except OSError as error:
        raise RecordingFault(f"{path} cannot be read: {error.strerror}") from None


def _cut(last: AnyEvent | None, sentence: str) -> Notice:
    return Notice(
        mono_s=last.mono_s if last is not None else 0.0,
        wall_s=last.wall_s if last is not None else 0.0,
        client_s=last.client_s if last is not None else 0.0,
        level="warning",
        about="journal",
        sentence=sentence,
    )
