"""Watching a host over SSH in a test: an AgentSource run in a task of its own, and what it told."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
from busy_log import Read
from ssh_server import SshServer

from tui.events import AnyEvent, Hello, Link, Log, LogSource
from tui.requests import FollowRequest, WatchRequest
from tui.transport.agent_source import AgentSource
from tui.transport.ssh.limits import Limits
from tui.transport.ssh.opener import SshOptions, ssh_opener

# Short, so that a test of a silent link need not wait for the 20 s and 15 s of a real one.
_LIMITS = Limits(keepalive_s=0.5, keepalive_count=1)
_PING_TIMEOUT_S = 3.0


class Watch:
    """Keeps what a source tells: log lines counted, everything else as it came."""

    def __init__(self, source: AgentSource) -> None:
        self._source = source
        self.events: list[AnyEvent] = []
        self.read = Read()

    async def run(self) -> None:
        """Iterate to the end of the source."""
        async for event in self._source:
            self.read.take(event)
            if not isinstance(event, Log):
                self.events.append(event)

    def links(self) -> list[str]:
        """Return the states of the link, in order."""
        return [event.state for event in self.events if isinstance(event, Link)]

    def last_link(self) -> Link:
        """Return the last word on the link."""
        return [event for event in self.events if isinstance(event, Link)][-1]

    def last_link_up(self) -> Link:
        """Return the last word of a link that came up, with its banner."""
        return [event for event in self.events if isinstance(event, Link) and event.state == "up"][-1]

    def reads_log(self) -> bool:
        """Say whether the agent has opened the log."""
        return any(isinstance(event, LogSource) and event.state == "open" for event in self.events)

    def agents(self) -> list[int]:
        """Return the pids of the agents that said hello."""
        return [event.pid for event in self.events if isinstance(event, Hello)]


@asynccontextmanager
async def watching(
    server: SshServer, log: Path | None = None, *, reconnect: bool = True, **more: Any
) -> AsyncGenerator[Watch, None]:
    """Watch a server over SSH, with its log, until the block ends; ``more`` are further SshOptions."""
    options = SshOptions(config_file=server.config_file, limits=_LIMITS, **more)
    request = WatchRequest(matchers=[], gpus=False, ping_timeout_s=_PING_TIMEOUT_S)
    source = AgentSource(ssh_opener(server.host, options=options), request, reconnect=reconnect)
    if log is not None:
        source.send(FollowRequest(pid=None, log_path=str(log)))
    watch = Watch(source)
    task = asyncio.create_task(watch.run())
    try:
        yield watch
    finally:
        await source.close()
        await task


def ssh_programs() -> list[psutil.Process]:
    """Return the ssh programs that this process has started and that go on."""
    return [child for child in psutil.Process().children() if alive(child) and _name(child) == "ssh"]


def _name(process: psutil.Process) -> str:
    try:
        return process.name()
    except psutil.NoSuchProcess:
        return ""


def family(pid: int) -> list[psutil.Process]:
    """Return a process and all that it has started."""
    first = psutil.Process(pid)
    return [first, *first.children(recursive=True)]


def alive(process: psutil.Process) -> bool:
    """Say whether a process is still there (the same one, not its pid used again; no zombie)."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
