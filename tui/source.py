"""The Source protocol: where events come from."""

from collections.abc import AsyncIterator
from typing import Protocol

from tui.events import AnyEvent
from tui.requests import AnyRequest


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
