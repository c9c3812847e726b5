"""Reads a recording: event after event, up to where it is whole."""

import re
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Literal, cast

import msgspec

from tui import __version__
from tui.events import VERSION, AnyEvent, Notice, convert, decode
from tui.journal.header import Header
from tui.journal.lines import LINE_LIMIT_BYTES, LineFile, Opener
from tui.journal.upgrade import event_upgrade, upgraded_header
from tui.transport.clean import clean

ABOUT = "journal"
"""What the notice at the end of a recording that is not whole is about."""
HEADER_LIMIT_BYTES = 1024 * 1024
CLOCK_LIMIT_S = 1e10
"""No clock shows as much: three hundred years. Beyond it differences and dates are no figures any more."""
NOT_OURS = "no recording of tminus"
CUT_AT_ONCE = "cut in its first line: nothing of the recording is left"
_BEGINNING = b'{"tminus":'
_SHOWN = 40
_BROKEN = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
# What ``clean`` would take from a text, as it stands in JSON. Our own recordings hold none of it.
_UNCLEAN = re.compile(
    rb"\\[bfnrtu]|\x7f|\xc2[\x80-\x9f\xad]|\xd8\x9c|\xe1\xa0[\x8b-\x8f]|\xe2\x80[\x8b-\x8f\xa8-\xae]"
    rb"|\xe2\x81[\xa0-\xaf]|\xef\xb8[\x80-\x8f]|\xef\xbb\xbf|\xef\xbf[\xb9-\xbb]|\xf0[\x93\x9b\x9d]|\xf3\xa0"
)


class RecordingFault(Exception):
    """A file that cannot be read as a recording: one sentence with what, where and what to do."""


class Recording:
    """One recording on disk. ``events`` reads it anew at each call, without holding it in memory.

    It may be gzip or unpacked. An older version is upgraded: ``header`` and events are of this version,
    ``version`` is the one in the file. Texts are cleaned, for a file may come from anywhere. Raises
    RecordingFault for what is no recording, or a newer one. ``opener`` finds it inside another file.
    """

    def __init__(self, path: Path, opener: Opener | None = None) -> None:
        self.path = path
        self._opener = opener
        self.version, self.header = _header(path, opener)
        self._upgrade = event_upgrade(self.version)

    def events(self) -> Iterator[AnyEvent]:
        """Iterate over the events, oldest first; where the file is not whole a notice that says so is last.

        Raises RecordingFault where the file cannot be read any more.
        """
        file = LineFile(self.path, opener=self._opener)
        first: AnyEvent | None = None
        last: AnyEvent | None = None
        number = 1
        for line in _after_header(file):
            number += 1
            event = read_event(line, self._upgrade)
            if event is not None:
                yield event
                first, last = first or event, event
            elif line.strip():
                yield _cut(first, last, _broken(file, number))
                return
        ending = _ending(file, number + 1)
        if ending is not None:
            yield _cut(first, last, ending)


def read_event(line: bytes, upgrade: Callable[[bytes], bytes] | None = None) -> AnyEvent | None:
    """Return the event of a line with its texts cleaned, None for what is none of this version."""
    try:
        event = decode(line if upgrade is None else upgrade(line))
        if not has_possible_clocks(event):
            return None
        return event if _is_clean(line) else convert(_cleaned(msgspec.to_builtins(event)))
    except _BROKEN:
        return None


def has_possible_clocks(event: AnyEvent) -> bool:
    """Say whether the three clocks of an event are what a clock can show."""
    return (
        -CLOCK_LIMIT_S < event.mono_s < CLOCK_LIMIT_S
        and -CLOCK_LIMIT_S < event.wall_s < CLOCK_LIMIT_S
        and -CLOCK_LIMIT_S < event.client_s < CLOCK_LIMIT_S
    )


# The first line.


class _Sniffed(msgspec.Struct, frozen=True, kw_only=True):
    """What a header of any version tells."""

    tminus: str
    events: int


