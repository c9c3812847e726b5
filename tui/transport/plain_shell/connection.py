"""One connection to one shell, in place of an agent: its output becomes the messages of one.

So everything above it (cleaning, clocks, recordings, reconnecting) is the same as with an agent.
"""

import asyncio
import secrets
import time
from collections import deque
from collections.abc import AsyncGenerator, Iterable

import msgspec

from tui.agent import wire
from tui.events import AnyEvent, Pong
from tui.requests import (
    AnyRequest,
    BenchRequest,
    ByeRequest,
    FollowRequest,
    ProbePlan,
    SkipRequest,
    WatchRequest,
)
from tui.transport.bootstrap import ON_HOST, Started, said
from tui.transport.connection import WireLog
from tui.transport.faults import fault, sentence_of
from tui.transport.pipe import LinkFault
from tui.transport.plain_shell.clock import ShellClock, seconds
from tui.transport.plain_shell.frames import Frames, Said
from tui.transport.plain_shell.gpus import SmiGpus
from tui.transport.plain_shell.hello import ShellHello
from tui.transport.plain_shell.log import Message, ShellLog
from tui.transport.plain_shell.prober import Prober
from tui.transport.refused_bench import without_figures
from tui.transport.wake import ANSWER_S, Wake

_READ_BYTES = 64 * 1024
_STEP_S = 0.1


