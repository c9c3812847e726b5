"""The agent's loop: one thread that waits for the client, the workers and the clock, and never blocks."""

from __future__ import annotations

import json
import os
import select
import signal
import time

from tui.agent import wire
from tui.agent.channel import encode
from tui.agent.crew import Crew
from tui.agent.hello import hello
from tui.agent.output import Output
from tui.agent.processes import exits

TYPE_CHECKING = False  # as in channel.py
if TYPE_CHECKING:
    from collections.abc import Callable

_READ_BYTES = 64 * 1024
_REQUEST_BYTES = 10 * 1024 * 1024  # a benchmark may bring a data set
_TICK_S = 1.0


class Ending(Exception):
    """The agent ends; the text is its goodbye, empty when nobody is left to read one."""


class Loop:
    """Everything between the client's pipe and the workers' pipes."""

    def __init__(self, incoming: int, outgoing: int) -> None:
        self._incoming = incoming
        self._output = Output(outgoing)
        self._crew = Crew(self._output)
        self._followed: exits.Followed | None = None
        self._unfinished = b""
        self._ping_timeout_s = wire.PING_TIMEOUT_S
        self._heard_s = time.monotonic()
        self._tick_s = self._heard_s + _TICK_S
        self._alarm, self._alarm_in = os.pipe()
        for descriptor in (incoming, outgoing, self._alarm, self._alarm_in):
            os.set_blocking(descriptor, False)

    def run(self) -> None:
        """Say hello and serve until the client lets go, falls silent, or a signal comes."""
        signal.set_wakeup_fd(self._alarm_in, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, _note)
        self._output.put(encode(hello()))
        try:
            while True:
                self._turn()
        except Ending as ending:
            self._farewell(str(ending))
        except (BrokenPipeError, ConnectionResetError):
            return  # the client is gone
        finally:
            self._crew.stop()

    def _turn(self) -> None:
        self._output.write()
        handlers = {self._incoming: self._hear, self._alarm: self._obey_signal, **self._crew.handlers()}
        if self._followed is not None and self._followed.fileno() >= 0:
            handlers[self._followed.fileno()] = self._followed.close
        for descriptor, happened in self._poll(handlers):
            if descriptor in handlers:
                handlers[descriptor]()
            elif happened & (select.POLLERR | select.POLLHUP):
                raise Ending("")
        if time.monotonic() >= self._tick_s:
            self._tick()
        self._look_after_followed()
        self._crew.prepare()

    def _poll(self, handlers: dict[int, Callable[[], None]]) -> list[tuple[int, int]]:
        poll = select.poll()
        for descriptor in handlers:
            poll.register(descriptor, select.POLLIN)
        # Without events asked for, poll still tells that the reader of our output is gone.
        poll.register(self._output.descriptor, select.POLLOUT if self._output.pending else 0)
        wait_s = self._tick_s - time.monotonic() if self._crew.ready else 0.0
        if self._followed is not None and self._followed.must_be_asked:
            wait_s = min(wait_s, exits.POLL_S)
        return poll.poll(max(0.0, wait_s) * 1000 + 1)

    def _tick(self) -> None:
        now_s = time.monotonic()
        self._tick_s = max(self._tick_s + _TICK_S, now_s)
        if now_s - self._heard_s > self._ping_timeout_s:
            raise Ending("no ping for %d s" % (now_s - self._heard_s))
        self._crew.tick()

    def _look_after_followed(self) -> None:
        message = self._followed.ask() if self._followed is not None else None
        if message is not None:
            self._output.put(encode(message))

    def _obey_signal(self) -> None:
        number = os.read(self._alarm, 1)[0]
        raise Ending("ended by signal %d" % number)

    def _hear(self) -> None:
        try:
            data = os.read(self._incoming, _READ_BYTES)
        except BlockingIOError:
            return
        if not data:
            raise Ending("")
        self._heard_s = time.monotonic()
        *lines, self._unfinished = (self._unfinished + data).split(b"\n")
        for line in lines:
            self._take(line)
        if len(self._unfinished) > _REQUEST_BYTES:
            raise Ending("a request is longer than %d bytes" % _REQUEST_BYTES)

    def _take(self, line: bytes) -> None:
        try:
            request = json.loads(line)
            kind = request["kind"]
        except (ValueError, TypeError, KeyError):
            self._complain("a request is not understood: %r" % line[:200])
            return
        if kind == wire.BYE:
            raise Ending("asked to end")
        if kind == wire.ACK:
            self._output.acked_bytes = request["log_bytes"]
            return
        if kind == wire.PING:
            self._output.say(wire.PONG, sent_s=request["sent_s"])
            return
        if kind == wire.WATCH:
            self._ping_timeout_s = request.get("ping_timeout_s", wire.PING_TIMEOUT_S)
        elif kind == wire.FOLLOW:
            self._follow(request)
        if not self._crew.dispatch(request):
            self._complain("this agent does not know the request %r" % kind)

    def _follow(self, request: dict[str, object]) -> None:
        if self._followed is not None:
            self._followed.close()
            self._followed = None
        pid, started_s = request.get("pid"), request.get("started_s")
        if isinstance(pid, int):
            known = float(started_s) if isinstance(started_s, (int, float)) else None
            self._followed = exits.Followed(pid, known)

    def _complain(self, sentence: str) -> None:
        self._output.say(wire.NOTICE, level="error", about="agent", sentence=sentence)

    def _farewell(self, sentence: str) -> None:
        if not sentence:
            return
        self._output.say(wire.GOODBYE, sentence=sentence)
        try:
            self._output.write()
        except OSError:
            return  # nobody reads it


def _note(number: int, frame: object) -> None:
    """Let a signal be handled: what it does is up to the loop, woken through its descriptor."""
