"""One person who is asked about several hosts: one question at a time, each under the name of its host."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Protocol

from tui.transport.asking import Asker, GivenUp

UNANSWERED_S = 5.0
"""A question that stands for so long holds up the hosts that have connected: who asks is told."""
_LOOK_S = 0.2
_NAMED = 3


class TerminalLike(Asker, Protocol):
    """A person at a terminal, on which a question can be put once more."""

    def tell_again(self, line: str, prompt: str) -> None:
        """Say one line while a question is open, and its prompt again; what was typed for it stays typed."""
        ...

    def end_line(self) -> None:
        """End the line of an open prompt, so that what is printed next begins one of its own."""
        ...


class Turns:
    """Who asks for all of the hosts: nothing of one comes between question and answer of another.

    A question that gets no answer (Ctrl-D) ends the login of its host alone. ``connected`` names the hosts
    that wait for it, ``comes_back`` says how a login that was left out can be made up for.
    """

    def __init__(self, asker: TerminalLike, patience_s: float = UNANSWERED_S) -> None:
        self.connected: Callable[[], Sequence[str]] = tuple
        self.comes_back = ""
        self._patience_s = patience_s
        self._queue: list[str] = []
        self._asker = asker
        self._lock = asyncio.Lock()
        self._of: list[HostAsker] = []
        self._named = ""
        self._torn = ""
        self.last_s = time.monotonic()
        """When a question was last put or answered, on the monotonic clock."""

    @property
    def open(self) -> bool:
        """Whether a question is open."""
        return self._lock.locked()

    def end_line(self) -> None:
        """End the line of an open prompt: there will be no answer."""
        self._asker.end_line()

    def asker_of(self, name: str) -> "HostAsker":
        """Return who asks for one host."""
        asker = HostAsker(self, name)
        self._of.append(asker)
        return asker

    async def put(self, asker: "HostAsker", prompt: str, *, echo: bool) -> str | None:
        """Put a question when no other one is open; return what was typed. Raises GivenUp."""
        async with self._turn(asker.name):
            self.last_s = time.monotonic()
            await self._take_rest()
            self._say(asker)
            self._torn = asker.name
            answer = await self._answer(asker.name, prompt, echo=echo)
            self._torn = ""
        self.last_s = time.monotonic()
        self.say_rest()
        if answer is None:
            raise GivenUp
        return answer

    @asynccontextmanager
    async def _turn(self, name: str) -> AsyncGenerator[None]:
        """Wait until no other question is open, and let none come in between."""
        self._queue.append(name)
        try:
            await self._lock.acquire()
        finally:
            self._queue.remove(name)
        try:
            yield
        finally:
            self._lock.release()

    async def _answer(self, name: str, prompt: str, *, echo: bool) -> str | None:
        telling = asyncio.create_task(self._tell_who_waits(name, prompt))
        try:
            return await self._asker.ask(prompt, echo=echo)
        finally:
            telling.cancel()
            await asyncio.wait({telling})

    async def _tell_who_waits(self, name: str, prompt: str) -> None:
        """Say once, when the question has stood for a while, who waits for its answer."""
        await asyncio.sleep(self._patience_s)
        waiting = list(self._waiting())
        while not waiting:
            await asyncio.sleep(_LOOK_S)
            waiting = list(self._waiting())
        left_out = f"Ctrl-D goes on without {name}{self.comes_back}"
        self._asker.tell_again(f"tminus: {', '.join(waiting)}; {left_out}", prompt)

    def _waiting(self) -> Iterator[str]:
        """Say which hosts wait: those that are connected, and those that have a question, too."""
        connected, queue = list(self.connected()), list(dict.fromkeys(self._queue))
        if connected:
            yield f"{_listed(connected)} {'is' if len(connected) == 1 else 'are'} connected"
        if queue:
            yield f"{_listed(queue)} {'has a question' if len(queue) == 1 else 'have questions'} as well"

    async def _take_rest(self) -> None:
        """Take what is still being typed for a question that was taken back, so that no other one gets it."""
        if self._torn:
            told = f"the login to {self._torn} ended before it was answered: press Enter to go on "
            await self._asker.ask(told, echo=False)
            self._torn = ""

    def say_rest(self) -> None:
        """Say what belongs to no question that is still to come, unless one is open."""
        for asker in self._of:
            if asker.finished and asker.lines and not self.open:
                self._say(asker)

    def _say(self, asker: "HostAsker") -> None:
        if self._named != asker.name:
            self._named = asker.name
            self._asker.tell(f"{asker.name}:")
        for line in asker.lines:
            self._asker.tell(line)
        asker.lines.clear()


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


class HostAsker:
    """Asks for one host. Its lines wait for the question that they belong to."""

    later = False

    def __init__(self, turns: Turns, name: str) -> None:
        self.name = name
        self.lines: list[str] = []
        self.finished = False
        self._turns = turns

    def tell(self, line: str) -> None:
        """Say a line before the next question of this host, or when there is none to come."""
        self.lines.append(line)
        if self.finished:
            self._turns.say_rest()

    async def ask(self, prompt: str, *, echo: bool) -> str | None:
        """Return what was typed, without its newline. Raises GivenUp at the end of the input."""
        self.finished = False
        return await self._turns.put(self, prompt, echo=echo)

    def finish(self) -> None:
        """Take note that the login is over: there will be no further question."""
        self.finished = True
        self._turns.say_rest()
