"""An SSH server of asyncssh's own that wants answers: a password, or rounds of keyboard-interactive prompts.

The real sshd of ssh_server.py takes neither without PAM and a user's real password.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import asyncssh
import pytest
from ssh_server import make_key, public

USER = "alice"
Prompts = Sequence[tuple[str, bool]]


@dataclass(slots=True)
class Wanted:
    """What the server wants: a password, or one answer for each prompt, round after round."""

    password: str = ""
    rounds: list[tuple[str, str, Prompts, list[str]]] = field(default_factory=list)
    grace_s: float = 60.0


class AskingServer:
    """The server, and a client configuration that knows it as ``lab``."""

    def __init__(self, folder: Path, wanted: Wanted) -> None:
        self.host = "lab"
        self.wanted = wanted
        self.tried: list[object] = []
        self.devices: list[str] = []
        self.connections: list[asyncssh.SSHServerConnection] = []
        self.config_file = str(folder / "client_config")
        self.known_hosts = folder / "known_hosts"
        self.port = 0
        self._key = make_key(folder / "host_ed25519")
        self._acceptor: asyncssh.SSHAcceptor | None = None

    async def start(self) -> None:
        """Listen, and write what the client goes by."""
        self._acceptor = await asyncssh.create_server(
            lambda: _Logins(self), "127.0.0.1", 0, server_host_keys=[str(self._key)],
            process_factory=_run, encoding=None, login_timeout=self.wanted.grace_s,
        )  # fmt: skip
        self.port = self._acceptor.get_port()
        self.known_hosts.write_text(f"[127.0.0.1]:{self.port} {public(self._key)}\n")
        self.configure()

    def configure(self, *lines: str) -> None:
        """Write the client configuration anew; earlier lines win."""
        names = [
            *lines, "HostName 127.0.0.1", f"Port {self.port}", f"User {USER}", "IdentityFile none",
            "IdentityAgent none", f"UserKnownHostsFile {self.known_hosts}", "GlobalKnownHostsFile none",
        ]  # fmt: skip
        Path(self.config_file).write_text("\n  ".join([f"Host {self.host}", *names]) + "\n")

    def cut(self) -> None:
        """End every connection at once."""
        for connection in self.connections:
            connection.abort()

    async def close(self) -> None:
        """End it."""
        self.cut()
        if self._acceptor is not None:
            self._acceptor.close()
            await self._acceptor.wait_closed()


class _Logins(asyncssh.SSHServer):
    def __init__(self, server: AskingServer) -> None:
        self._server = server
        self._wanted = server.wanted
        self._round = 0

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._server.connections.append(conn)

    def begin_auth(self, username: str) -> bool:
        return True

    def public_key_auth_supported(self) -> bool:
        return True

    def password_auth_supported(self) -> bool:
        return bool(self._wanted.password)

    def validate_password(self, username: str, password: str) -> bool:
        self._server.tried.append(password)
        return password == self._wanted.password

    def kbdint_auth_supported(self) -> bool:
        return bool(self._wanted.rounds)

    def get_kbdint_challenge(
        self, username: str, lang: str, submethods: str
    ) -> tuple[str, str, str, Prompts] | bool:
        self._round = 0
        self._server.devices.append(submethods)
        return self._challenge()

    def validate_kbdint_response(
        self, username: str, responses: Sequence[str]
    ) -> tuple[str, str, str, Prompts] | bool:
        self._server.tried.append(list(responses))
        if list(responses) != self._wanted.rounds[self._round][3]:
            return False
        self._round += 1
        return True if self._round == len(self._wanted.rounds) else self._challenge()

    def _challenge(self) -> tuple[str, str, str, Prompts]:
        name, instructions, prompts, _ = self._wanted.rounds[self._round]
        return name, instructions, "", prompts


async def _run(process: "asyncssh.SSHServerProcess[bytes]") -> None:
    pipe = asyncio.subprocess.PIPE
    child = await asyncio.create_subprocess_shell(
        process.command or "true", stdin=pipe, stdout=pipe, stderr=asyncio.subprocess.DEVNULL
    )
    inward = asyncio.create_task(_pump(process.stdin, child.stdin))
    try:
        await _pump(child.stdout, process.stdout)
        process.exit(await child.wait())
    finally:
        inward.cancel()
        if child.returncode is None:
            child.kill()
            await child.wait()
        await asyncio.gather(inward, return_exceptions=True)


class _Reads(Protocol):
    async def read(self, n: int) -> bytes: ...


class _Writes(Protocol):
    def write(self, data: bytes) -> None: ...

    def write_eof(self) -> None: ...


async def _pump(source: _Reads | None, sink: _Writes | None) -> None:
    assert source is not None
    assert sink is not None
    while data := await source.read(65_536):
        sink.write(data)
    sink.write_eof()


StartAskingServer = Callable[[Wanted], Awaitable[AskingServer]]


@pytest.fixture
async def start_asking_server(
    tmp_path_factory: pytest.TempPathFactory, needs: Callable[[str], str]
) -> AsyncIterator[StartAskingServer]:
    """Return a function that starts a server in the test's own loop."""
    needs("ssh-keygen")
    servers: list[AskingServer] = []

    async def start(wanted: Wanted) -> AskingServer:
        server = AskingServer(tmp_path_factory.mktemp("asking"), wanted)
        servers.append(server)
        await server.start()
        return server

    yield start
    for server in servers:
        await server.close()
