"""Nothing stays on the host, however the client ends: killed, stopped, hung up, or closed."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from agent_process import alive, children_of, until

ROOT = Path(__file__).parents[2]
# A client that watches this machine and prints the agent's pid once every worker is at work.
CLIENT = """
import asyncio, sys
from tui.events import Hello, Log
from tui.requests import FollowRequest, WatchRequest
from tui.transport.agent_source import AgentSource
from tui.transport.local import local_opener

async def main():
    request = WatchRequest(matchers=[], ping_timeout_s=1.0)
    source = AgentSource(local_opener(), request, reconnect=False, python=sys.executable)
    source.send(FollowRequest(pid=None, log_path=sys.argv[1]))
    async for event in source:
        if isinstance(event, Hello): pid = event.pid
        if isinstance(event, Log): print(pid, flush=True)

asyncio.run(main())
"""

Client = tuple["subprocess.Popen[str]", list[int]]


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    """A watching client, and the agent with all its processes."""
    log = tmp_path / "server.log"
    log.write_text("hello\n")
    process = subprocess.Popen(
        [sys.executable, "-c", CLIENT, str(log)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    agent = int(process.stdout.readline())
    yield process, [agent, *children_of(agent)]
    process.kill()
    process.communicate()


def nothing_is_left(pids: list[int]) -> None:
    until(lambda: not any(map(alive, pids)))


def test_a_killed_client_leaves_nothing(client: Client) -> None:
    process, pids = client
    assert len(pids) >= 3
    process.kill()

    nothing_is_left(pids)


def test_a_stopped_client_leaves_nothing_once_its_pings_are_missed(client: Client) -> None:
    process, pids = client
    process.send_signal(signal.SIGSTOP)

    nothing_is_left(pids)


def test_an_interrupted_client_leaves_nothing(client: Client) -> None:
    process, pids = client
    process.send_signal(signal.SIGINT)

    nothing_is_left(pids)


def test_a_killed_agent_leaves_no_worker(client: Client) -> None:
    _, pids = client
    os.kill(pids[0], signal.SIGKILL)

    nothing_is_left(pids)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_an_agent_that_is_told_to_end_leaves_no_worker(client: Client, number: signal.Signals) -> None:
    _, pids = client
    os.kill(pids[0], number)

    nothing_is_left(pids)


def test_the_agent_has_no_file_open_for_writing(client: Client) -> None:
    _, pids = client
    for pid in pids:
        for entry in Path(f"/proc/{pid}/fdinfo").iterdir():
            flags = int(entry.read_text().partition("flags:")[2].split()[0], 8)
            if flags & os.O_ACCMODE != os.O_RDONLY:
                assert not Path(f"/proc/{pid}/fd/{entry.name}").is_file()
