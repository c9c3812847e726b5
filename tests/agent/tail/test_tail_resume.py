"""After an outage a log goes on exactly where it stopped, wherever its text is now."""

import fcntl
import os
import time
from pathlib import Path

import pytest
from log_world import append, copytruncate, rotated
from tail_reading import Reading, position_of

from tui.agent import wire


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log with two lines in it."""
    path = tmp_path / "server.log"
    path.write_bytes(b"written before anything else happened, and long enough for a fingerprint\nline two\n")
    return path


@pytest.fixture
def reading(log: Path) -> Reading:
    """A reader that has read these lines."""
    reader = Reading(log)
    reader.look()
    reader.messages.clear()
    return reader


def whys(reading: Reading) -> list[tuple[str, int | None]]:
    """Return why and how much was told lost."""
    return [(gap.why, gap.lost_bytes) for gap in reading.gaps]


# Resumed after an outage.


def test_resumed_in_the_renamed_file(log: Path, reading: Reading) -> None:
    reading.look()
    append(log, b"during the outage\n")
    position = Reading(log, resume=None)
    position.look()
    log.rename(rotated(log))
    log.write_bytes(b"new\n")
    append(rotated(log), b"late\n")
    again = position.resumed()
    assert again.look() == b"late\nnew\n"
    assert again.gaps == []


def test_resumed_where_the_name_is_gone(log: Path) -> None:
    reading = Reading(log)
    reading.look()
    append(log, b"rest\n")
    log.rename(log.with_name("kept for later"))
    again = reading.resumed()
    assert again.look() == b"rest\n"
    log.write_bytes(b"new\n")
    assert again.look() == b"new\n"


def test_resumed_after_two_rotations(log: Path) -> None:
    reading = Reading(log)
    reading.look()
    append(log, b"one\n")
    log.rename(rotated(log, ".2"))
    rotated(log).write_bytes(b"two\n")
    log.write_bytes(b"three\n")
    again = reading.resumed()
    assert again.look() == b"one\ntwo\nthree\n"
    assert again.gaps == []


def test_resumed_in_the_copy(log: Path) -> None:
    reading = Reading(log)
    reading.look()
    append(log, b"rest\n")
    copytruncate(log)
    append(log, b"now\n")
    again = reading.resumed()
    assert again.look() == b"rest\nnow\n"
    assert again.gaps == []


def test_resumed_in_the_copy_of_which_nothing_was_read_yet(log: Path) -> None:
    reading = Reading(log)
    reading.look()
    begun = next(one for one in reading.messages if one["kind"] == wire.LOG_BYTES)
    assert begun["offset"] == 0
    unread = log.read_bytes()
    copytruncate(log)
    append(log, b"now\n")
    again = Reading(log, resume=position_of(begun))
    assert again.look() == unread + b"now\n"
    assert again.gaps == []


def test_resumed_in_the_copies_of_a_log_that_was_empty(log: Path) -> None:
    log.write_bytes(b"")
    rotated(log, ".7").write_bytes(b"made before\n")
    log.with_name(log.name + ".err").write_bytes(b"another log\n")
    reading = Reading(log)
    time.sleep(0.01)
    reading.look()
    time.sleep(0.01)
    append(log, b"one\n")
    copytruncate(log, ".2")
    append(log, b"two\n")
    copytruncate(log)
    log.with_name(log.name + ".err").write_bytes(b"another log, written since\n")
    append(log, b"three\n")
    again = reading.resumed()
    assert again.look() == b"one\ntwo\nthree\n"
    assert again.gaps == []


def test_a_log_that_was_empty_and_grew_is_read_from_its_beginning(log: Path) -> None:
    rotated(log).write_bytes(b"made before\n")
    log.write_bytes(b"")
    time.sleep(0.01)
    reading = Reading(log)
    reading.look()
    append(log, b"one\n")
    again = reading.resumed()
    assert again.look() == b"one\n"
    assert again.gaps == []


def test_resumed_after_a_truncation_tells_that_something_may_be_lost(log: Path) -> None:
    reading = Reading(log)
    reading.look()
    log.write_bytes(b"restarted\n")
    again = reading.resumed()
    assert again.look() == b"restarted\n"
    assert whys(again) == [("truncated", None)]


def test_a_new_file_with_the_inode_of_the_old_one_is_told_by_its_text(log: Path) -> None:
    reading = Reading(log)
    reading.look()
    text = b"something else altogether, and longer than what was there before it: %d\n" % 1 * 4
    position = reading.position
    log.unlink()
    log.write_bytes(text)
    # Most file systems give the same number again; where not, it is written into the position.
    again = Reading(log, resume={**position, "inode": log.stat().st_ino, "device": log.stat().st_dev})
    assert again.look() == text
    assert whys(again) == [("replaced", None)]


def test_resumed_on_another_device_number_by_the_text(log: Path) -> None:
    reading = Reading(log)
    reading.look()
    append(log, b"more\n")
    again = Reading(log, resume={**reading.position, "device": 99, "inode": 12345})
    assert again.look() == b"more\n"
    assert again.gaps == []


def test_a_descriptor_that_went_stale_is_found_again(
    log: Path, reading: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stale(*_: object) -> bytes:
        raise OSError(116, "Stale file handle")

    append(log, b"more\n")
    with monkeypatch.context() as patched:
        patched.setattr(os, "pread", stale)
        reading.look()
        assert reading.sources[-1].state == "unreadable"
    assert reading.look() == b"more\n"
    assert reading.sources[-1].state == "open"
    assert reading.gaps == []


def test_rotation_is_followed_inside_a_container(log: Path) -> None:
    inside = Path(f"/proc/{os.getpid()}/root{log}")
    reading = Reading(inside)
    reading.look()
    append(log, b"end\n")
    log.rename(rotated(log, ".2"))
    rotated(log).write_bytes(b"between\n")
    log.write_bytes(b"new\n")
    assert reading.look() == b"end\nbetween\nnew\n"
    assert reading.resumed().look() == b""


def test_the_other_files_of_a_server_are_never_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = os.open(tmp_path / "log", os.O_RDWR | os.O_CREAT)
    log = fcntl.fcntl(first, fcntl.F_DUPFD, 40)
    shard = os.open(tmp_path / "shard", os.O_RDWR | os.O_CREAT)
    os.write(shard, b"x" * 1000)
    others = [first, shard, *(fcntl.fcntl(shard, fcntl.F_DUPFD, log * 10) for _ in range(10))]
    os.write(log, b"x" * 100)
    reading = Reading(f"/proc/{os.getpid()}/fd/{log}")
    reading.look()
    opened: list[str] = []
    real = os.open

    def noted(path: str, flags: int) -> int:
        opened.append(path)
        return real(path, flags)

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", noted)
        os.truncate(log, 0)
        reading.look()
        reading.resumed().look()
    assert set(opened) == {reading.path}
    for descriptor in [log, *others]:
        os.close(descriptor)
