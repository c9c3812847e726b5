"""A recording is whole up to its last second, whatever ended the watch."""

import errno
import os
import random
import stat
import subprocess
import sys
import zlib
from pathlib import Path

import msgspec
import pytest

from tui.events import AnyEvent, Notice, Tick, decode
from tui.journal import writer
from tui.journal.header import Asked, Header
from tui.journal.reader import Recording
from tui.journal.writer import JournalWriter, Keep, being_written, open_journal, trim


def tick(client_s: float) -> Tick:
    return Tick(mono_s=client_s, wall_s=1_000_000.0 + client_s, client_s=client_s)


def noise(number: int, client_s: float) -> Notice:
    """An event that cannot be squeezed to less than about 1.5 kB."""
    sentence = random.Random(number).randbytes(1500).hex()
    return Notice(mono_s=0.0, wall_s=0.0, client_s=client_s, level="info", about="test", sentence=sentence)


def raw(path: Path) -> bytes:
    return zlib.decompressobj(31).decompress(path.read_bytes())


def journal_header(journal: JournalWriter) -> Header:
    return Recording(journal.path).header


def read(path: Path) -> tuple[Header, list[AnyEvent]]:
    header, *events = raw(path).splitlines()
    return msgspec.json.decode(header, type=Header), [decode(line) for line in events]


def test_a_closed_recording_gives_back_every_event(tmp_path: Path) -> None:
    journal = open_journal(tmp_path, "gpu-box", "0.1.0")
    for second in range(3):
        journal.append(tick(float(second)))
    journal.close()
    header, events = read(journal.path)
    assert header.host == "gpu-box"
    assert events == [tick(0.0), tick(1.0), tick(2.0)]


def test_a_recording_that_was_never_closed_is_readable_up_to_the_last_flush(tmp_path: Path) -> None:
    journal = open_journal(tmp_path, "gpu-box", "0.1.0")
    for tenth in range(25):
        journal.append(tick(10.0 + tenth / 10))
    events = read(journal.path)[1]
    assert events[-1].client_s >= 12.0
    journal.close()


def test_two_watches_begun_in_one_second_write_two_recordings(tmp_path: Path) -> None:
    first = open_journal(tmp_path, "box", "0.1.0")
    second = open_journal(tmp_path, "box", "0.1.0")
    assert first.path != second.path
    first.close()
    second.close()


def test_a_hostile_host_name_stays_inside_the_folder(tmp_path: Path) -> None:
    journal = open_journal(tmp_path, "../../etc/passwd", "0.1.0")
    journal.close()
    assert journal.path.parent == tmp_path


def test_closing_twice_is_allowed(tmp_path: Path) -> None:
    journal: JournalWriter = open_journal(tmp_path, "box", "0.1.0")
    journal.close()
    journal.close()


