"""Nothing stays on the host, whatever ends the link, in many tries."""

import asyncio
import signal
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack

import psutil
import pytest
from ssh_server import SshServer, StartSshServer, kill, until
from ssh_watch import alive, family

pytestmark = [pytest.mark.ssh, pytest.mark.long]

ROUNDS = 10
WAYS = ("kill the client", "stop the client", "kill the session", "stop the session", "kill sshd")

CLIENT = """
import asyncio, sys
from tui.events import Hello
from tui.requests import WatchRequest
from tui.transport.agent_source import AgentSource
from tui.transport.ssh.opener import SshOptions, ssh_opener

async def main():
    opener = ssh_opener("lab", options=SshOptions(config_file=sys.argv[1]))
    async for event in AgentSource(opener, WatchRequest(matchers=[]), reconnect=False):
        if isinstance(event, Hello):
            print(event.pid, flush=True)

asyncio.run(main())
"""


async def test_no_process_is_left_on_the_host_20_s_after_the_link_ended_in_any_way(
    start_ssh_server: StartSshServer, share: Callable[[int], int]
) -> None:
    for _ in range(share(ROUNDS)):
        async with AsyncExitStack() as stack:
            tried = await asyncio.gather(*(_started(start_ssh_server(), stack) for _ in WAYS))
            for way, (server, client, _) in zip(WAYS, tried, strict=True):
                _end(way, server, client)
            processes = [process for _, _, found in tried for process in found]
            await until(lambda processes=processes: not any(map(alive, processes)), 20.0)


async def _started(server: SshServer, stack: AsyncExitStack) -> tuple[SshServer, int, list[psutil.Process]]:
    """Start a client and wait until its agent and that one's children are there."""
    client = await asyncio.create_subprocess_exec(
        sys.executable, "-c", CLIENT, server.config_file, stdout=asyncio.subprocess.PIPE
    )
    stack.push_async_callback(client.wait)
    stack.callback(server.cut)
    stack.callback(kill, client.pid)
    assert client.stdout is not None
    agent = int(await client.stdout.readline())
    await until(lambda: len(family(agent)) > 1)
    return server, client.pid, family(agent)


def _end(way: str, server: SshServer, client: int) -> None:
    number = signal.SIGKILL if way.startswith("kill") else signal.SIGSTOP
    if way.endswith("client"):
        kill(client, number)
    elif way.endswith("session"):
        server.cut(number)
    else:
        server.stop()
