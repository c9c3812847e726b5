"""A TCP relay before an sshd, whose connections a test can reset, slow down, or let go silent."""

import asyncio
import socket
import struct
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from ssh_server import SshServer

_RESET = struct.pack("ii", 1, 0)  # SO_LINGER on, 0 s: closing sends a reset
_READ_BYTES = 64 * 1024
_SLOW_READ_BYTES = 4 * 1024
_BURST_S = 0.05  # what a busy machine woke up too late for is caught up with


class Relay:
    """Passes bytes both ways until told otherwise; ``bytes_s`` is the most each way, None: no limit."""

    def __init__(self, target_port: int, bytes_s: float | None = None) -> None:
        self.bytes_s = bytes_s
        self._target_port = target_port
        self._writers: list[asyncio.StreamWriter] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._silent: set[asyncio.StreamWriter] = set()

    def reset(self) -> None:
        """Reset every connection, at both ends."""
        for writer in self._writers:
            if writer.is_closing():
                continue
            raw = writer.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            writer.transport.abort()
        self._writers.clear()

    def hush(self) -> None:
        """Pass nothing more on these connections, and close none: the link is half-open."""
        self._silent.update(self._writers)
        self._writers.clear()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take one connection on."""
        try:
            back_reader, back_writer = await asyncio.open_connection("127.0.0.1", self._target_port)
        except OSError:
            writer.close()
            return
        self._writers += [writer, back_writer]
        for source, sink in ((reader, back_writer), (back_reader, writer)):
            task = asyncio.create_task(self._pass(source, sink))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """End everything."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for writer in (*self._writers, *self._silent):
            writer.transport.abort()

    async def _pass(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        try:
            due_s = time.monotonic()
            while data := await source.read(_READ_BYTES if self.bytes_s is None else _SLOW_READ_BYTES):
                if self.bytes_s is not None:
                    due_s = max(due_s, time.monotonic() - _BURST_S) + len(data) / self.bytes_s
                    await asyncio.sleep(max(0.0, due_s - time.monotonic()))
                if sink in self._silent:
                    return
                sink.write(data)
                await sink.drain()
        except OSError:
            return
        finally:
            if sink not in self._silent:
                sink.close()


@asynccontextmanager
async def relayed(server: SshServer, bytes_s: float | None = None) -> AsyncGenerator[Relay, None]:
    """Put a relay between the client and an sshd, for as long as the block lasts."""
    relay = Relay(server.port, bytes_s)
    listener = await asyncio.start_server(relay.serve, "127.0.0.1")
    port: int = listener.sockets[0].getsockname()[1]
    server.configure(f"Port {port}", "HostKeyAlias lab")
    server.know(name="lab")
    try:
        yield relay
    finally:
        listener.close()
        await relay.close()
