"""One load of one server: everything that begins anew when the server does."""

from dataclasses import dataclass
from typing import Literal

from tui.engines.base import Phase
from tui.watch.target import Server

Fault = Literal["died", "shut_down", "refused"]


@dataclass(frozen=True, slots=True)
class End:
    """How a load ended. Times are on the host's monotonic clock.

    ``phase`` is where it stood (ready if it failed while serving), ``fault`` the class (died, shut_down,
    refused: a URL that refuses connections for 10 s after it had answered), ``reason`` one sentence.
    ``quote`` is the log line that supports it, with its number. ``lasted_s`` counts from the server's start.
    """

    phase: Phase | None
    fault: Fault
    reason: str
    at_s: float
    lasted_s: float | None
    was_ready: bool
    server: Server | None
    quote: tuple[int, str] | None = None