def _header(path: Path, opener: Opener | None) -> tuple[int, Header]:
    """Return the version that the file was written in, and its header in this version."""
    file = LineFile(path, HEADER_LIMIT_BYTES, opener)
    with closing(_reading(file)) as lines:
        line = next(lines, None)
    if line is None:
        raise RecordingFault(f"{path} is {_without_line(file)}")
    try:
        found = msgspec.json.decode(line, type=_Sniffed)
    except _BROKEN:
        raise RecordingFault(f"{path} is {_foreign(file, line)}") from None
    if found.events > VERSION:
        raise RecordingFault(_newer(path, found))
    try:
        header = msgspec.json.decode(upgraded_header(line, max(1, found.events)), type=Header)
        return max(1, found.events), msgspec.convert(_cleaned(msgspec.to_builtins(header)), Header)
    except _BROKEN:
        raise RecordingFault(f"{path} is {NOT_OURS}: its first line is broken") from None


def _newer(path: Path, found: _Sniffed) -> str:
    return (
        f"{path} was recorded by tminus {clean(found.tminus)[:_SHOWN]} in event version {found.events}; "
        f"this is tminus {__version__}, which reads up to version {VERSION}: update tminus"
    )


def _without_line(file: LineFile) -> str:
    """Say what a file without a first line is."""
    if file.end == "damaged":
        return "damaged from its beginning: it cannot be unpacked"
    if file.end == "too_long":
        return NOT_OURS
    return "empty" if file.end == "whole" else CUT_AT_ONCE


def _foreign(file: LineFile, line: bytes) -> str:
    """Say what a file is whose first line is no header."""
    torn = file.torn and (file.end == "unfinished" or line.startswith(_BEGINNING))
    return CUT_AT_ONCE if torn else NOT_OURS


# The others.


def _after_header(file: LineFile) -> Generator[bytes]:
    lines = _reading(file)
    next(lines, None)
    yield from lines


def _reading(file: LineFile) -> Generator[bytes]:
    try:
        yield from file
    except OSError as error:
        raise RecordingFault(f"{file.path} cannot be read: {error.strerror}") from None


def _is_clean(line: bytes) -> bool:
    """Whether no text of a line needs cleaning; quick for the many that are ASCII and escape but quotes."""
    if line.isascii() and b"\x7f" not in line and line.count(b"\\") == line.count(b'\\"'):
        return True
    return _UNCLEAN.search(line) is None


def _cleaned(value: object) -> object:
    """Return a decoded value with every text in it cleaned, names too."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_cleaned(each) for each in cast("list[object]", value)]
    if isinstance(value, dict):
        return {clean(name): _cleaned(each) for name, each in cast("dict[str, object]", value).items()}
    return value


# The end.

Ending = tuple[Literal["broken", "damaged", "cut", "unfinished"], str]
"""How a recording ends that is not whole: in a word, and how that shows."""


def _broken(file: LineFile, number: int) -> Ending:
    """Say why a line is no event."""
    if file.torn:
        return "cut", "the file ends in the middle of a line"
    if file.end == "damaged":
        return "damaged", "what follows cannot be unpacked"
    return "broken", f"line {number} is no event of version {VERSION}"


def _ending(file: LineFile, number: int) -> Ending | None:
    if file.end == "too_long":
        return "broken", f"line {number} is longer than {LINE_LIMIT_BYTES // 1024**2} MiB"
    if file.end == "damaged":
        return "damaged", "what follows cannot be unpacked"
    if file.end == "unfinished":
        return "unfinished", "its watch still runs or was ended by force, or the end of the file is lost"
    return None


def _cut(first: AnyEvent | None, last: AnyEvent | None, ending: Ending) -> Notice:
    word, shown = ending
    length_s = 0.0 if first is None or last is None else last.client_s - first.client_s
    after = "before its first event" if last is None else f"after {_clock_text(length_s)}"
    fault = f"the recording is {word} {after}: {shown}"
    return Notice(
        mono_s=last.mono_s if last is not None else 0.0,
        wall_s=last.wall_s if last is not None else 0.0,
        client_s=last.client_s if last is not None else 0.0,
        level="info" if word == "unfinished" else "warning",
        about=ABOUT,
        sentence=f"the recording is not finished, it ends {after}: {shown}"
        if word == "unfinished"
        else fault,
    )


def _clock_text(seconds: float) -> str:
    """Return a length as the replay's clock shows it: 3:12, 1:02:03."""
    minutes, left = divmod(int(max(0.0, seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"
