"""What a benchmark tells while it runs."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from typing import TYPE_CHECKING

from tui.agent import wire

if TYPE_CHECKING:
    from tui.agent.load.stage import Stage
    from tui.agent.worker import Channel

PROGRESS_S = 0.5
LIVE_S = 10.0  # the event loop shows life to the agent at least this often
_RATE_TICKS = 6


class Progress:
    """Tells how far the benchmark is, twice a second."""

    def __init__(self, channel: Channel, run: str, began_s: float) -> None:
        self._channel = channel
        self._run = run
        self._began_s = began_s
        self.stage: Stage | None = None
        self._marks: deque[tuple[float, int]] = deque(maxlen=_RATE_TICKS)

    async def run(self) -> None:
        """Send a message every half second until cancelled; none while the agent is behind.

        Waiting for the agent would stop the event loop, and the streams would pay for it.
        """
        while True:
            message = self.message()
            if self._channel.ready():
                self._channel.send(message)
            self._channel.rest(LIVE_S)
            await asyncio.sleep(PROGRESS_S)

    def message(self) -> dict[str, object]:
        """Return how far it is."""
        now_s = time.monotonic()
        stage = self.stage
        about = {"run": self._run, "elapsed_s": now_s - self._began_s}
        if stage is None:
            return wire.stamped(wire.BENCH_PROGRESS, **about, **_PREFLIGHT)
        self._marks.append((now_s, stage.all_tokens()))
        ttft_ms, itl_ms = stage.recent.medians_ms()
        return wire.stamped(
            wire.BENCH_PROGRESS,
            **about,
            stage=stage.name,
            completed=stage.shown.completed,
            failed=stage.shown.failed,
            in_flight=stage.in_flight,
            requests=stage.plan.requests,
            output_tokens=stage.live_tokens(),
            output_tokens_per_s=self._rate(),
            fraction=stage.fraction(now_s),
            ttft_ms=ttft_ms,
            itl_ms=itl_ms,
        )

    def _rate(self) -> float | None:
        (before_s, before), (after_s, after) = self._marks[0], self._marks[-1]
        return max(0.0, (after - before) / (after_s - before_s)) if after_s > before_s else None


_PREFLIGHT: dict[str, object] = {
    "stage": "preflight",
    "completed": 0,
    "failed": 0,
    "in_flight": 1,
    "requests": 1,
    "output_tokens": 0,
    "output_tokens_per_s": None,
}
