"""A request on its way, and what the run still has to send."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tui.agent.load.connections import Exchange
    from tui.agent.load.judge import Asked

WARMUP_INDEX = 1000000000


class Arrival:
    """That a request is to be sent: its number, whether it is measured, when it was due (None: at once)."""

    __slots__ = ("due_s", "index", "measured")

    def __init__(self, index: int, due_s: float | None, *, measured: bool) -> None:
        self.index = index
        self.due_s = due_s
        self.measured = measured


class Flight:
    """One request on its stream: what it asked, and what has come back (all of it once it has ended)."""

    __slots__ = ("asked", "due_s", "exchange", "measured", "slot")

    def __init__(self, slot: int, asked: Asked, exchange: Exchange, arrival: Arrival) -> None:
        self.slot = slot
        self.asked = asked
        self.exchange = exchange
        self.due_s = arrival.due_s
        self.measured = arrival.measured

    @property
    def began_s(self) -> float:
        """The moment from which its times count: when it was due, else when it was sent."""
        return self.exchange.sent_s if self.due_s is None else self.due_s


class Plan:
    """Which requests are still to be started: those of the warm-up until ``begin``, then those measured."""

    def __init__(self, requests: int, duration_s: float | None) -> None:
        self.requests = requests
        self.began_s: float | None = None
        self.launched = 0
        self.warming = 0
        self.given_up = False
        self._duration_s = duration_s

    def begin(self, now_s: float) -> None:
        """Measure what is started from now on."""
        self.began_s = now_s

    def over(self, now_s: float) -> bool:
        """Tell whether no more is to be started; never before one was: a slow server has a figure, too.

        What the warm-up had sent may take longer than all the time there is.
        """
        late = self.began_s is not None and self._duration_s is not None and self.launched > 0
        late = late and now_s > (self.began_s or 0.0) + (self._duration_s or 0.0)
        return self.given_up or late or self.launched >= self.requests

    def admit(self, now_s: float, due_s: float | None) -> Arrival | None:
        """Return the next request, None when there is to be none."""
        if self.over(now_s):
            return None
        if self.began_s is None:
            self.warming += 1
            return Arrival(WARMUP_INDEX + self.warming - 1, due_s, measured=False)
        self.launched += 1
        return Arrival(self.launched - 1, due_s, measured=True)
