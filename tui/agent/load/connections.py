"""HTTP for the load generator: raw asyncio connections that stamp what arrives and parse nothing of it.

Library clients add milliseconds and saturate a core at a few thousand tokens a second; a bare protocol does
not. A read is stamped with the moment at which the selector reported it: the earliest moment at which the
process could know, and the same however long the other streams of that round take. With uvloop, whose
selector is out of reach, it is stamped when it is handed over.
"""

from __future__ import annotations

import asyncio
import errno
import selectors
import socket
import ssl
import time
from typing import TYPE_CHECKING, cast

from tui.agent.http import address as http_address
from tui.agent.http.response import BODY_LIMIT_BYTES, TOO_LARGE, FramingError, Response

if TYPE_CHECKING:
    from typing import Any, Union

    from tui.agent.load.fast import ReadingClock

    Clock = Union["StampingSelector", ReadingClock]

CONNECT_TIMEOUT_S = 10.0
READ_BYTES = 64 * 1024
# After "data: [DONE]" nothing of interest follows; servers that forget to end the body are not waited for.
DONE_GRACE_S = 1.0
# A kept connection that ends within this time of a request, unanswered, had been closed before it.
STALE_S = 0.25
# The end of the usual event in a chunk of its own; "data: [DONE]" ends otherwise.
_USUAL_END = b"}\n\n\r\n"
_MOST_SIZE_LINES = 4096


class BadUrl(ValueError):
    """The URL cannot be asked; the text says why."""


class StampingSelector(selectors.DefaultSelector):
    """A selector that remembers when it last returned (``now_s``, monotonic)."""

    now_s = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Wait as the selector does, and stamp the return."""
        ready = super().select(timeout)
        self.now_s = time.monotonic()
        return ready


class Exchange:
    """One request and what came back: the raw material of a record. All moments are monotonic seconds.

    ``reads`` holds (moment, bytes of the body), ``size`` is how many bytes those are. ``fault`` is "" when
    the response arrived whole, else one of refused, reset, cut, timeout, tls, dns, unreachable, not_http,
    client_limit (of descriptors, here);
    ``detail`` says it in words.
    """

    __slots__ = ("detail", "ended_s", "fault", "headers", "reads", "sent_s", "size", "status")

    def __init__(self, fault: str = "", detail: str = "") -> None:
        self.sent_s = self.ended_s = time.monotonic()
        self.reads: list[tuple[float, bytes]] = []
        self.size = 0
        self.status = 0
        self.headers: dict[str, str] = {}
        self.fault = fault
        self.detail = detail

    @property
    def body(self) -> bytes:
        """The whole body."""
        return b"".join(data for _, data in self.reads)

    @property
    def went_wrong(self) -> bool:
        """True when it failed before its body need be read."""
        return bool(self.fault) or self.status != 200


class Connection(asyncio.BaseProtocol):
    """A connection that carries one request after the other.

    ``size_lines`` are those of chunks seen on any connection to this server, by the length of the whole
    chunk: with it the usual read, one event in one chunk, is taken apart in a microsecond.
    """

    def __init__(self, clock: Clock, size_lines: dict[int, bytes]) -> None:
        self._clock = clock
        self._size_lines = size_lines
        self._transport: asyncio.Transport | None = None
        self._response = Response()
        self._between_chunks = False
        self._waiter: asyncio.Future[Exchange] | None = None
        self._exchange = Exchange()
        self._timer: asyncio.TimerHandle | None = None
        self.carried = 0

    @property
    def usable(self) -> bool:
        """True while another request can be sent on it."""
        return self._transport is not None and not self._transport.is_closing()

    async def request(self, data: bytes, timeout_s: float) -> Exchange:
        """Send a request and return once its response is whole, or has failed. Never raises for a failure."""
        loop = asyncio.get_running_loop()
        if self._transport is None:
            return Exchange("reset", "closed before the request")
        self._response, self._waiter = Response(), loop.create_future()
        self._timer = loop.call_later(timeout_s, self._end, "timeout", "no end within %g s" % timeout_s)
        self._exchange = Exchange()
        self._transport.write(data)
        self.carried += 1
        try:
            return await self._waiter
        finally:
            self._timer.cancel()
            self._waiter = None
            self._between_chunks = False

    @property
    def reads(self) -> int:
        """How many reads the request in flight has seen (0 without one)."""
        return len(self._exchange.reads) if self._waiter is not None else 0

    @property
    def size(self) -> int:
        """How many bytes of a body the request in flight has brought (0 without one)."""
        return self._exchange.size if self._waiter is not None else 0

    def so_far(self) -> Exchange | None:
        """Return what the request in flight has seen, as if it ended now (None without one)."""
        if self._waiter is None:
            return None
        self._exchange.ended_s = time.monotonic()
        return self._exchange

    def close(self) -> None:
        """Let go of the connection at once."""
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is none by name

    def take(self, now_s: float, data: bytes) -> None:
        """Keep what arrived at that moment; notice the end of the response."""
        line = self._size_lines.get(len(data))
        if line and self._between_chunks and data.startswith(line) and data.endswith(_USUAL_END):
            exchange, body = self._exchange, data[len(line) : -2]
            exchange.reads.append((now_s, body))
            exchange.size += len(body)
            if exchange.size > BODY_LIMIT_BYTES:
                self._end("not_http", TOO_LARGE)
        elif self._waiter is None:  # nobody asked: whatever this is, the connection cannot be trusted
            self.close()
        else:
            self._take_apart(now_s, data)

    def _take_apart(self, now_s: float, data: bytes) -> None:
        response, exchange = self._response, self._exchange
        try:
            body = response.feed(data)
        except FramingError as error:
            self._end("not_http", str(error))
            return
        self._between_chunks = response.between_chunks
        if response.lone and len(self._size_lines) < _MOST_SIZE_LINES:
            self._size_lines[len(data)] = response.lone
        if body:
            exchange.reads.append((now_s, body))
            exchange.size += len(body)
        if response.done:
            self._end("", "")
        elif body[-24:].rstrip().endswith(b"[DONE]"):
            self._hurry()

    def connection_lost(self, exc: Exception | None) -> None:
        """End the exchange in flight, if there is one, by what it had received."""
        self._transport = None
        if self._waiter is None:
            return
        if exc is not None:
            self._end("reset", getattr(exc, "strerror", None) or str(exc))
        elif self._response.until_close:
            self._end("", "")
        elif self._response.status:
            self._end("cut", "closed in the middle")
        else:
            self._end("reset", "closed without an answer")

    def _hurry(self) -> None:
        assert self._timer is not None
        self._timer.cancel()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(DONE_GRACE_S, self._end, "cut", "no end of the body after [DONE]")

    def _end(self, fault: str, detail: str) -> None:
        exchange, waiter = self._exchange, self._waiter
        if waiter is None or waiter.done():
            return
        exchange.fault, exchange.detail = fault, detail
        exchange.status, exchange.headers = self._response.status, self._response.headers
        exchange.ended_s = max(self._clock.now_s, exchange.sent_s)
        if fault or not self._response.reusable:
            self.close()
        waiter.set_result(exchange)


class WholeConnection(Connection, asyncio.Protocol):
    """One for uvloop, which hands over fresh bytes at no cost."""

    def data_received(self, data: bytes) -> None:
        """Stamp and keep what arrived."""
        self.take(time.monotonic(), data)


class BufferedConnection(Connection, asyncio.BufferedProtocol):
    """One for asyncio, which would allocate 256 KiB for each read, and that alone costs 20 µs.

    It reads into a buffer that all connections share.
    """

    def __init__(self, clock: Clock, size_lines: dict[int, bytes], buffer: memoryview) -> None:
        super().__init__(clock, size_lines)
        self._buffer = buffer

    def get_buffer(self, sizehint: int) -> memoryview:
        """Return where to read to."""
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Stamp and keep what arrived."""
        self.take(self._clock.now_s, bytes(self._buffer[:nbytes]))


