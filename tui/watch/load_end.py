"""How a load ended: where it stood, why, and what supports that."""

from dataclasses import dataclass
from typing import Literal

from tui.engines.phase import Phase
from tui.watch.root_cause import Cause, Quote
from tui.watch.target import Server

Fault = Literal["died", "shut_down", "refused", "log_failure"]


@dataclass(frozen=True, slots=True)
class End:
    """How a load ended. Times are on the host's monotonic clock.

    ``phase`` is where it stood (ready if it failed while serving), ``fault`` the class (died, shut_down,
    refused: a URL that refuses connections for 10 s after it had answered, log_failure: a bare log tells so),
    ``reason`` one sentence.
    ``quote`` is the log line that supports it, ``cause`` the root cause where the log tells one.
    ``lasted_s`` counts from the server's start.
    """

    phase: Phase | None
    fault: Fault
    reason: str
    at_s: float
    lasted_s: float | None
    was_ready: bool
    server: Server | None
    quote: Quote | None = None
    cause: Cause | None = None
