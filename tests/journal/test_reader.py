"""A recording is read as far as it is whole, and what is none is told in one line."""

import gzip
import json
import os
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tui import __version__
from tui.events import VERSION, AnyEvent, Log, Notice, Tick, encode
from tui.journal import reader
from tui.journal.header import Asked, Header
from tui.journal.lines import LINE_LIMIT_BYTES
from tui.journal.reader import Recording, RecordingFault, read_event
from tui.journal.writer import open_journal
from tui.transport.clean import clean

EVENTS = [Tick(mono_s=50.0 + each, wall_s=1e9 + each, client_s=10.0 + each) for each in range(200)]
HEADER = msgspec.json.encode(
    Header(tminus="0.1.0", events=VERSION, host="gpu01", began_wall_s=1e9, asked=Asked(port=8000))
)
TEXT = b"".join(line + b"\n" for line in (HEADER, *map(encode, EVENTS)))
ZIPPED = gzip.compress(TEXT, mtime=0)
FLUSHED_BYTES = 40


def recording(folder: Path, data: bytes) -> Recording:
    path = folder / "file"
    path.write_bytes(data)
    return Recording(path)


def fault(folder: Path, data: bytes) -> str:
    with pytest.raises(RecordingFault) as caught:
        recording(folder, data)
    text = str(caught.value)
    assert text.startswith(str(folder / "file"))
    assert "\n" not in text
    return text.removeprefix(f"{folder / 'file'} ")


def ending(events: list[AnyEvent]) -> Notice:
    """Return the notice at the end, which alone is about the journal."""
    last = events[-1]
    assert isinstance(last, Notice)
    assert last.about == "journal"
    assert not any(isinstance(each, Notice) for each in events[:-1])
    return last


# What is whole.


@pytest.mark.parametrize(
    "data",
    [
        ZIPPED,
        TEXT,
        TEXT[:-1],
        TEXT.replace(b"\n", b"\r\n"),
        TEXT + b"\n\n",
        gzip.compress(TEXT[:-1], mtime=0),
    ],
    ids=["gzip", "unpacked", "no last newline", "edited elsewhere", "empty lines", "gzip, no last newline"],
)
def test_a_whole_recording_is_all_there_and_nothing_else(tmp_path: Path, data: bytes) -> None:
    found = recording(tmp_path, data)
    assert list(found.events()) == EVENTS
    assert list(found.events()) == EVENTS, "it can be read again"
    assert (found.version, found.header.host, found.header.asked.port) == (VERSION, "gpu01", 8000)


def test_a_recording_without_an_event_has_none(tmp_path: Path) -> None:
    assert list(recording(tmp_path, HEADER + b"\n").events()) == []


# What is cut.


def test_an_unfinished_recording_plays_to_its_end_and_says_how_that_may_be(tmp_path: Path) -> None:
    journal = open_journal(tmp_path, "gpu01", "0.1.0")
    for event in EVENTS:
        journal.append(event)

    *events, last = Recording(journal.path).events()
    journal.close()

    assert events == EVENTS
    notice = ending([last])
    assert notice.level == "info"
    assert notice.sentence == (
        "the recording is not finished, it ends after 3:19: "
        "its watch still runs or was ended by force, or the end of the file is lost"
    )
    assert (notice.client_s, notice.mono_s, notice.wall_s) == (209.0, 249.0, 1e9 + 199)
    assert list(Recording(journal.path).events()) == EVENTS


@given(st.integers(len(HEADER) + 1, len(TEXT) - 2))
def test_an_unpacked_recording_cut_anywhere_plays_to_where_it_is_whole(
    tmp_path_factory: pytest.TempPathFactory, size_bytes: int
) -> None:
    data = TEXT[:size_bytes]
    events = list(recording(tmp_path_factory.mktemp("cut"), data).events())
    whole = data.count(b"\n") - 1
    if data.endswith((b"\n", b"}")):
        assert events == EVENTS[: whole + data.endswith(b"}")]
        return
    assert events[:-1] == EVENTS[:whole]
    assert ending(events).sentence.endswith("the file ends in the middle of a line")


@given(st.integers(2, len(ZIPPED) - 1))
def test_a_gzip_recording_cut_anywhere_plays_to_where_it_is_whole(
    tmp_path_factory: pytest.TempPathFactory, size_bytes: int
) -> None:
    folder = tmp_path_factory.mktemp("cut")
    try:
        events = list(recording(folder, ZIPPED[:size_bytes]).events())
    except RecordingFault as found:
        assert "cut in its first line" in str(found)  # noqa: PT017  # both ways are right, by the place of the cut
        return
    assert events[:-1] == EVENTS[: len(events) - 1]
    sentence = ending(events).sentence
    assert "is cut" in sentence or "not finished" in sentence


