"""Rotation, truncation, replacement: what was written is what is read, except for what is told as a gap."""

import logging.handlers
import os
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from log_world import STEPS, World, append, copytruncate, rotated
from tail_reading import Reading

from tui.agent import wire
from tui.agent.tail import file as tail_file

BLOCK = b"0123456789abcde\n" * 2048  # exactly one chunk


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


# Renamed.


def test_a_renamed_log_is_drained_before_the_new_one_is_read(log: Path, reading: Reading) -> None:
    append(log, b"last words\n")
    log.rename(rotated(log))
    log.write_bytes(b"new file\n")
    assert reading.look() == b"last words\nnew file\n"
    assert reading.last["inode"] == log.stat().st_ino
    assert reading.gaps == []


def test_the_new_file_begins_fresh(log: Path, reading: Reading) -> None:
    append(log, b"unfinished")
    log.rename(rotated(log))
    log.write_bytes(b"new\n")
    reading.look()
    assert [one["fresh"] for one in reading.messages if one["kind"] == wire.LOG_BYTES] == [False, True, False]


def test_a_writer_that_reopens_late_is_read_to_its_last_line(log: Path, reading: Reading) -> None:
    append(log, b"half a line")
    assert reading.look(0.9) == b"half a line"
    log.rename(rotated(log))
    log.write_bytes(b"")
    reading.look(0.3)
    append(rotated(log), b" and its end\n")
    assert reading.look(0.3) == b" and its end\n"
    append(log, b"reopened\n")
    assert reading.look() == b"reopened\n"


def test_an_empty_new_file_is_taken_up_once_the_old_one_is_quiet(log: Path, reading: Reading) -> None:
    log.rename(rotated(log))
    log.write_bytes(b"")
    reading.look(1.5)
    reading.look(1.5)
    assert reading.last["inode"] == log.stat().st_ino


def test_several_rotations_between_two_looks_lose_nothing(log: Path, reading: Reading) -> None:
    for number in range(4):
        append(log, b"end of generation %d\n" % number)
        for old in (3, 2, 1):
            if rotated(log, f".{old}").exists():
                rotated(log, f".{old}").rename(rotated(log, f".{old + 1}"))
        log.rename(rotated(log))
        log.write_bytes(b"")
    append(log, b"the newest\n")
    expected = b"".join(b"end of generation %d\n" % number for number in range(4)) + b"the newest\n"
    assert reading.look() == expected
    assert reading.gaps == []


def test_rotation_by_date_is_followed_in_order(log: Path, reading: Reading) -> None:
    rotated(log, "-20261101").write_bytes(b"long before\n")
    os.utime(rotated(log, "-20261101"), (1, 1))
    for day in (29, 30):
        append(log, b"day %d\n" % day)
        log.rename(rotated(log, f"-202611{day}"))
        os.utime(rotated(log, f"-202611{day}"), (10**9 + day, 10**9 + day))
        log.write_bytes(b"")
    append(log, b"today\n")
    assert reading.look() == b"day 29\nday 30\ntoday\n"


def test_pythons_own_rotation_is_followed(tmp_path: Path) -> None:
    path = tmp_path / "app.log"
    handler = logging.handlers.RotatingFileHandler(path, maxBytes=500, backupCount=50)
    reading = Reading(path)
    written = b""
    for number in range(100):
        handler.emit(logging.makeLogRecord({"msg": f"message number {number:06d}"}))
        written += b"message number %06d\n" % number
        if number % 7 == 0:
            reading.look()
    reading.look()
    handler.close()
    assert reading.text == written
    assert reading.gaps == []


def test_compressed_and_unrelated_siblings_are_not_read(log: Path, reading: Reading) -> None:
    rotated(log, ".2.gz").write_bytes(b"packed")
    rotated(log, ".err").write_bytes(b"another log\n")
    append(log, b"end\n")
    log.rename(rotated(log))
    log.write_bytes(b"new\n")
    assert reading.look() == b"end\nnew\n"


def test_a_link_that_is_pointed_at_a_new_file_is_followed(tmp_path: Path) -> None:
    (tmp_path / "run-1.log").write_bytes(b"run one\n")
    link = tmp_path / "latest.log"
    link.symlink_to("run-1.log")
    reading = Reading(link)
    reading.look()
    append(tmp_path / "run-1.log", b"end of one\n")
    (tmp_path / "run-2.log").write_bytes(b"run two\n")
    link.unlink()
    link.symlink_to("run-2.log")
    reading.look()
    assert reading.text == b"run one\nend of one\nrun two\n"


def test_a_log_that_vanished_is_said_and_the_new_one_taken_up(log: Path, reading: Reading) -> None:
    log.unlink()
    reading.look()
    reading.look()
    assert "renamed or deleted" in reading.sources[-1].sentence
    log.write_bytes(b"again\n")
    assert reading.look() == b"again\n"
    assert reading.gaps == []


