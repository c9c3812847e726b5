"""Logs of a gigabyte, lines of ten megabytes, any rotation: whole, in order, in bounded memory."""

import json
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from log_world import STEPS, World

from tui.agent import wire
from tui.transport.clean import LineSplitter

pytestmark = pytest.mark.long

Share = Callable[[int], int]
MIB = 1 << 20
# What this interpreter needs with nothing read yet is about 12 MiB; a log must add next to nothing to it.
MEMORY_LIMIT_MIB = 40

READ_ALL = """
import base64, json, re, sys, zlib
from tui.agent.tail.worker import Tail
count, crc, first, gaps = 0, 0, b"", []
def send(message):
    global count, crc, first
    if message["kind"] == "log_bytes":
        data = base64.b64decode(message["data"])
        first = first or data[:20]
        count, crc = count + len(data), zlib.crc32(data, crc)
    elif message["kind"] == "gap":
        gaps.append([message["why"], message["lost_bytes"]])
tail = Tail(send)
tail.follow({"pid": None, "log_path": sys.argv[1], "first_lines": ["server_args="]})
while tail.step() == 0.0 or not count:
    pass
peak = int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read()).group(1)) // 1024
print(json.dumps({"count": count, "crc": crc, "first": first.decode(), "gaps": gaps, "peak_mib": peak}))
"""

WRITE_AND_ROTATE = """
import os, shutil, sys, time
log, seconds, way = sys.argv[1], float(sys.argv[2]), sys.argv[3]
file = open(log, "ab", buffering=0)
number, end_s, rotate_s = 0, time.monotonic() + seconds, time.monotonic() + 0.5
while time.monotonic() < end_s:
    for _ in range(200):
        number += 1
        file.write(b"%09d 0123456789 0123456789 0123456789 0123456789\\n" % number)
    time.sleep(0.01)
    if time.monotonic() > rotate_s:
        rotate_s += 0.5
        for old in range(40, 0, -1):
            if os.path.exists("%s.%d" % (log, old)):
                os.rename("%s.%d" % (log, old), "%s.%d" % (log, old + 1))
        if way == "rename":
            os.rename(log, log + ".1")
            file.close()
            file = open(log, "ab", buffering=0)
        else:
            shutil.copyfile(log, log + ".1")
            os.truncate(log, 0)
print(number)
"""


def read_all(path: Path) -> dict[str, object]:
    """Read a log with the real reader in a process of its own; return what came and its peak memory."""
    done = subprocess.run(
        [sys.executable, "-c", READ_ALL, str(path)], capture_output=True, text=True, check=True, timeout=600
    )
    result: dict[str, object] = json.loads(done.stdout)
    return result


def test_a_gigabyte_is_read_from_the_first_line_within_the_backlog(tmp_path: Path, share: Share) -> None:
    log = tmp_path / "big.log"
    block = b"".join(
        b"%07d a line of a log that never ends, as a server writes it\n" % n for n in range(16_000)
    )
    blocks = share(1024 * MIB // len(block))
    crc = 0
    with log.open("wb") as file:
        for number in range(blocks):
            if number == blocks // 2:
                file.write(b"server_args=here\n")
                crc = zlib.crc32(b"server_args=here\n")
            file.write(block)
            crc = zlib.crc32(block, crc) if number >= blocks // 2 else crc
    after = len(block) * (blocks - blocks // 2) + 17
    result = read_all(log)
    if after <= wire.LOG_BACKLOG_BYTES:
        assert (result["count"], result["crc"], result["gaps"]) == (after, crc, [])
    else:
        assert wire.LOG_BACKLOG_BYTES - 100 < int(str(result["count"])) <= wire.LOG_BACKLOG_BYTES
        assert result["gaps"] == [["backlog", log.stat().st_size - int(str(result["count"]))]]
    assert int(str(result["peak_mib"])) < MEMORY_LIMIT_MIB


def test_a_line_of_ten_megabytes_is_found_by_its_beginning_and_read_whole(
    tmp_path: Path, share: Share
) -> None:
    log = tmp_path / "long-lines.log"
    line = b"server_args=" + bytes(range(32, 127)) * 110_000 + b"\n"
    count = share(20)
    with log.open("wb") as file:
        for _ in range(count):
            file.write(line)
    result = read_all(log)
    assert result["count"] == len(line)
    assert int(str(result["peak_mib"])) < MEMORY_LIMIT_MIB


def test_lines_of_ten_megabytes_are_split_in_bounded_pieces(share: Share) -> None:
    splitter = LineSplitter()
    count, letters, longest = share(20), 0, 0
    for _ in range(count):
        for chunk in [b"x" * 31_999 + b"\xc3"] + [b"\xa9" + b"y" * 31_998 + b"\xc3"] * 311 + [b"\xa9\n"]:
            split = splitter.feed(chunk)
            letters += sum(map(len, split.lines))
            longest = max(longest, len(split.tail), *map(len, split.lines), 0)
    assert letters == count * (31_999 + 311 * 31_999 + 1)
    assert longest <= wire.LINE_LIMIT_BYTES


@pytest.mark.parametrize("way", ["rename", "copytruncate"])
def test_a_busy_log_that_is_rotated_twice_a_second_loses_nothing(
    tmp_path: Path, share: Share, way: str
) -> None:
    import base64
    import time

    from tui.agent.tail.worker import Tail

    log = tmp_path / "busy.log"
    log.write_bytes(b"")
    text: list[bytes] = []
    gaps: list[object] = []

    def send(message: dict[str, object]) -> None:
        if message["kind"] == wire.LOG_BYTES:
            text.append(base64.b64decode(str(message["data"])))
        elif message["kind"] == wire.GAP:
            gaps.append(message)

    tail = Tail(send)
    tail.follow({"pid": None, "log_path": str(log)})
    seconds = str(share(60))
    with subprocess.Popen(
        [sys.executable, "-c", WRITE_AND_ROTATE, str(log), seconds, way], stdout=subprocess.PIPE
    ) as writer:
        while writer.poll() is None:
            time.sleep(tail.step() or 0)
        assert writer.stdout is not None
        written = int(writer.stdout.read())
    end_s = time.monotonic() + 3
    while time.monotonic() < end_s:
        time.sleep(tail.step() or 0)
    numbers = [int(line[:9]) for line in b"".join(text).splitlines()]
    assert numbers == list(range(1, written + 1))
    assert gaps == []


def test_what_was_read_is_what_was_written_through_thousands_of_rotations(
    tmp_path_factory: pytest.TempPathFactory, share: Share
) -> None:
    @settings(
        suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=share(4_000), database=None
    )
    @given(steps=st.lists(st.sampled_from(STEPS), max_size=40))
    def holds(steps: list[Callable[[World], None]]) -> None:
        world = World(tmp_path_factory.mktemp("world"))
        for step in steps:
            step(world)
        for _ in range(3):
            world.look()
        assert world.text == world.written

    holds()
