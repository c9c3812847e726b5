"""The connection that the user's own ssh holds open is the way in while it answers."""

import os
import subprocess
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import psutil
import pytest
from ssh_server import SshServer, until
from ssh_watch import ssh_programs, watching

from tui.transport.pipe import LinkFault, Pipe
from tui.transport.ssh import master as master_module
from tui.transport.ssh.opener import SshOptions

pytestmark = pytest.mark.ssh

OpenOver = Callable[..., Awaitable[Pipe]]
ReadAll = Callable[[Pipe], Awaitable[bytes]]


class Master:
    """A user's ssh that holds a connection open; ``lock`` closes the way in to every other login."""

    def __init__(self, server: SshServer, path: Path) -> None:
        command = ["ssh", "-F", server.config_file, "-M", "-N", server.host]
        self.server = server
        self.path = path
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self._keys = (server.folder / "authorized_keys").read_text()

    def die(self) -> None:
        """End the ssh that holds it, without a chance to tidy up."""
        self.process.kill()
        self.process.wait()

    def lock(self) -> None:
        """Let nobody log in any more."""
        (self.server.folder / "authorized_keys").write_text("")

    def unlock(self) -> None:
        """Let the key in again."""
        (self.server.folder / "authorized_keys").write_text(self._keys)

    def logins(self) -> int:
        """Return how many logins there were."""
        return self.server.log().count("Accepted publickey")


@pytest.fixture
async def master(ssh_server: SshServer) -> AsyncIterator[Master]:
    """Hold a connection open as ``ssh -M`` does. The folder is short: a socket's path has 104 bytes."""
    with tempfile.TemporaryDirectory(prefix="tm") as folder:
        ssh_server.configure(f"ControlPath {folder}/%n")
        held = Master(ssh_server, Path(folder) / ssh_server.host)
        try:
            await until(held.path.exists)
            yield held
        finally:
            held.die()


async def test_it_needs_no_login_of_its_own_and_that_is_said(
    master: Master, open_over: OpenOver, read_all: ReadAll
) -> None:
    master.lock()
    heard: list[str] = []
    options = SshOptions(config_file=master.server.config_file, notice=heard.append)
    pipe = await open_over(master.server, ["echo", "here"], options=options)
    assert await read_all(pipe) == b"here\n"
    assert await pipe.close() == 0
    assert master.logins() == 1
    assert [str(master.path) in sentence for sentence in heard] == [True]
    assert master.process.poll() is None


async def test_without_it_the_same_host_lets_nobody_in(master: Master, open_over: OpenOver) -> None:
    master.lock()
    master.die()
    assert master.path.exists()
    with pytest.raises(LinkFault) as seen:
        await open_over(master.server, ["true"])
    assert seen.value.fault == "auth"


async def test_one_that_does_not_answer_is_passed_by(
    master: Master, open_over: OpenOver, read_all: ReadAll, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(master_module, "_ANSWER_S", 0.2)
    psutil.Process(master.process.pid).suspend()
    pipe = await open_over(master.server, ["echo", "here"])
    assert await read_all(pipe) == b"here\n"
    assert master.logins() == 2
    assert [program.pid for program in ssh_programs()] == [master.process.pid]


async def test_when_it_dies_the_watch_finds_another_way(master: Master) -> None:
    heard: list[str] = []
    async with watching(master.server, notice=heard.append) as watch:
        await until(lambda: watch.links().count("up") == 1)
        assert master.logins() == 1
        master.die()
        await until(lambda: watch.links().count("up") == 2)
        assert master.logins() == 2
    assert len(heard) == 2
    assert "not used any more" in heard[1]


async def test_one_over_a_dead_link_is_given_up_when_nothing_comes_any_more(master: Master) -> None:
    async with watching(master.server) as watch:
        await until(lambda: watch.links().count("up") == 1)
        master.server.stall()
        await until(lambda: "lost" in watch.links())
        assert "nothing came through ssh -F" in watch.last_link().sentence


async def test_no_connection_of_ours_becomes_one_that_others_share(
    ssh_server: SshServer, open_over: OpenOver
) -> None:
    with tempfile.TemporaryDirectory(prefix="tm") as folder:
        ssh_server.configure("ControlMaster auto", "ControlPersist 60", f"ControlPath {folder}/%n")
        options = SshOptions(config_file=ssh_server.config_file, ssh_cmd=("ssh",))
        pipe = await open_over(ssh_server, ["true"], options=options)
        assert await pipe.close() == 0
        assert os.listdir(folder) == []
    await until(lambda: not ssh_server.sessions())
