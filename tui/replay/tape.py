"""A tape: a recording, an import or a scenario, ready to be run through a state any number of times."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tui.events import AnyEvent
from tui.watch.options import WatchOptions


@dataclass(frozen=True, slots=True)
class Tape:
    """Events that are there already, and what was asked of the watch that they come from.

    ``read`` begins at the first event each time it is called; ``client_s`` of the events is the tape's clock
    and never runs back by more than the order of arrival does. ``origin_s`` is what t counts from on that
    clock, None for the first event. ``outline`` gives what is looked through for places to jump to, where
    ``read`` goes on without end. ``caption`` names what is played, in a few words.
    """

    name: str
    options: WatchOptions
    read: Callable[[], Iterator[AnyEvent]]
    origin_s: float | None = None
    outline: Callable[[], Iterator[AnyEvent]] | None = None
    caption: str = "REPLAY"
