"""One person who is asked about several hosts: one question at a time, each under the name of its host."""

import asyncio
import time

from tui.transport.asking import Asker


class Turns:
    """Who asks for all of the hosts: nothing of one comes between question and answer of another."""

    def __init__(self, asker: Asker) -> None:
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

    def asker_of(self, name: str) -> "HostAsker":
        """Return who asks for one host."""
        asker = HostAsker(self, name)
        self._of.append(asker)
        return asker

    async def put(self, asker: "HostAsker", prompt: str, *, echo: bool) -> str | None:
        """Put a question when no other one is open; return what was typed."""
        async with self._lock:
            self.last_s = time.monotonic()
            await self._take_rest()
            self._say(asker)
            self._torn = asker.name
            answer = await self._asker.ask(prompt, echo=echo)
            self._torn = ""
        self.last_s = time.monotonic()
        self.say_rest()
        return answer

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
        """Return what was typed, without its newline; None at the end of the input."""
        self.finished = False
        return await self._turns.put(self, prompt, echo=echo)

    def finish(self) -> None:
        """Take note that the login is over: there will be no further question."""
        self.finished = True
        self._turns.say_rest()
