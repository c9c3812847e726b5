"""Emptying the engine's prefix cache, believed only when a prompt that was in it is found there no more."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from tui.agent.http.refusal import error_words
from tui.agent.load.counters import LOOK_S, SLOT
from tui.agent.load.judge import Asked, judge
from tui.agent.load.stream import read_exchange

if TYPE_CHECKING:
    from tui.agent.load.counters import Meter
    from tui.agent.load.lines import Lines
    from tui.agent.load.work import Requests

TIMEOUT_S = 60.0
_TRIES = 4  # SGLang answers 400 while a request that has just ended is still being put away
_COUNTED_S = 2.0
_COUNT_EVERY_S = 0.1
_LEFT = (
    0.1  # of what was found before: the words of a chat template may be back at once, by anybody's request
)


class Flusher:
    """Empties the prefix cache once. ``state`` and ``sentence`` as ``flush`` in BenchResult."""

    def __init__(self, lines: Lines, requests: Requests, meter: Meter, model: str) -> None:
        self._lines = lines
        self._requests = requests
        self._meter = meter
        self._model = model
        self.state = "refused"
        self.sentence = ""

    async def run(self, others: float | None) -> None:
        """Empty it where that can be done, and find out whether it is empty."""
        how = self._meter.flush()
        if how is None:
            self.sentence = "the prefix cache was not emptied: this server has no known way to do it"
        elif others is None:
            self.sentence = "the prefix cache was not emptied: whether other requests run is not known"
        elif others:
            self.sentence = "the prefix cache was not emptied: other requests run"
        else:
            await self._flush(how)

    async def _flush(self, how: dict[str, Any]) -> None:
        await self._found(how)
        before = await self._found(how)
        refusal = await self._ask(how)
        if refusal:
            self.sentence = "the server did not empty its prefix cache: " + refusal
            return
        self.state = "unconfirmed"
        after = await self._found(how)
        said = "the server says its prefix cache is empty"
        if before is None or after is None:
            self.sentence = said + "; it counts no hits by which to know"
        elif not before:
            self.sentence = said + "; a prompt sent twice before was not found in it either"
        elif after > before * _LEFT:
            self.sentence = said + ", and found %d of %d tokens in it again" % (after, before)
        else:
            self.state = "confirmed"
            self.sentence = "the prefix cache was emptied: %d tokens were found in it before, %d after" % (
                before,
                after,
            )

    async def _ask(self, how: dict[str, Any]) -> str:
        """Ask the server to empty it; return how it refuses, "" when it does not."""
        request = self._requests.plain(how["method"], how["path"])
        exchange = await self._lines.ask(SLOT, request, TIMEOUT_S)
        for _ in range(_TRIES - 1):
            if exchange.status != 400:
                break
            await asyncio.sleep(LOOK_S)
            exchange = await self._lines.ask(SLOT, request, TIMEOUT_S)
        if exchange.fault:
            return exchange.detail or exchange.fault
        body = exchange.body.replace(b" ", b"")
        if exchange.status == 404 and how["needs"]:
            return "%s is not served without %s" % (how["path"], how["needs"])
        if exchange.status != 200 or b'"success":false' in body.lower():
            return "%d %s" % (exchange.status, error_words(exchange.body[:4096]))
        return ""

    async def _found(self, how: dict[str, Any]) -> float | None:
        """Send the prompt; return how many of its tokens were in the cache, None where nothing tells."""
        before = await self._meter.read()
        exchange = await self._lines.ask(SLOT, self._requests.long_probe(self._model), TIMEOUT_S)
        answer = read_exchange(exchange)
        if judge(exchange, answer, Asked(self._model, 0))[0]:
            return None
        rise = await self._rise(before, how["hits"])
        told = [each for each in (rise, answer.usage_cached) if each is not None]
        return float(max(told)) if told else None

    async def _rise(self, before: dict[str, float], hits: list[str]) -> float | None:
        """Return by how much the hits rose, once the counters have taken the request in; None if they do not.

        A counter of hits that is not there is 0 as long as others count: some come with the first hit.
        """
        for _ in range(round(_COUNTED_S / _COUNT_EVERY_S)):
            after = await self._meter.read()
            if self._meter.rose(before, after, hits):
                return sum(after.get(name, 0.0) - before.get(name, 0.0) for name in hits)
            await asyncio.sleep(_COUNT_EVERY_S)
        return None
