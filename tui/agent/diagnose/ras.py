"""A client of NCCL RAS: a plain TCP connection to this host, text in lines, a few tries.

Every rank listens on the same port and the kernel picks one of them. One that is stopped is connected to and
never answers: after a second another connection is tried, which another rank may get.
"""

from __future__ import annotations

import socket
import time

TYPE_CHECKING = False  # as in the agent's worker.py
if TYPE_CHECKING:
    from collections.abc import Callable

PORT = 28028
ADDRESSES = ("::1", "127.0.0.1")
CONNECT_S = 1.0
LINES = 2
"""So many are said to each other before the question; each has as long as the connection."""
RECONNECTS = 3
STATUS_S = 12.0
"""NCCL answers within 10 s, whichever ranks do not."""
ANSWER_BYTES = 64 * 1024


class NoAnswer(Exception):
    """RAS did not answer; the text says why."""


class Answer:
    """What RAS answered, and how many connections were taken and not answered before."""

    __slots__ = ("silent", "text")

    def __init__(self, text: str, silent: int) -> None:
        self.text = text
        self.silent = silent


def ask(port: int, rest: Callable[[float], None] = lambda _: None) -> Answer:
    """Ask once for the verbose status. Blocks for 25 s at most, ``rest`` is told before each wait.

    Raises NoAnswer.
    """
    silent = 0
    refused: list[str] = []
    addresses = list(ADDRESSES)
    while addresses and silent <= RECONNECTS:
        try:
            rest(CONNECT_S + LINES * CONNECT_S)
            connection = socket.create_connection((addresses[0], port), CONNECT_S)
        except OSError as error:
            refused.append("%s: %s" % (addresses.pop(0), error.strerror or "no answer"))
            continue
        with connection:
            try:
                _greet(connection)
                rest(STATUS_S + CONNECT_S)
                return Answer(_status(connection), silent)
            except socket.timeout:
                silent += 1
            except OSError as error:
                raise NoAnswer("the connection to port %d broke off: %s" % (port, error.strerror)) from None
    if silent:
        sentence = "port %d took %d connections and answered none: a rank that listens there is stopped"
        raise NoAnswer(sentence % (port, silent))
    raise NoAnswer("nothing listens on port %d (%s)" % (port, ", ".join(refused)))


def _greet(connection: socket.socket) -> None:
    """Say which protocol we speak. Raises socket.timeout, OSError, NoAnswer."""
    connection.settimeout(CONNECT_S)
    connection.sendall(b"client protocol 2\n")
    line = _line(connection)
    if not line.upper().startswith("SERVER PROTOCOL"):
        raise NoAnswer("what listens there is not NCCL RAS")
    connection.sendall(b"timeout 5\n")
    _line(connection)


def _line(connection: socket.socket) -> str:
    """Read one short line. Raises socket.timeout, OSError, NoAnswer."""
    line = b""
    end_s = time.monotonic() + CONNECT_S
    while not line.endswith(b"\n") and len(line) < 256:
        left_s = end_s - time.monotonic()
        if left_s <= 0:
            raise socket.timeout
        connection.settimeout(left_s)
        byte = connection.recv(1)
        if not byte:
            raise NoAnswer("what listens there hung up")
        line += byte
    return line.decode("utf-8", "replace")


def _status(connection: socket.socket) -> str:
    """Ask for the status and read to its end, or what came of it in time. Raises NoAnswer, OSError."""
    connection.sendall(b"verbose status\n")
    answer = b""
    end_s = time.monotonic() + STATUS_S
    while len(answer) < ANSWER_BYTES:
        left_s = end_s - time.monotonic()
        if left_s <= 0:
            break
        connection.settimeout(left_s)
        try:
            data = connection.recv(8192)
        except socket.timeout:
            break
        if not data:
            break
        answer += data
    if not answer:
        raise NoAnswer("NCCL RAS took the question and gave no answer")
    return answer[:ANSWER_BYTES].decode("utf-8", "replace")
