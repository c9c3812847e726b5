"""Plays a tape on a clock that can be paused, sped up and moved: the state at any moment of a recording."""

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable
from typing import Protocol

from msgspec.structs import replace

from tui.events import AnyEvent
from tui.replay.headless import Run, Step
from tui.replay.moments import Moments, look_through
from tui.replay.tape import Tape
from tui.watch.benching import Benching
from tui.watch.state import WatchState

SPEEDS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
END = math.inf
"""Where to seek for the last event, whenever that is."""
BUSY_S = 0.02
"""How long reading may keep the screen from its own work at a time."""
REST_S = 0.005
IDLE_S = 0.25
ON_S = 60.0
"""So far beyond what was looked through a tape without an end can be sought on."""


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

    @property
    def benching(self) -> Benching:
        """What can be fired, and what is chosen of it."""
        ...

    async def close(self) -> None:
        """End it; closing twice is allowed."""
        ...


class Player:
    """One tape under a needle. Times are ``t``: seconds since the tape's origin.

    ``generation`` counts how often the state began anew (a jump back): what was drawn from the one before is
    no longer true. ``changes`` counts what may have changed the picture. ``speed`` is from 0.1 to 100.
    Only ``run`` reads the tape, a short while at a time; what is shown and the keys read nothing and raise
    nothing.
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
        self.speed = _within(speed)
        self.playing = True
        self.moments = Moments()
        self.generation = 0
        self.changes = 0
        self._clock = clock
        self._live = live
        self._heard: list[AnyEvent] = []
        self._run: Run = Run(tape)
        self._coming: Run | None = None
        self._seeking = False
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
        """Where the needle is: where it was sent to, while the state is still on its way there."""
        if self._at_s == END:
            return (self._coming or self._run).t
        if self._seeking or not self.playing:
            return self._at_s
        t = self._at_s + (self._clock() - self._since_s) * self.speed
        return min(t, max(self._at_s, self._run.t)) if self._run.over else t

    @property
    def seeking(self) -> bool:
        """Whether the needle was moved and the state is not there yet."""
        return self._seeking

    @property
    def ended(self) -> bool:
        """Whether the last event was played."""
        return self._coming is None and self._run.over

    @property
    def caught_up(self) -> bool:
        """Whether all that is due has been taken in."""
        if self._seeking:
            return False
        due = self._run.peeked_t
        return self._run.over if due is None else due > self.t

    def client_now_s(self) -> float:
        """Return now on the tape's clock, which is the client's clock in its events: never ahead of them."""
        return (self._run.origin_s or 0.0) + self._shown_t()

    def wall_now_s(self) -> float | None:
        """Return now on the wall clock of the recording's host, None before its first event."""
        wall_s = self._run.wall_s
        return None if wall_s is None else wall_s + self._shown_t() - self._run.t

    def _shown_t(self) -> float:
        """The moment of which the state that is shown tells."""
        return self._run.t if self._seeking or self.ended else self.t

    # What a key does.

    def toggle(self) -> None:
        """Pause, or play on; at the end from the beginning."""
        if self.ended and not self.playing:
            self.seek(0.0)
        self._settle()
        self.playing = not self.playing

    def pause(self) -> None:
        """Hold the needle."""
        self._settle()
        self.playing = False

    def set_speed(self, speed: float) -> None:
        """Play so many times as fast, from 0.1 to 100."""
        self._settle()
        self.speed = _within(speed)

    def faster(self, by: int) -> None:
        """Go to the next speed up (1) or down (-1)."""
        others = [each for each in SPEEDS if (each > self.speed if by > 0 else each < self.speed)]
        if others:
            self.set_speed(others[0] if by > 0 else others[-1])

    def seek(self, t: float) -> None:
        """Move the needle, to the end at most (END); going back plays from the beginning, unseen."""
        t = max(0.0, min(t, self._limit()))
        if t >= self._run.t:
            self._coming = None
        elif self._coming is None or t < self._coming.t:
            self._coming = Run(self.tape)
        self._at_s, self._since_s, self._seeking = t, self._clock(), True
        self._changed()

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

    @property
    def benching(self) -> Benching | None:
        """What can be fired at the server beside the tape, None without one."""
        return None if self._live is None else self._live.benching

    def choose_profile(self, name: str) -> str:
        """Choose what the benchmark key fires; return which, in a sentence."""
        self.changes += 1
        if self.benching is None:
            return "this is a recording: there is no server to benchmark"
        return self.benching.answer(name)

    def _limit(self) -> float:
        if not self.moments.complete:
            return END
        length_s = self.moments.length_s
        return length_s if self.tape.outline is None else max(length_s, self._shown_t() + ON_S)

    def _settle(self) -> None:
        """Let the needle go on from where it is."""
        if not self._seeking:
            self._at_s, self._since_s = self.t, self._clock()
        self._changed()

    def _changed(self) -> None:
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
                await self._rest(self.work())
        finally:
            if hearing is not None:
                hearing.cancel()
                await asyncio.gather(hearing, return_exceptions=True)

    async def close(self) -> None:
        """End what is live beside the tape."""
        if self._live is not None:
            await self._live.close()

    def work(self) -> float:
        """Do what is due for a short while; return how many seconds to rest after it."""
        until_s = self._clock() + BUSY_S
        if not self._catch_up(until_s):
            return REST_S
        while not self.moments.complete:
            next(self._looking, None)
            if self._clock() >= until_s:
                return REST_S
        due = self._run.next_t()
        if due is None or not self.playing:
            return IDLE_S
        return min(IDLE_S, max(0.0, (due - self.t) / self.speed))

    def _catch_up(self, until_s: float) -> bool:
        """Take in what is due; return whether all of it is."""
        run = self._coming or self._run
        target = self._at_s if self._seeking else self.t
        while (due := run.next_t()) is not None and due <= target:
            self._advance(run)
            if self._clock() >= until_s:
                if not self._seeking and self.playing:
                    self._at_s, self._since_s = run.t, self._clock()  # no faster than it can be read
                return False
        self._arrive(run)
        return True

    def _advance(self, run: Run) -> None:
        step = run.advance()
        self.changes += 1
        if step is not None and self._live is not None:
            self._live.took(step, run.state)

    def _arrive(self, run: Run) -> None:
        """All that is due is in the state: show it, and stop where nothing follows."""
        if self._coming is not None:
            self._run, self._coming = self._coming, None
            self.generation += 1
            self.changes += 1
        if self._seeking:
            self._seeking, self._since_s = False, self._clock()
            self.changes += 1
        if run.over and (self.playing or self._at_s > run.t):
            self._at_s, self.playing = run.t, False
            self.changes += 1
        for event in self._heard:
            self._take_live(event)
        self._heard.clear()

    async def _rest(self, seconds: float) -> None:
        self._wake.clear()
        try:
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            return

    async def _hear(self, live: Live) -> None:
        """Take in what the live server tells; while the state is on its way elsewhere that waits."""
        async for event in live.events():
            if self._seeking:
                self._heard.append(event)
            else:
                self._take_live(event)

    def _take_live(self, event: AnyEvent) -> None:
        """Take an event in as of now on the tape's clocks."""
        now_s = self.client_now_s()
        mono_s = self.state.source_now(now_s)
        self.state.apply(replace(event, mono_s=now_s if mono_s is None else mono_s, client_s=now_s))
        self.changes += 1


def _within(speed: float) -> float:
    return max(SPEEDS[0], min(speed, SPEEDS[-1]))
