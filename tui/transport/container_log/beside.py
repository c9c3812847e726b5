"""A container's log read beside the agent in it: two streams of events that come as one."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass

from tui.events import AnyEvent, Hello, Link, LogSource, Processes
from tui.requests import AnyRequest, FollowRequest
from tui.streams import Pump
from tui.transport.container_log.reader import Container, LogReader
from tui.transport.container_log.telling import Telling
from tui.transport.faults import sentence_of
from tui.transport.translate import HostClock

_QUEUE_EVENTS = 64
# The kernel stamps process starts in units of 10 ms.
_START_SLACK_S = 0.1
SETTLE_S = 0.5
"""So long after the list of processes another server of the container has been taken up, if there is one."""


@dataclass(frozen=True, slots=True)
class _Start:
    """The start of a server whose output goes to its container's runtime."""

    pid: int
    started_s: float | None


class LogBeside:
    """Reads the log of whatever server is followed, where the agent finds no file of it."""

    def __init__(self, container: Container) -> None:
        self._container = container
        self._clock = HostClock()
        self._heard = False
        self._away = False
        self._start: _Start | None = None
        self._reader: LogReader | None = None
        self._news = asyncio.Event()
        self._ending: set[asyncio.Task[None]] = set()

    def send(self, request: AnyRequest) -> None:
        """Take up what is followed from now on."""
        if not isinstance(request, FollowRequest):
            return
        start = None
        if request.pid is not None and request.log_path is None and request.log_to_runtime:
            start = _Start(request.pid, request.started_s)
        if start != self._start:
            self._start = start
            self._let_go()
            self._news.set()

    async def merged(self, events: AsyncIterator[AnyEvent]) -> AsyncGenerator[AnyEvent, None]:
        """Iterate over the agent's events and those of the log, until the agent's end."""
        pump = Pump(_QUEUE_EVENTS)
        pump.add(self._of_agent(events), ends=True)
        pump.add(self._of_log(), ends=True)
        try:
            while (event := await pump.take()) is not None:
                yield event
        finally:
            await pump.close()
            await self.close()

    async def close(self) -> None:
        """End what is running; closing twice is allowed."""
        self._start = None
        self._let_go()
        await asyncio.gather(*self._ending)

    def _let_go(self) -> None:
        reader, self._reader = self._reader, None
        if reader is not None:
            task = asyncio.create_task(reader.close())
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)

    async def _of_agent(self, events: AsyncIterator[AnyEvent]) -> AsyncGenerator[AnyEvent, None]:
        async for event in events:
            if isinstance(event, Hello):
                self._heard = True
                self._news.set()
            if self._heard:
                self._clock.take(event)
            self._take_link(event)
            # That it has found no file is not for people to know where there is another way.
            if not (isinstance(event, LogSource) and event.state == "none" and self._start is not None):
                yield event

    def _take_link(self, event: AnyEvent) -> None:
        """Hold the reader while the agent is away; let it go on once it is known which server is there."""
        if isinstance(event, Link) and event.state != "up":
            self._away = True
            if self._reader is not None:
                self._reader.hold()
        elif isinstance(event, Processes) and self._away:
            self._away = False
            asyncio.get_running_loop().call_later(SETTLE_S, self._go_on)

    def _go_on(self) -> None:
        if self._reader is not None and not self._away:
            self._reader.go_on()

    async def _of_log(self) -> AsyncGenerator[AnyEvent, None]:
        while True:
            await self._news.wait()
            self._news.clear()
            if self._start is None or not self._heard or self._reader is not None:
                continue
            if self._container.wrapper.logs is None:
                yield self._no_log()
                continue
            self._reader = LogReader(self._container, self._from_ns(self._start), self._clock)
            async with aclosing(self._reader.events()) as log:
                async for event in log:
                    yield event

    def _from_ns(self, start: _Start) -> int:
        """Return when the server started, in ns since 1970 on its host."""
        mono_s, wall_s, _ = self._clock.now()
        started_s = mono_s if start.started_s is None else start.started_s
        return int((wall_s - mono_s + started_s - _START_SLACK_S) * 1e9)

    def _no_log(self) -> LogSource:
        name = self._container.wrapper.name.partition("/")[0]
        words = sentence_of("log_of_job", job=name)
        return Telling(f"job {name}", self._clock).source("not_a_file", words)
