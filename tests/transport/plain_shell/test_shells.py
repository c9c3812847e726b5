"""The same in dash, bash and busybox's ash: the log without loss, rotation, and nothing left behind."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from bare_host import BareHost, gpu, session_of
from ssh_server import until
from watching import Watching

from tui.events import Gap, Gpus, Hello, Log, LogSource
from tui.requests import FollowRequest, WatchRequest
from tui.transport.agent_source import AgentSource
from tui.transport.local import local_opener
from tui.transport.pipe import Opener, Pipe

LINES = 3000
WRITER = """
import os, sys, time
path, count, rotates = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "rename"
file = open(path, "a", buffering=1)
for number in range(count):
    if rotates and number == count // 2:
        os.rename(path, path + ".1")
        file = open(path, "a", buffering=1)
    print("line", number, file=file)
    if not number % 20:
        time.sleep(0.01)
"""

Begin = Callable[..., Watching]


@pytest.fixture(params=["dash", "bash", "busybox"])
def through(request: pytest.FixtureRequest, needs: Callable[[str], str], bare_host: BareHost) -> Opener:
    """Return an opener that has one of the shells for /bin/sh."""
    program = needs(str(request.param))
    shell = [program, "sh"] if request.param == "busybox" else [program]
    local = local_opener({**os.environ, "PATH": bare_host.path})

    async def opener(command: list[str]) -> Pipe:
        return await local([*shell, *command[1:]] if command[0] == "/bin/sh" else command)

    return opener


@pytest.fixture
async def begin(through: Opener, bare_host: BareHost) -> AsyncIterator[Begin]:
    """Watch through one of the shells, with a log; closed with the test."""
    bare_host.smi(gpu(0))
    started: list[Watching] = []

    def start(log: Path, ping_timeout_s: float = 15.0) -> Watching:
        request = WatchRequest(matchers=[], interval_s=0.2, ping_timeout_s=ping_timeout_s)
        source = AgentSource(through, request, reconnect=False, plain_shell=True)
        source.send(FollowRequest(pid=None, log_path=str(log)))
        started.append(Watching(source))
        return started[-1]

    yield start
    for watching in started:
        await watching.close()


def lines(watching: Watching) -> list[str]:
    """Return all lines that came."""
    return [line for event in watching.events if isinstance(event, Log) for line in event.lines]


def writing(log: Path, how: str) -> "subprocess.Popen[bytes]":
    """Write many lines; with "rename" the log is rotated away in the middle."""
    return subprocess.Popen([sys.executable, "-c", WRITER, str(log), str(LINES), how])


@pytest.mark.parametrize("how", ["plain", "rename"])
async def test_no_line_of_a_growing_log_is_lost_or_repeated(how: str, begin: Begin, tmp_path: Path) -> None:
    log = tmp_path / "server log.txt"
    log.touch()
    watching = begin(log)
    await watching.find(LogSource, lambda event: event.state == "open")
    with writing(log, how):
        await watching.find(Log, lambda event: f"line {LINES - 1}" in event.lines, timeout_s=40)

    assert lines(watching) == [f"line {number}" for number in range(LINES)]
    assert not [event for event in watching.events if isinstance(event, Gap)]


async def test_a_truncated_log_is_read_anew_and_that_lines_may_be_lost_is_said(
    begin: Begin, tmp_path: Path
) -> None:
    log = tmp_path / "server.log"
    log.write_text("one\ntwo\n")
    watching = begin(log)
    await watching.find(Log, lambda event: "two" in event.lines)
    log.write_text("new\n")
    await watching.find(Log, lambda event: "new" in event.lines)
    gap = await watching.find(Gap)

    assert (gap.why, gap.lost_bytes) == ("truncated", None)
    assert gap.sentence == f"{log} was truncated: what was written shortly before may be lost"
    assert lines(watching) == ["one", "two", "new"]


async def test_bytes_that_are_no_text_come_as_they_are(begin: Begin, tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.write_bytes(b"bar 10%\rbar 20%\rdone \xff\x00\xfe\r\n" + b"x" * 200_000 + b"\nlast\n")
    watching = begin(log)
    await watching.find(Log, lambda event: "last" in event.lines)
    found = lines(watching)

    assert found[:3] == ["bar 10%", "bar 20%", "done \ufffd\ufffd"]
    assert sum(map(len, found[3:-1])) == 200_000


async def test_a_close_leaves_nothing(begin: Begin, tmp_path: Path) -> None:
    watching = begin(tmp_path / "server.log")
    hello = await watching.find(Hello)
    await watching.find(Gpus)
    assert len(session_of(hello.pid)) > 3
    await watching.close()

    await until(lambda: not session_of(hello.pid))


async def test_without_pings_it_ends_by_itself(begin: Begin, tmp_path: Path, through: Opener) -> None:
    watching = begin(tmp_path / "server.log", 1.0)
    hello = await watching.find(Hello)
    await watching.find(Gpus)
    connection = watching.source._connection  # pyright: ignore[reportPrivateUsage]
    assert connection is not None
    connection._pinging.cancel()  # pyright: ignore[reportPrivateUsage]

    await until(lambda: not session_of(hello.pid))
    await asyncio.sleep(0)


async def test_a_killed_shell_leaves_nothing(begin: Begin, tmp_path: Path) -> None:
    watching = begin(tmp_path / "server.log", 2.0)
    hello = await watching.find(Hello)
    await watching.find(Gpus)
    os.kill(hello.pid, 9)

    await until(lambda: not session_of(hello.pid))
