"""The readiness ladder: process alive, port open, health answered, expected model listed, token generated."""

from dataclasses import dataclass, replace
from typing import Literal

from tui.events import Outcome, Probe

RungName = Literal["process", "port", "health", "model", "token"]
RungWord = Literal["unknown", "waiting", "ok", "bad"]
RUNGS: tuple[RungName, ...] = ("process", "port", "health", "model", "token")


@dataclass(frozen=True, slots=True)
class Rung:
    """One rung. ``state``: unknown (never asked), waiting (asked, not yet), ok, bad (needs a person).

    ``since_s`` is when the state began (host's monotonic clock), ``latency_ms`` and ``answer`` (in words)
    belong to the last answer, ``outcome`` is its class.
    """

    name: RungName
    state: RungWord = "unknown"
    since_s: float | None = None
    tries: int = 0
    latency_ms: float | None = None
    answer: str = ""
    outcome: Outcome | None = None
