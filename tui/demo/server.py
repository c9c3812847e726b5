"""The HTTP endpoint of the simulated engine: refuses, answers 503, is ready, streams chat completions."""

import asyncio
import json
import socket
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

MODEL = "simulated-qwen3"
# Measured on the recorded server: a health answer generates a token and takes whole seconds.
HEALTH_S = 1.0
FIRST_TOKEN_S = 0.052
TOKEN_S = 0.00576
# Each further request in flight slows the others a little (invented).
SHARE = 0.02
WORDS = ("the", "server", "is", "loaded", "and", "these", "words", "are", "made", "up", "by", "a", "demo")
BODY_LIMIT_BYTES = 1024 * 1024
STATUS_WORDS = {200: "OK", 400: "Bad Request", 404: "Not Found", 503: "Service Unavailable"}


@dataclass(frozen=True, slots=True)
class Ask:
    """One HTTP request."""

    method: str
    path: str
    body: bytes


class Endpoint:
    """Serves one port. Its owner sets ``ready``; ``speed`` is how many times faster health answers."""

    def __init__(self, log: Callable[[str], None], speed: float = 1.0, model: str = MODEL) -> None:
        self.ready = False
        self._model = model
        self.running = 0
        self.generated = 0
        self._log = log
        self._speed = speed

    async def open(self, bound: socket.socket) -> asyncio.Server:
        """Begin to listen on a socket that was bound before, so that it refused until now."""
        return await asyncio.start_server(self._serve, sock=bound)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (ask := await _read(reader)) is not None:
                await self._answer(ask, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
            pass
        finally:
            writer.close()

    async def _answer(self, ask: Ask, writer: asyncio.StreamWriter) -> None:
        if ask.path == "/v1/chat/completions" and ask.method == "POST":
            await self._chat(ask, writer)
        elif ask.path == "/health":
            await self._health(ask, writer)
        elif ask.path == "/v1/models":
            card = {"id": self._model, "object": "model", "owned_by": "sglang", "root": self._model}
            await self._reply(ask, writer, 200, {"object": "list", "data": [card]})
        else:
            await self._reply(ask, writer, 404, {"detail": "Not Found"})

    async def _health(self, ask: Ask, writer: asyncio.StreamWriter) -> None:
        if self.ready:
            await asyncio.sleep(HEALTH_S / self._speed)
        await self._reply(ask, writer, 200 if self.ready else 503, None)

    async def _chat(self, ask: Ask, writer: asyncio.StreamWriter) -> None:
        wish = _wish(ask.body)
        if wish is None:
            await self._reply(ask, writer, 400, {"message": "no chat request"})
        elif not self.ready:
            await self._reply(ask, writer, 503, {"message": "still loading"})
        else:
            self.running += 1
            try:
                await self._generate(ask, wish, writer)
            finally:
                self.running -= 1

    async def _generate(self, ask: Ask, wish: "Wish", writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(FIRST_TOKEN_S)
        if not wish.stream:
            await asyncio.sleep(TOKEN_S * wish.tokens)
            self.generated += wish.tokens
            message = {"role": "assistant", "content": _text(0, wish.tokens)}
            choice = {"index": 0, "message": message, "finish_reason": "length"}
            whole = self._frame(wish, "chat.completion", [choice]) | {"usage": wish.usage()}
            await self._reply(ask, writer, 200, whole)
            return
        await self._head(ask, writer, 200, "text/event-stream", None)
        for number in range(wish.tokens):
            delta = {"index": 0, "delta": {"content": _text(number, 1)}, "finish_reason": None}
            await _chunk(writer, self._frame(wish, "chat.completion.chunk", [delta]))
            self.generated += 1
            await asyncio.sleep(TOKEN_S * (1 + SHARE * (self.running - 1)))
        last: dict[str, object] = {"index": 0, "delta": {}, "finish_reason": "length"}
        await _chunk(writer, self._frame(wish, "chat.completion.chunk", [last]))
        if wish.usage_wanted:
            await _chunk(writer, self._frame(wish, "chat.completion.chunk", []) | {"usage": wish.usage()})
        writer.write(b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n")
        await writer.drain()

    def _frame(self, wish: "Wish", kind: str, choices: Sequence[Mapping[str, object]]) -> dict[str, object]:
        made_s = int(time.time())
        return {"id": wish.name, "object": kind, "created": made_s, "model": self._model, "choices": choices}

    async def _reply(
        self, ask: Ask, writer: asyncio.StreamWriter, status: int, body: dict[str, object] | None
    ) -> None:
        content = b"" if body is None else json.dumps(body).encode()
        await self._head(ask, writer, status, "application/json", len(content))
        writer.write(content)
        await writer.drain()

    async def _head(
        self, ask: Ask, writer: asyncio.StreamWriter, status: int, kind: str, length: int | None
    ) -> None:
        words = STATUS_WORDS[status]
        size = "transfer-encoding: chunked" if length is None else f"content-length: {length}"
        writer.write(
            f"HTTP/1.1 {status} {words}\r\nserver: uvicorn\r\ncontent-type: {kind}\r\n{size}\r\n\r\n".encode()
        )
        peer = cast("tuple[str, int]", writer.get_extra_info("peername"))
        self._log(f'INFO:     {peer[0]}:{peer[1]} - "{ask.method} {ask.path} HTTP/1.1" {status} {words}')
        await writer.drain()


@dataclass(frozen=True, slots=True)
class Wish:
    """What a chat request asks for."""

    name: str
    tokens: int
    prompt_tokens: int
    stream: bool
    usage_wanted: bool

    def usage(self) -> dict[str, int]:
        """Return the token counts of the answer."""
        return {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.tokens,
            "total_tokens": self.prompt_tokens + self.tokens,
        }


def _wish(body: bytes) -> Wish | None:
    try:
        asked: object = json.loads(body)
    except ValueError:
        return None
    if not isinstance(asked, dict):
        return None
    fields = cast("dict[str, object]", asked)
    tokens = fields.get("max_tokens") or fields.get("max_completion_tokens") or 64
    options = fields.get("stream_options")
    wanted = isinstance(options, dict) and bool(cast("dict[str, object]", options).get("include_usage"))
    return Wish(
        name="chatcmpl-" + uuid.uuid4().hex,
        tokens=max(1, min(tokens, 4096)) if isinstance(tokens, int) else 64,
        prompt_tokens=len(json.dumps(fields.get("messages")).split()),
        stream=bool(fields.get("stream")),
        usage_wanted=wanted,
    )


async def _read(reader: asyncio.StreamReader) -> Ask | None:
    """Return the next request of a connection, None at its end."""
    first = await reader.readline()
    if not first.strip():
        return None
    method, path, _ = first.decode("latin-1").split(" ", 2)
    length = 0
    while (line := await reader.readline()).strip():
        name, _, value = line.decode("latin-1").partition(":")
        if name.strip().lower() == "content-length":
            length = min(int(value), BODY_LIMIT_BYTES)
    return Ask(method, path.partition("?")[0], await reader.readexactly(length))


def _text(number: int, count: int) -> str:
    return "".join(WORDS[each % len(WORDS)] + " " for each in range(number, number + count))


async def _chunk(writer: asyncio.StreamWriter, frame: dict[str, object]) -> None:
    data = b"data: " + json.dumps(frame).encode() + b"\n\n"
    writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
    await writer.drain()