class ShellConnection:
    """A shell that was started in place of an agent, until it ends; used like ``Connection``."""

    def __init__(
        self,
        started: Started,
        timeout_s: float,
        wake: Wake,
        wire_log: WireLog | None = None,
        place: str = ON_HOST,
    ) -> None:
        self._wake = wake
        self._answer_by_s: float | None = None
        self._place = place
        self._pipe = started.pipe
        self._rest = started.rest
        self._timeout_s = timeout_s
        self._wire_log = wire_log
        self._out: deque[bytes] = deque()
        self._clock = ShellClock()
        self._hello = ShellHello()
        self._greeted = False
        self._watch: WatchRequest | None = None
        self._gpus: SmiGpus | None = None
        self._log = ShellLog(self._order, self._tell, self._clock)
        self._plan: ProbePlan | None = None
        self._prober: Prober | None = None
        self._probing: asyncio.Task[None] | None = None
        mark = secrets.token_hex(16)
        self._frames = Frames(mark.encode("ascii"))
        self._order(mark)
        self._pinging = asyncio.create_task(self._ping())

    def send(self, request: AnyRequest) -> None:
        """Do what is asked as far as a shell can; void once the link is gone."""
        match request:
            case WatchRequest():
                self._watch = request
            case FollowRequest():
                self._log.follow(request)
                self._plan = request.probe
                self._ask()
            case SkipRequest():
                self._log.skip()
            case BenchRequest():
                self._tell(without_figures(request, "failed", sentence_of("shell_no_benchmark")))
            case ByeRequest():
                self._order("x")
            case _:
                return  # an agent could; what is missing was said at the beginning

    async def lines(self) -> AsyncGenerator[tuple[bytes, float], None]:
        """Iterate over messages, each with the moment (client_s) it arrived.

        Never ends: raises LinkFault when the shell or the link does, or when the shell says nothing at first.
        """
        data: bytes | None = self._rest or None
        begun_s = time.monotonic()
        while data is None or data:
            self._expect(data)
            for part in self._frames.feed(data or b""):
                self._hear(part)
            self._step(begun_s)
            while self._out:
                yield self._out.popleft(), time.monotonic()
            if self._greeted:
                self._log.step(time.monotonic())
            data = await self._read()
        await self.close()
        raise fault("shell_over", place=self._place, it_said=said(b"", self._pipe.errors()))

    def _expect(self, data: bytes | None) -> None:
        """Raise a fault where the shell does not answer after this machine slept."""
        if data:
            self._answer_by_s = None
        elif self._answer_by_s is not None and time.monotonic() > self._answer_by_s:
            raise fault("slept", place=self._place, seconds=f"{ANSWER_S:g}")

    async def close(self) -> int | None:
        """End the shell and all that it started, and let go of the pipe."""
        tasks = [task for task in (self._pinging, self._probing) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return await self._pipe.close()

    async def _read(self) -> bytes | None:
        """Return what has come, b"" at the end, None when nothing came for a moment.

        With more of the log to tell nothing is waited for: samples that have come are told in between.
        """
        try:
            async with asyncio.timeout(0 if self._log.has_more else _STEP_S):
                return await self._pipe.read(_READ_BYTES)
        except TimeoutError:
            return None

    async def _ping(self) -> None:
        self._wake.begin()
        try:
            while True:
                self._order(f"p {time.monotonic():.6f}")
                await self._pipe.drain()
                await asyncio.sleep(wire.PING_INTERVAL_S)
                if self._wake.look():
                    self._answer_by_s = time.monotonic() + ANSWER_S
        except LinkFault:
            return  # read() tells of it

    def _order(self, command: str) -> None:
        self._pipe.write(command.encode("utf-8", "surrogateescape") + b"\n")

    def _tell(self, message: Message) -> None:
        line = msgspec.json.encode(message)
        if self._wire_log is not None:
            self._wire_log(line)
        self._out.append(line)

    def _tell_all(self, messages: Iterable[AnyEvent]) -> None:
        for message in messages:
            self._tell(message)

    # What is due.

    def _step(self, begun_s: float) -> None:
        now = self._clock.now()
        if not self._greeted:
            if now.client_s - begun_s > self._timeout_s:
                words, seconds = said(b"", self._pipe.errors()), f"{self._timeout_s:g}"
                raise fault("shell_silent", place=self._place, seconds=seconds, it_said=words)
            return
        if self._probing is not None and self._probing.done() and not self._probing.cancelled():
            self._probing.result()  # it never ends by itself: an error of ours is raised here
        if self._gpus is not None:
            self._tell_all(self._gpus.pause(now))
            command = self._gpus.command(now.client_s)
            if command is not None:
                self._order(command)

    def _ask(self) -> None:
        """Begin to ask the server of the newest plan, and no longer the one before."""
        if self._probing is not None:
            self._probing.cancel()
            self._probing = None
        tool = self._hello.tool
        if self._greeted and self._plan is not None and tool is not None:
            self._prober = Prober(self._plan, tool, self._clock, self._order, self._tell)
            self._probing = asyncio.create_task(self._prober.run())

    # What the shell says.

    def _hear(self, part: Said | bytes) -> None:
        if isinstance(part, bytes):
            self._log.data(part)
            return
        words = part.words
        match part.kind:
            case "h":
                if self._hello.hear(words):
                    self._greet()
            case "p":
                self._pong(words)
            case "g" | "x":
                self._hear_gpus(part.kind, words)
            case "o":
                self._log.opened(words)
            case "r":
                self._log.begins()
            case "e":
                self._log.piece_over(words)
            case "w" | "d":
                self._hear_web(part.kind, words)
            case _:
                return  # a line of nobody that happens to begin alike

    def _greet(self) -> None:
        uptime = self._hello.uptime
        self._clock.hear(uptime, time.monotonic())
        self._clock.set_day(self._hello.said("wall"), uptime)
        at = self._clock.now()
        self._greeted = True
        self._tell(self._hello.event(at))
        asks = self._plan is not None and self._hello.tool is None
        self._tell_all(self._hello.notices(at, asks=asks))
        if self._watch is not None and self._watch.gpus:
            self._gpus = SmiGpus(self._watch.interval_s)
            if not self._hello.leads:
                self._tell_all(self._gpus.stop(at, sentence_of("shell_no_group")))
        self._ask()

    def _pong(self, words: str) -> None:
        uptime, _, sent = words.partition(" ")
        self._clock.hear(uptime, time.monotonic())
        at, sent_s = self._clock.at(uptime), seconds(sent)
        if sent_s is not None and self._greeted:
            self._tell(Pong(mono_s=at.mono_s, wall_s=at.wall_s, client_s=at.client_s, sent_s=sent_s))

    def _hear_gpus(self, kind: str, words: str) -> None:
        uptime, _, line = words.partition(" ")
        if self._gpus is None:
            return
        at = self._clock.at(uptime)
        if kind == "g":
            self._tell_all(self._gpus.row(line, at))
        else:
            self._tell_all(self._gpus.ended(int(line) if line.isascii() and line.isdigit() else None, at))

    def _hear_web(self, kind: str, words: str) -> None:
        if self._prober is None:
            return
        if kind == "w":
            self._prober.part(words)
        else:
            self._prober.done(words)
