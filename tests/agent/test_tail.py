"""The log worker follows one file: where it begins, what it sends, what it says when there is no file."""

import base64
import os
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tail_reading import Reading

from tui.agent import log_place, log_start, tail, wire
from tui.requests import FollowRequest


class Worker(Protocol):
    """What the ``served`` fixture starts."""

    def send(self, request: FollowRequest) -> None: ...
    def receive(self, kind: str, timeout_s: float = 10.0) -> dict[str, Any]: ...


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


# Where reading begins.


def test_the_log_is_read_from_the_last_first_line(log: Path) -> None:
    log.write_bytes(b"server_args=1\nold\n[x] server_args=2\nthis\nstart\n")
    reading = Reading(log, first_lines=["never there", r"server_args=\d"])
    assert reading.look() == b"[x] server_args=2\nthis\nstart\n"
    assert "first line of this start" in reading.sources[-1].sentence


def test_without_a_first_line_it_is_read_from_the_beginning(log: Path) -> None:
    log.write_bytes(b"what\never\n")
    assert Reading(log, first_lines=["server_args="]).look() == b"what\never\n"


def test_a_file_last_written_before_the_start_is_read_from_its_end(log: Path) -> None:
    log.write_bytes(b"server_args=1\nof an earlier start\n")
    before_s = time.time() - 100
    os.utime(log, (before_s, before_s))
    reading = Reading(log, first_lines=["server_args="], started_s=time.monotonic() - 50)
    assert reading.look() == b""
    append(log, b"server_args=2\n")
    assert reading.look() == b"server_args=2\n"
    assert "last written before" in reading.sources[0].sentence


def test_a_file_written_since_the_start_is_searched(log: Path) -> None:
    log.write_bytes(b"old\nserver_args=2\nnew\n")
    reading = Reading(log, first_lines=["server_args="], started_s=time.monotonic() - 50)
    assert reading.look() == b"server_args=2\nnew\n"


def test_a_long_backlog_is_skipped_to_a_line_and_told(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "LOG_BACKLOG_BYTES", 1000)
    lines = b"".join(b"line %06d\n" % number for number in range(1000))
    log.write_bytes(b"server_args=\n" + lines)
    reading = Reading(log, first_lines=["server_args="])
    got = reading.look()
    assert lines.endswith(got)
    assert 980 < len(got) <= 1000
    assert got.startswith(b"line ")
    assert [(gap.why, gap.lost_bytes) for gap in reading.gaps] == [("backlog", 13 + len(lines) - len(got))]


def test_an_expression_that_is_none_is_told_and_the_log_still_read(log: Path) -> None:
    log.write_bytes(b"text\n")
    reading = Reading(log, first_lines=["("])
    assert reading.look() == b"text\n"
    assert reading.messages[0]["kind"] == wire.NOTICE


def test_what_reaches_over_the_end_of_a_line_is_not_found(log: Path) -> None:
    log.write_bytes(b"a b first\nx a\nb last\n")
    assert Reading(log, first_lines=[r"a\s+b"]).look().startswith(b"a b first")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    lines=st.lists(st.text("ab=\r é", max_size=12), max_size=20),
    pattern=st.sampled_from(["a=", "^b", r"a\s+b", "é", "(?i)A b", "b$", r"[^=]=[^=]"]),
    block=st.integers(8, 64),
    ends=st.booleans(),
)
def test_searching_backwards_finds_what_reading_line_by_line_would(
    tmp_path: Path, lines: list[str], pattern: str, block: int, ends: bool
) -> None:
    import re

    data = ("\n".join(lines) + ("\n" if ends else "")).encode()
    path = tmp_path / "searched.log"
    path.write_bytes(data)
    expected, offset = 0, 0
    for line in data.split(b"\n"):
        if re.search(pattern.encode(), line):
            expected = offset
        offset += len(line) + 1
    with pytest.MonkeyPatch.context() as patched, path.open("rb") as file:
        # Every line fits a block: longer ones count as several, by design.
        patched.setattr(log_start, "BLOCK_BYTES", max(block, 2 + max(map(len, data.split(b"\n")))))
        start = log_start.find(file.fileno(), log_start.compiled([pattern]), None)
    assert start.offset == expected


# What it says when there is nothing to read.


