"""What the tests of the transports share: pipes over SSH that are closed at the end of a test."""

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from ssh_server import SshServer

from tui.transport.pipe import Pipe
from tui.transport.ssh import SshOptions, ssh_opener

OpenOver = Callable[..., Awaitable[Pipe]]


@pytest.fixture
async def open_over() -> AsyncIterator[OpenOver]:
    """Return a function that starts a command on an SshServer; host and options may differ from the usual."""
    pipes: list[Pipe] = []

    async def start(
        server: SshServer, command: list[str], host: str | None = None, options: SshOptions | None = None
    ) -> Pipe:
        options = options or SshOptions(config_file=server.config_file)
        pipe = await ssh_opener(host or server.host, options=options)(command)
        pipes.append(pipe)
        return pipe

    yield start
    for pipe in pipes:
        await pipe.close()


@pytest.fixture
def read_all() -> Callable[[Pipe], Awaitable[bytes]]:
    """Return a function that reads a pipe to its end."""

    async def read(pipe: Pipe) -> bytes:
        parts: list[bytes] = []
        while data := await pipe.read(65536):
            parts.append(data)
        return b"".join(parts)

    return read
