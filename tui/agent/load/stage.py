"""The loop of streams, from the first request of the warm-up to the last of the measurement.

It runs without a break: once the warm-up is over, what is started from then on is measured. Requests that
are on their way at that moment are not, but count as busy. So no burst of first requests is measured.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from tui.agent.load.arrivals import Closed, Open
from tui.agent.load.backlog import Backlog
from tui.agent.load.counters import Spill
from tui.agent.load.flight import Flight, Plan
from tui.agent.load.metrics import Outcomes, Tally, output_of
from tui.agent.load.recent import Recent
from tui.agent.load.steady import Steady
from tui.agent.load.stream import read_exchange
from tui.agent.load.warmup import Mark, Windows

if TYPE_CHECKING:
    from collections.abc import Callable

    from tui.agent.load.connections import Exchange
    from tui.agent.load.conversation import Template
    from tui.agent.load.flight import Arrival
    from tui.agent.load.judge import Asked
    from tui.agent.load.lines import Lines
    from tui.agent.load.stream import Answer

_PAUSE_S = 0.1
_LONGEST_PAUSE_S = 1.0
_LONGEST_RETRY_AFTER_S = 5.0
# A run is given up when this many requests in a row failed and none succeeded for that long.
GIVE_UP_FAILURES = 10
GIVE_UP_S = 5.0


class NothingCame(Exception):
    """Every stream's first request failed; carries the class and the words of the last."""


