"""Several hosts that are one sshd under several names, some of them behind a port of their own."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from ssh_relay import Relay
from ssh_server import SshServer


def name_hosts(
    server: SshServer, names: Sequence[str], lines: Mapping[str, Sequence[str]] | None = None
) -> None:
    """Write a client configuration that knows the server by these names; ``lines`` are further ones."""
    server.know(name="lab")
    parts: list[str] = []
    for name in names:
        server.configure(*(lines or {}).get(name, ()), "HostKeyAlias lab", alias=name)
        parts.append(Path(server.config_file).read_text())
    Path(server.config_file).write_text("".join(parts))


class LateRelay(Relay):
    """Passes each byte so many seconds later, as a long line does."""

    def __init__(self, target_port: int, delay_s: float) -> None:
        super().__init__(target_port)
        self._delay_s = delay_s

    async def _pass(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        later = asyncio.get_running_loop().call_later
        try:
            while data := await source.read(65536):
                later(self._delay_s, sink.write, data)
        except OSError:
            return
        finally:
            later(self._delay_s, sink.close)


@asynccontextmanager
async def delayed(server: SshServer, delay_s: float) -> AsyncGenerator[int]:
    """Give the port of a relay before the server that passes each byte so much later, both ways."""
    relay = LateRelay(server.port, delay_s)
    listener = await asyncio.start_server(relay.serve, "127.0.0.1")
    try:
        yield int(listener.sockets[0].getsockname()[1])
    finally:
        listener.close()
        await relay.close()


@asynccontextmanager
async def never_answering() -> AsyncGenerator[int]:
    """Give a port that takes connections and never says a word."""
    held: list[asyncio.StreamWriter] = []
    listener = await asyncio.start_server(lambda _, writer: held.append(writer), "127.0.0.1")
    try:
        yield int(listener.sockets[0].getsockname()[1])
    finally:
        listener.close()
        for writer in held:
            writer.transport.abort()
