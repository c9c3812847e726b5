"""The connections of all streams, one each."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from tui.agent.load.connections import STALE_S, Connection, Exchange

if TYPE_CHECKING:
    from tui.agent.load.connections import Endpoint

_CONNECTS_AT_ONCE = 32


class Lines:
    """One connection for each stream, opened ahead and opened again when the server closes it.

    ``connect_s`` is how long the first one took to open, with finding the address and TLS.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._connections: dict[int, Connection] = {}
        self.connect_s: float | None = None

    @property
    def reads(self) -> int:
        """How many reads the requests in flight have seen."""
        return sum(connection.reads for connection in self._connections.values())

    @property
    def size(self) -> int:
        """How many bytes of bodies the requests in flight have brought."""
        return sum(connection.size for connection in self._connections.values())

    async def open(self, streams: int) -> Exchange | None:
        """Open those that are not open, or return the exchange that says why one cannot be."""
        for first in range(0, streams, _CONNECTS_AT_ONCE):
            slots = range(first, min(streams, first + _CONNECTS_AT_ONCE))
            for opened in await asyncio.gather(*(self.ready(slot) for slot in slots)):
                if isinstance(opened, Exchange):
                    return opened
        return None

    async def ready(self, slot: int) -> Connection | Exchange:
        """Return the open connection of a stream, or the exchange that says why there is none."""
        connection = self._connections.get(slot)
        if connection is not None and connection.usable:
            return connection
        began_s = time.monotonic()
        opened = await self._endpoint.connect()
        if isinstance(opened, Connection):
            self._connections[slot] = opened
            self.connect_s = self.connect_s or time.monotonic() - began_s
        return opened

    async def ask(self, slot: int, data: bytes, timeout_s: float) -> Exchange:
        """Send a request on a stream's connection; once more when a kept connection proves to be closed."""
        connection = await self.ready(slot)
        if isinstance(connection, Exchange):
            return connection
        kept = connection.carried > 0
        try:
            exchange = await connection.request(data, timeout_s)
        except asyncio.CancelledError:
            connection.close()
            raise
        # The new connection is not a kept one, so this asks again once at most.
        return await self.ask(slot, data, timeout_s) if kept and _stale(exchange) else exchange

    def partial(self, slot: int) -> Exchange | None:
        """Return what a stream's request in flight has seen so far, as if it ended now; None without one."""
        connection = self._connections.get(slot)
        return connection.so_far() if connection is not None else None

    def close(self) -> None:
        """Close all."""
        for connection in self._connections.values():
            connection.close()


def _stale(exchange: Exchange) -> bool:
    quick = exchange.ended_s - exchange.sent_s < STALE_S
    return exchange.fault == "reset" and exchange.status == 0 and not exchange.reads and quick