@pytest.mark.parametrize(
    ("data", "played", "sentence"),
    [
        (
            HEADER + b'\n{"kind":"ti',
            0,
            "the recording is cut before its first event: the file ends in the middle",
        ),
        (
            TEXT + b"garbage\n" + TEXT,
            200,
            f"the recording is broken after 3:19: line 202 is no event of version {VERSION}",
        ),
        (TEXT + b"\xff\xfe\n" + TEXT, 200, "the recording is broken after 3:19: line 202"),
        (TEXT + TEXT, 200, "the recording is broken after 3:19: line 202"),
        (TEXT + b'{"kind":"of_tomorrow","mono_s":1,"wall_s":1}\n', 200, "the recording is broken after 3:19"),
        (TEXT + b'{"kind":"tick","mono_s":1,"wall_s":1,"more":1}\n', 200, "the recording is broken"),
        (TEXT + b'{"kind":"tick","mono_s":"1","wall_s":1}\n', 200, "the recording is broken after 3:19"),
        (TEXT + b'{"kind":' + b"[" * 200_000 + b"\n", 200, "the recording is broken after 3:19: line 202"),
        (TEXT + b"null\n", 200, "the recording is broken after 3:19: line 202"),
        (ZIPPED + b"garbage", 200, "the recording is damaged after 3:19: what follows cannot be unpacked"),
    ],
    ids=lambda value: repr(value[-24:]) if isinstance(value, bytes) else None,
)
def test_what_is_broken_plays_to_there(tmp_path: Path, data: bytes, played: int, sentence: str) -> None:
    events = list(recording(tmp_path, data).events())
    assert events[:-1] == EVENTS[:played]
    assert ending(events).sentence.startswith(sentence)
    assert ending(events).level == "warning"


def test_garbage_in_the_middle_of_gzip_data_plays_to_there(tmp_path: Path) -> None:
    data = bytearray(ZIPPED)
    middle = len(data) // 2
    data[middle : middle + 300] = bytes(range(256)) + bytes(44)
    events = list(recording(tmp_path, bytes(data)).events())
    assert events[:-1] == EVENTS[: len(events) - 1]
    assert len(events) > 50
    assert ending(events).level == "warning"


@pytest.mark.parametrize("clock", ["mono_s", "wall_s", "client_s"])
@pytest.mark.parametrize("wild", [-1e308, 1e308, 1e10])
def test_a_time_that_no_clock_can_show_is_where_a_recording_breaks(
    tmp_path: Path, clock: str, wild: float
) -> None:
    tick = Tick(mono_s=0.0, wall_s=0.0, client_s=0.0)
    data = b"\n".join((HEADER, encode(tick), encode(replace(tick, **{clock: wild})), encode(tick), b""))
    events = list(recording(tmp_path, data).events())
    assert events[:-1] == [tick]
    assert "line 3 is no event" in ending(events).sentence


def test_a_line_that_would_take_all_memory_ends_the_reading(tmp_path: Path) -> None:
    squeeze = zlib.compressobj(1, zlib.DEFLATED, 31)
    data = [squeeze.compress(TEXT + b'{"kind":"')]
    data += [squeeze.compress(bytes(1024 * 1024)) for _ in range(LINE_LIMIT_BYTES // 1024**2 + 2)]
    events = list(recording(tmp_path, b"".join((*data, squeeze.flush()))).events())
    assert events[:-1] == EVENTS
    assert ending(events).sentence.endswith("line 202 is longer than 64 MiB")


# What is no recording.


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "is empty"),
        (b"\n", "is no recording of tminus"),
        (gzip.compress(b"", mtime=0), "is empty"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "is no recording of tminus"),
        (b"[2026-05-28 20:26:45] server_args=ServerArgs()\n" * 50, "is no recording of tminus"),
        (b'{"t": 0.0, "k": "events"}\n', "is no recording of tminus"),
        (b'{"a": 1}', "is no recording of tminus"),
        (b"[1, 2]\n", "is no recording of tminus"),
        (b"x" * 5_000_000, "is no recording of tminus"),
        (b"[" * 500_000 + b"\n", "is no recording of tminus"),
        (b'{"tminus":"0.1.0","events":2}\n', "is no recording of tminus: its first line is broken"),
        (b'{"tminus":"0.1.0","events":-7}\n', "is no recording of tminus: its first line is broken"),
        (b'{"tminus":"0.1.0","events":true}\n', "is no recording of tminus"),
        (HEADER[:-20], "is cut in its first line: nothing of the recording is left"),
        (ZIPPED[:20], "is cut in its first line: nothing of the recording is left"),
        (ZIPPED[:2], "is cut in its first line: nothing of the recording is left"),
        (ZIPPED[:10] + b"\xff" * 100, "is damaged from its beginning: it cannot be unpacked"),
        (gzip.compress(b"\x89PNG\r\n\x1a\n\0\0", mtime=0), "is no recording of tminus"),
    ],
    ids=lambda value: repr(value[:24]),
)
def test_what_is_no_recording_is_told_in_one_line(tmp_path: Path, data: bytes, sentence: str) -> None:
    assert fault(tmp_path, data) == sentence


