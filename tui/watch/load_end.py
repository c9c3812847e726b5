"""How a load ended: where it stood, why, and what supports that."""

from dataclasses import dataclass
from typing import Literal

from tui.engines.phase import Phase
from tui.watch.root_cause import Cause, Quote
from tui.watch.target import Server
from tui.watch.words import clock_text

REFUSED_S = 10.0
"""A URL that had answered and refuses for this long has failed; the issue's figure."""
Fault = Literal["died", "shut_down", "refused", "log_failure"]


@dataclass(frozen=True, slots=True)
class End:
    """How a load ended. Times are on the host's monotonic clock.

    ``phase`` is where it stood (ready if it failed while serving), ``fault`` the class (died, shut_down,
    refused: a URL that refuses connections for 10 s after it had answered, log_failure: a bare log tells so),
    ``reason`` one sentence.
    ``quote`` is the log line that supports it, ``cause`` the root cause where the log tells one.
    ``lasted_s`` counts from the server's start. It ended between ``from_s`` and ``at_s``: two times where the
    link was lost meanwhile.
    """

    phase: Phase | None
    fault: Fault
    reason: str
    at_s: float
    from_s: float
    lasted_s: float | None
    was_ready: bool
    server: Server | None
    quote: Quote | None = None
    cause: Cause | None = None


def reason(
    fault: Fault,
    server: Server | None,
    phase: Phase | None,
    after_s: float | None,
    quote: Quote | None,
    *,
    code: int | None,
    at_most: bool,
) -> str:
    """Return how a load ended, in a sentence; ``at_most``: nobody saw when within ``after_s``."""
    if fault == "refused":
        return f"the server refused connections for {REFUSED_S:.0f} s after it had answered"
    who = f"the server (pid {server.pid})" if server is not None else "the server"
    where = "" if phase is None else f" {'while ready' if phase is Phase.READY else 'in ' + phase.words}"
    most = "at most " if at_most else ""
    after = "" if after_s is None else f", {most}{clock_text(after_s)} after its start"
    verb = "was shut down" if fault == "shut_down" else "ended"
    exit_words = "" if code is None else f" (exit code {code})"
    quoted = "" if quote is None else f": {quote.text}"
    return f"{who} {verb}{where}{after}{exit_words}{quoted}"
