"""The Source protocol: where events come from."""

from collections.abc import AsyncIterator
from typing import Protocol, runtime_checkable

from tui.events import AnyEvent
from tui.requests import AnyRequest

_NO_REST = {
    "up": "the host is connected",
    "connecting": "it is being connected already",
    "lost": "the link is tried again by itself",
}


class Source(Protocol):
    """A stream of events: an agent on a host, a URL, a journal, a recording, the demo.

    Iterate it once. It ends when there is nothing more to come; a lost link is an event (Link), not an end,
    while it is being retried. ``send`` never blocks; ``close`` leaves nothing behind, also when called twice.
    """

    def __aiter__(self) -> AsyncIterator[AnyEvent]:
        """Iterate over the events, in order."""
        ...

    def send(self, request: AnyRequest) -> None:
        """Ask for something; ignored where it cannot be done."""
        ...

    async def close(self) -> None:
        """End the source."""
        ...


@runtime_checkable
class Rests(Protocol):
    """A source whose link, where it is not tried again by itself, waits for a person to want that."""

    @property
    def rests(self) -> bool:
        """Whether it waits now."""
        ...

    def try_again(self) -> None:
        """Let it try once more; void while it does not wait."""
        ...


def rests(source: Source) -> bool:
    """Return whether a source's link has failed and waits for another try."""
    return isinstance(source, Rests) and source.rests


def try_again(source: Source, link: str) -> str:
    """Let a source whose link rests try again; say so, else how its link stands by the state ``link``."""
    if not isinstance(source, Rests) or not source.rests:
        return _NO_REST.get(link, "there is no link to try again")
    source.try_again()
    return "trying to connect again"
