"""Logs of stand-in containers: records that a runtime would have kept, and a reader of the log alone."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from wrapped_host import WrappedHost

from tui.events import AnyEvent, Gap, Hello, Link, Log, LogSource, Processes
from tui.requests import FollowRequest
from tui.transport.container_log.beside import LogBeside
from tui.transport.container_log.reader import Container
from tui.transport.local import local_opener
from tui.transport.pipe import Opener
from tui.transport.wrapper import Kind, wrapper

NAMES: dict[Kind, str] = {"docker": "vllm", "podman": "vllm", "kubectl": "prod/llm-0", "srun": "42/n1"}


def record(text: str, ns: int | None = None, stream: str = "stdout") -> bytes:
    """Return what a runtime keeps of one line, or of a piece of one."""
    told = {"ns": time.time_ns() if ns is None else ns, "stream": stream, "log": text}
    return json.dumps(told).encode() + b"\n"


def keep(path: Path, *records: bytes) -> None:
    """Write records as the runtime does: at the end, whole."""
    with path.open("ab") as file:
        file.write(b"".join(records))


class LogWatch:
    """What came of one container's log; the agent beside is a list of events that a test adds to."""

    def __init__(self, beside: LogBeside) -> None:
        self.beside = beside
        self.events: list[AnyEvent] = []
        self._agent: asyncio.Queue[AnyEvent] = asyncio.Queue()
        self._news = asyncio.Event()

    def agent_says(self, event: AnyEvent) -> None:
        """Let the agent beside tell something."""
        self._agent.put_nowait(event)

    def is_away(self) -> None:
        """Let the agent's link be lost."""
        now_s = time.monotonic()
        self.agent_says(
            Link(mono_s=now_s, wall_s=time.time(), client_s=now_s, state="lost", sentence="the link is lost")
        )

    def is_back(self) -> None:
        """Let the agent report again, and tell of the processes."""
        now_s = time.monotonic()
        self.hello()
        self.agent_says(Processes(mono_s=now_s, wall_s=time.time(), client_s=now_s, processes=[]))

    def hello(self) -> None:
        """Let the agent report, on this machine's clocks."""
        now_s = time.monotonic()
        self.agent_says(
            Hello(
                mono_s=now_s, wall_s=time.time(), client_s=now_s, protocol=1, host="h", user="u", uid=0,
                pid=1, boot_id="b", python="3", kernel="k", cpu_count=1, memory_total_mib=None,
            )
        )  # fmt: skip

    @property
    def lines(self) -> list[str]:
        """All lines, in order."""
        return [line for event in self.events if isinstance(event, Log) for line in event.lines]

    @property
    def tail(self) -> str:
        """The unfinished line."""
        tails = [event.tail for event in self.events if isinstance(event, Log)]
        return tails[-1] if tails else ""

    @property
    def gaps(self) -> list[Gap]:
        """All gaps."""
        return [event for event in self.events if isinstance(event, Gap)]

    @property
    def sources(self) -> list[tuple[str, str]]:
        """All that was said of where the log comes from."""
        return [(event.state, event.sentence) for event in self.events if isinstance(event, LogSource)]

    async def until(self, true: Callable[[], object], timeout_s: float = 20.0) -> None:
        """Wait until something is so after an event; fails with TimeoutError."""
        async with asyncio.timeout(timeout_s):
            while not true():
                self._news.clear()
                await self._news.wait()

    async def run(self) -> None:
        """Take events in to the end."""
        async for event in self.beside.merged(self._told()):
            self.events.append(event)
            self._news.set()

    async def _told(self) -> AsyncGenerator[AnyEvent, None]:
        while True:
            yield await self._agent.get()


@asynccontextmanager
async def log_watch(
    kind: Kind, *, opener: Opener | None = None, host: str | None = None, age_s: float = 60.0
) -> AsyncGenerator[LogWatch, None]:
    """Read the log of a container whose server started so long ago, until the block ends."""
    container = Container(wrapper(kind, NAMES[kind]), opener or local_opener(), host)
    watch = LogWatch(LogBeside(container))
    watch.hello()
    watch.beside.send(FollowRequest(pid=1, started_s=time.monotonic() - age_s, log_to_runtime=True))
    task = asyncio.create_task(watch.run())
    try:
        yield watch
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert task.cancelled() or task.exception() is None, task.exception()


def rotate(host: WrappedHost) -> None:
    """Rotate the runtime's file as it does: the newest one is begun anew."""
    host.log.rename(host.log.with_name(f"{host.log.name}.1"))
    host.log.touch()
