"""The chat requests of a workload: one prompt each, or conversations that carry the server's own answers."""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING

from tui.agent.load.dataset import quoted
from tui.agent.load.flight import WARMUP_INDEX
from tui.agent.load.judge import Asked, judge
from tui.agent.load.stream import StreamReader

if TYPE_CHECKING:
    from tui.agent.load.connections import Exchange
    from tui.agent.load.dataset import DataSet
    from tui.agent.load.work import Prompts

USER = b'{"role": "user", "content": "%s"}'
_SLICE_S = 0.0003  # as in stage.py: no other stream's stamp is late by more
_READS = 8


class Form:
    """A chat request without its messages and the length of its answer."""

    def __init__(self, head: bytes, fields: dict[str, object]) -> None:
        self._head = head + b"Content-Type: application/json\r\nContent-Length: "
        self._before = json.dumps(fields)[:-1].encode("ascii") + b', "max_tokens": '

    def fill(self, messages: bytes, tokens: int) -> bytes:
        """Return the request, given JSON messages without their brackets."""
        body = self._before + b'%d, "messages": [' % tokens + messages + b"]}"
        return self._head + b"%d\r\n\r\n" % len(body) + body


class Talk:
    """A conversation: which one, how many turns are behind it, and all that was said, as JSON messages."""

    __slots__ = ("asked", "index", "messages", "turn", "turns")

    def __init__(self, index: int, asked: Asked, turns: int, messages: bytes) -> None:
        self.index = index
        self.asked = asked
        self.turns = turns
        self.turn = 0
        self.messages = messages


class Template:
    """Makes a workload's requests, in conversations of up to ``turns`` turns: one of a stream at a time.

    A conversation ends after its last turn, or with a turn that fails; those of the warm-up end with it.
    """

    def __init__(self, form: Form, source: Prompts | DataSet, asked: Asked, turns: int) -> None:
        self._form = form
        self._source = source
        self._asked = asked
        self._turns = turns
        self._talks: dict[int, Talk] = {}
        self._begun = {False: 0, True: WARMUP_INDEX}

    def make(self, index: int, slot: int = 0) -> bytes:
        """Return the next request of a stream: that number's, or the next turn of its conversation."""
        return self.next(index, slot)[0]

    def next(self, index: int, slot: int) -> tuple[bytes, Asked]:
        """Return the same, and what it asks for."""
        talk = self._talks.get(slot)
        if talk is None or (talk.index >= WARMUP_INDEX) != (index >= WARMUP_INDEX):
            talk = self._begin(index)
            if talk.turns > 1:
                self._talks[slot] = talk
        return self._form.fill(talk.messages, talk.asked.tokens), talk.asked

    async def hear(self, slot: int, exchange: Exchange) -> None:
        """Take in the end of a stream's request: its answer is in the next turn's prompt.

        It is read in slices, so that other streams are stamped meanwhile.
        """
        talk = self._talks.pop(slot, None)
        if talk is None or talk.turn + 1 >= talk.turns:
            return
        answer = await _text(exchange, talk.asked)
        if answer is None:
            return
        talk.turn += 1
        said = b', {"role": "assistant", "content": %s}, ' % quoted(answer)
        talk.messages += said + self._source.message(talk.index, talk.turn)
        self._talks[slot] = talk

    def _begin(self, index: int) -> Talk:
        source = self._source
        if self._turns > 1:  # requests are numbered, and a conversation has several
            warm = index >= WARMUP_INDEX
            index, self._begun[warm] = self._begun[warm], self._begun[warm] + 1
        tokens, turns = source.tokens(index), source.turns(index)
        asked = self._asked if tokens is None else Asked(self._asked.model, tokens)
        messages = source.opening(index) + source.message(index, 0)
        return Talk(index, asked, min(self._turns, turns or self._turns), messages)


async def _text(exchange: Exchange, asked: Asked) -> str | None:
    """Return what a request was answered, None when it failed."""
    if exchange.went_wrong:
        return None
    reader = StreamReader()
    reader.texts = []
    until_s = time.monotonic() + _SLICE_S
    for at in range(0, len(exchange.reads), _READS):
        for moment_s, data in exchange.reads[at : at + _READS]:
            reader.feed(moment_s, data)
        if time.monotonic() > until_s:
            await asyncio.sleep(0)
            until_s = time.monotonic() + _SLICE_S
    reader.close(exchange.ended_s)
    fault, _ = judge(exchange, reader.answer, asked)
    return None if fault else "".join(reader.texts)
