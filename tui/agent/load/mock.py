"""A server that keeps a schedule, for the self-test: what the load generator claims is held against it.

The first token goes out FIRST_S after a request arrived, then one each TOKEN_S, whatever the client does; the
text of a token is the moment it was sent, in microseconds. GET /metrics tells what was really done.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import re
import selectors
import socket
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from typing import Any, NoReturn

FIRST_S = 0.02
TOKEN_S = 0.005
MODEL = "mock"
STAMP = b"@STAMP@"
_BACKLOG = 512
DONE = b"data: [DONE]\n\n"
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_HEAD = b"HTTP/1.1 %s\r\nContent-Type: %s\r\n%s\r\n\r\n"


def event(delta: dict[str, object], finish: str | None = None, **more: object) -> bytes:
    """Return a chunk of a chat completion as a server-sent event."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    chunk = dict({"object": "chat.completion.chunk", "model": MODEL, "choices": [choice]}, **more)
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def usage(prompt: int, output: int) -> bytes:
    """Return the chunk that counts tokens."""
    counts = {"prompt_tokens": prompt, "completion_tokens": output}
    return b"data: " + json.dumps({"model": MODEL, "choices": [], "usage": counts}).encode() + b"\n\n"


TOKEN = event({"content": STAMP.decode()})
ROLE = event({"role": "assistant", "content": ""})


class Mock:
    """What is served. ``totals`` are requests, seconds of TTFT and of TPOT, tokens: of ended answers."""

    def __init__(self, first_s: float = FIRST_S, token_s: float = TOKEN_S) -> None:
        self.first_s = first_s
        self.token_s = token_s
        self.running = 0
        self.totals = {"requests": 0.0, "ttft_seconds": 0.0, "tpot_seconds": 0.0, "tokens": 0.0}

    def pieces(self, prompt: int, tokens: int) -> Iterator[tuple[float, bytes | None]]:
        """Give what an answer consists of, each piece with when it is due; None closes the connection."""
        for number in range(tokens):
            data = TOKEN if number else ROLE + TOKEN
            if number == tokens - 1:
                data += event({}, "length") + usage(prompt, tokens) + DONE
            yield self.first_s + number * self.token_s, data

    def page(self, path: bytes) -> tuple[bytes, bytes]:
        """Return status and body of anything but a completion."""
        if path == b"/metrics":
            lines = ["mock:running %d" % self.running]
            lines += ["mock:%s_total %.9f" % one for one in self.totals.items()]
            return b"200 OK", ("\n".join(lines) + "\n").encode()
        if path == b"/v1/models":
            return b"200 OK", json.dumps({"object": "list", "data": [{"id": MODEL}]}).encode()
        return b"404 Not Found", b"{}"

    def count(self, arrived_s: float, first_s: float, last_s: float, tokens: int) -> None:
        """Count an answer that has ended."""
        self.totals["requests"] += 1
        self.totals["ttft_seconds"] += first_s - arrived_s
        self.totals["tpot_seconds"] += (last_s - first_s) / max(1, tokens - 1)
        self.totals["tokens"] += tokens


class Line(asyncio.Protocol):
    """One connection: a request, its answer, the next request."""

    def __init__(self, mock: Mock) -> None:
        self._mock = mock
        self._loop = asyncio.get_running_loop()
        self._data = b""
        self._transport: Any = None
        self._timer: asyncio.TimerHandle | None = None
        self._arrived_s = self._first_s = 0.0
        self._tokens = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to listen."""
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop an answer that nobody reads any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._end()

    def data_received(self, data: bytes) -> None:
        """Take a request when it is whole."""
        arrived_s = self._loop.time()
        self._data += data
        head, mark, body = self._data.partition(b"\r\n\r\n")
        found = _LENGTH.search(head)
        length = int(found.group(1)) if found else 0
        if not mark or len(body) < length:
            return
        self._data = body[length:]
        path = head.split(b" ", 2)[1]
        if path.endswith(b"/chat/completions"):
            self._begin(arrived_s, json.loads(body[:length]))
        else:
            status, page = self._mock.page(path)
            self._transport.write(_HEAD % (status, b"text/plain", b"Content-Length: %d" % len(page)) + page)

    def _begin(self, arrived_s: float, asked: dict[str, Any]) -> None:
        self._arrived_s, self._first_s = arrived_s, 0.0
        self._tokens = max(1, int(asked.get("max_tokens") or 16))
        self._mock.running += 1
        self._pieces = self._mock.pieces(len(str(asked.get("messages")).split()), self._tokens)
        self._next()

    def _next(self) -> None:
        piece = next(self._pieces, None)
        if piece is None:
            self._transport.write(b"0\r\n\r\n")
            self._mock.count(self._arrived_s, self._first_s, self._sent_s, self._tokens)
            self._end()
            return
        self._timer = self._loop.call_at(self._arrived_s + piece[0], self._send, piece[1])

    def _send(self, data: bytes | None) -> None:
        if data is None:
            self._end()
            self._transport.close()
            return
        self._sent_s = self._loop.time()
        data = data.replace(STAMP, b"%d" % (self._sent_s * 1e6))
        head = (
            b"" if self._first_s else _HEAD % (b"200 OK", b"text/event-stream", b"Transfer-Encoding: chunked")
        )
        self._first_s = self._first_s or self._sent_s
        self._transport.write(b"%s%x\r\n%s\r\n" % (head, len(data), data))
        self._next()

    def _end(self) -> None:
        self._timer = None
        self._mock.running -= 1


def serve(listening: socket.socket, lifeline: int, mock: Mock) -> None:
    """Serve until the other end of ``lifeline`` is closed."""
    # select() waits to the microsecond; epoll rounds up to a millisecond.
    loop = asyncio.SelectorEventLoop(selectors.SelectSelector())
    asyncio.set_event_loop(loop)
    loop.add_reader(lifeline, loop.stop)
    loop.run_until_complete(loop.create_server(lambda: Line(mock), sock=listening, backlog=_BACKLOG))
    gc.collect()
    gc.disable()
    loop.run_forever()


@contextmanager
def beside(request: dict[str, Any]) -> Generator[None, None, None]:
    """Run the server in a process of its own, which ends with this one, and point a request at it."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen(_BACKLOG)  # before anybody is told of it: the other process may come up later
    request["spec"]["url"] = "http://127.0.0.1:%d" % listening.getsockname()[1]
    theirs, ours = os.pipe()
    pid = os.fork()
    if pid == 0:
        _child(listening, theirs)
    os.close(theirs)
    try:
        yield
    finally:
        listening.close()
        os.close(ours)
        os.waitpid(pid, 0)


def _child(listening: socket.socket, lifeline: int) -> NoReturn:
    """Be the server in a forked process; never returns into the worker's frames."""
    try:
        for entry in os.listdir("/proc/self/fd"):
            if int(entry) > 2 and int(entry) not in (lifeline, listening.fileno()):
                try:
                    os.close(int(entry))
                except OSError:  # the descriptor of the listing itself
                    continue
        serve(listening, lifeline, Mock())
    finally:
        os._exit(0)
