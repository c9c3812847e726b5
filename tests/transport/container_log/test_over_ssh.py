"""The log of a container on a host: a second command over the same connection of a real sshd."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from agent_process import alive
from container_logs import keep, record
from ssh_server import SshServer, StartSshServer, until
from watching import Watching
from wrapped_host import WrappedHost

from tui.events import Gap, Hello, Link, Log, LogSource
from tui.requests import FollowRequest, WatchRequest
from tui.transport import agent_source
from tui.transport.agent_source import AgentSource
from tui.transport.container_log import command, reader
from tui.transport.container_log.beside import LogBeside
from tui.transport.container_log.reader import Container
from tui.transport.ssh.limits import Limits
from tui.transport.ssh.opener import SshOptions, ssh_opener
from tui.transport.wrapper import wrapper
from tui.transport.wrapper_pipe import wrapped_opener

pytestmark = pytest.mark.ssh


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction] -- pytest uses it
    monkeypatch.setattr(agent_source, "BACKOFF_S", (0.05,))
    monkeypatch.setattr(command, "DEAF_S", 2)
    monkeypatch.setattr(reader, "PING_INTERVAL_S", 0.3)


@asynccontextmanager
async def watched(server: SshServer, *, ssh_cmd: tuple[str, ...] | None = None) -> AsyncGenerator[Watching]:
    """Watch the container of a host, as the command does, and follow a server there that writes to a pipe."""
    limits = Limits(keepalive_s=0.5, keepalive_count=1)
    options = SshOptions(config_file=server.config_file, limits=limits, ssh_cmd=ssh_cmd)
    opener = ssh_opener(server.host, options=options)
    inside = wrapper("docker", "vllm")
    source = AgentSource(
        wrapped_opener(opener, inside, server.host),
        WatchRequest(matchers=[], gpus=False, ping_timeout_s=2.0),
        reconnect=True,
        place=inside.place(server.host),
        log_beside=LogBeside(Container(inside, opener.beside, server.host)),
    )
    source.send(FollowRequest(pid=1, log_to_runtime=True))
    watching = Watching(source)
    try:
        yield watching
    finally:
        await watching.close()


def lines(watching: Watching) -> list[str]:
    """Return all lines of the log."""
    return [line for event in watching.events if isinstance(event, Log) for line in event.lines]


async def comes(watching: Watching, text: str) -> None:
    """Wait for a line."""
    await watching.find(Log, lambda log: text in log.lines)


@pytest.mark.parametrize("ssh_cmd", [None, ("ssh",)], ids=["library", "program"])
async def test_the_log_comes_from_the_host_beside_the_agent(
    ssh_cmd: tuple[str, ...] | None, wrapped_host: WrappedHost, start_ssh_server: StartSshServer
) -> None:
    wrapped_host.log.touch()
    server = start_ssh_server(environment={"PATH": wrapped_host.path})
    async with watched(server, ssh_cmd=ssh_cmd) as watching:
        await watching.find(LogSource)
        keep(wrapped_host.log, record("one\n"), record("two\n", stream="stderr"))
        await comes(watching, "two")
        tool = wrapped_host.log_runs()[-1][0]
        assert alive(tool)
        if ssh_cmd is None:
            assert server.log().count("Accepted publickey") == 1

    assert lines(watching) == ["one", "two"]
    await until(lambda: not alive(tool))


async def test_a_host_that_allows_one_session_is_named_and_the_watch_goes_on(
    wrapped_host: WrappedHost, start_ssh_server: StartSshServer
) -> None:
    wrapped_host.log.touch()
    server = start_ssh_server("MaxSessions 1", environment={"PATH": wrapped_host.path})
    async with watched(server) as watching:
        source = await watching.find(LogSource)
        hello = await watching.find(Hello)
        assert alive(hello.pid)

    assert source.state == "unreadable"
    assert source.sentence == (
        f"no log of the container: lab (127.0.0.1) port {server.port} allows one session a connection and a "
        "second one was needed: set MaxSessions to 2 or more in its sshd_config"
    )


async def test_a_cut_link_loses_no_line_and_leaves_no_command(
    wrapped_host: WrappedHost, start_ssh_server: StartSshServer
) -> None:
    wrapped_host.log.touch()
    server = start_ssh_server(environment={"PATH": wrapped_host.path})
    async with watched(server) as watching:
        await watching.find(LogSource)
        keep(wrapped_host.log, record("one\n"))
        await comes(watching, "one")
        server.cut()
        keep(wrapped_host.log, record("two\n"))
        await comes(watching, "two")
        first, *later = [pid for pid, _ in wrapped_host.log_runs()]
        await until(lambda: not alive(first))
        assert any(map(alive, later))

    assert lines(watching) == ["one", "two"]
    assert not any(isinstance(event, Gap) for event in watching.events)
    await until(lambda: not any(map(alive, later)))


async def test_a_stalled_link_leaves_no_command_on_the_host(
    wrapped_host: WrappedHost, start_ssh_server: StartSshServer
) -> None:
    wrapped_host.log.touch()
    server = start_ssh_server(environment={"PATH": wrapped_host.path})
    async with watched(server) as watching:
        await watching.find(LogSource)
        (tool, _), *_ = wrapped_host.log_runs()
        stalled = server.sessions()
        server.stall()
        await until(lambda: not alive(tool))
        await watching.find(Link, lambda link: link.state == "lost")
        for pid in stalled:
            os.kill(pid, signal.SIGKILL)


# A client as the command makes one, that says when the log is read.
CLIENT = """
import asyncio, sys
from tui.events import LogSource
from tui.requests import FollowRequest, WatchRequest
from tui.transport.agent_source import AgentSource
from tui.transport.container_log.beside import LogBeside
from tui.transport.container_log.reader import Container
from tui.transport.local import local_opener
from tui.transport.ssh.opener import SshOptions, ssh_opener
from tui.transport.wrapper import wrapper
from tui.transport.wrapper_pipe import wrapped_opener

async def main():
    host = sys.argv[1] or None
    opener = ssh_opener(host, options=SshOptions(config_file=sys.argv[2])) if host else local_opener()
    inside = wrapper("docker", "vllm")
    beside = LogBeside(Container(inside, opener.beside if host else opener, host))
    request = WatchRequest(matchers=[], gpus=False)
    source = AgentSource(wrapped_opener(opener, inside, host), request, reconnect=True, log_beside=beside)
    source.send(FollowRequest(pid=1, log_to_runtime=True))
    async for event in source:
        if isinstance(event, LogSource): print("reads", flush=True)

asyncio.run(main())
"""


@pytest.mark.parametrize("over_ssh", [False, True], ids=["here", "ssh"])
async def test_a_killed_client_leaves_no_command(
    over_ssh: bool, wrapped_here: WrappedHost, start_ssh_server: StartSshServer
) -> None:
    wrapped_here.log.touch()
    server = start_ssh_server(environment={"PATH": wrapped_here.path}) if over_ssh else None
    where = (server.host, server.config_file) if server is not None else ("", "")
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        CLIENT,
        *where,
        cwd=Path(__file__).parents[3],
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"reads\n"
    tool = wrapped_here.log_runs()[-1][0]
    assert alive(tool)
    process.kill()
    await process.wait()

    await until(lambda: not alive(tool))
