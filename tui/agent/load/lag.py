"""How late the generator itself is: its event loop's lag and its share of a core."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING

from tui.agent.load.alarm import Alarm
from tui.agent.load.samples import Samples

if TYPE_CHECKING:
    from tui.agent.load.connections import Clock

_MEAN_S = 0.01


class Watch:
    """Measures from ``start`` to ``stop``: ``lag`` and ``cpu_fraction`` (of one core, this process).

    A lag is the stamp that something gets which became readable at a known moment, minus that moment: what a
    token's stamp is late by. Moments come every 5 to 15 ms, at random, so that no server's rhythm hides from
    them; one that is late by more stands for those that fell due meanwhile, too.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._alarm: Alarm | None = None
        self._due_s = 0.0
        self._began_s = self._cpu_s = 0.0
        self.lag = Samples()
        self.cpu_fraction: float | None = None

    def start(self) -> None:
        """Begin."""
        self._cpu_s, self._began_s = time.process_time(), time.monotonic()
        self._alarm = Alarm(self._ring)
        if self._alarm.exact:
            self._next()

    def stop(self) -> None:
        """End; does nothing unless it has begun."""
        if self._alarm is None:
            return
        self._alarm.close()
        self._alarm = None
        self.cpu_fraction = (time.process_time() - self._cpu_s) / max(1e-9, time.monotonic() - self._began_s)

    def _ring(self) -> None:
        lag_s = max(0.0, self._clock.now_s - self._due_s)
        while lag_s >= 0:
            self.lag.add(lag_s)
            lag_s -= _MEAN_S
        self._next()

    def _next(self) -> None:
        assert self._alarm is not None
        self._due_s = time.monotonic() + _MEAN_S * (0.5 + random.random())
        self._alarm.at(self._due_s)
