"""Ways through other hosts: ProxyCommand and ProxyJump over real sshds."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path

import psutil
import pytest
from ssh_server import SshServer, StartSshServer, until

from tui.transport.pipe import LinkFault, Pipe

pytestmark = pytest.mark.ssh

OpenOver = Callable[..., Awaitable[Pipe]]
ReadAll = Callable[[Pipe], Awaitable[bytes]]

# A byte relay that any machine with Python has, in place of nc.
RELAY = (
    "import os,select,socket,sys;s=socket.create_connection((sys.argv[1],int(sys.argv[2])))\n"
    "while True:\n"
    " for r in select.select([0,s],[],[])[0]:\n"
    "  d=os.read(0,65536) if r==0 else s.recv(65536)\n"
    "  d or sys.exit()\n"
    "  s.sendall(d) if r==0 else os.write(1,d)\n"
)


@pytest.fixture
def relay(tmp_path: Path, needs: Callable[[str], str]) -> str:
    """Return the ProxyCommand that relays to %h %p."""
    file = tmp_path / "relay.py"
    file.write_text(RELAY)
    return f"{needs('python3')} {file} %h %p"


def _two_hosts(server: SshServer, *lines: str, jump: str = "jump") -> None:
    """Configure ``lab`` through ``jump``; both are the same sshd."""
    server.configure(f"ProxyJump {jump}", *lines)
    own = Path(server.config_file).read_text()
    server.configure(alias=jump.partition(",")[0])
    Path(server.config_file).write_text(own + Path(server.config_file).read_text())


async def test_a_proxy_command_is_run_by_a_shell(
    ssh_server: SshServer, open_over: OpenOver, read_all: ReadAll, relay: str
) -> None:
    ssh_server.configure(f"ProxyCommand {relay} 2>/dev/null | cat")
    assert await read_all(await open_over(ssh_server, ["echo", "here"])) == b"here\n"


async def test_a_closed_pipe_leaves_no_proxy_behind(
    ssh_server: SshServer, open_over: OpenOver, relay: str
) -> None:
    ssh_server.configure(f"ProxyCommand {relay}")
    pipe = await open_over(ssh_server, ["cat"])
    assert psutil.Process().children()
    await pipe.close()
    await until(lambda: not [child for child in _children() if child != ssh_server.pid])


def _children() -> list[int]:
    return [child.pid for child in psutil.Process().children(recursive=False)]


async def test_a_killed_proxy_is_a_lost_link(ssh_server: SshServer, open_over: OpenOver, relay: str) -> None:
    ssh_server.configure(f"ProxyCommand {relay}")
    pipe = await open_over(ssh_server, ["sh", "-c", "echo here; cat"])
    assert await pipe.read(100) == b"here\n"
    for child in psutil.Process().children():
        if child.pid != ssh_server.pid:
            child.kill()
    with pytest.raises(LinkFault) as seen:
        await pipe.read(100)
    assert (seen.value.fault, seen.value.retry) == ("lost", True)


async def test_what_a_failing_proxy_says_is_told(ssh_server: SshServer, open_over: OpenOver) -> None:
    ssh_server.configure("ProxyCommand echo the gate is shut >&2; exit 1")
    with pytest.raises(LinkFault, match="'the gate is shut'") as seen:
        await open_over(ssh_server, ["true"])
    assert (seen.value.fault, seen.value.retry) == ("refused", False)


@pytest.mark.parametrize(
    ("command", "how"),
    [("false", "with status 1"), ('sh -c "exit 3"', "with status 3"), ("sh -c 'kill -9 $$'", "by signal 9")],
    ids=["false", "status", "signal"],
)
async def test_a_proxy_that_fails_without_a_word_is_blamed_and_not_the_host(
    ssh_server: SshServer, open_over: OpenOver, command: str, how: str
) -> None:
    ssh_server.configure(f"ProxyCommand {command}")
    with pytest.raises(LinkFault) as seen:
        await open_over(ssh_server, ["true"])
    assert (seen.value.fault, seen.value.retry) == ("refused", False)
    assert f"failed: {command} ended {how} before a word of SSH came through it" in seen.value.sentence
    assert "took the connection" not in seen.value.sentence


async def test_a_host_behind_a_proxy_that_closes_at_once_is_told(
    ssh_server: SshServer, open_over: OpenOver, relay: str
) -> None:
    async def close(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.close()

    async with await asyncio.start_server(close, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        ssh_server.configure(f"ProxyCommand {relay.replace('%p', str(port))}")
        with pytest.raises(LinkFault, match=r"ended with status 0 .*MaxStartups") as seen:
            await open_over(ssh_server, ["true"])
    assert (seen.value.fault, seen.value.retry) == ("refused", False)


async def test_a_proxy_that_hangs_is_given_up_by_connect_timeout_and_blamed(
    ssh_server: SshServer, open_over: OpenOver
) -> None:
    ssh_server.configure("ProxyCommand sleep 100", "ConnectTimeout 1")
    with pytest.raises(LinkFault) as seen:
        await open_over(ssh_server, ["true"])
    assert (seen.value.fault, seen.value.retry) == ("timeout", False)
    assert "brought no answer within 1 s: sleep 100 still runs" in seen.value.sentence


async def test_a_port_that_never_greets_is_given_up_by_connect_timeout(
    ssh_server: SshServer, open_over: OpenOver
) -> None:
    ssh_server.configure("ConnectTimeout 1")
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        pytest.raises(LinkFault, match="did not finish the login within 1 s"),
    ):
        await open_over(ssh_server, ["true"], f"lab:{silent.getsockname()[1]}")


@pytest.mark.parametrize("program", [True, False])
async def test_a_jump_host_is_gone_through(
    start_ssh_server: StartSshServer,
    open_over: OpenOver,
    read_all: ReadAll,
    monkeypatch: pytest.MonkeyPatch,
    program: bool,
) -> None:
    server = start_ssh_server()
    _two_hosts(server)
    if not program:
        monkeypatch.setenv("PATH", "/nonexistent")
    assert await read_all(await open_over(server, ["/bin/echo", "here"])) == b"here\n"
    assert server.log().count("Accepted publickey") == 2


async def test_an_unknown_key_of_the_jump_host_is_told(ssh_server: SshServer, open_over: OpenOver) -> None:
    _two_hosts(ssh_server)
    ssh_server.known_hosts.write_text("")
    with pytest.raises(LinkFault, match="host key on it is not known") as seen:
        await open_over(ssh_server, ["true"])
    assert (seen.value.fault, seen.value.retry) == ("host_key", False)


async def test_a_refused_login_at_the_jump_host_is_told(ssh_server: SshServer, open_over: OpenOver) -> None:
    _two_hosts(ssh_server)
    (ssh_server.folder / "authorized_keys").write_text("")
    with pytest.raises(LinkFault, match=r"failed at its login.*Permission denied") as seen:
        await open_over(ssh_server, ["true"])
    assert (seen.value.fault, seen.value.retry) == ("auth", False)


async def test_a_jump_host_without_address_is_told(ssh_server: SshServer, open_over: OpenOver) -> None:
    ssh_server.configure("ProxyJump no-such-host.invalid")
    with pytest.raises(LinkFault, match="has no address") as seen:
        await open_over(ssh_server, ["true"])
    assert (seen.value.fault, seen.value.retry) == ("dns", False)


async def test_a_jump_host_that_refuses_is_told(
    ssh_server: SshServer, open_over: OpenOver, free_port: int
) -> None:
    ssh_server.configure(f"ProxyJump 127.0.0.1:{free_port}")
    with pytest.raises(LinkFault, match="Connection refused") as seen:
        await open_over(ssh_server, ["true"])
    assert (seen.value.fault, seen.value.retry) == ("refused", False)


async def test_a_proxy_has_no_terminal_to_ask_on(
    ssh_server: SshServer, open_over: OpenOver, relay: str, tmp_path: Path
) -> None:
    script = tmp_path / "proxy"
    script.write_text(
        f"#!/bin/sh\nps -o tty= -o sid= -p $$ > {tmp_path}/told\nexec {relay.replace('%h %p', '$1 $2')}\n"
    )
    script.chmod(0o700)
    ssh_server.configure(f"ProxyCommand {script} %h %p")
    await open_over(ssh_server, ["true"])
    terminal, session = (tmp_path / "told").read_text().split()
    assert terminal == "?"
    assert int(session) != psutil.Process().pid