def test_no_other_user_can_read_a_recording(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        journal = open_journal(tmp_path / "new", "box", "0.1.0")
    finally:
        os.umask(before)
    journal.close()
    assert stat.S_IMODE(journal.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(journal.path.parent.stat().st_mode) == 0o700


def test_what_stands_in_the_file_are_whole_lines_at_any_time(tmp_path: Path) -> None:
    journal = open_journal(tmp_path, "box", "0.1.0")
    for number in range(400):
        journal.append(noise(number, 10.0 + number / 1000))
        assert raw(journal.path).endswith(b"\n")
    assert raw(journal.path).count(b"\n") > 100, "a burst is written before its second is over"
    journal.close()


def test_the_header_is_readable_before_the_first_event(tmp_path: Path) -> None:
    journal = open_journal(tmp_path, "gpu-box", "0.1.0")
    assert read(journal.path) == (journal_header(journal), [])
    journal.close()


def test_a_clock_that_goes_back_does_not_stop_the_writing(tmp_path: Path) -> None:
    journal = open_journal(tmp_path, "box", "0.1.0")
    for client_s in (1000.0, 5.0, 6.5):
        journal.append(tick(client_s))
    assert [event.client_s for event in read(journal.path)[1]] == [1000.0, 5.0, 6.5]
    journal.close()


# A process that is killed.

WRITER = """
import sys, time
from pathlib import Path
from tui.events import Tick
from tui.journal.writer import open_journal
journal = open_journal(Path(sys.argv[1]), "box", "0.1.0")
began_s = time.monotonic()
for number in range(10**9):
    now_s = time.monotonic()
    journal.append(Tick(mono_s=float(number), wall_s=time.time(), client_s=now_s))
    if number % 50 == 0:
        print(number, now_s - began_s, flush=True)
    time.sleep(0.001)
"""


def test_a_watch_that_is_killed_leaves_everything_but_its_last_second(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", WRITER, tmp_path], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        told = next(each for each in process.stdout if float(each.split()[1]) > 1.3)
        process.kill()
        told = list(process.stdout)[-1:] or [told]
    [path] = tmp_path.iterdir()

    events = list(Recording(path).events())

    *ticks, notice = events
    assert [event.mono_s for event in ticks] == [float(number) for number in range(len(ticks))]
    last_s = float(told[-1].split()[1])
    assert ticks[-1].client_s - ticks[0].client_s >= last_s - 1.5
    assert isinstance(notice, Notice)
    assert "not finished" in notice.sentence


# A disk that is full.


def test_a_full_disk_ends_the_recording_at_a_whole_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = open_journal(tmp_path, "box", "0.1.0")
    journal.append(tick(1.0))
    room = [7]

    def write(file: int, data: bytes) -> int:
        if not room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return os.pwrite(file, data[: room.pop()], os.lseek(file, 0, os.SEEK_END))

    monkeypatch.setattr(writer.os, "write", write)
    with pytest.raises(OSError, match="No space left"):
        journal.append(tick(3.0))
    journal.close()

    *events, notice = Recording(journal.path).events()
    assert events == [tick(1.0)]
    assert isinstance(notice, Notice)


def test_without_room_for_its_end_a_recording_is_closed_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = open_journal(tmp_path, "box", "0.1.0")
    journal.append(tick(1.0))

    def full(_file: int, _data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(writer.os, "write", full)
    journal.close()
    journal.close()

    assert next(iter(Recording(journal.path).events())) == tick(1.0)


def test_a_disk_that_is_full_from_the_beginning_leaves_no_empty_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_file: int, _data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(writer.os, "write", full)
    with pytest.raises(OSError, match="No space left"):
        open_journal(tmp_path, "box", "0.1.0")
    assert list(tmp_path.iterdir()) == []


# What is kept.


def kept(folder: Path) -> list[str]:
    return sorted(path.name.removesuffix(".jsonl.gz") for path in folder.iterdir())


def old_recordings(folder: Path, number: int) -> None:
    for each in range(number):
        path = folder / f"{each}.jsonl.gz"
        path.write_bytes(b"x" * 100)
        os.utime(path, (each, each))


@pytest.mark.parametrize(
    ("keep", "left"),
    [
        (Keep(files=5, size_bytes=1000), ["0", "1", "2", "3", "4"]),
        (Keep(files=3, size_bytes=1000), ["2", "3", "4"]),
        (Keep(files=50, size_bytes=250), ["3", "4"]),
        (Keep(files=50, size_bytes=99), []),
    ],
)
def test_the_oldest_recordings_go_first(tmp_path: Path, keep: Keep, left: list[str]) -> None:
    old_recordings(tmp_path, 5)
    trim(tmp_path, keep)
    assert kept(tmp_path) == left


def test_a_new_recording_counts_among_those_that_are_kept(tmp_path: Path) -> None:
    old_recordings(tmp_path, 5)
    journal = open_journal(tmp_path, "box", "0.1.0", keep=Keep(files=3))
    journal.close()
    assert len(kept(tmp_path)) == 3
    assert journal.path.exists()


def test_a_recording_that_another_watch_is_writing_is_left(tmp_path: Path) -> None:
    first = open_journal(tmp_path, "first", "0.1.0")
    os.utime(first.path, (1.0, 1.0))
    old_recordings(tmp_path, 3)
    second = open_journal(tmp_path, "second", "0.1.0", keep=Keep(files=1))
    assert being_written(first.path)
    assert {first.path, second.path} == set(tmp_path.iterdir())
    first.close()
    assert not being_written(first.path)
    second.close()
    trim(tmp_path, Keep(files=1))
    assert [second.path] == list(tmp_path.iterdir())


def test_a_recording_is_locked_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[bool] = []
    link = os.link

    def linked(hidden: Path, path: Path) -> None:
        link(hidden, path)
        seen.append(being_written(path))

    monkeypatch.setattr(os, "link", linked)
    journal = open_journal(tmp_path, "box", "0.1.0")
    assert seen == [True]
    assert [path.name for path in tmp_path.iterdir()] == [journal.path.name]
    journal.close()


def test_a_file_system_without_hard_links_takes_recordings_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: Path) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    first, second = (open_journal(tmp_path, "box", "0.1.0") for _ in range(2))
    assert being_written(first.path)
    assert sorted(tmp_path.iterdir()) == sorted((first.path, second.path))
    first.close()
    second.close()


def test_of_two_written_at_one_moment_the_one_that_began_last_is_kept(tmp_path: Path) -> None:
    for name, size_bytes in (("20260102T000000-a", 90), ("20260102T000001-a", 80), ("20260101T000000-a", 99)):
        path = tmp_path / f"{name}.jsonl.gz"
        path.write_bytes(b"x" * size_bytes)
        os.utime(path, (7, 7))
    trim(tmp_path, Keep(files=1))
    assert kept(tmp_path) == ["20260102T000001-a"]


def test_what_is_no_recording_file_is_never_deleted(tmp_path: Path) -> None:
    elsewhere = tmp_path / "precious"
    elsewhere.write_text("x")
    folder = tmp_path / "recordings"
    (folder / "folder.jsonl.gz").mkdir(parents=True)
    (folder / "link.jsonl.gz").symlink_to(elsewhere)
    (folder / "notes.txt").write_text("x")
    trim(folder, Keep(files=1, size_bytes=1))
    assert len(kept(folder)) == 3
    assert elsewhere.exists()


def append_all(journal: JournalWriter, number: int) -> None:
    for each in range(number):
        journal.append(noise(each, float(each)))


def test_a_recording_that_grows_drops_older_ones_and_ends_at_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "TRIM_BYTES", 20_000)
    old_recordings(tmp_path, 3)
    journal = open_journal(tmp_path, "box", "0.1.0", keep=Keep(size_bytes=100_000))
    (tmp_path / "0.jsonl.gz").write_bytes(b"x" * 90_000)
    os.utime(tmp_path / "0.jsonl.gz", (0, 0))
    with pytest.raises(OSError, match="keep_recordings_mib"):
        append_all(journal, 1000)
    assert not (tmp_path / "0.jsonl.gz").exists()
    assert (tmp_path / "2.jsonl.gz").exists()
    events = list(Recording(journal.path).events())
    assert not any(isinstance(event, Notice) and event.about == "journal" for event in events)
    assert 95_000 < journal.path.stat().st_size < 110_000


# Secrets.


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://me:hunter2@gpu01:8000/prefix", "http://***@gpu01:8000/prefix"),
        ("https://hunter2@gpu01", "https://***@gpu01"),
        ("https://gpu01:8000/p?token=hunter2&x=hunter2", "https://gpu01:8000/p?***"),
        ("https://gpu01:8000/p#hunter2", "https://gpu01:8000/p#***"),
        ("http://[::1]:8000/a/b", "http://[::1]:8000/a/b"),
    ],
)
def test_what_was_asked_is_kept_without_its_secrets(tmp_path: Path, url: str, shown: str) -> None:
    asked = Asked(url=url, model="Qwen/Qwen3-32B", port=8000, log_path="/var/log/server.log", pid=7)
    journal = open_journal(tmp_path, "box", "0.1.0", asked)
    journal.close()
    assert read(journal.path)[0].asked == msgspec.structs.replace(asked, url=shown)
    assert b"hunter2" not in raw(journal.path)


def test_a_password_in_a_host_reaches_neither_the_header_nor_the_name(tmp_path: Path) -> None:
    journal = open_journal(tmp_path, "ssh://me:hunter2@gpu01:22", "0.1.0")
    journal.close()
    assert read(journal.path)[0].host == "ssh://***@gpu01:22"
    assert "hunter2" not in journal.path.name


def test_a_user_of_a_host_is_kept(tmp_path: Path) -> None:
    journal = open_journal(tmp_path, "ssh://me@gpu01", "0.1.0")
    journal.close()
    assert read(journal.path)[0].host == "ssh://me@gpu01"
