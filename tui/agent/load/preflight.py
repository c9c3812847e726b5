"""What is asked before any load: which models there are, and whether tokens flow, from the right one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tui.agent.http.refusal import brief, plain
from tui.agent.load.judge import Asked, judge
from tui.agent.load.stream import NAME_CHARACTERS, read_exchange

if TYPE_CHECKING:
    from tui.agent.load.connections import Exchange
    from tui.agent.load.lines import Lines
    from tui.agent.load.work import Requests

MODELS_TIMEOUT_S = 15.0
PREFLIGHT_TOKENS = 4
_LISTED = 5
_INDEX = 2000000000


class Failed(Exception):
    """The benchmark cannot go on; carries the class and the words."""

    def __init__(self, fault: str, detail: str) -> None:
        super().__init__(fault, detail)
        self.fault = fault
        self.detail = detail


class Preflight:
    """``model`` is the one to ask, ``first_ttft_s`` how long the very first request waited for its token."""

    def __init__(self, lines: Lines, requests: Requests, spec: dict[str, Any]) -> None:
        self._lines = lines
        self._requests = requests
        self._spec = spec
        self.model: str | None = spec["model"]
        self.first_ttft_s: float | None = None

    async def find_model(self) -> str:
        """Return the model to ask: the one named, else the first listed. Raises Failed."""
        exchange = await self._lines.ask(0, self._requests.models(), MODELS_TIMEOUT_S)
        if exchange.fault:
            raise Failed(exchange.fault, exchange.detail)
        ids = _model_ids(exchange)
        refused = exchange.status in (401, 403) or (not self.model and not ids and exchange.status != 200)
        if refused:
            raise Failed(*judge(exchange, read_exchange(exchange), Asked(None, 0)))
        if self.model is None:
            if not ids:
                raise Failed("no_model", "")
            self.model = ids[0]
        elif ids and self.model not in ids:
            listed = ", ".join(map(brief, ids[:_LISTED])) + (", …" if len(ids) > _LISTED else "")
            raise Failed("wrong_model", "it lists %s, not %s" % (listed, self.model))
        return self.model

    async def first_request(self) -> None:
        """Send one short request; a server that refuses its optional fields is asked again without them.

        Raises Failed. What the server counts in its prompt corrects the length of all others.
        """
        assert self.model is not None
        tokens = min(PREFLIGHT_TOKENS, self._spec["output_tokens"])
        first: Failed | None = None
        while True:
            request = self._requests.probe(self.model, tokens, _INDEX)
            exchange = await self._lines.ask(0, request, self._spec["timeout_s"])
            answer = read_exchange(exchange)
            fault, detail = judge(exchange, answer, Asked(self.model, 0))
            if not fault:
                break
            first = first or Failed(fault, detail)
            if fault not in ("http_400", "http_422") or not self._requests.manners.less():
                raise first
        self.first_ttft_s = answer.stamps_s[0] - exchange.sent_s
        if answer.usage_input:
            self._requests.prompts.fit(answer.usage_input)


def _model_ids(exchange: Exchange) -> list[str]:
    """Return the ids of a list of models ([] for anything else)."""
    try:
        found = json.loads(exchange.body.decode("utf-8", "replace"))
        return [plain(str(one["id"])[:NAME_CHARACTERS]) for one in found["data"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        return []
