"""The live endpoint of a demo, a process of its own: refuses until it is told that the scenario is ready.

Started as ``python -m tui.demo.serve FD MODEL``. FD is a bound socket; a line on standard input opens it. The
process ends when its standard input does, however that comes about.
"""

import asyncio
import os
import socket
import sys

from tui.demo.server import Endpoint


async def _serve(bound: socket.socket, model: str) -> None:
    endpoint = Endpoint(_nowhere, model=model)
    told = _Input()
    await told.line()
    endpoint.ready = True
    server = await endpoint.open(bound)
    try:
        while await told.line():
            pass
    finally:
        server.close()


class _Input:
    """Standard input, heard without a thread."""

    def __init__(self) -> None:
        self._news: asyncio.Queue[bytes] = asyncio.Queue()
        asyncio.get_running_loop().add_reader(0, lambda: self._news.put_nowait(os.read(0, 4096)))

    async def line(self) -> bytes:
        """Wait for something to be said; nothing means the end, and that ends the process."""
        said = await self._news.get()
        if not said:
            os._exit(0)  # connections that still stream must not keep it
        return said


def _nowhere(_line: str) -> None:
    """Access lines belong into no log: the scenario's own is made beforehand."""


def main(arguments: list[str]) -> None:
    """Serve until standard input ends."""
    descriptor, model = arguments
    asyncio.run(_serve(socket.socket(fileno=int(descriptor)), model))


if __name__ == "__main__":
    main(sys.argv[1:])
