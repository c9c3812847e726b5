"""A benchmark client on httpx, written the plain way: one client, a task a stream, aiter_lines, json.

    python httpx_client.py URL STREAMS REQUESTS TOKENS WORDS

Prints its figures as one line of JSON. Each stream sends its next request when its last one has ended.
"""

import asyncio
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
from figures import Timed, chat, figures


@dataclass
class Run:
    """The requests still to send, and those that have ended."""

    url: str
    body: dict[str, Any]
    left: Iterator[int]
    timed: list[Timed] = field(default_factory=list[Timed])


async def ask(client: httpx.AsyncClient, run: Run) -> Timed:
    """Send one request and stamp each line with text."""
    timed = Timed(time.perf_counter())
    async with client.stream("POST", run.url + "/v1/chat/completions", json=run.body) as answer:
        answer.raise_for_status()
        async for line in answer.aiter_lines():
            if line.startswith("data: {"):
                timed.add(time.perf_counter(), json.loads(line[6:]))
    timed.ended_s = time.perf_counter()
    return timed


async def stream(client: httpx.AsyncClient, run: Run) -> None:
    """Send one request after the other."""
    for _ in run.left:
        run.timed.append(await ask(client, run))


async def main(url: str, streams: int, requests: int, tokens: int, words: int) -> None:
    """Run all of it."""
    run = Run(url, chat(tokens, words), iter(range(requests)))
    # The pool holds back the 101st connection unless it is told not to.
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    async with httpx.AsyncClient(limits=limits, timeout=None) as client:
        await asyncio.gather(*(stream(client, run) for _ in range(streams)))
    sys.stdout.write(json.dumps(figures(run.timed)) + "\n")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], *map(int, sys.argv[2:])))
