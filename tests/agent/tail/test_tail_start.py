"""Where the reading of a log begins, by its first lines, its age and its size."""

import os
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tail_reading import Reading

from tui.agent import wire
from tui.agent.tail import start as log_start


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A path for a log in a folder of its own."""
    return tmp_path / "server.log"


def append(path: Path, data: bytes) -> None:
    """Write at the end of a file, as a server does."""
    with path.open("ab") as file:
        file.write(data)


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