def test_a_missing_file_is_waited_for(log: Path) -> None:
    reading = Reading(log)
    assert reading.look() == b""
    assert reading.sources[-1].state == "missing"
    assert "waiting" in reading.sources[-1].sentence
    log.write_bytes(b"here\n")
    assert reading.look() == b"here\n"
    assert [source.state for source in reading.sources] == ["missing", "open"]


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("pipe:[4711]", "pipe"),
        ("socket:[4711]", "socket"),
        ("/dev/pts/3", "terminal"),
        ("/dev/null", "thrown away"),
    ],
)
def test_an_output_that_is_no_file_is_named_with_a_way_out(path: str, words: str) -> None:
    reading = Reading(path)
    reading.look()
    assert reading.sources[-1].state == "not_a_file"
    assert words in reading.sources[-1].sentence
    assert "--log" in reading.sources[-1].sentence


def test_a_directory_and_a_named_pipe_are_no_logs(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for path, words in ((tmp_path, "directory"), (tmp_path / "fifo", "named pipe")):
        reading = Reading(path)
        reading.look()
        assert reading.sources[-1].state == "not_a_file"
        assert words in reading.sources[-1].sentence


def test_a_file_that_may_not_be_read_names_the_right_that_is_missing(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    log.write_bytes(b"secret\n")
    with monkeypatch.context() as patched:
        patched.setattr(os, "open", denied)
        reading = Reading(log)
        reading.look()
    assert reading.sources[-1].state == "unreadable"
    assert "as root" in reading.sources[-1].sentence
    assert reading.look() == b"secret\n"


def test_a_file_inside_a_file_is_missing(log: Path) -> None:
    log.write_bytes(b"")
    reading = Reading(log / "deeper.log")
    reading.look()
    assert reading.sources[-1].state == "missing"


def test_a_server_without_any_log_is_told_and_letting_go_is_not(log: Path) -> None:
    reading = Reading(log, log_path=None, pid=17)
    assert reading.step() is None
    assert [(source.state, source.path) for source in reading.sources] == [("none", None)]
    reading.follow(log_path=None, pid=None)
    assert reading.step() is None
    assert len(reading.sources) == 1


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


# Through the server's own descriptors.


@pytest.fixture
def server(log: Path) -> Any:
    """A process that writes each line it is told to its redirected stdout."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-u", "-c", "import sys\nfor line in sys.stdin: print(line, end='')"],
            stdin=subprocess.PIPE,
            stdout=output,
            text=True,
            bufsize=1,
        )
    yield process
    process.communicate(timeout=10)


def write_through(server: Any, log: Path, line: str) -> None:
    """Have the server write a line and wait until it has."""
    before = os.stat(f"/proc/{server.pid}/fd/1").st_size
    server.stdin.write(line)
    end_s = time.monotonic() + 10
    while os.stat(f"/proc/{server.pid}/fd/1").st_size == before:
        assert time.monotonic() < end_s, "the server did not write"
        time.sleep(0.002)


def test_a_deleted_log_is_read_through_the_server_and_said_so(log: Path, server: Any) -> None:
    write_through(server, log, "one\n")
    log.unlink()
    path = os.readlink(f"/proc/{server.pid}/fd/1")
    assert path == f"{log} (deleted)"
    reading = Reading(path, pid=server.pid)
    assert reading.look() == b"one\n"
    assert "deleted" in reading.sources[-1].sentence
    write_through(server, log, "two\n")
    assert reading.look() == b"two\n"


def test_a_new_file_of_the_name_does_not_hide_the_one_the_server_writes_to(log: Path, server: Any) -> None:
    write_through(server, log, "real\n")
    log.unlink()
    log.write_bytes(b"somebody else's\n")
    assert Reading(log, pid=server.pid).look() == b"real\n"


def test_a_renamed_log_is_followed_while_the_server_writes_to_it(log: Path, server: Any) -> None:
    write_through(server, log, "one\n")
    reading = Reading(log, pid=server.pid)
    reading.look()
    log.rename(log.with_suffix(".log.1"))
    log.write_bytes(b"")
    reading.look(5.0)
    write_through(server, log, "two\n")
    assert reading.look(5.0) == b"two\n"
    assert "still writes to it" in reading.sources[-1].sentence


def test_the_descriptor_path_itself_can_be_followed(log: Path, server: Any) -> None:
    write_through(server, log, "one\n")
    assert Reading(f"/proc/{server.pid}/fd/1").look() == b"one\n"


def test_a_deleted_log_of_a_dead_server_is_missing(log: Path) -> None:
    assert log_place.open_log(f"{log} (deleted)", 2**22 + 1).state == "missing"


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
