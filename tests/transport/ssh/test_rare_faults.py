"""The rows of the table that no other test comes by: each produced once, by what really leads to it."""

import asyncio
import socket
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace

import asyncssh
import pytest
from ssh_server import SshServer, StartSshServer

from tui.transport.pipe import LinkFault, Pipe
from tui.transport.ssh.opener import SshOptions

pytestmark = pytest.mark.ssh

OpenOver = Callable[..., Awaitable[Pipe]]
BY_APPLICATION = 11  # RFC 4253, 11.1: SSH_DISCONNECT_BY_APPLICATION
NOBODY = "HostName 255.255.255.255"  # to which no connection can be made from any machine


async def fault_of(
    open_over: OpenOver, server: SshServer, host: str | None = None, *ssh_cmd: str
) -> tuple[str, str]:
    """Return class and sentence of a connection that fails."""
    options = replace(SshOptions(config_file=server.config_file), ssh_cmd=ssh_cmd or None)
    with pytest.raises(LinkFault) as seen:
        await open_over(server, ["true"], host, options)
    assert seen.value.sentence.isprintable()
    return seen.value.fault, seen.value.sentence


async def test_a_missing_library_is_told(
    ssh_server: SshServer, open_over: OpenOver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tui.transport.ssh.connection", None)
    fault, sentence = await fault_of(open_over, ssh_server)

    assert fault == "usage"
    assert "install tminus again, with its dependency asyncssh" in sentence


@pytest.mark.parametrize("way", [(), ("ssh",)], ids=["library", "ssh"])
async def test_an_address_that_no_way_leads_to_is_told(
    ssh_server: SshServer, open_over: OpenOver, way: tuple[str, ...]
) -> None:
    ssh_server.configure(NOBODY)
    fault, sentence = await fault_of(open_over, ssh_server, None, *way)

    assert fault == "refused"
    assert "cannot be reached from here" in sentence
    assert sentence.endswith("check the network, the VPN, or a firewall")


async def test_ssh_that_waits_for_an_address_in_vain_is_told(
    ssh_server: SshServer, open_over: OpenOver
) -> None:
    ssh_server.configure("ConnectTimeout 1")
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        port = full.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)):
            fault, sentence = await fault_of(open_over, ssh_server, f"lab:{port}", "ssh")

    assert fault == "timeout"
    assert "lab did not answer in time: ssh -F" in sentence


async def test_ssh_that_gets_no_session_is_told(
    start_ssh_server: StartSshServer, open_over: OpenOver
) -> None:
    fault, sentence = await fault_of(open_over, start_ssh_server("MaxSessions 0"), None, "ssh")

    assert fault == "refused"
    assert "let you in but allows no command" in sentence
    assert sentence.endswith("see MaxSessions, ForceCommand and the account's shell there")


async def test_a_proxy_command_without_a_shell_to_run_it_is_told(
    ssh_server: SshServer, open_over: OpenOver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHELL", "/no/such/shell")
    ssh_server.configure("ProxyCommand nc %h %p")
    fault, sentence = await fault_of(open_over, ssh_server)

    assert fault == "usage"
    assert "name a way with --ssh-cmd, or a ProxyJump" in sentence


async def test_a_server_that_speaks_something_else_after_its_greeting_is_told(
    ssh_server: SshServer, open_over: OpenOver
) -> None:
    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0-odd\r\n" + b"\x7f" * 200)
        await reader.read(10)
        writer.close()  # what is written goes out first

    async with await asyncio.start_server(speak, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        fault, sentence = await fault_of(open_over, ssh_server, f"lab:{port}")

    assert fault == "refused"
    assert "answered, but not as an SSH server should" in sentence


class Closing(asyncssh.SSHServer):
    """Ends every login with a word."""

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._connection = conn

    def begin_auth(self, username: str) -> bool:
        self._connection.disconnect(BY_APPLICATION, "closed for the night")
        return True


async def test_a_server_that_ends_the_login_with_a_word_is_told_with_it(
    ssh_server: SshServer, open_over: OpenOver
) -> None:
    key = str(ssh_server.host_key)
    async with asyncssh.listen("127.0.0.1", 0, server_factory=Closing, server_host_keys=[key]) as listener:
        port = listener.get_port()
        ssh_server.know(name=f"[127.0.0.1]:{port}")
        fault, sentence = await fault_of(open_over, ssh_server, f"lab:{port}")

    assert fault == "lost"
    assert "ended the login: 'closed for the night" in sentence
    assert sentence.endswith("its own log may say more")
