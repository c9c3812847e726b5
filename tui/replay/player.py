"""Plays a tape on a clock that can be paused, sped up and moved: the state at any moment of a recording."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from typing import Protocol

from msgspec.structs import replace

from tui.events import AnyEvent
from tui.replay.headless import Run, Step
from tui.replay.moments import Moments, look_through
from tui.replay.tape import Tape
from tui.watch.state import WatchState

SPEEDS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
BUSY_S = 0.02
"""How long reading may keep the screen from its own work at a time."""
REST_S = 0.005
IDLE_S = 0.25


class Live(Protocol):
    """What stands beside a simulated tape and is real: a server that can be benchmarked."""

    def events(self) -> AsyncIterator[AnyEvent]:
        """Iterate over what it tells; its clocks are set by the player."""
        ...

    def took(self, step: Step, state: WatchState) -> None:
        """Learn what the tape has come to."""
        ...

    def start_bench(self, state: WatchState) -> str:
        """Fire a benchmark or arm it; return which, in a sentence."""
        ...

    def cancel_bench(self, state: WatchState) -> str:
        """Cancel or disarm it; return which, in a sentence."""
        ...

    async def close(self) -> None:
        """End it; closing twice is allowed."""
        ...


class Player:
    """One tape under a needle. Times are ``t``: seconds since the tape's origin.

    ``generation`` counts how often the state began anew (a jump back): what was drawn from the one before is
    no longer true. ``changes`` counts what may have changed the picture. ``speed`` is from 0.1 to 100.
    """

    def __init__(
        self,
        tape: Tape,
        *,
        speed: float = 1.0,
        live: Live | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.tape = tape
        self.speed = speed
        self.playing = True
        self.moments = Moments()
        self.generation = 0
        self.changes = 0
        self._clock = clock
        self._live = live
        self._run: Run = Run(tape)
        self._coming: Run | None = None
        self._looking = look_through(tape, self.moments)
        self._at_s = 0.0
        self._since_s = clock()
        self._wake = asyncio.Event()

    # What is shown.

    @property
    def state(self) -> WatchState:
        """The state as of now; another one after a jump back."""
        return self._run.state

    @property
    def t(self) -> float:
        """Where the needle is."""
        if not self.playing:
            return self._at_s
        return self._at_s + (self._clock() - self._since_s) * self.speed

    @property
    def ended(self) -> bool:
        """Whether the last event was played."""
        return self._coming is None and self._run.next_t() is None

    @property
    def caught_up(self) -> bool:
        """Whether all that is due has been taken in."""
        due = self._run.next_t()
        return self._coming is None and (due is None or due > self.t)

    def client_now_s(self) -> float:
        """Return now on the tape's clock, which is the client's clock in its events."""
        shown = self._run.t if self._coming is not None or self.ended else self.t
        return (self._run.origin_s or 0.0) + shown

    def wall_now_s(self) -> float | None:
        """Return now on the wall clock of the recording's host, None before its first event."""
        run = self._run
        return (
            None if run.wall_s is None else run.wall_s + (self.client_now_s() - (run.origin_s or 0.0) - run.t)
        )

    # What a key does.

    def toggle(self) -> None:
        """Pause, or play on; at the end from the beginning."""
        if self.ended and not self.playing:
            self.seek(0.0)
        self._settle(self.t)
        self.playing = not self.playing

    def pause(self) -> None:
        """Hold the needle."""
        self._settle(self.t)
        self.playing = False

    def set_speed(self, speed: float) -> None:
        """Play so many times as fast."""
        self._settle(self.t)
        self.speed = speed

    def faster(self, by: int) -> None:
        """Go to the next speed up (1) or down (-1)."""
        others = [each for each in SPEEDS if (each > self.speed if by > 0 else each < self.speed)]
        if others:
            self.set_speed(others[0] if by > 0 else others[-1])

    def seek(self, t: float) -> None:
        """Move the needle; going back plays from the beginning, unseen."""
        t = max(0.0, min(t, self.moments.length_s) if self.moments.complete else t)
        # What is due at the very moment is played again when it is gone back to.
        played_t = self._run.t if self._coming is None else self._coming.t
        if t < played_t:
            self._coming = Run(self.tape)
        self._settle(t)

    def start_bench(self) -> str:
        """Fire the benchmark, or arm it, where there is a server to benchmark."""
        self.changes += 1
        if self._live is None:
            return "this is a recording: there is no server to benchmark"
        return self._live.start_bench(self.state)

    def cancel_bench(self) -> str:
        """Cancel or disarm the benchmark."""
        self.changes += 1
        if self._live is None:
            return "this is a recording: no benchmark runs"
        return self._live.cancel_bench(self.state)

    def _settle(self, t: float) -> None:
        self._at_s, self._since_s = t, self._clock()
        self.changes += 1
        self._wake.set()

    # What runs.

    async def run(self) -> None:
        """Play until cancelled. Raises what the tape raises."""
        hearing = None if self._live is None else asyncio.create_task(self._hear(self._live))
        try:
            while True:
                # A live task that broke must not look like one that has nothing to tell.
                if hearing is not None and hearing.done():
                    hearing.result()
                await self._rest(self._work())
        finally:
            if hearing is not None:
                hearing.cancel()
                await asyncio.gather(hearing, return_exceptions=True)

    async def close(self) -> None:
        """End what is live beside the tape."""
        if self._live is not None:
            await self._live.close()

    def _work(self) -> float:
        """Do what is due for a short while; return how long to rest after it."""
        until_s = self._clock() + BUSY_S
        if not self._catch_up(until_s):
            return REST_S
        while not self.moments.complete and self._clock() < until_s:
            next(self._looking, None)
        if not self.moments.complete:
            return REST_S
        due = self._run.next_t()
        if due is None:
            self._stop_at_end()
            return IDLE_S
        return min(IDLE_S, max(0.0, (due - self.t) / self.speed)) if self.playing else IDLE_S

    def _catch_up(self, until_s: float) -> bool:
        """Take in what is due; return whether all of it is."""
        run = self._coming or self._run
        target = self.t
        while (due := run.next_t()) is not None and due <= target:
            self._advance(run)
            if self._clock() >= until_s:
                if self.playing and self._coming is None:
                    self._at_s, self._since_s = run.t, self._clock()  # no faster than it can be read
                return False
        if self._coming is not None:
            self._run, self._coming = self._coming, None
            self.generation += 1
            self.changes += 1
        return True

    def _advance(self, run: Run) -> None:
        step = run.advance()
        self.changes += 1
        if step is not None and self._live is not None:
            self._live.took(step, run.state)

    def _stop_at_end(self) -> None:
        if self.playing and self.ended:
            self._settle(self._run.t)
            self.playing = False

    async def _rest(self, seconds: float) -> None:
        self._wake.clear()
        try:
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            return

    async def _hear(self, live: Live) -> None:
        """Take in what the live server tells, as of now on the tape's clocks."""
        async for event in live.events():
            now_s = self.client_now_s()
            mono_s = self.state.source_now(now_s)
            self.state.apply(replace(event, mono_s=now_s if mono_s is None else mono_s, client_s=now_s))
            self.changes += 1
