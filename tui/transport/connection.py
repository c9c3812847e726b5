"""One connection to one agent: requests out, pings each second, lines in."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable

import msgspec

from tui.agent import wire
from tui.requests import AckRequest, AnyRequest, PingRequest
from tui.transport.bootstrap import ON_HOST, Started, died, said
from tui.transport.faults import fault
from tui.transport.pipe import LinkFault
from tui.transport.translate import Lines
from tui.transport.wake import ANSWER_S, Wake

_READ_BYTES = 64 * 1024
# An agent that ends of an error this early ends of it again at every try.
_EARLY_S = 5.0
_ACK_BYTES = wire.LOG_WINDOW_BYTES // 4
_OF_LOG = b'{"kind":"%b"' % wire.LOG_BYTES.encode("ascii")

WireLog = Callable[[bytes], None]


class Connection:
    """An agent that was started, until it ends. Nothing is read while nobody asks for lines.

    ``place`` says where it runs, within a sentence.
    """

    def __init__(
        self,
        started: Started,
        timeout_s: float,
        wake: Wake,
        wire_log: WireLog | None = None,
        place: str = ON_HOST,
    ) -> None:
        self._pipe = started.pipe
        self._rest = started.rest
        self._timeout_s = timeout_s
        self._wire_log = wire_log
        self._place = place
        self._wake = wake
        self._patience: asyncio.Timeout | None = None
        self._begun_s = time.monotonic()
        self._heard = False
        self._log_bytes = 0
        self._acked_bytes = 0
        self._pinging = asyncio.create_task(self._ping())

    def send(self, request: AnyRequest) -> None:
        """Queue a request; void once the link is gone."""
        self._pipe.write(msgspec.json.encode(request) + b"\n")

    async def lines(self) -> AsyncGenerator[tuple[bytes, float], None]:
        """Iterate over the agent's lines, each with the moment (client_s) it arrived.

        Never ends: raises LinkFault when the agent or the link does, or when the agent says nothing at first.
        """
        splitter = Lines()
        data = self._rest or await self._read()
        while data:
            client_s = time.monotonic()
            for line in splitter.feed(data):
                self._heard = True
                if self._wire_log is not None:
                    self._wire_log(line)
                yield line, client_s
                self._took(line)
            data = await self._read()
        raise self._fault_of_end(await self.close())

    def _took(self, line: bytes) -> None:
        """Tell the agent now and then how much of the log has been taken in, so that it sends more."""
        if line.startswith(_OF_LOG):
            self._log_bytes += len(line) + 1
            if self._log_bytes - self._acked_bytes >= _ACK_BYTES:
                self._acked_bytes = self._log_bytes
                self.send(AckRequest(log_bytes=self._log_bytes))

    async def close(self) -> int | None:
        """End the agent and let go of the pipe; return the agent's exit status where it is known."""
        self._pinging.cancel()
        await asyncio.gather(self._pinging, return_exceptions=True)
        return await self._pipe.close()

    async def _read(self) -> bytes:
        try:
            async with asyncio.timeout(None if self._heard else self._timeout_s) as self._patience:
                return await self._pipe.read(_READ_BYTES)
        except TimeoutError:
            if self._heard:
                raise fault("slept", place=self._place, seconds=f"{ANSWER_S:g}") from None
            words, seconds = said(b"", self._pipe.errors()), f"{self._timeout_s:g}"
            raise fault("agent_silent", seconds=seconds, place=self._place, it_said=words) from None
        finally:
            self._patience = None

    async def _ping(self) -> None:
        self._wake.begin()
        try:
            while True:
                self.send(PingRequest(sent_s=time.monotonic()))
                await self._pipe.drain()
                await asyncio.sleep(wire.PING_INTERVAL_S)
                if self._wake.look() and self._patience is not None:
                    self._patience.reschedule(asyncio.get_running_loop().time() + ANSWER_S)
        except LinkFault:
            return  # read() tells of it

    def _fault_of_end(self, status: int | None) -> LinkFault:
        errors = self._pipe.errors()
        if not self._heard:
            return died(status, b"", errors, self._place)
        words = said(b"", errors)
        if status is None or status == 0:
            return fault("agent_over", it_said=words)
        if status < 0:
            return fault("agent_killed", signal=-status, it_said=words)
        early = time.monotonic() - self._begun_s < _EARLY_S
        return fault("agent_failed_at_once" if early else "agent_failed", status=status, it_said=words)
