"""The log worker follows one file: what it sends, and what a new request changes."""

import base64
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import pytest
from tail_reading import Reading

from tui.agent import wire
from tui.agent.tail import worker as tail
from tui.requests import FollowRequest


class Worker(Protocol):
    """What the ``served`` fixture starts."""

    def send(self, request: FollowRequest) -> None: ...
    def receive(self, kind: str, timeout_s: float = 60.0) -> dict[str, Any]: ...


Start = Callable[..., Worker]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A path for a log in a folder of its own."""
    return tmp_path / "server.log"


def append(path: Path, data: bytes) -> None:
    """Write at the end of a file, as a server does."""
    with path.open("ab") as file:
        file.write(data)


# What is sent.


def test_bytes_are_sent_as_they_are_with_the_unfinished_line(log: Path) -> None:
    log.write_bytes(b"one\r\n\xff\xfe\x00 two\x1b[31m")
    reading = Reading(log)
    assert reading.look() == b"one\r\n\xff\xfe\x00 two\x1b[31m"
    append(log, b" and more\n")
    assert reading.look() == b" and more\n"


def test_every_message_carries_the_position_after_its_bytes(log: Path) -> None:
    log.write_bytes(b"x" * 100 + b"end\n")
    reading = Reading(log)
    reading.look()
    status = log.stat()
    assert reading.position == {
        "path": str(log),
        "device": status.st_dev,
        "inode": status.st_ino,
        "offset": 104,
        "fingerprint_bytes": 64,
        "fingerprint_crc": zlib.crc32(b"x" * 60 + b"end\n"),
    }


def test_the_first_message_is_fresh_and_tells_how_much_lies_ahead(log: Path) -> None:
    log.write_bytes(b"a" * 50_000)
    reading = Reading(log)
    reading.look()
    told = [(one["fresh"], one["offset"], one["behind_bytes"]) for one in reading.messages[1:]]
    assert told == [(True, 0, 50_000), (False, 32_768, 17_232), (False, 50_000, 0)]


def test_a_line_of_ten_megabytes_comes_in_bounded_chunks(log: Path) -> None:
    line = os.urandom(10_000_000).replace(b"\n", b"") + b"\n"
    log.write_bytes(line)
    reading = Reading(log)
    reading.look()
    assert reading.text == line
    sizes = [len(base64.b64decode(one["data"])) for one in reading.messages if one["kind"] == wire.LOG_BYTES]
    assert max(sizes) <= wire.LOG_CHUNK_BYTES


def test_growth_by_single_bytes_is_followed(log: Path) -> None:
    log.write_bytes(b"")
    reading = Reading(log)
    reading.look()
    for byte in b"\xe2\x96\x88 25%\r":
        append(log, bytes([byte]))
        assert reading.look(0.1) == bytes([byte])


def test_it_looks_often_after_data_and_less_often_in_silence(log: Path) -> None:
    log.write_bytes(b"line\n")
    reading = Reading(log)
    reading.look()
    assert reading.step() == tail.BUSY_POLL_S
    reading.look(3.0)
    assert reading.step() == tail.IDLE_POLL_S


def test_a_silent_file_is_not_read(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log.write_bytes(b"line\n")
    reading = Reading(log)
    reading.look()
    reads: list[int] = []
    real = os.pread

    def counted(descriptor: int, count: int, offset: int) -> bytes:
        reads.append(offset)
        return real(descriptor, count, offset)

    monkeypatch.setattr(os, "pread", counted)
    for _ in range(20):
        reading.step()
    assert reads == []
    append(log, b"more\n")
    assert reading.look(0.1) == b"more\n"


# Following again.


def test_the_same_request_again_changes_nothing(log: Path) -> None:
    log.write_bytes(b"one\n")
    reading = Reading(log, pid=5, started_s=1.0)
    reading.look()
    reading.follow(pid=5, started_s=1.0)
    reading.look()
    assert reading.text == b"one\n"
    # On a link that stands, everything up to here was sent already.
    reading.follow(pid=6, started_s=2.0, resume={**reading.position, "offset": 1})
    reading.look()
    assert reading.text == b"one\n"


def test_another_start_in_the_same_file_is_read_from_its_first_line(log: Path) -> None:
    log.write_bytes(b"first\nold\n")
    reading = Reading(log, pid=5, first_lines=["first"])
    reading.look()
    append(log, b"first\nnew\n")
    reading.follow(pid=6, first_lines=["first"])
    assert reading.look() == b"first\nnew\n"
    assert reading.last["fresh"] is False
    assert [one["fresh"] for one in reading.messages if one["kind"] == wire.LOG_BYTES] == [True, False] * 2


def test_letting_go_stops_the_reading(log: Path) -> None:
    log.write_bytes(b"one\n")
    reading = Reading(log)
    reading.look()
    reading.follow(log_path=None)
    append(log, b"two\n")
    assert reading.step() is None
    assert reading.text == b"one\n"


def test_a_resumed_log_goes_on_where_it_stopped(log: Path) -> None:
    log.write_bytes(b"one\nunfini")
    reading = Reading(log)
    reading.look()
    append(log, b"shed\ntwo\n")
    again = reading.resumed()
    assert again.look() == b"shed\ntwo\n"
    assert [one["fresh"] for one in again.messages if one["kind"] == wire.LOG_BYTES] == [False]
    assert again.gaps == []


def test_a_position_in_another_log_is_ignored(log: Path, tmp_path: Path) -> None:
    log.write_bytes(b"one\ntwo\n")
    other = tmp_path / "other.log"
    other.write_bytes(b"other\n")
    reading = Reading(other)
    reading.look()
    assert Reading(log, resume=reading.position).look() == b"one\ntwo\n"


# The worker as a process.


def test_the_worker_follows_over_its_channel(served: Start, log: Path) -> None:
    log.write_bytes(b"hello\n")
    worker = served("tail")
    worker.send(FollowRequest(pid=None, log_path=str(log)))
    assert worker.receive(wire.LOG_SOURCE)["state"] == "open"
    assert worker.receive(wire.LOG_BYTES)["fresh"] is True
    assert base64.b64decode(worker.receive(wire.LOG_BYTES)["data"]) == b"hello\n"
    append(log, b"world\n")
    assert base64.b64decode(worker.receive(wire.LOG_BYTES)["data"]) == b"world\n"


def test_a_request_is_heard_in_the_middle_of_a_long_log(served: Start, log: Path, tmp_path: Path) -> None:
    with log.open("wb") as file:
        file.truncate(0)
        for _ in range(64):
            file.write(b"x" * (1 << 20))
    short = tmp_path / "short.log"
    short.write_bytes(b"short\n")
    worker = served("tail")
    worker.send(FollowRequest(pid=None, log_path=str(log)))
    worker.receive(wire.LOG_BYTES)
    worker.send(FollowRequest(pid=None, log_path=str(short)))
    while worker.receive(wire.LOG_BYTES)["path"] != str(short):
        pass