def test_places_that_cannot_be_read_are_told_in_one_line(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, words in {
        "": "it is a directory",
        "pipe": "it is no plain file",
        "missing": "No such file",
        "x" * 300: "File name too long",
    }.items():
        with pytest.raises(RecordingFault, match=f"cannot be read: {words}"):
            Recording(tmp_path / name)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_of_another_user_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(ZIPPED)
    (tmp_path / "file").chmod(0)
    with pytest.raises(RecordingFault, match="cannot be read: Permission denied"):
        Recording(tmp_path / "file")


def test_a_recording_that_vanishes_is_told_when_it_is_read_again(tmp_path: Path) -> None:
    found = recording(tmp_path, ZIPPED)
    found.path.unlink()
    with pytest.raises(RecordingFault, match="No such file"):
        next(found.events())


def test_a_newer_recording_names_both_versions_and_what_to_do(tmp_path: Path) -> None:
    line = b'{"tminus":"9.\\u001b[31m1","events":%d,"of_tomorrow":{}}\n' % (VERSION + 1)
    assert fault(tmp_path, line + b"whatever\n") == (
        f"was recorded by tminus 9.1 in event version {VERSION + 1}; "
        f"this is tminus {__version__}, which reads up to version {VERSION}: update tminus"
    )


# Where texts come from.


def test_texts_of_a_file_from_anywhere_are_cleaned(tmp_path: Path) -> None:
    evil = "\x1b]0;owned\x07red \x1b[31mtext\u202e\x7f\x9b1m\nnext"
    log = Log(
        mono_s=0, wall_s=0, client_s=0, lines=[evil, "good"], tail=evil, returns=[0], path=evil, device=1,
        inode=1, offset=1,
    )  # fmt: skip
    header = Header(tminus=evil, events=VERSION, host=evil, began_wall_s=0, asked=Asked(model=evil))
    found = recording(tmp_path, msgspec.json.encode(header) + b"\n" + encode(log) + b"\n")
    [read] = found.events()
    assert isinstance(read, Log)
    safe = clean(evil)
    assert "\x1b" not in safe
    assert (read.lines, read.tail, read.path, read.returns) == ([safe, "good"], safe, safe, [0])
    assert (found.header.tminus, found.header.host, found.header.asked.model) == (safe, safe, safe)


def test_every_character_that_is_cleaned_away_is_noticed_in_a_line() -> None:
    missed: list[str] = []
    for number in range(sys.maxunicode + 1):
        character = chr(number)
        if 0xD800 <= number < 0xE000 or clean(character) == character:
            continue
        event = Notice(mono_s=0, wall_s=0, level="info", about="", sentence=f"a{character}b")
        for line in (encode(event), json.dumps(msgspec.to_builtins(event)).encode()):
            read = read_event(line)
            assert isinstance(read, Notice)
            if read.sentence != clean(event.sentence):
                missed.append(f"{number:x}")
    assert missed == []


@given(st.text())
def test_a_text_reads_as_the_edge_would_have_cleaned_it(text: str) -> None:
    event = Notice(mono_s=0, wall_s=0, level="info", about="", sentence=text)
    read = read_event(encode(event))
    assert isinstance(read, Notice)
    assert read.sentence == clean(text)


def test_a_plain_line_goes_no_detour(monkeypatch: pytest.MonkeyPatch) -> None:
    def detour(_value: object) -> object:
        raise AssertionError("taken")

    monkeypatch.setattr(reader, "_cleaned", detour)
    for text in (
        "Loading safetensors: 50%|█████     | 1/2 [07:06<07:06, 4.7s/it] … “quoted” — naïve 東京",
        "it's fine",
    ):
        assert (
            read_event(encode(Notice(mono_s=0, wall_s=0, level="info", about="", sentence=text))) is not None
        )


def test_an_upgrade_of_events_is_applied_to_each_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def shifted(_version: int) -> Callable[[bytes], bytes]:
        return lambda line: line.replace(b'"kind":"tock"', b'"kind":"tick"')

    monkeypatch.setattr(reader, "event_upgrade", shifted)
    data = HEADER + b"\n" + encode(EVENTS[0]).replace(b"tick", b"tock") + b"\n"
    assert list(recording(tmp_path, data).events()) == [EVENTS[0]]
