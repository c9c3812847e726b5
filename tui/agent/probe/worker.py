"""The probe worker: asks one server's port, on its own host, until it is told to ask another or none."""

from __future__ import annotations

import select
import time

from tui.agent.probe.ladder import FAST_S, Prober
from tui.agent.probe.plan import Plan

TYPE_CHECKING = False  # as in worker.py
if TYPE_CHECKING:
    from typing import Any

    from tui.agent.worker import Channel

# A name server that does not answer is waited for about so long by the C library.
_RESOLVER_S = 60.0
# A process that dies closes its connections and its port one after the other.
_DYING_S = 0.05


def serve(channel: Channel) -> None:
    """Probe what is asked for until the agent is gone."""
    desk = Desk(channel)
    while True:
        try:
            _probe(desk, channel)
        except Replaced:
            continue


def _probe(desk: Desk, channel: Channel) -> None:
    if desk.plan is None:
        desk.idle()
        return
    prober = Prober(desk.plan, channel.send, desk.wait)
    try:
        while True:
            channel.rest(_RESOLVER_S)
            due_s = time.monotonic() + prober.round()
            idle = prober.idle_descriptor
            if idle is not None and desk.rest(due_s, idle):
                desk.rest(time.monotonic() + _DYING_S)
                if not prober.knock():
                    due_s = time.monotonic() + FAST_S
            desk.rest(due_s)
    finally:
        prober.close()


class Replaced(Exception):
    """Another plan was asked for (or none): whatever is being waited for does not matter any more."""


class Desk:
    """Hears requests in the middle of every wait. ``plan`` is what is to be probed now."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._asked: tuple[object, object] = (None, None)
        self.plan: Plan | None = None

    def wait(self, descriptor: int, events: int, deadline_s: float) -> None:
        """Wait until the descriptor is ready. Raises TimeoutError at the deadline, Replaced on a new plan."""
        if not self._poll(descriptor, events, deadline_s):
            raise TimeoutError

    def idle(self) -> None:
        """Wait for something to probe."""
        self._hear(None)

    def rest(self, until_s: float, idle: int | None = None) -> bool:
        """Do nothing until that (monotonic) moment, or (True) until an idle connection ends."""
        return self._poll(idle, select.POLLIN, until_s)

    def _poll(self, descriptor: int | None, events: int, deadline_s: float) -> bool:
        """Return True when the descriptor is ready, False at the deadline."""
        poll = select.poll()
        poll.register(self._channel.fileno(), select.POLLIN)
        if descriptor is not None:
            poll.register(descriptor, events)
        while True:
            left_s = deadline_s - time.monotonic()
            self._channel.rest(max(0.0, left_s))
            ready = [number for number, _ in poll.poll(max(0.0, left_s) * 1000)]
            self._channel.rest(0.0)
            if self._channel.fileno() in ready:
                self._hear(0.0)
            if descriptor in ready:
                return True
            if left_s <= 0:
                return False

    def _hear(self, timeout_s: float | None) -> None:
        """Take requests; Replaced is raised when one of them changes what is to be probed."""
        request = self._channel.receive(timeout_s)
        before = self._asked
        while request is not None:
            self._take(request)
            request = self._channel.receive(0.0)
        if self._asked != before:
            raise Replaced

    def _take(self, request: dict[str, Any]) -> None:
        fields, pid = request.get("probe"), request.get("pid")
        if (pid, fields) == self._asked:
            return
        self._asked = (pid, fields)
        self.plan = Plan(fields, pid) if fields is not None else None
