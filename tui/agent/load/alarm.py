"""Moments kept to some tens of microseconds, which the timers of event loops (whole milliseconds) cannot.

A timer of the kernel (timerfd) makes a descriptor readable: to the event loop it is what data from a server
is. Where there is none (no Linux, no ctypes) the loop's own timers stand in.
"""

from __future__ import annotations

import asyncio
import os
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_MONOTONIC = 1
_FLAGS = os.O_NONBLOCK | os.O_CLOEXEC  # what TFD_NONBLOCK and TFD_CLOEXEC are
_ABSOLUTE = 1


class Alarm:
    """Calls back at one moment after the other. ``exact`` is False where the event loop's timers stand in."""

    def __init__(self, ring: Callable[[], None] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        self._ring = ring or self._wake
        self._waiter: asyncio.Future[None] | None = None
        self._handle: asyncio.TimerHandle | None = None
        self._timer = _timer()
        self.exact = self._timer is not None
        if self._timer is not None:
            self._loop.add_reader(self._timer[0], self._rang)

    def at(self, moment_s: float) -> None:
        """Ring at that moment (monotonic seconds), at once when it has passed."""
        if self._timer is not None:
            descriptor, settime = self._timer
            settime(descriptor, moment_s)
        else:
            self._handle = self._loop.call_later(max(0.0, moment_s - time.monotonic()), self._ring)

    async def until(self, moment_s: float) -> None:
        """Wait for that moment; let other work go on between moments that have passed, too."""
        if time.monotonic() >= moment_s:
            await asyncio.sleep(0)
            return
        self._waiter = self._loop.create_future()
        self.at(moment_s)
        await self._waiter

    def close(self) -> None:
        """Ring no more."""
        if self._handle is not None:
            self._handle.cancel()
        if self._timer is not None:
            self._loop.remove_reader(self._timer[0])
            os.close(self._timer[0])
            self._timer = None

    def _rang(self) -> None:
        if self._timer is None:
            return
        try:
            os.read(self._timer[0], 8)
        except BlockingIOError:  # set anew between its ring and this read
            return
        self._ring()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


def _timer() -> tuple[int, Callable[[int, float], None]] | None:
    """Return the descriptor of a new timer of the kernel and how it is set."""
    try:
        import ctypes

        library = ctypes.CDLL(None)
        create, settime = library.timerfd_create, library.timerfd_settime
    except (ImportError, OSError, AttributeError):
        return None
    descriptor = create(_MONOTONIC, _FLAGS)
    value = (ctypes.c_long * 4)()

    def set_to(descriptor: int, moment_s: float) -> None:
        value[2] = max(0, int(moment_s))
        value[3] = max(1, int(moment_s % 1.0 * 1e9))  # both zero would switch it off
        settime(descriptor, _ABSOLUTE, value, None)

    return (descriptor, set_to) if descriptor >= 0 else None
