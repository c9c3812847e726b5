"""A recording that begins with the first word of what is watched: a misspelt host leaves none behind."""

from collections import deque
from collections.abc import Callable

from tui.events import AnyEvent, Hello, Probe
from tui.journal.writer import JournalWriter

WAITING_EVENTS = 20_000
"""How many events wait for the first word, some hours of ticks; beyond that the oldest are let go."""
_SILENCE = ("unreachable", "timeout")


def heard(event: AnyEvent) -> bool:
    """Return whether an event is a word of what is watched: the greeting of an agent, an answer of the port.

    A URL watched without an agent greets by itself, in protocol 0; that its port refuses is an answer.
    """
    if isinstance(event, Hello):
        return event.protocol > 0
    return isinstance(event, Probe) and event.outcome not in _SILENCE


class JournalOnceHeard:
    """Begins a recording at the first word of what is watched, with the events before it.

    Until then nothing is written and no older recording makes room, so that a host that was misspelt, or
    never answered, pushes out none. ``append`` raises OSError as a JournalWriter does.
    """

    def __init__(self, begin: Callable[[], JournalWriter]) -> None:
        self._begin = begin
        self._journal: JournalWriter | None = None
        self._waiting: deque[AnyEvent] = deque(maxlen=WAITING_EVENTS)

    def append(self, event: AnyEvent) -> None:
        """Write one event, or let it wait. Raises OSError."""
        if self._journal is not None:
            self._journal.append(event)
            return
        self._waiting.append(event)
        if heard(event):
            self._journal = self._begin()
            while self._waiting:
                self._journal.append(self._waiting.popleft())

    def close(self) -> None:
        """Finish the recording if one was begun; closing twice is allowed."""
        self._waiting.clear()
        if self._journal is not None:
            self._journal.close()
