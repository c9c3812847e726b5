"""Follows the log of one container beside the agent in it: the tool run again and again, its lines told."""

import asyncio
import random
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from tui.events import AnyEvent
from tui.transport.container_log.command import (
    BACKLOG_LINES,
    PING,
    PING_INTERVAL_S,
    log_command,
    rfc3339,
    shown_command,
)
from tui.transport.container_log.refusal import Refusal, of_link, refusal
from tui.transport.container_log.resume import Seen
from tui.transport.container_log.stamped import DOCKER_PIECE_BYTES, Entry, StampedLines
from tui.transport.container_log.telling import Telling
from tui.transport.faults import sentence_of
from tui.transport.pipe import LinkFault, Opener, Pipe
from tui.transport.translate import HostClock
from tui.transport.wrapper import Wrapper

BACKOFF_S = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0)
_JITTER = 0.2
_READ_BYTES = 64 * 1024
# Tools that refuse do so by then, where the daemon or the cluster answers at once.
_QUIET_S = 1.0


@dataclass(frozen=True, slots=True)
class Container:
    """Where the log is: the tool, an Opener where it runs, and which host that is (None: this machine)."""

    wrapper: Wrapper
    opener: Opener
    host: str | None


class LogReader:
    """Reads the log of one start of a server; iterate over ``events`` once.

    A tool that ended is started again, but not between ``hold`` and ``go_on``: while the agent is away nobody
    knows whether the container's next output is this server's.
    """

    def __init__(self, container: Container, from_ns: int, clock: HostClock) -> None:
        self._container = container
        self._command = shown_command(container.wrapper)
        self._telling = Telling(self._command, clock)
        self._seen = Seen(from_ns)
        self._clock = clock
        self._backlog_until_ns: int | None = None
        self._backlog = 0
        self._said = ""
        self._ended = Refusal("", passing=True)
        self._pipe: Pipe | None = None
        self._awake = asyncio.Event()
        self._held = False
        self._closed = False

    def hold(self) -> None:
        """Start nothing more until ``go_on``; what runs goes on, and brings the server's last lines."""
        self._held = True

    def go_on(self) -> None:
        """Try at once: the agent is there again, and with it the server."""
        self._held = False
        self._awake.set()

    async def close(self) -> None:
        """End the tool; the events end. Closing twice is allowed."""
        self._closed = True
        self._awake.set()
        if self._pipe is not None:
            await self._pipe.close()

    async def events(self) -> AsyncGenerator[AnyEvent, None]:
        """Iterate over what the log tells until it is closed."""
        tries = 0
        while not self._closed:
            self._awake.clear()
            came = False
            try:
                async with aclosing(self._run()) as run:
                    async for event in run:
                        came = True
                        yield event
                refused = self._ended
            except LinkFault as fault:
                refused = of_link(fault)
            if self._closed:
                return
            for event in self._refusal_told(refused):
                yield event
            tries = 0 if came else tries
            await self._pause(None if not refused.passing else _delay_s(tries))
            tries += 1

    async def _run(self) -> AsyncGenerator[AnyEvent, None]:
        """Run the tool once; ``_ended`` then says why it ended. Raises LinkFault."""
        container = self._container
        pipe = self._pipe = await container.opener(self._command_now())
        pinging = asyncio.create_task(_ping(pipe))
        lines = StampedLines(DOCKER_PIECE_BYTES if container.wrapper.kind == "docker" else None)
        try:
            data = b"" if self._closed else await _first(pipe)
            if data is None:
                for event in self._open_told():
                    yield event
                data = await pipe.read(_READ_BYTES)
            while data and not self._closed:
                for event in self._taken(lines.feed(data), lines):
                    yield event
                data = await pipe.read(_READ_BYTES)
        finally:
            pinging.cancel()
            self._pipe = None
            status = await pipe.close()
        lines.finish()
        words = lines.words + pipe.errors()
        self._ended = refusal(container.wrapper, container.host, self._command, status, words)

    def _command_now(self) -> list[str]:
        """Return the command that prints what is not known yet, and prepare for what comes again."""
        first = self._seen.newest_ns is None
        if first:
            self._backlog, self._backlog_until_ns = 0, int(self._clock.now()[1] * 1e9)
        self._seen.begin()
        container, since_ns = self._container, self._seen.since_ns
        return log_command(container.wrapper, since_ns, first=first, over_ssh=container.host is not None)

    def _taken(self, entries: list[Entry], lines: StampedLines) -> list[AnyEvent]:
        events: list[AnyEvent] = []
        before_ns = self._seen.newest_ns
        new = [entry for entry in entries if self._seen.is_new(entry)]
        if new or lines.unfinished:
            events += self._open_told()
        if new and self._seen.misses() and before_ns is not None:
            events.append(self._gap(before_ns, new[0].stamp_ns))
        events += self._telling.told(new, lines.unfinished)
        return events + self._backlog_told(entries)

    def _open_told(self) -> list[AnyEvent]:
        """Say where the log comes from: before its first line, and where it had been said not to be read."""
        reading = f"reading the container's log by `{self._command}`"
        if self._said == reading:
            return []
        self._said = reading
        begun: list[AnyEvent] = [] if self._telling.lines else [self._telling.begun()]
        return [self._telling.source("open", reading), *begun]

    def _gap(self, before_ns: int, after_ns: int) -> AnyEvent:
        before, after = rfc3339(before_ns), rfc3339(after_ns)
        words = sentence_of("log_rotated_away", before=before, after=after, command=self._command)
        return self._telling.gap("unknown", words)

    def _backlog_told(self, entries: list[Entry]) -> list[AnyEvent]:
        """Say that older lines are not read, once the lines of before have come to the limit."""
        until_ns = self._backlog_until_ns
        if until_ns is None or not entries:
            return []
        self._backlog += sum(entry.stamp_ns <= until_ns for entry in entries)
        if self._backlog < BACKLOG_LINES and entries[-1].stamp_ns <= until_ns:
            return []
        self._backlog_until_ns = None
        if self._backlog < BACKLOG_LINES:
            return []
        words = sentence_of("log_too_long", lines=BACKLOG_LINES, command=self._command)
        return [self._telling.gap("backlog", words)]

    def _refusal_told(self, refused: Refusal) -> list[AnyEvent]:
        """Say why the log is not read, once; a tool that merely ended is started again."""
        if not refused.sentence or refused.sentence == self._said:
            return []
        self._said = refused.sentence
        source = self._telling.source("unreadable", refused.sentence)
        # Where lines were shown the pane has no place for the sentence.
        return [source, self._telling.warning(refused.sentence)] if self._telling.lines else [source]

    async def _pause(self, seconds: float | None) -> None:
        """Wait so long, or until it is worth trying again."""
        try:
            await asyncio.wait_for(self._awake.wait(), seconds)
        except TimeoutError:
            if self._held:
                await self._awake.wait()


async def _first(pipe: Pipe) -> bytes | None:
    """Return the first output, None where there is none for a while: then the tool has not failed either."""
    try:
        async with asyncio.timeout(_QUIET_S):
            return await pipe.read(_READ_BYTES)
    except TimeoutError:
        return None


async def _ping(pipe: Pipe) -> None:
    """Let the guard on the other side know that somebody is here."""
    try:
        while True:
            pipe.write(PING)
            await pipe.drain()
            await asyncio.sleep(PING_INTERVAL_S)
    except LinkFault:
        return  # read() tells of it


def _delay_s(tries: int) -> float:
    return BACKOFF_S[min(tries, len(BACKOFF_S) - 1)] * random.uniform(1.0, 1.0 + _JITTER)
