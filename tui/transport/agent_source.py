"""A Source over any byte pipe: the agent on a host, kept alive, taken up again after a lost link."""

import asyncio
import random
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, suppress
from typing import Literal

import msgspec

from tui.events import AnyEvent, Goodbye, Hello, Link, Notice
from tui.requests import AnyRequest, ByeRequest, FollowRequest, PingRequest, WatchRequest
from tui.transport.bootstrap import ON_HOST, TIMEOUT_S, ShellToo, Started, start
from tui.transport.connection import Connection, WireLog
from tui.transport.container_log.beside import LogBeside
from tui.transport.faults import fault as told
from tui.transport.pipe import LinkFault, Opener
from tui.transport.plain_shell.connection import ShellConnection
from tui.transport.translate import HostClock, Translator
from tui.transport.wake import LOOK_S, Wake

BACKOFF_S = (0.5, 1.0, 2.0, 5.0, 10.0)
_JITTER = 0.2
# A link that held this long was a good one: the next try comes soon again.
_STEADY_S = 10.0
_PENDING = 16
# Once the host has been reached, these may come of a network that is away for a while.
_PASSING = frozenset(("dns", "refused", "timeout", "lost"))


class AgentSource:
    """The events of one host. With ``reconnect`` a lost link is retried until it is closed.

    ``python`` is the interpreter on the host (by default python3, or another that is found there).
    ``wire_log`` gets every raw line of the agent, for diagnostics. ``expects_question`` says whether a person
    will be asked something at the first connection; see ``connect_first``. ``place`` says in which container,
    pod or job the agent is, None where it is simply on the host; ``log_beside`` then reads the log that its
    runtime keeps. ``plain_shell``: where there is no fit Python a shell takes the agent's place, and does so
    again after a lost link. With ``stays`` a link that has failed rests until ``try_again``, where the events
    would end without. ``patient``: a host that is away at the first try is tried again as well.
    """

    def __init__(
        self,
        opener: Opener,
        watch: WatchRequest,
        *,
        reconnect: bool,
        python: str | None = None,
        timeout_s: float = TIMEOUT_S,
        wire_log: WireLog | None = None,
        expects_question: Callable[[], Awaitable[bool]] | None = None,
        place: str | None = None,
        stays: bool = False,
        patient: bool = False,
        plain_shell: bool = False,
        log_beside: LogBeside | None = None,
        wake: Wake | None = None,
    ) -> None:
        self._opener = opener
        self._wake = wake or Wake()
        self._plain_shell = plain_shell
        self._in_shell = False
        self._place = place
        self._where = ON_HOST if place is None else f"in {place}"
        self._log_beside = log_beside
        self._watch = watch
        self._reconnect = reconnect
        self._python = python
        self._timeout_s = timeout_s
        self._wire_log = wire_log
        self._follow: FollowRequest | None = None
        self._pending: deque[AnyRequest] = deque(maxlen=_PENDING)
        self._translator = Translator()
        self._clock = HostClock()
        self._closed = asyncio.Event()
        self._stays = stays
        self._patient = patient
        self._wanted = asyncio.Event()
        self.rests = False
        self._expects_question = expects_question
        self._first: Started | LinkFault | None = None
        self._starting: asyncio.Task[Started] | None = None
        self._connection: Connection | ShellConnection | None = None
        self._reached = False
        self._goodbye = ""
        self._notes: deque[str] = deque(maxlen=_PENDING)

    def __aiter__(self) -> AsyncIterator[AnyEvent]:
        """Iterate over the events; once."""
        return self._events() if self._log_beside is None else self._log_beside.merged(self._events())

    async def connect_first(self, *, always: bool) -> LinkFault | None:
        """Make the first connection now, before anybody iterates, where a question is expected on the way.

        Returns why it failed; the events will tell it as well.
        """
        try:
            if not always and not await self._is_asked():
                return None
            self._first = await self._start()
        except LinkFault as fault:
            self._first = fault
            return fault
        return None

    async def _is_asked(self) -> bool:
        return self._expects_question is not None and await self._expects_question()

    def send(self, request: AnyRequest) -> None:
        """Ask for something; what cannot be sent now is sent when the link is up again."""
        if isinstance(request, WatchRequest):
            self._watch = request
        elif isinstance(request, FollowRequest):
            self._follow = request
        if self._log_beside is not None:
            self._log_beside.send(request)
        if self._connection is not None:
            self._connection.send(request)
        elif not isinstance(request, WatchRequest | FollowRequest | PingRequest):
            self._pending.append(request)

    def note(self, sentence: str) -> None:
        """Tell the watcher something about the way to the host, as a notice among the next events."""
        self._notes.append(sentence)

    async def close(self) -> None:
        """Say goodbye and leave nothing behind; closing twice is allowed."""
        self._closed.set()
        self._wanted.set()
        if self._starting is not None:
            self._starting.cancel()
        if self._log_beside is not None:
            await self._log_beside.close()
        first, self._first = self._first, None
        if isinstance(first, Started):
            await first.pipe.close()
        if self._connection is not None:
            self._connection.send(ByeRequest())
            await self._connection.close()

    def try_again(self) -> None:
        """Try once more to connect, where the link rests."""
        self._wanted.set()

    async def _is_wanted_again(self) -> bool:
        """Rest until somebody wants another try; False where nobody can, or when the source is closed."""
        if self.rests and not self._closed.is_set():
            self._wanted.clear()
            await self._wanted.wait()
        wanted, self.rests = self.rests and not self._closed.is_set(), False
        return wanted

    async def _events(self) -> AsyncGenerator[AnyEvent, None]:
        tries = 0
        while not self._closed.is_set():
            yield self._link("connecting", "connecting")
            begun_s = time.monotonic()
            fault: LinkFault | None = None
            try:
                async with aclosing(self._session()) as session:
                    async for event in session:
                        yield event
            except LinkFault as ended:
                fault = self._explained(ended)
            for notice in self._noted():
                yield notice
            if fault is None or self._closed.is_set():
                break
            if not self._tries_again(fault):
                self.rests = self._stays
                yield self._link("failed", fault.sentence, fault=fault.fault)
                if not await self._is_wanted_again():
                    return
                tries = 0
                continue
            woke = self._wake.taken()
            tries = 0 if woke or time.monotonic() - begun_s > _STEADY_S else tries
            delay_s = 0.0 if woke else _delay_s(tries)
            tries += 1
            yield self._link("lost", fault.sentence, fault=fault.fault, retry_in_s=delay_s)
            if await self._pause(delay_s):
                tries = 0
        yield self._link("closed", "closed")

    async def _session(self) -> AsyncGenerator[AnyEvent, None]:
        """Iterate over the events of one connection; raises LinkFault at its end."""
        started = await self._start()
        if started is None:
            return
        self._in_shell = started.in_shell
        kind = ShellConnection if started.in_shell else Connection
        connection = kind(started, self._timeout_s, self._wake, self._wire_log, self._where)
        self._connection = connection
        self._ask_again(connection)
        try:
            async with aclosing(connection.lines()) as lines:
                async for line, client_s in lines:
                    for event in self._translated(line, client_s, started.banner):
                        yield event
        finally:
            self._connection = None
            await connection.close()

    async def _start(self) -> Started | None:
        """Return the started agent, None when the source was closed meanwhile. Raises LinkFault."""
        first, self._first = self._first, None
        if isinstance(first, LinkFault):
            raise first
        if first is not None:
            return first
        shell = ShellToo(self._watch.ping_timeout_s, alone=self._in_shell) if self._plain_shell else None
        self._starting = asyncio.create_task(
            start(self._opener, self._python, self._timeout_s, shell, self._where)
        )
        try:
            return await self._starting
        except asyncio.CancelledError:
            if self._closed.is_set():
                return None
            raise
        finally:
            self._starting = None

    def _ask_again(self, connection: Connection | ShellConnection) -> None:
        connection.send(self._watch)
        if self._follow is not None:
            connection.send(self._resumed(self._follow))
        while self._pending:
            connection.send(self._pending.popleft())

    def _resumed(self, follow: FollowRequest) -> FollowRequest:
        position = self._translator.position
        if position is None or position.path != follow.log_path:
            return follow
        return msgspec.structs.replace(follow, resume=position)

    def _translated(self, line: bytes, client_s: float, banner: str) -> list[AnyEvent]:
        event = self._translator.translate(line, client_s)
        if event is None:
            return []
        self._clock.take(event)
        if isinstance(event, Hello):
            self._reached = True
            event = msgspec.structs.replace(event, place=self._place)
            up = self._link("up", f"connected to {self._place or event.host}", banner=banner)
            return [up, *self._noted(), event]
        if isinstance(event, Goodbye):
            self._goodbye = event.sentence
        return [event]

    def _noted(self) -> list[Notice]:
        mono_s, wall_s, client_s = self._clock.now()
        sentences = [self._notes.popleft() for _ in range(len(self._notes))]
        return [
            Notice(
                mono_s=mono_s,
                wall_s=wall_s,
                client_s=client_s,
                level="info",
                about="link",
                sentence=sentence,
            )
            for sentence in sentences
        ]

    def _explained(self, fault: LinkFault) -> LinkFault:
        """Return the fault with the agent's own last word on why it ended."""
        goodbye, self._goodbye = self._goodbye, ""
        if not goodbye or fault.fault not in ("lost", "agent"):
            return fault
        # It ended in order: whatever status a program in between gives (kubectl its own) is not the agent's.
        return told("agent_said_goodbye", why=goodbye)

    def _tries_again(self, fault: LinkFault) -> bool:
        passing = self._reached and fault.fault in _PASSING
        away = self._patient and fault.fault == "dns"
        return self._reconnect and (fault.retry or passing or away)

    async def _pause(self, seconds: float) -> bool:
        """Wait, at most until the source is closed or this machine wakes up; return whether it did."""
        end_s = time.monotonic() + seconds
        self._wake.begin()
        while not self._closed.is_set() and (left_s := end_s - time.monotonic()) > 0:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._closed.wait(), min(left_s, LOOK_S))
            if self._wake.look():
                return self._wake.taken()
        return False

    def _link(
        self,
        state: Literal["connecting", "up", "lost", "failed", "closed"],
        sentence: str,
        *,
        fault: str | None = None,
        retry_in_s: float | None = None,
        banner: str = "",
    ) -> Link:
        mono_s, wall_s, client_s = self._clock.now()
        return Link(
            mono_s=mono_s,
            wall_s=wall_s,
            client_s=client_s,
            state=state,
            sentence=sentence,
            fault=fault,
            retry_in_s=retry_in_s,
            banner=banner,
        )


def _delay_s(tries: int) -> float:
    """Return the pause before the next try, with jitter, so that many clients do not come at once."""
    return BACKOFF_S[min(tries, len(BACKOFF_S) - 1)] * random.uniform(1.0, 1.0 + _JITTER)
