"""Answers that are no stream at all: statuses, odd HTTP, broken connections, time-outs."""

import json
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from tui.agent.http import response as load_response
from tui.agent.load import connections as load_http

Say = Any
Reply = Callable[[Any], Iterable[Any]]


def _refuse(status: str, *fields: str) -> Callable[[Say], Reply]:
    body = json.dumps({"error": {"message": "not now"}}).encode()
    return lambda say: lambda _: [say.sized(body, status, *fields)]


BAD: dict[str, tuple[str, Callable[[Say], Reply]]] = {
    "429 with Retry-After": ("http_429", _refuse("429 Too Many Requests", "Retry-After: 0")),
    "503 with Retry-After": ("http_503", _refuse("503 Service Unavailable", "Retry-After: 0")),
    "500": ("http_500", _refuse("500 Internal Server Error")),
    "a redirect": ("http_302", _refuse("302 Found", "Location: /elsewhere")),
    "204 without a body": ("http_204", lambda say: lambda _: [b"HTTP/1.1 204 No Content\r\n\r\n"]),
    "something that is no HTTP": ("not_http", lambda _: lambda _: [b"SSH-2.0-OpenSSH_9.6\r\n"]),
    "a status that is no number": ("not_http", lambda _: lambda _: [b"HTTP/1.1 OK\r\n\r\n"]),
    "a compressed answer": ("not_http", lambda say: lambda _: [say.head("200 OK", "Content-Encoding: gzip")]),
    "a length that is no number": (
        "not_http",
        lambda say: lambda _: [say.head("200 OK", "Content-Length: -5")],
    ),
    "a chunk without a size": (
        "not_http",
        lambda say: lambda _: [say.head("200 OK", "Transfer-Encoding: chunked"), b"zz\r\n"],
    ),
    "a chunk longer than its size": (
        "not_http",
        lambda say: lambda _: [say.head("200 OK", "Transfer-Encoding: chunked"), b"2\r\nabc\r\n"],
    ),
    "a head without end": (
        "not_http",
        lambda say: lambda _: [say.head()[:-2] + b"X-Pad: " + b"x" * (load_response.HEAD_LIMIT_BYTES + 1)],
    ),
    "closed without an answer": ("reset", lambda _: lambda _: [0.3, "close"]),
    "reset without an answer": ("reset", lambda _: lambda _: [0.3, "reset"]),
    "reset in mid-stream": (
        "reset",
        lambda say: lambda _: [say.head(), say.event(say.delta()), 0.02, "reset"],
    ),
    "closed in the middle of a chunked body": (
        "cut",
        lambda say: (
            lambda _: [
                say.head("200 OK", "Transfer-Encoding: chunked"),
                say.chunk(say.event(say.delta())),
                "close",
            ]
        ),
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_an_answer_that_is_no_stream_is_a_failure_of_its_class(
    serve: Any, bench: Any, say: Say, name: str
) -> None:
    fault, reply = BAD[name]
    result = bench(serve(measured=say.once(reply(say))).url)
    assert (result.outcome, result.completed, result.failures) == ("done", 1, {fault: 1})


GOOD: dict[str, Callable[[Say], bytes]] = {
    "a head of 200 KB": lambda say: say.head(
        "200 OK", "Transfer-Encoding: chunked", *(f"X-{n}: {'y' * 1000}" for n in range(200))
    ),
    "100 Continue before it": lambda say: (
        b"HTTP/1.1 100 Continue\r\n\r\n" + say.head("200 OK", "Transfer-Encoding: chunked")
    ),
    "other capitals and blanks": lambda _: (
        b"HTTP/1.1 200 \r\ntransfer-ENCODING:   CHUNKED\r\nConnection: Keep-Alive\r\n\r\n"
    ),
}


@pytest.mark.parametrize("name", GOOD)
def test_odd_heads_are_understood(serve: Any, bench: Any, say: Say, name: str) -> None:
    def reply(asked: Any) -> Iterator[bytes]:
        pieces = list(say.whole(asked))
        yield GOOD[name](say)
        yield from pieces[1:]

    assert bench(serve(measured=reply).url).completed == 2


def test_a_head_that_drips_in_bytes_and_a_trailer_after_the_body(serve: Any, bench: Any, say: Say) -> None:
    def drip(asked: Any) -> Iterator[bytes]:
        data = b"".join(say.whole(asked))
        end = data.index(b"\r\n\r\n") + 4
        yield from (data[at : at + 1] for at in range(end))
        yield data[end:-2] + b"X-Trailer: 1\r\n\r\n"

    server = serve(measured=drip)
    assert bench(server.url).completed == 2
    assert len({asked.connection for asked in server.asked}) == 1


def test_a_server_that_says_nothing_is_a_timeout(serve: Any, bench: Any, say: Say) -> None:
    def silent(_: Any) -> list[Any]:
        return [say.head(), 5.0]

    result = bench(serve(measured=say.once(silent)).url, timeout_s=0.3)
    assert result.failures == {"timeout": 1}
    assert result.completed == 1


def test_a_body_left_open_after_done_is_not_waited_for(
    serve: Any, bench: Any, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load_http, "DONE_GRACE_S", 0.05)

    def open_ended(asked: Any) -> Iterator[Any]:
        yield b"".join(say.whole(asked))[: -len(b"0\r\n\r\n")]
        yield 3.0

    began_s = time.monotonic()
    assert bench(serve(measured=open_ended).url).completed == 2
    assert time.monotonic() - began_s < 2.5


def test_a_stream_keeps_its_connection(serve: Any, bench: Any) -> None:
    server = serve()
    assert bench(server.url, concurrency=4, requests=20).completed == 20
    assert len({asked.connection for asked in server.asked}) == 4
    assert server.most_at_once <= 4


def test_a_server_that_closes_after_each_answer_is_connected_to_anew(
    serve: Any, bench: Any, say: Say
) -> None:
    def closing(asked: Any) -> Iterator[Any]:
        data = b"".join(say.whole(asked))
        yield data.replace(b"\r\n", b"\r\nConnection: close\r\n", 1)
        yield "close"

    server = serve(measured=closing, chat=closing)
    assert bench(server.url, requests=5).completed == 5


def test_a_kept_connection_that_proves_closed_is_no_failure(serve: Any, bench: Any, say: Say) -> None:
    answered: set[int] = set()

    def lazy(asked: Any) -> Iterable[Any]:
        """Break every second request of a connection, as a server does that had timed it out."""
        if asked.connection in answered:
            return ["reset"]
        answered.add(asked.connection)
        return say.whole(asked)

    result = bench(serve(measured=lazy).url, requests=6)
    assert (result.completed, result.failures) == (6, {})


def test_a_restart_in_mid_run_is_told_and_survived(serve: Any, bench: Any, say: Say) -> None:
    measured: list[Any] = []

    def fragile(asked: Any) -> Iterable[Any]:
        measured.append(asked)
        if len(measured) == 5:
            return [say.head(), say.event(say.delta()), "restart"]
        return say.whole(asked)

    result = bench(serve(measured=fragile, down_s=0.25).url, requests=30, concurrency=2)
    assert result.outcome == "done"
    assert result.completed + result.failed == 30
    assert result.completed >= 15
    assert set(result.failures) <= {"reset", "cut", "refused"}
    assert "failed: " in result.sentence