def test_a_new_file_that_may_not_be_read_is_said_and_does_not_spin(
    log: Path, reading: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    log.rename(rotated(log))
    log.write_bytes(b"new\n")
    with monkeypatch.context() as patched:
        patched.setattr(os, "open", denied)
        reading.look()
        assert "cannot be read" in reading.sources[-1].sentence
    assert reading.look() == b"new\n"


# Copied and truncated.


def test_the_unread_rest_is_found_in_the_copy(log: Path, reading: Reading) -> None:
    append(log, b"unread when it was copied\n")
    copytruncate(log)
    append(log, b"after\n")
    assert reading.look() == b"unread when it was copied\nafter\n"
    assert reading.gaps == []


def test_two_copies_between_two_looks_are_read_in_order(log: Path, reading: Reading) -> None:
    append(log, b"into the first copy\n")
    copytruncate(log)
    append(log, b"into the second copy\n")
    rotated(log).rename(rotated(log, ".2"))
    copytruncate(log)
    append(log, b"now\n")
    assert reading.look() == b"into the first copy\ninto the second copy\nnow\n"


def test_a_new_file_that_was_copied_and_truncated_before_its_first_line_was_read(
    log: Path, reading: Reading
) -> None:
    log.rename(rotated(log, ".2"))
    log.write_bytes(b"into the new file, of which nothing is read yet\n")
    reading.wait(1.1)
    while not any(one["kind"] == wire.LOG_BYTES for one in reading.messages):
        reading.step()
    assert reading.last["offset"] == 0
    copytruncate(log)
    append(log, b"now\n")
    assert reading.look() == b"into the new file, of which nothing is read yet\nnow\n"
    assert reading.gaps == []


def test_what_came_after_the_copy_and_was_seen_is_told_lost(log: Path, reading: Reading) -> None:
    append(log, BLOCK * 2)
    reading.step()  # one chunk is read, one more is known
    assert reading.last["behind_bytes"] == len(BLOCK)
    rotated(log).write_bytes(log.read_bytes()[:-100])
    os.truncate(log, 0)
    append(log, b"after\n")
    reading.look()
    assert reading.text == (BLOCK * 2)[:-100] + b"after\n"
    assert whys(reading) == [("truncated", 100)]


def test_an_older_run_that_begins_alike_is_no_copy(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    banner = b"the same banner as ever, printed by each start of this very server\n"
    rotated(log).write_bytes(banner + b"old run\n")
    log.write_bytes(banner)
    an_hour_later_s = time.time() + 3600.0
    monkeypatch.setattr(tail_file, "time", SimpleNamespace(time=lambda: an_hour_later_s))
    reading = Reading(log)
    reading.look()
    os.truncate(log, 0)
    append(log, b"new run\n")
    assert reading.look() == b"new run\n"


# Truncated.


def test_a_truncated_log_is_read_from_its_beginning(log: Path, reading: Reading) -> None:
    log.write_bytes(b"restarted\n")
    assert reading.look() == b"restarted\n"
    assert reading.gaps == []
    assert "truncated" in reading.sources[-1].sentence
    assert [one["fresh"] for one in reading.messages if one["kind"] == wire.LOG_BYTES] == [True, False]


def test_a_truncated_log_is_told_as_a_gap_when_bytes_were_unread(log: Path, reading: Reading) -> None:
    append(log, BLOCK * 3)
    reading.step()
    log.write_bytes(b"restarted\n")
    assert reading.look() == b"restarted\n"
    assert whys(reading) == [("truncated", 2 * len(BLOCK))]


def test_a_log_that_grew_past_the_offset_again_is_noticed(log: Path, reading: Reading) -> None:
    text = b"a new run that wrote more than the old one had, in the time between two looks\n" * 5
    log.write_bytes(text)
    assert reading.look() == text


def test_a_log_rewritten_to_the_same_size_is_noticed(log: Path, reading: Reading) -> None:
    text = bytes(log.stat().st_size - 1).replace(b"\0", b"z") + b"\n"
    log.write_bytes(text)
    os.utime(log, ns=(1, 1))  # the kernel's stamp may not have moved since the last look
    assert reading.look() == text


def test_the_hole_before_a_writers_old_offset_is_passed_over(tmp_path: Path) -> None:
    log = tmp_path / "sparse.log"
    reading = Reading(log)
    with log.open("wb", buffering=0) as writer:
        writer.write(BLOCK * 40)
        reading.look()
        os.truncate(log, 0)
        reading.look()
        writer.write(b"after a hole of 1.3 MB\n")
        reading.look()
        writer.write(b"and on\n")
    reading.look()
    assert reading.text == BLOCK * 40 + b"after a hole of 1.3 MB\nand on\n"
    assert reading.last["offset"] == log.stat().st_size
    assert reading.resumed().look() == b""


def test_zeros_in_the_middle_of_a_text_are_kept(log: Path, reading: Reading) -> None:
    append(log, b"\0\0binary\0\n")
    assert reading.look() == b"\0\0binary\0\n"


# Deleted and made anew.


def test_a_deleted_log_is_drained_before_the_new_one_is_read(log: Path, reading: Reading) -> None:
    append(log, b"last words\n")
    log.unlink()
    log.write_bytes(b"new\n")
    assert reading.look() == b"last words\nnew\n"
    assert reading.gaps == []


# Anything, in any order.


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(steps=st.lists(st.sampled_from(STEPS), max_size=16))
def test_what_was_read_is_what_was_written_through_any_rotation(
    tmp_path_factory: pytest.TempPathFactory, steps: list[Callable[[World], None]]
) -> None:
    world = World(tmp_path_factory.mktemp("world"))
    for step in steps:
        step(world)
    for _ in range(3):
        world.look()
    assert world.text == world.written
