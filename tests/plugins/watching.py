"""Consuming a source in the background of a test, and a scripted stand-in for an agent."""

import asyncio
import re
import sys
from collections.abc import Callable
from typing import TypeVar

from tui.agent import wire
from tui.events import AnyEvent
from tui.transport.agent_source import AgentSource
from tui.transport.local import local_opener
from tui.transport.pipe import Opener, Pipe

Kind = TypeVar("Kind")

HELLO = {
    "kind": wire.HELLO, "mono_s": 1.0, "wall_s": 2.0, "protocol": 1, "host": "h", "user": "u", "uid": 0,
    "pid": 1, "boot_id": "b", "python": "3.8.0", "kernel": "k", "cpu_count": 1, "memory_total_mib": None,
}  # fmt: skip


class Watching:
    """Keeps every event of a source as it comes."""

    def __init__(self, source: AgentSource) -> None:
        self.source = source
        self.events: list[AnyEvent] = []
        self._news = asyncio.Event()
        self._task = asyncio.create_task(self._take())

    async def find(
        self,
        kind: type[Kind],
        holds: Callable[[Kind], object] = lambda _: True,
        *,
        after: int = 0,
        timeout_s: float = 15,
    ) -> Kind:
        """Return the first event of this class for which that holds, waiting for it."""
        async with asyncio.timeout(timeout_s):
            seen = after
            while True:
                for event in self.events[seen:]:
                    if isinstance(event, kind) and holds(event):
                        return event
                seen = len(self.events)
                assert not self._task.done(), f"the source ended without it: {self.events[-3:]}"
                self._news.clear()
                await self._news.wait()

    async def ended(self, timeout_s: float = 15) -> AnyEvent:
        """Wait for the source's end; return the last event."""
        async with asyncio.timeout(timeout_s):
            await self._task
        return self.events[-1]

    async def close(self) -> None:
        """End the source and see that it ends."""
        await self.source.close()
        await self.ended()

    async def _take(self) -> None:
        try:
            async for event in self.source:
                self.events.append(event)
                self._news.set()
        finally:
            self._news.set()


def scripted(code: str) -> Opener:
    """Return an opener of a stand-in for the agent: it prints the nonce, then runs this code.

    The code may use ``say(MESSAGE)``, ``HELLO``, and the modules json, os, sys, time.
    """
    prelude = (
        "import json, os, sys, time\n"
        f"HELLO = {HELLO!r}\n"
        "def say(message): os.write(1, json.dumps(message).encode() + b'\\n')\n"
        "os.write(1, sys.argv[1].encode() + b'\\n')\n"
    )

    async def opener(command: list[str]) -> Pipe:
        mark = re.search(r'"(TMINUS-)"\+"(\w+)"', command[-1])
        assert mark is not None
        return await local_opener()([sys.executable, "-c", prelude + code, "".join(mark.groups())])

    return opener
