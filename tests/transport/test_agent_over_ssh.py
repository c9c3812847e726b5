"""The agent over a real sshd: through noisy login shells, over cut and half-open connections."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import IO, Any

import pytest
from agent_process import alive, children_of
from ssh_server import SshServer, StartSshServer, until
from watching import Watching

from tui.events import Hello, Link, Log, Processes
from tui.requests import FollowRequest, WatchRequest
from tui.transport import agent_source
from tui.transport.agent_source import AgentSource
from tui.transport.ssh.opener import SshOptions, ssh_opener

pytestmark = pytest.mark.ssh

Start = Callable[..., Watching]


@pytest.fixture
async def watch(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Start]:
    """Watch the host of an SshServer; closed with the test."""
    monkeypatch.setattr(agent_source, "BACKOFF_S", (0.05,))
    started: list[Watching] = []

    def start(server: SshServer, **options: Any) -> Watching:
        opener = ssh_opener(server.host, options=SshOptions(config_file=server.config_file))
        request = WatchRequest(matchers=[], **options)
        started.append(Watching(AgentSource(opener, request, reconnect=True)))
        return started[-1]

    yield start
    for watching in started:
        await watching.close()


async def gone(pids: list[int]) -> None:
    """Wait until none of these processes is left."""
    await until(lambda: not any(map(alive, pids)))


@pytest.mark.parametrize("shell", ["bash", "dash", "fish", "csh"])
async def test_the_agent_starts_under_a_noisy_shell(
    shell: str, as_login_shell: Callable[[str], str], start_ssh_server: StartSshServer, watch: Start
) -> None:
    watching = watch(start_ssh_server(as_login_shell(shell)))
    await watching.find(Hello)
    link = await watching.find(Link, lambda link: link.state == "up")

    assert link.banner == ("" if shell == "dash" else "welcome to the cluster / no newline here")


async def test_a_cut_connection_is_taken_up_again_and_no_log_line_is_lost_or_repeated(
    ssh_server: SshServer, watch: Start, tmp_path: Path
) -> None:
    log, count = tmp_path / "server.log", 2000
    watching = watch(ssh_server, gpus=False)
    watching.source.send(FollowRequest(pid=None, log_path=str(log)))
    with log.open("w") as file, writer(count, file):
        seen = 0
        for _ in range(2):
            hello = await watching.find(Hello, after=seen)
            seen = watching.events.index(hello) + 1
            await watching.find(Log, lambda event: event.lines, after=seen)
            pids = [hello.pid, *children_of(hello.pid)]
            ssh_server.cut()
            await gone(pids)
        await watching.find(Log, lambda event: f"line {count - 1}" in event.lines)
    lines = [line for event in watching.events if isinstance(event, Log) for line in event.lines]

    assert lines == [f"line {number}" for number in range(count)]


async def test_the_agent_of_a_half_open_connection_ends_by_itself(
    ssh_server: SshServer, watch: Start
) -> None:
    watching = watch(ssh_server, ping_timeout_s=1.0)
    hello = await watching.find(Hello)
    await watching.find(Processes)
    pids = [hello.pid, *children_of(hello.pid)]
    ssh_server.stall()

    await gone(pids)


async def test_a_client_that_closes_leaves_nothing_on_the_host(ssh_server: SshServer, watch: Start) -> None:
    watching = watch(ssh_server)
    hello = await watching.find(Hello)
    await watching.find(Processes)
    pids = [hello.pid, *children_of(hello.pid)]
    assert os.getpgid(hello.pid) == hello.pid
    await watching.close()

    await gone(pids)


def writer(count: int, file: IO[str]) -> "subprocess.Popen[bytes]":
    code = (
        f"import time\nfor number in range({count}):\n"
        "    print('line', number, flush=True)\n    if not number % 10: time.sleep(0.005)"
    )
    return subprocess.Popen([sys.executable, "-c", code], stdout=file)
