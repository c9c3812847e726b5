"""One connection to an HTTP server, over a bare socket: every failure has its own outcome, every wait an end.

Outcomes are those of ``events.Probe``. All waits go through one function, so that whoever asks can also hear
a new request meanwhile.
"""

from __future__ import annotations

import errno
import os
import select
import socket
import struct

from tui.agent.http.response import FramingError, Response

TYPE_CHECKING = False  # as in worker.py
if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable
    from typing import TypeVar

    from tui.agent.http.address import Address

    # Waits until a descriptor is ready for these poll events; raises TimeoutError at that monotonic moment.
    Wait = Callable[[int, int, float], None]
    T = TypeVar("T")

BODY_LIMIT_BYTES = 1024 * 1024
_READ_BYTES = 64 * 1024
_CLOSE_AT_ONCE = struct.pack("ii", 1, 0)
_TLS_ALERT = b"\x15\x03"


class Fault(Exception):
    """No whole answer: the outcome and why, in words. ``stale`` when not a byte of an answer came."""

    def __init__(self, outcome: str, detail: str, stale: bool = False) -> None:
        super().__init__(detail)
        self.outcome = outcome
        self.detail = detail
        self.stale = stale


class Answer:
    """A whole answer of a server; a body longer than a mebibyte is cut off there."""

    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body


class Connection:
    """An open connection; ``used`` once it has carried an answer."""

    def __init__(self, plain: socket.socket, wait: Wait) -> None:
        self._socket = plain
        self._wait = wait
        self.used = False
        self.open = True

    def fileno(self) -> int:
        """Return the descriptor, readable when the server closes an idle connection."""
        return self._socket.fileno()

    def close(self) -> None:
        """Close it."""
        self.open = False
        self._socket.close()

    def is_stale(self) -> bool:
        """Say whether the server has closed this idle connection (or talks without being asked)."""
        poll = select.poll()
        poll.register(self._socket.fileno(), select.POLLIN)
        return bool(poll.poll(0))

    def encrypt(self, context: ssl.SSLContext, host: str, deadline_s: float) -> None:
        """Speak TLS from here on. Raises Fault."""
        try:
            self._socket = context.wrap_socket(
                self._socket, server_hostname=host, do_handshake_on_connect=False
            )
            self._patiently(self._socket.do_handshake, deadline_s, select.POLLIN)
        except BaseException:
            self.close()
            raise

    def exchange(self, request: bytes, deadline_s: float) -> Answer:
        """Send a request and return the whole answer by that (monotonic) moment. Raises Fault."""
        response, body = Response(), bytearray()
        try:
            self._send(request, deadline_s)
            self._receive(response, body, deadline_s)
        except BaseException:
            self.close()
            raise
        self.used = True
        if not response.reusable:
            self.close()
        return Answer(response.status, response.headers, bytes(body[:BODY_LIMIT_BYTES]))

    def _send(self, request: bytes, deadline_s: float) -> None:
        view = memoryview(request)
        while view:
            view = view[
                self._patiently(lambda data=view: self._socket.send(data), deadline_s, select.POLLOUT) :
            ]

    def _receive(self, response: Response, body: bytearray, deadline_s: float) -> None:
        start = b""
        while not response.done and len(body) < BODY_LIMIT_BYTES:
            stale = not start
            data = self._patiently(lambda: self._socket.recv(_READ_BYTES), deadline_s, select.POLLIN, stale)
            if not data:
                _judge_end(response, start)
                return
            start = start or data[:80]
            try:
                body += response.feed(data)
            except FramingError as error:
                raise Fault("not_http", _other_program(start, str(error))) from None

    def _patiently(self, act: Callable[[], T], deadline_s: float, events: int, stale: bool = True) -> T:
        """Do what a non-blocking socket may put off, as often as it does."""
        while True:
            try:
                return act()
            except BlockingIOError:
                wanted = events
            except OSError as error:
                wanted = _wanted(error)
                if wanted == 0:
                    raise fault_of(error, stale) from None
            try:
                self._wait(self._socket.fileno(), wanted, deadline_s)
            except TimeoutError:
                raise Fault("timeout", "no answer in time") from None