class Stage:
    """The streams, and the account of what they do.

    ``begun`` is called when the measurement begins, ``first`` when its first request is about to be sent.
    """

    def __init__(
        self,
        lines: Lines,
        template: Template,
        spec: dict[str, Any],
        begun: Callable[[], None],
        first: Callable[[], None],
    ) -> None:
        self._lines = lines
        self._template = template
        self._spec = spec
        self._begun = begun
        self.plan = Plan(spec["requests"], spec["duration_s"])
        self.streams = streams_of(spec)
        self.steady = Steady(range(self.streams))
        self._arrivals = _arrivals(spec, self.plan, self.steady)
        self.tally = Tally(spec["limits"], self.steady)
        self.warm = Outcomes()
        self.spill = Spill(first)
        self.recent = Recent()
        self.backlog = Backlog(self._done)
        self.agreed: bool | None = None
        self._windows: Windows | None = None
        self._flying: dict[int, tuple[Arrival, Asked]] = {}
        self._failing: set[int] = set()
        self._measured_left = 0
        self._busy_s = 0.0
        self._ended_bytes = 0
        self._counted_s = self._lively_s = self._started_s = time.monotonic()
        self._base_tokens = 0
        self._over: asyncio.Future[None] | None = None

    @property
    def in_flight(self) -> int:
        """How many requests are on their way."""
        return len(self._flying)

    @property
    def shown(self) -> Outcomes:
        """What became of the requests of the part that goes on now."""
        return self.warm if self.plan.began_s is None else self.tally.outcomes

    @property
    def name(self) -> str:
        """The part that goes on now."""
        return "warmup" if self.plan.began_s is None else "measure"

    def warm_seconds(self) -> float:
        """Return how long the warm-up took, or takes."""
        until_s = self.plan.began_s
        return (time.monotonic() if until_s is None else until_s) - self._started_s

    def fraction(self, now_s: float) -> float | None:
        """Return how much of the measurement is done; None before it, as no warm-up's length is known."""
        began_s, duration_s = self.plan.began_s, self._spec["duration_s"]
        if began_s is None:
            return None
        ended = self.tally.completed + self.tally.failed
        under_way = self._lines.reads * self.backlog.tokens_per_read / self._spec["output_tokens"]
        done = (ended + min(self._measured_left, under_way)) / self.plan.requests
        return min(1.0, max(done, (now_s - began_s) / duration_s if duration_s else 0.0))

    def all_tokens(self) -> int:
        """Return the output tokens since the start: counted in what was read, else estimated from reads."""
        unread = self._lines.reads + self.backlog.reads
        return self.backlog.tokens + round(unread * self.backlog.tokens_per_read)

    def live_tokens(self) -> int:
        """Return the output tokens of the part that goes on now."""
        return max(0, self.all_tokens() - self._base_tokens)

    async def run(self) -> None:
        """Run to the end. Cancelled, it drops what is on its way; what had ended is in the account.

        Raises NothingCame when the warm-up shows that no request succeeds.
        """
        loop = asyncio.get_running_loop()
        self._over = loop.create_future()
        self._start_warm_up()
        tasks = [loop.create_task(self._stream(slot)) for slot in range(self.streams)]
        tasks.append(loop.create_task(self._arrivals.run()))
        for task in tasks:
            task.add_done_callback(self._ended)
        try:
            await self._over
            await self.backlog.idle.wait()
        finally:
            self._settle()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _start_warm_up(self) -> None:
        self._started_s = self._counted_s = self._lively_s = time.monotonic()
        warmup_s: float = self._spec["warmup_s"]
        if warmup_s <= 0:
            self._begin(None)
            return
        self._windows = Windows(self._mark(), self._awaited())
        asyncio.get_running_loop().call_later(warmup_s, self._begin, False)

    def _begin(self, agreed: bool | None) -> None:
        """Begin the measurement, unless it has begun; ``agreed`` as in Warmup of tui/benchmark.py."""
        if self.plan.began_s is not None or self._over is None or self._over.done():
            return
        if self._all_failed():
            return
        now_s = time.monotonic()
        self.agreed, self._windows = agreed, None
        self._base_tokens = self.all_tokens()
        self.recent = Recent()
        self.plan.begin(now_s)
        self._begun()
        duration_s: float | None = self._spec["duration_s"]
        if duration_s is not None:
            asyncio.get_running_loop().call_later(duration_s + 0.001, self._check_over)

    async def _stream(self, slot: int) -> None:
        wrong = 0
        while True:
            arrival = await self._arrivals.take()
            if arrival is None:
                return
            exchange = await self._fly(slot, arrival)
            await self._template.hear(slot, exchange)
            wrong = wrong + 1 if exchange.went_wrong or self._fails_at_once(slot, exchange) else 0
            if wrong and not self._arrivals.paced:
                await asyncio.sleep(pause_s(exchange, wrong))

    def _fails_at_once(self, slot: int, exchange: Exchange) -> bool:
        """Tell whether a stream's answers end in no time and are failures, though their status is 200."""
        return slot in self._failing and exchange.ended_s - exchange.sent_s < _PAUSE_S

    async def _fly(self, slot: int, arrival: Arrival) -> Exchange:
        if arrival.measured:
            self._measured_left += 1
            self._arrivals.join(slot)
            self.spill.begin()
        request, asked = self._template.next(arrival.index, slot)
        self._count_busy()
        self._flying[slot] = arrival, asked
        exchange = await self._lines.ask(slot, request, self._spec["timeout_s"])
        self._count_busy()
        del self._flying[slot]
        self._ended_bytes += exchange.size
        self.backlog.push(Flight(slot, asked, exchange, arrival))
        self._measured_left -= arrival.measured
        if self._windows is not None and self._windows.due(slot, time.monotonic()):
            self._turn_window(self._windows)
        return exchange

    def _turn_window(self, windows: Windows) -> None:
        """End a window, and the warm-up where it agrees with the one before."""
        if windows.turn(self._mark(), self._awaited()) and self.warm.completed:
            self._begin(True)

    def _mark(self) -> Mark:
        self._count_busy()
        return Mark(self._counted_s, self._ended_bytes + self._lines.size, self._busy_s)

    def _awaited(self) -> list[int]:
        """Return the streams of which a request must end before the next window does."""
        return list(self._flying) if self._arrivals.paced else list(range(self.streams))

    def _count_busy(self) -> None:
        now_s = time.monotonic()
        self._busy_s += len(self._flying) * (now_s - self._counted_s)
        self._counted_s = now_s

    def _done(self, flight: Flight, answer: Answer) -> None:
        """Take a finished request that was read."""
        self.recent.add(flight, answer)
        if flight.measured:
            fault = self.tally.add(flight, answer)
        else:
            fault = self.warm.add(flight, answer)
            if self.plan.began_s is not None:
                self.tally.pass_by(flight, answer, 0 if fault else output_of(answer))
                self.spill.add(flight, answer, fault)
            elif self.warm.failed >= self.streams:
                self._all_failed()
        (self._failing.add if fault else self._failing.discard)(flight.slot)
        self._give_up()
        self._check_over()

    def _all_failed(self) -> bool:
        """End the run when the warm-up saw failures alone."""
        if self.warm.completed or not self.warm.failed:
            return False
        if self._over is not None and not self._over.done():
            self._over.set_exception(NothingCame(*self.warm.last_failure))
        return True

    def _give_up(self) -> None:
        now_s, in_a_row = time.monotonic(), self.shown.failed_in_a_row
        if not in_a_row:
            self._lively_s = now_s
            return
        barren_s = now_s - self._lively_s
        many = in_a_row >= max(GIVE_UP_FAILURES, 2 * self.streams)
        if (many and barren_s > GIVE_UP_S) or barren_s > max(GIVE_UP_S, 2 * self._spec["timeout_s"]):
            self.plan.given_up = True

    def _check_over(self) -> None:
        """End the run when nothing that is measured is on its way or to come."""
        if self._over is None or self._over.done() or self._measured_left or not self.backlog.empty:
            return
        waiting = self._arrivals.waiting and not self.plan.given_up
        if self.plan.over(time.monotonic()) and not waiting:
            self._over.set_result(None)

    def _ended(self, task: asyncio.Task[None]) -> None:
        """Notice the end of a task of ours: there may be no more to do, or it failed."""
        if task.cancelled() or self._over is None or self._over.done():
            return
        error = task.exception()
        if error is not None:
            self._over.set_exception(error)
        else:
            self._check_over()

    def _settle(self) -> None:
        """Bring the account to the end: read what waits, count the presence of what is still on its way."""
        self.backlog.finish()
        if self.plan.began_s is None:
            return
        self.steady.end(time.monotonic())
        self.spill.known = self.spill.known and not self._flying
        for slot, (arrival, asked) in self._flying.items():
            exchange = self._lines.partial(slot)
            if exchange is not None:
                flight = Flight(slot, asked, exchange, arrival)
                self.tally.pass_by(flight, read_exchange(exchange), None)


def streams_of(spec: dict[str, Any]) -> int:
    """Return how many streams a workload has: no more than requests in a closed loop."""
    closed = spec["arrival"] == "closed"
    return min(spec["concurrency"], spec["requests"]) if closed else spec["concurrency"]


def _arrivals(spec: dict[str, Any], plan: Plan, steady: Steady) -> Closed | Open:
    if spec["arrival"] == "closed":
        return Closed(plan, steady)
    poisson = spec["arrival"] == "poisson"
    return Open(plan, steady, rate_per_s=spec["rate_per_s"], poisson=poisson, seed=spec["seed"])


def pause_s(exchange: Exchange, wrong: int) -> float:
    """Return how long a stream waits after failures, so that it does not hammer a server in trouble."""
    asked = exchange.headers.get("retry-after", "")
    if asked.isascii() and asked.isdigit():
        return min(float(asked), _LONGEST_RETRY_AFTER_S)
    return min(_PAUSE_S * 2 ** min(wrong - 1, 8), _LONGEST_PAUSE_S)
