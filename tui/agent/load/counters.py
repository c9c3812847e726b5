"""The engine's own counters, read from its metrics page (Prometheus text), and whose requests run on it."""

from __future__ import annotations

import asyncio
import math
import re
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from tui.agent.load.flight import Flight
    from tui.agent.load.lines import Lines
    from tui.agent.load.stream import Answer
    from tui.agent.load.work import Requests

PAGE_LIMIT_BYTES = 8 * 1024 * 1024
PAGE_TIMEOUT_S = 10.0
LOOK_S = 0.5  # a health probe's own token is done by then
_SETTLE_S = 0.05  # for the server to count the request that ended last
SLOT = -1  # a connection of its own: those of the streams are busy


def values_of(page: bytes, names: list[str], highest: list[str]) -> dict[str, float]:
    """Return the named values of a page, summed over labels; of those in ``highest`` the greatest counts.

    A name with a value that no counter can have (NaN, infinite, negative, no number) is left out.
    """
    wanted = b"|".join(re.escape(name.encode("utf-8")) for name in names)
    found: dict[str, float] = {}
    for match in re.finditer(rb"^(%s)(?:\{[^\n]*\})?[ \t]+(\S+)" % wanted, page, re.MULTILINE):
        name, value = match[1].decode("utf-8"), _number(match[2])
        before = found.get(name, 0.0)
        found[name] = max(before, value) if name in highest else before + value
    return {name: value for name, value in found.items() if math.isfinite(value)}


def _number(text: bytes) -> float:
    try:
        value = float(text)
    except ValueError:
        return math.inf
    return value if 0 <= value < math.inf else math.inf


class Meter:
    """Reads the counters that a request named; nothing where it named none."""

    def __init__(self, lines: Lines, requests: Requests, wanted: dict[str, Any] | None) -> None:
        self._lines = lines
        self._requests = requests
        self._wanted: dict[str, Any] = wanted or {}
        self._names = [*self._list("running"), *self._list("names")]
        self._reading: asyncio.Task[bytes] | None = None
        self._ends: tuple[dict[str, float], dict[str, float]] = ({}, {})
        self.absent = False

    async def read(self) -> dict[str, float]:
        """Return the values by name, {} without a page."""
        return self._values(await self._page())

    def begin(self) -> None:
        """Have the page read as it is now; what it says is read later, as streams are being stamped."""
        self._reading = asyncio.get_running_loop().create_task(self._page())

    async def end(self) -> None:
        """Read it again: what rose in between belongs to the measurement."""
        if self._reading is not None:
            await asyncio.sleep(_SETTLE_S)
            self._ends = self._values(await self._reading), await self.read()

    def drop(self) -> None:
        """Wait for nothing any more."""
        if self._reading is not None:
            self._reading.cancel()

    async def _page(self) -> bytes:
        """Return the page, b"" without one; ``absent`` tells then."""
        if not self._names:
            return b""
        request = self._requests.plain("GET", self._wanted["path"])
        exchange = await self._lines.ask(SLOT, request, PAGE_TIMEOUT_S)
        page = exchange.body
        self.absent = exchange.went_wrong or len(page) > PAGE_LIMIT_BYTES
        return b"" if self.absent else page

    def _values(self, page: bytes) -> dict[str, float]:
        return values_of(page, self._names, self._list("highest")) if page else {}

    async def others(self, *, patient: bool) -> float | None:
        """Return how many requests the server says it has, none of ours being on their way; None if unknown.

        Those that are there at one look alone, and not half a second later, do not count. What stands still
        may be left over from before (``settle_s``): ``patient`` waits for that.
        """
        page, began_s = await self.read(), time.monotonic()
        while True:
            count = self._running(page)
            if not count:
                return count
            await asyncio.sleep(LOOK_S)
            before, page = page, await self.read()
            now = self._running(page)
            settled = time.monotonic() - began_s >= self._wanted["settle_s"]
            if not now or settled or page != before or not patient:
                return now if now is None else min(count, now)

    def rows(self) -> list[dict[str, object]]:
        """Return the counters before and after as in Counter of tui/benchmark.py, those that were seen."""
        before, after = self._ends
        names = [name for name in self._list("names") if name in before or name in after]
        return [{"name": name, "before": before.get(name), "after": after.get(name)} for name in names]

    def rose(self, before: dict[str, float], after: dict[str, float], but: list[str]) -> bool:
        """Tell whether a counter rose, other than those named."""
        names = [name for name in self._list("names") if name not in but]
        return any(after.get(name, 0.0) > before.get(name, 0.0) for name in names)

    def words(self) -> str:
        """Return what to say of a page that is not there, "" otherwise."""
        needs: str = self._wanted.get("needs") or ""
        words = "the server shows no counters of its own" + (" without %s" % needs if needs else "")
        return words if self.absent else ""

    def flush(self) -> dict[str, Any] | None:
        """Return how the prefix cache is emptied, None where that is not known."""
        return self._wanted.get("flush")

    def _list(self, name: str) -> list[str]:
        return self._wanted.get(name) or []

    def _running(self, page: dict[str, float]) -> float | None:
        known = [page[name] for name in self._list("running") if name in page]
        return sum(known) if known else None


class Spill:
    """Tokens of warm-up requests that ended after the first measured one was sent.

    The server's counters, read at that moment, hold them too. ``known`` turns False with one whose tokens are
    not known.
    """

    def __init__(self, begun: Callable[[], None]) -> None:
        self._begun = begun
        self._began_s: float | None = None
        self._requests = self._tokens = 0
        self._arrived = 0.0
        self.known = True

    def begin(self) -> None:
        """Begin, unless that has happened."""
        if self._began_s is None:
            self._began_s = time.monotonic()
            self._begun()

    def add(self, flight: Flight, answer: Answer, fault: str) -> None:
        """Count one; its tokens that arrived since the beginning are told apart."""
        began_s, stamps = self._began_s, answer.stamps_s
        if began_s is None or flight.exchange.ended_s <= began_s:
            return
        if fault or not answer.usage_output:
            self.known = False
            return
        self._requests += 1
        self._tokens += answer.usage_output
        self._arrived += answer.usage_output * sum(stamp > began_s for stamp in stamps) / len(stamps)

    def fields(self) -> dict[str, object] | None:
        """Return them as Spilled of tui/benchmark.py, None where not known."""
        if not self.known or self._began_s is None:
            return None
        return {"requests": self._requests, "tokens": self._tokens, "arrived": round(self._arrived)}
