"""A child process of ours whose end only asyncio's watcher may learn from the kernel.

``Popen.poll`` reaps a child that has just ended, and asyncio's transports call it: ``close`` always,
``kill`` in older Python. The watcher then finds no child, says so on stderr and reports 255. So a child is
signalled here by the kernel's own handle, and its transport is closed only once its end is known.
"""

import asyncio
import os
import signal
from collections.abc import Callable
from contextlib import suppress

_LOOK_S = 0.005
# Windows has one way to end a process, and Python calls it SIGTERM there.
KILL: signal.Signals = getattr(signal, "SIGKILL", signal.SIGTERM)


class Child:
    """One child that asyncio watches. ``returncode`` tells what its watcher has reported so far."""

    def __init__(self, pid: int, returncode: Callable[[], int | None]) -> None:
        self.pid = pid
        self._returncode = returncode
        self._handle = _handle(pid)

    def kill(self) -> None:
        """Kill it; void once it has ended."""
        if self._returncode() is not None:
            return
        with suppress(ProcessLookupError):  # it has ended, and its watcher is about to tell
            if self._handle is not None:
                signal.pidfd_send_signal(self._handle, KILL)
            else:
                os.kill(self.pid, KILL)  # nobody else reaps it, so the pid is still its own

    async def reaped(self, limit_s: float) -> bool:
        """Wait as ``reaped`` does, and let go of the kernel's handle once the end is known."""
        try:
            return await reaped(self._returncode, limit_s)
        finally:
            if self._returncode() is not None:
                self._release()

    def _release(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


async def reaped(returncode: Callable[[], int | None], limit_s: float) -> bool:
    """Wait up to ``limit_s`` for a return code and tell whether it came; call this after a kill.

    No cancellation cuts the wait short; it is raised afterwards. The code is looked at again and again, as a
    task that waited for it would be cancelled too when the loop ends.
    """
    clock = asyncio.get_running_loop().time
    end_s = clock() + limit_s
    cancelled: asyncio.CancelledError | None = None
    while returncode() is None and clock() < end_s:
        try:
            await asyncio.sleep(_LOOK_S)
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled
    return returncode() is not None


def kill_group(leader: int) -> None:
    """Kill a child that leads a process group, with all that it started; void where there are no groups.

    To be called before the child's end is known: later its number may be another's.
    """
    if hasattr(os, "killpg"):
        signal_group(leader, KILL)


def signal_group(leader: int, number: signal.Signals) -> None:
    """Send a signal to all of a child's process group, or to it alone where there are no groups."""
    with suppress(ProcessLookupError):  # it ended by itself in this moment
        if hasattr(os, "killpg"):
            os.killpg(leader, number)
        else:
            os.kill(leader, number)


def _handle(pid: int) -> int | None:
    """Return the kernel's handle of a process; None on a system without them or when it has just ended."""
    if not hasattr(os, "pidfd_open"):
        return None
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None
