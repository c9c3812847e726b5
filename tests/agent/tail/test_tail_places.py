"""Logs that are no files, not there, not readable, or only to be had from the server itself."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from agent_process import PATIENCE_S
from tail_reading import Reading

from tui.agent.tail import place as log_place


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A path for a log in a folder of its own."""
    return tmp_path / "server.log"


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
    process.communicate(timeout=PATIENCE_S)


def write_through(server: Any, log: Path, line: str) -> None:
    """Have the server write a line and wait until it has."""
    before = os.stat(f"/proc/{server.pid}/fd/1").st_size
    server.stdin.write(line)
    end_s = time.monotonic() + PATIENCE_S
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
