"""The agent over the system's own ssh: watched, cut off, taken up again, and gone on both sides."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from busy_log import writing
from ssh_server import SshServer, until
from ssh_watch import alive, family, ssh_programs, watching

pytestmark = pytest.mark.ssh

ROOT = Path(__file__).parents[2]
# A client that watches a host by ssh and prints the agent's pid once its log is read.
CLIENT = """
import asyncio, sys
from tui.events import Hello, Log
from tui.requests import FollowRequest, WatchRequest
from tui.transport.agent_source import AgentSource
from tui.transport.ssh.opener import SshOptions, ssh_opener

async def main():
    options = SshOptions(config_file=sys.argv[1], ssh_cmd=("ssh",))
    source = AgentSource(ssh_opener("lab", options=options), WatchRequest(matchers=[]), reconnect=True)
    source.send(FollowRequest(pid=None, log_path=sys.argv[2]))
    async for event in source:
        if isinstance(event, Hello): pid = event.pid
        if isinstance(event, Log): print(pid, flush=True)

asyncio.run(main())
"""


def configure_a_jump(server: SshServer) -> None:
    """Configure ``lab`` through ``jump``; both are the same sshd."""
    file = Path(server.config_file)
    server.configure("ProxyJump jump")
    own = file.read_text()
    server.configure(alias="jump")
    file.write_text(own + file.read_text())


async def test_cuts_lose_and_repeat_no_line(ssh_server: SshServer, tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.touch()
    async with watching(ssh_server, log, ssh_cmd=("ssh",)) as watch:
        await until(watch.reads_log)
        with writing(log, ["rename", "copytruncate"]) as writer:
            for cut in (1, 2, 3):
                before = watch.read.last
                await until(lambda before=before: watch.read.last > before)
                ssh_server.cut()
                await until(lambda cut=cut: watch.links().count("up") == cut + 1)
            written = await writer.finish()
            await until(lambda: watch.read.last == written.lines - 1)
        assert len(ssh_programs()) == 1
    assert watch.links()[:4] == ["connecting", "up", "lost", "connecting"]
    assert watch.read.gaps == []
    assert (watch.read.lost(written.lines), watch.read.repeated(), watch.read.out_of_order) == ([], [], 0)


async def test_an_end_leaves_nothing_on_either_side(ssh_server: SshServer) -> None:
    async with watching(ssh_server, ssh_cmd=("ssh",)) as watch:
        await until(lambda: bool(watch.agents()))
        assert len(ssh_programs()) == 1
        processes = [*family(watch.agents()[0]), *ssh_programs()]
    await until(lambda: not any(map(alive, processes)))
    await until(lambda: not ssh_server.sessions())
    assert ssh_programs() == []


async def test_an_end_over_a_silent_link_leaves_no_ssh_here_nor_one_to_a_jump_host(
    ssh_server: SshServer,
) -> None:
    configure_a_jump(ssh_server)
    async with watching(ssh_server, ssh_cmd=("ssh",)) as watch:
        await until(lambda: bool(watch.agents()))
        processes = [each for ssh in ssh_programs() for each in [ssh, *ssh.children(recursive=True)]]
        ssh_server.stall()
    assert len(processes) == 2
    await until(lambda: not any(map(alive, processes)))


@pytest.fixture
def client(ssh_server: SshServer, tmp_path: Path) -> Iterator["tuple[subprocess.Popen[str], int]"]:
    """A client process that watches by ssh, and the pid of its agent."""
    log = tmp_path / "server.log"
    log.write_text("hello\n")
    process = subprocess.Popen(
        [sys.executable, "-c", CLIENT, ssh_server.config_file, str(log)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    yield process, int(process.stdout.readline())
    process.kill()
    process.communicate()


async def test_a_killed_client_leaves_nothing_on_either_side(
    client: "tuple[subprocess.Popen[str], int]", ssh_server: SshServer
) -> None:
    process, agent = client
    ssh = psutil.Process(process.pid).children()
    assert [each.name() for each in ssh] == ["ssh"]
    left = [*family(agent), *ssh]
    process.kill()
    await until(lambda: not any(map(alive, left)))
    await until(lambda: not ssh_server.sessions())