def connect(address: Address, wait: Wait, deadline_s: float) -> Connection:
    """Open a connection to the first of its addresses that takes one. Raises Fault."""
    try:
        places = address.resolved()
    except (OSError, UnicodeError) as error:
        words = getattr(error, "strerror", None) or str(error)
        raise Fault("unreachable", "the host %s is not known here: %s" % (address.host, words)) from None
    fault = Fault("unreachable", "the host %s has no address" % address.host)
    for family, place in places:
        try:
            return Connection(_connected(family, (place, address.port), wait, deadline_s), wait)
        except Fault as one:
            # Of several addresses the one that did not plainly refuse says more.
            fault = one if fault.outcome in ("unreachable", "refused") else fault
    address.forget()
    raise fault


def _connected(family: int, place: tuple[str, int], wait: Wait, deadline_s: float) -> socket.socket:
    plain = socket.socket(family, socket.SOCK_STREAM)
    try:
        plain.setblocking(False)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        code = plain.connect_ex(place)
        if code == errno.EINPROGRESS:
            wait(plain.fileno(), select.POLLOUT, deadline_s)
            code = plain.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if code:
            raise fault_of(OSError(code, os.strerror(code)))
        if plain.getsockname() == plain.getpeername():
            # A free port in the range of outgoing ones can be connected to itself, and would then be taken.
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _CLOSE_AT_ONCE)
            raise Fault("refused", "connection refused")
    except TimeoutError:
        plain.close()
        raise Fault("timeout", "no connection in time") from None
    except BaseException:
        plain.close()
        raise
    return plain


def fault_of(error: OSError, stale: bool = True) -> Fault:
    """Return the outcome of a failed call on a socket, and its words."""
    if type(error).__module__ == "ssl":
        return Fault("tls", _tls_words(error))
    if isinstance(error, ConnectionRefusedError):
        return Fault("refused", "connection refused")
    if isinstance(error, ConnectionError):
        where = "before an answer" if stale else "in the middle of the answer"
        return Fault("reset", "connection reset %s" % where, stale)
    if error.errno == errno.ETIMEDOUT:
        return Fault("timeout", "no connection in time")
    return Fault("unreachable", error.strerror or str(error))


def _wanted(error: OSError) -> int:
    """Return the poll events that a TLS socket waits for, 0 when the error is a real one."""
    return {"SSLWantReadError": select.POLLIN, "SSLWantWriteError": select.POLLOUT}.get(
        type(error).__name__, 0
    )


def _judge_end(response: Response, start: bytes) -> None:
    """Raise the fault of a connection that ended here, unless the end is what ends the body."""
    if response.until_close:
        return
    if not start:
        raise Fault("reset", "connection closed without an answer", stale=True)
    if response.status:
        raise Fault("reset", "connection closed in the middle of the answer")
    raise Fault("not_http", _other_program(start, "closed after it"))


def _other_program(start: bytes, why: str) -> str:
    if start.startswith(_TLS_ALERT):
        return "the port speaks TLS: use https://"
    said = start.split(b"\n")[0].decode("latin-1").strip()
    if said.startswith("HTTP/1."):
        return "no proper HTTP answer: %s" % why
    return "another program's port, not HTTP: it says %r" % said[:60]


def _tls_words(error: OSError) -> str:
    reason = str(getattr(error, "reason", None) or error).replace("_", " ").lower()
    verify = getattr(error, "verify_message", "")
    if verify:
        return "certificate not trusted: %s (--insecure, or the CA file)" % verify
    if "wrong version number" in reason or "record layer failure" in reason:
        return "no TLS on this port: use http://"
    return "TLS: %s" % reason