class Endpoint:
    """Where the server is: its URL taken apart, how to reach it, and the address that answered."""

    def __init__(self, url: str, *, insecure: bool, ca_file: str | None, clock: Clock) -> None:
        address = http_address.parse(url)
        if address is None:
            raise BadUrl("%r is not a URL of the form http://host:port" % url)
        self._address = address
        self._clock = clock
        self._size_lines: dict[int, bytes] = {}
        self._buffer = memoryview(bytearray(READ_BYTES))
        self._tls = _context(insecure, ca_file) if address.tls else None
        self._addresses: list[str] = []

    def head(self, method: str, path: str, api_key: str | None) -> bytes:
        """Return the head of a request up to, not including, its length and the empty line."""
        lines = ["%s %s%s HTTP/1.1" % (method, self._address.prefix, path)]
        lines.append("Host: " + self._address.authority)
        lines += ["User-Agent: tminus", "Accept-Encoding: identity"]
        if api_key:
            lines.append("Authorization: Bearer " + api_key)
        return ("\r\n".join(lines) + "\r\n").encode("utf-8")

    async def connect(self) -> Connection | Exchange:
        """Open a connection, or return the exchange that says why there is none."""
        try:
            return await asyncio.wait_for(self._connect(), CONNECT_TIMEOUT_S)
        except asyncio.TimeoutError:
            return Exchange("timeout", "no connection within %g s" % CONNECT_TIMEOUT_S)
        except (OSError, ValueError) as error:  # UnicodeError (a host name that cannot be) is a ValueError
            return Exchange(*fault_of(error))

    async def _connect(self) -> Connection:
        if not self._addresses:
            loop = asyncio.get_running_loop()
            found = await loop.getaddrinfo(self._address.host, self._address.port, type=socket.SOCK_STREAM)
            self._addresses = [str(info[4][0]) for info in found]
        first: OSError | None = None
        for address in list(self._addresses):
            try:
                connection = await self._open(address)
            except OSError as error:
                first = first or error
            else:
                self._addresses = [address]
                return connection
        assert first is not None
        raise first

    async def _open(self, address: str) -> Connection:
        loop = asyncio.get_running_loop()
        options: dict[str, Any] = (
            {"ssl": self._tls, "server_hostname": self._address.host} if self._tls else {}
        )
        _, connection = await loop.create_connection(self._protocol, address, self._address.port, **options)
        return connection

    def _protocol(self) -> Connection:
        if isinstance(self._clock, StampingSelector):
            return BufferedConnection(self._clock, self._size_lines, self._buffer)
        return WholeConnection(self._clock, self._size_lines)


def _context(insecure: bool, ca_file: str | None) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=ca_file)
    except (OSError, ssl.SSLError) as error:
        raise BadUrl("the CA file %r cannot be read: %s" % (ca_file, error)) from None
    if insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def fault_of(error: Exception) -> tuple[str, str]:
    """Return the class and the words of a connection that could not be made."""
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
        return "client_limit", str(error)
    kinds: list[tuple[type[Exception], str]] = [
        (ConnectionRefusedError, "refused"),
        (ssl.SSLError, "tls"),
        (socket.gaierror, "dns"),
        (ConnectionError, "reset"),
        (TimeoutError, "timeout"),
    ]
    for kind, fault in kinds:
        if isinstance(error, kind):
            return fault, str(error)
    return ("dns" if isinstance(error, ValueError) else "unreachable"), str(error)
