"""The lock reader: each 5 s the lock files that there are, and who holds what the server waits for.

The caches that it walks may lie on a network: so it is a process of its own, and a read that hangs holds up
nothing else. It opens no file but those of /proc, and enters no folder that a FUSE program serves.
"""

from __future__ import annotations

import time

from tui.agent import wire
from tui.agent.locks.existence import Existence
from tui.agent.locks.places import find
from tui.agent.locks.server import Server
from tui.agent.locks.waits import Waits

TYPE_CHECKING = False  # as in channel.py
if TYPE_CHECKING:
    from tui.agent.worker import Channel

LOOK_S = 5.0
WALK_S = 30.0
_TOLD = 64


def serve(channel: Channel) -> None:
    """Read and report while a server is followed, until the agent is gone."""
    watch: Watch | None = None
    wait_s: float | None = None
    while True:
        request = channel.receive(wait_s)
        if request is not None and request["kind"] == wire.FOLLOW:
            pid, started_s = request.get("pid"), request.get("started_s")
            if not isinstance(pid, int):
                watch = None
            elif watch is None or watch.of != (pid, started_s):
                watch = Watch(channel, pid, started_s)
        wait_s = None if watch is None else watch.step(time.monotonic())


class Watch:
    """The locks of one server; ``of`` says which: a pid alone may be used again."""

    def __init__(self, channel: Channel, pid: int, started_s: object) -> None:
        self.of = (pid, started_s)
        self._channel = channel
        self._server = Server(pid)
        self._waits = Waits(self._server)
        self._files: dict[str, Existence] = {}
        self._next_s = 0.0
        self._walk_s = 0.0
        self._any = False

    def step(self, now_s: float) -> float:
        """Read what is due; return the seconds until the next time."""
        if now_s >= self._next_s:
            self._next_s = now_s + LOOK_S
            self._look(now_s)
        return max(0.0, self._next_s - time.monotonic())

    def _look(self, now_s: float) -> None:
        if now_s >= self._walk_s:
            self._walk_s = now_s + WALK_S
            paths = find(self._server.places, self._server.begins)
            self._files = {path: self._files.get(path) or Existence(path) for path in paths}
        told = [fields for each in self._files.values() for fields in [each.fields(now_s)] if fields]
        told += self._waits.read(now_s)
        if told or self._any:
            self._channel.send(wire.stamped(wire.LOCKS, locks=told[:_TOLD]))
        self._any = bool(told)
