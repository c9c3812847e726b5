"""A byte pipe to a process on a host: what every transport gives, and how one fails."""

from collections.abc import Awaitable, Callable
from typing import Protocol


class LinkFault(Exception):
    """A host that could not be reached, or a process there that could not be started.

    ``fault`` is the class that exit codes and the screen go by: usage, dns, refused, auth, host_key, timeout,
    no_python, agent, lost. ``retry`` says whether trying again may help without a person. ``for_program``
    says, where the system's own ssh may get further than the SSH library did, what that library lacks.
    """

    def __init__(self, fault: str, sentence: str, *, retry: bool) -> None:
        super().__init__(sentence)
        self.fault = fault
        self.sentence = sentence
        self.retry = retry
        self.for_program = ""


class Pipe(Protocol):
    """The standard streams of one remote process."""

    async def read(self, size: int) -> bytes:
        """Return up to ``size`` bytes of its output, ``b""`` when the process ended it.

        Raises LinkFault (lost, retry) when the link broke instead: what is unread by then comes first.
        """
        ...

    def write(self, data: bytes) -> None:
        """Queue bytes for its input. Silently void once the pipe is closed."""
        ...

    async def drain(self) -> None:
        """Wait until the queue of unwritten input is short. Raises LinkFault when the link is gone."""
        ...

    def errors(self) -> bytes:
        """Return what it wrote to its error stream so far (the last 64 KiB)."""
        ...

    async def close(self) -> int | None:
        """End it: close its input, wait a moment, let go. Return its exit status where that is known."""
        ...


class BesidePipe(Pipe, Protocol):
    """A pipe over a connection on which other commands can be started."""

    async def beside(self, arguments: list[str]) -> Pipe:
        """Start another command on the same host. Raises LinkFault."""
        ...


Opener = Callable[[list[str]], Awaitable[Pipe]]
"""Starts a command, given as argument list, on one host. Raises LinkFault."""
