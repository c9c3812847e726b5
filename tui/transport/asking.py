"""Questions to a person on the way to a host: who puts them, and what is remembered of the answers.

Nothing here knows a terminal or the SSH library: the commands bring an Asker, the transport has the words.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator, Hashable
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from asyncssh import SSHKey


class GivenUp(Exception):
    """The person wants no further question: the login is to end."""


class Asker(Protocol):
    """A person who can be asked now. The texts are clean lines without newlines."""

    @property
    def later(self) -> bool:
        """Whether it may be asked, too, when the host has been reached before."""
        ...

    async def ask(self, prompt: str, *, echo: bool) -> str | None:
        """Return the line that was typed after ``prompt``, shown or not; None at the end of the input.

        Raises GivenUp. Cancelled when nobody needs the answer any more.
        """
        ...

    def tell(self, line: str) -> None:
        """Say one line beside a question."""
        ...


@dataclass(slots=True)
class Question:
    """One question that several logins may have. ``told``: a person has dealt with it, for all who wait.

    ``outcome`` says what came of it where that was no answer, for the sentences of all who wait.
    """

    told: bool = False
    outcome: str = ""
    over: asyncio.Event = field(default_factory=asyncio.Event)


class SharedQuestions:
    """Lets one login put a question that several have at the same time; the others wait for its outcome."""

    def __init__(self) -> None:
        self._open: dict[Hashable, Question] = {}

    @asynccontextmanager
    async def one(
        self, about: Hashable, waiting: Callable[[], AbstractContextManager[None]]
    ) -> AsyncGenerator[Question]:
        """Give the question to put, or, after a wait within ``waiting``, the one that another login put.

        That one is ``told``. A login that ends before its question is dealt with leaves it to the next one.
        """
        while (theirs := self._open.get(about)) is not None:
            with waiting():
                await theirs.over.wait()
            if theirs.told:
                yield theirs
                return
        ours = self._open[about] = Question()
        try:
            yield ours
        finally:
            del self._open[about]
            ours.over.set()


@dataclass(slots=True, repr=False)
class Answers:
    """What a person answered in this process, for the next connection, to whichever host.

    Held in memory and nowhere else.

    ``host_keys`` are (name in known_hosts, key) that were agreed to; ``texts`` what was typed, by login and
    prompt, and only where the login with it succeeded. ``refused`` are logins whose ``texts`` were forgotten,
    because the host took them no longer. ``in_agent`` are key files that were offered to the ssh-agent
    (AddKeysToAgent), ``shared`` the questions of several logins.
    """

    host_keys: set[tuple[str, bytes]] = field(default_factory=set[tuple[str, bytes]])
    keys: "dict[Path, SSHKey]" = field(default_factory=dict)
    texts: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    refused: set[str] = field(default_factory=set[str])
    in_agent: set[Path] = field(default_factory=set[Path])
    shared: SharedQuestions = field(default_factory=SharedQuestions)

    @property
    def any(self) -> bool:
        """Whether there are any."""
        return bool(self.host_keys or self.keys or self.texts)


class LoginClock:
    """The time that a login may take, which stands still while a person thinks."""

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._running: asyncio.Timeout | None = None

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Raise TimeoutError out of the block when its time is over."""
        try:
            async with asyncio.timeout(self._limit_s) as self._running:
                yield
        finally:
            self._running = None

    def end(self) -> None:
        """Let its time be over now."""
        self._reschedule(asyncio.get_running_loop().time())

    @contextmanager
    def stopped(self) -> Generator[None]:
        """Let no time pass within the block; after it the login has its whole time again."""
        self._reschedule(None)
        try:
            yield
        finally:
            self._reschedule(asyncio.get_running_loop().time() + self._limit_s)

    def _reschedule(self, when: float | None) -> None:
        if self._running is not None and not self._running.expired():
            self._running.reschedule(when)


@runtime_checkable
class AskerUntilLogin(Asker, Protocol):
    """An Asker that is told when the login has succeeded, before anything is started on the host."""

    def logged_in(self) -> None:
        """Take note that this login will ask nothing more."""
        ...
