"""Nothing stays on the host, whatever ends the link and whatever the agent was at, in many tries."""

import asyncio
import signal
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest
from ssh_server import SshServer, StartSshServer, kill, until
from ssh_watch import alive, family
from watched_stacks import stand_in
from wrapped_host import WrappedHost

pytestmark = [pytest.mark.ssh, pytest.mark.long]

ROUNDS = 7
WAYS = (
    "kill the client",
    "stop the client",
    "kill the session",
    "stop the session",
    "kill sshd",
    "kill docker",
    "kill docker whose input stays open",
    "kill the client of docker",
)
# A client in the middle of everything at once: a benchmark at work (of the agent's own mock, so that there is
# a load generator and a server), then a diagnosis by a py-spy that does not answer.
CLIENT = """
import asyncio, sys
from tui.benchmark import BenchProgress, BenchSpec
from tui.events import Hello, Link
from tui.requests import BenchRequest, DiagnoseRequest, WatchRequest
from tui.transport.agent_source import AgentSource
from tui.transport.ssh.opener import SshOptions, ssh_opener
from tui.transport.wrapper import wrapper
from tui.transport.wrapper_pipe import wrapped_opener

SPEC = BenchSpec(url="", model=None, concurrency=4, requests=100_000, input_tokens=8, output_tokens=8,
                 warmup_s=0.0, arrival="constant", rate_per_s=2.0)

async def main():
    opener = ssh_opener("lab", options=SshOptions(config_file=sys.argv[1]))
    if sys.argv[3] == "docker":
        opener = wrapped_opener(opener, wrapper("docker", "vllm"), "lab")
    source = AgentSource(opener, WatchRequest(matchers=[]), reconnect=False)
    source.send(BenchRequest(run="r", spec=SPEC, self_test=True))
    agent = 0
    async for event in source:
        if isinstance(event, Hello):
            agent = event.pid
        if isinstance(event, BenchProgress) and event.stage == "measure" and event.completed and agent:
            source.send(DiagnoseRequest(pids=[agent], tool=sys.argv[2]))
            print(agent, flush=True)
            agent = 0
        if isinstance(event, Link) and event.state == "failed":
            sys.exit(event.sentence)

asyncio.run(main())
"""


@dataclass(frozen=True, slots=True)
class Tried:
    """One client at work: what is on the host for it, and the pid of docker's stand-in where it is used."""

    server: SshServer
    client: int
    docker: int
    processes: list[psutil.Process]


async def test_no_process_is_left_on_the_host_20_s_after_the_link_ended_in_any_way(
    start_ssh_server: StartSshServer,
    share: Callable[[int], int],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    for _ in range(share(ROUNDS)):
        async with AsyncExitStack() as stack:
            folders = [tmp_path_factory.mktemp("way") for _ in WAYS]
            started = [
                _started(way, start_ssh_server, folder, stack)
                for way, folder in zip(WAYS, folders, strict=True)
            ]
            tried = await asyncio.gather(*started)
            for way, each in zip(WAYS, tried, strict=True):
                _end(way, each)
            processes = [process for each in tried for process in each.processes]
            await until(lambda processes=processes: not any(map(alive, processes)), 20.0)


async def _started(way: str, start: StartSshServer, folder: Path, stack: AsyncExitStack) -> Tried:
    """Start a client and wait until its agent has a benchmark and a diagnosis on their way."""
    host = WrappedHost(folder)
    host.behave(keeps="stays open" in way)
    server = start(environment={"PATH": host.path})
    inside = "docker" if "docker" in way else ""
    client = await asyncio.create_subprocess_exec(
        sys.executable, "-c", CLIENT, server.config_file, stand_in(folder, "exec sleep 600"), inside,
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    stack.push_async_callback(client.wait)
    stack.callback(server.cut)
    stack.callback(kill, client.pid)
    assert client.stdout is not None
    agent = int(await client.stdout.readline())
    await until(lambda: "sleep" in [process.name() for process in family(agent) if alive(process)])
    processes = family(agent)
    assert len(processes) >= 5  # the agent, a driver, the process table, the load, the diagnosis, its py-spy
    return Tried(server, client.pid, host.client() if inside else 0, processes)


def _end(way: str, tried: Tried) -> None:
    number = signal.SIGKILL if way.startswith("kill") else signal.SIGSTOP
    if "client" in way:
        kill(tried.client, number)
    elif "docker" in way:
        kill(tried.docker, number)
    elif way.endswith("session"):
        tried.server.cut(number)
    else:
        tried.server.stop()
