"""The least that a client on uvloop can do: stamp and keep what arrives, and look into it when all is over.

    python uvloop_client.py URL STREAMS REQUESTS TOKENS WORDS

What it takes of a core is what the kernel, the event loop and one call of Python a read take on this machine:
the floor for any client on uvloop. It keeps all that ever came and knows of no failure.
"""

import asyncio
import gc
import json
import sys
import time
from collections.abc import Iterator
from typing import cast

import uvloop
from figures import Timed, chat, figures

END = b"0\r\n\r\n"


class Stream(asyncio.Protocol):
    """A connection that sends one request after the other."""

    def __init__(self, request: bytes, left: Iterator[int]) -> None:
        self._request = request
        self._left = left
        self._transport: asyncio.Transport | None = None
        self._reads: list[tuple[float, bytes]] = []
        self.answers: list[tuple[float, list[tuple[float, bytes]]]] = []
        self.over = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is none by name
        self._ask()

    def data_received(self, data: bytes) -> None:
        self._reads.append((time.perf_counter(), data))
        if data.endswith(END):
            self._ask()

    def _ask(self) -> None:
        if next(self._left, None) is None:
            self.over.set_result(None)
            return
        assert self._transport is not None
        self._reads = []
        self.answers.append((time.perf_counter(), self._reads))
        self._transport.write(self._request)


def read(sent_s: float, reads: list[tuple[float, bytes]]) -> Timed:
    """Look into one answer."""
    timed = Timed(sent_s, ended_s=reads[-1][0])
    for now_s, data in reads:
        for line in data.split(b"\n"):
            if line.startswith(b"data: {"):
                timed.add(now_s, json.loads(line[6:]))
    return timed


async def main(url: str, streams: int, requests: int, tokens: int, words: int) -> None:
    """Run all of it."""
    body = json.dumps(chat(tokens, words)).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: mock\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    host, _, port = url.removeprefix("http://").partition(":")
    left, loop = iter(range(requests)), asyncio.get_running_loop()
    gc.disable()
    opened = [
        await loop.create_connection(lambda: Stream(head + body, left), host, int(port))
        for _ in range(streams)
    ]
    for _, stream in opened:
        await stream.over
    timed = [read(*answer) for _, stream in opened for answer in stream.answers]
    sys.stdout.write(json.dumps(figures(timed)) + "\n")


if __name__ == "__main__":
    uvloop.install()
    asyncio.run(main(sys.argv[1], *map(int, sys.argv[2:])))
