"""When requests are sent: as soon as a stream is free (closed loop), or at their own moments (open loop)."""

from __future__ import annotations

import asyncio
import random
import time
from collections import deque
from typing import TYPE_CHECKING

from tui.agent.load.alarm import Alarm

if TYPE_CHECKING:
    from tui.agent.load.flight import Arrival, Plan
    from tui.agent.load.steady import Steady


class Closed:
    """Each stream sends its next request when its last one has ended."""

    paced = False
    waiting = 0

    def __init__(self, plan: Plan, steady: Steady) -> None:
        self._plan = plan
        self._steady = steady

    async def take(self) -> Arrival | None:
        """Return what a free stream sends next, None when there is no more."""
        now_s = time.monotonic()
        arrival = self._plan.admit(now_s, None)
        if arrival is None:
            self._steady.end(now_s)
        return arrival

    def join(self, slot: int) -> None:
        """Note that a stream sends a measured request."""
        self._steady.join(slot, time.monotonic())

    async def run(self) -> None:
        """Return at once: streams pace themselves."""


class Open:
    """Requests fall due whatever became of those before; one that finds no free stream waits for one.

    Constant: every 1/rate seconds. Poisson: gaps drawn from the exponential distribution of that mean, of the
    seed; the measured ones are the same for a seed however long the warm-up was. The stream that was free
    for the shortest time takes a request, so that few connections grow cold.
    """

    paced = True

    def __init__(self, plan: Plan, steady: Steady, *, rate_per_s: float, poisson: bool, seed: int) -> None:
        self._plan = plan
        self._steady = steady
        self._mean_s = 1.0 / rate_per_s
        self._poisson = poisson
        self._random = {
            False: random.Random("tminus warm-up arrivals %d" % seed),
            True: random.Random("tminus arrivals %d" % seed),
        }
        self._due: deque[Arrival] = deque()
        self._free: list[asyncio.Future[Arrival | None]] = []
        self._handed = 0
        self._ended = False

    @property
    def waiting(self) -> int:
        """How many requests are due and not yet with a stream: no one is free, or it has not woken up."""
        return len(self._due) + self._handed

    async def take(self) -> Arrival | None:
        """Return what a free stream sends next as soon as it is due, None when there is no more."""
        if self._due and not self._plan.given_up:
            return self._due.popleft()
        if self._ended:
            return None
        free: asyncio.Future[Arrival | None] = asyncio.get_running_loop().create_future()
        self._free.append(free)
        arrival = await free
        self._handed -= arrival is not None
        return arrival

    def join(self, slot: int) -> None:
        """Note nothing: streams need not all be busy."""

    async def run(self) -> None:
        """Let requests fall due until the plan has no more."""
        alarm = Alarm()
        due_s = last_s = time.monotonic()
        try:
            while True:
                arrival = self._plan.admit(due_s, due_s)
                if arrival is None:
                    break
                self._offer(arrival)
                if arrival.measured and self._steady.begin_s is None:
                    self._steady.begin_s = due_s
                last_s, due_s = due_s, due_s + self._gap_s(arrival.measured)
                if self._plan.over(due_s):
                    break
                await alarm.until(due_s)
            # At once, not when the next would fall due: see Steady.
            self._steady.end(last_s)
        finally:
            alarm.close()
            self._end()

    def _gap_s(self, measured: bool) -> float:
        return self._random[measured].expovariate(1.0) * self._mean_s if self._poisson else self._mean_s

    def _offer(self, arrival: Arrival) -> None:
        while self._free:
            free = self._free.pop()
            if not free.done():
                free.set_result(arrival)
                self._handed += 1
                return
        self._due.append(arrival)

    def _end(self) -> None:
        self._ended = True
        for free in self._free:
            if not free.done():
                free.set_result(None)
