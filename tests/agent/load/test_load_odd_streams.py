"""Streams as servers really send them, each over a real socket: what is counted, and what is a failure."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

Say = Any
Pieces = Callable[[Say], Iterable[bytes | float]]
N = 100


def _tokens(say: Say, count: int = N) -> list[bytes]:
    return [say.event(say.delta()) for _ in range(count)]


def _end(say: Say, output: int = N) -> list[bytes]:
    return [say.event(say.finish()), say.event(say.usage(output)), say.event(b"[DONE]")]


def _plain(say: Say) -> list[bytes]:
    return [say.event(say.delta("", choice={"delta": {"role": "assistant"}})), *_tokens(say), *_end(say)]


def _bytewise(data: bytes) -> Iterator[bytes]:
    return (data[at : at + 1] for at in range(len(data)))


def _split_utf8(say: Say) -> Iterator[bytes | float]:
    emoji = say.event(say.delta("\N{ROCKET}" * 4))
    for _ in range(N):
        for at in range(0, len(emoji), 37):
            yield emoji[at : at + 37]
        yield 0.0002
    yield from _end(say)


def _between_reads(say: Say) -> Iterator[bytes | float]:
    data = b"".join(_plain(say))
    for at in range(0, len(data), 501):
        yield data[at : at + 501]
        yield 0.0005


def _crlf_between_reads(say: Say) -> Iterator[bytes | float]:
    for one in _plain(say):
        line = one.rstrip(b"\n")
        yield from (line + b"\r", 0.0005, b"\n\r", 0.0005, b"\n")


def _each(say: Say, change: Callable[[bytes], bytes]) -> list[bytes]:
    return [change(one) for one in _plain(say)]


def _two_lines_crlf(say: Say) -> bytes:
    return b"".join(_plain(say)).replace(b', "', b',\ndata: "').replace(b"\n", b"\r\n")


def _usage_on_every_chunk(say: Say) -> list[bytes]:
    counts = [{"usage": {"prompt_tokens": 8, "completion_tokens": n + 1}} for n in range(N)]
    return [*(say.event(say.delta(**one)) for one in counts), say.event(say.finish()), say.event(b"[DONE]")]


def _named(say: Say, name: str) -> list[bytes]:
    deltas = [{"choice": {"delta": {name: "hm", "content": None}}} for _ in range(N // 2)]
    return [*(say.event(say.delta(**one)) for one in deltas), *_tokens(say, N // 2), *_end(say)]


def _empty_between(say: Say) -> list[bytes]:
    empty = say.event(say.delta(""))
    return [piece for token in _tokens(say) for piece in (empty, token)] + _end(say)


def _megabyte(say: Say) -> list[bytes]:
    return [say.event(say.delta("x" * 1_000_000)), *_tokens(say, N - 1), *_end(say)]


GOOD: dict[str, Pieces] = {
    "as most servers send it": _plain,
    "all in one write": lambda say: [b"".join(_plain(say))],
    "characters split over reads": _split_utf8,
    "events split over reads": _between_reads,
    "a byte at a time": lambda say: _bytewise(b"".join(_plain(say))),
    "CRLF line ends": lambda say: _each(say, lambda one: one.replace(b"\n", b"\r\n")),
    "CRLF split over reads": _crlf_between_reads,
    "bare CR line ends": lambda say: _each(say, lambda one: one.replace(b"\n", b"\r")),
    "data without a space": lambda say: _each(say, lambda one: one.replace(b"data: ", b"data:")),
    "comments between events": lambda say: _each(say, lambda one: b": ping\n\n" + one + b":\n"),
    "ids, retries and event names": lambda say: _each(say, lambda one: b"id: 7\nretry: 9\nevent: x\n" + one),
    "a byte order mark": lambda say: [b"\xef\xbb\xbf", *_plain(say)],
    "JSON over two data lines": lambda say: _each(say, lambda one: one.replace(b', "', b',\ndata: "')),
    "JSON over two data lines with CRLF": lambda say: [_two_lines_crlf(say)],
    "JSON over two data lines with CRLF, a byte at a time": lambda say: _bytewise(_two_lines_crlf(say)),
    "no role chunk": lambda say: [*_tokens(say), *_end(say)],
    "empty content between tokens": _empty_between,
    "usage null on each chunk": lambda say: [
        *(say.event(say.delta(usage=None)) for _ in range(N)),
        *_end(say),
    ],
    "usage on every chunk": _usage_on_every_chunk,
    "usage in the finish chunk": lambda say: [
        *_tokens(say),
        say.event(say.finish()[:-1] + b', "usage": {"prompt_tokens": 8, "completion_tokens": 100}}'),
        say.event(b"[DONE]"),
    ],
    "no [DONE]": lambda say: [*_tokens(say), say.event(say.finish()), say.event(say.usage(N))],
    "no finish_reason, only [DONE]": lambda say: [
        *_tokens(say),
        say.event(say.usage(N)),
        say.event(b"[DONE]"),
    ],
    "no line end after [DONE]": lambda say: [
        *_tokens(say),
        say.event(say.usage(N)),
        b"data: [DONE]",
    ],
    "content after finish_reason": lambda say: [
        *_tokens(say, N - 1),
        say.event(say.finish()),
        say.event(say.delta()),
        say.event(say.usage(N)),
        say.event(b"[DONE]"),
    ],
    "reasoning first": lambda say: _named(say, "reasoning"),
    "reasoning_content first": lambda say: _named(say, "reasoning_content"),
    "U+2028 inside a string": lambda say: [
        say.event(say.delta("a\u2028b\u0085c\x0bd")),
        *_tokens(say, N - 1),
        *_end(say),
    ],
    "a chunk of a megabyte": _megabyte,
    "null choices, error null, strange types": lambda say: [
        b'data: {"model": 7, "choices": null, "usage": []}\n\n',
        b'data: {"choices": [null], "error": null}\n\n',
        b'data: {"choices": [{"delta": [1], "finish_reason": 5}], "usage": {"completion_tokens": "9"}}\n\n',
        b'data: {"choices": [{"delta": {"content": [{"a": 1}]}}], "usage": {"completion_tokens": true}}\n\n',
        *_plain(say),
    ],
}


def _as_reply(say: Say, pieces: Pieces, framing: str) -> Callable[[Any], Iterator[Any]]:
    def reply(_: Any) -> Iterator[Any]:
        if framing == "until close":
            yield say.head()
            yield from pieces(say)
            yield "close"
        elif framing == "sized":
            yield say.sized(b"".join(one for one in pieces(say) if isinstance(one, bytes)))
        else:
            yield say.head("200 OK", "Transfer-Encoding: chunked")
            yield from (say.chunk(one) if isinstance(one, bytes) else one for one in pieces(say))
            yield b"0\r\n\r\n"

    return reply


@pytest.mark.parametrize("framing", ["until close", "chunked", "sized"])
@pytest.mark.parametrize("name", GOOD)
def test_a_healthy_stream_is_a_success_with_its_tokens_counted(
    serve: Any, bench: Any, say: Say, name: str, framing: str
) -> None:
    server = serve(measured=_as_reply(say, GOOD[name], framing))
    result = bench(server.url)
    assert (result.outcome, result.completed, result.failures) == ("done", 2, {})
    assert (result.output_tokens, result.tokens_counted_by) == (2 * N, "usage")
    assert result.ttft_ms.samples == 2
    assert result.itl_ms.samples == 2 * (N - 1)


BAD: dict[str, tuple[str, Pieces]] = {
    "an error object in mid-stream": (
        "stream_error",
        lambda say: [*_tokens(say, 50), b'data: {"error": {"message": "out of blocks", "code": 500}}\n\n'],
    ),
    "an error object, then a proper end": (
        "stream_error",
        lambda say: [*_tokens(say, 50), b'data: {"error": "no"}\n\n', *_end(say, 50)],
    ),
    "an error event": (
        "stream_error",
        lambda say: [*_tokens(say, 50), b'event: error\ndata: {"message": "gone"}\n\n', *_end(say, 50)],
    ),
    "an object called error": (
        "stream_error",
        lambda say: [b'data: {"object": "error", "message": "too long"}\n\n', say.event(b"[DONE]")],
    ),
    "an event that is no JSON": (
        "bad_json",
        lambda say: [*_tokens(say, 50), b"data: {not json\n\n", *_end(say, 50)],
    ),
    "an event that is no object": (
        "bad_json",
        lambda say: [*_tokens(say, 50), b"data: 7\n\n", *_end(say, 50)],
    ),
    "the end of the stream without an end": ("cut", lambda say: _tokens(say, 50)),
    "an event cut in its middle": ("cut", lambda say: [*_tokens(say, 50), say.event(say.delta())[:40]]),
    "an answer by another model": (
        "wrong_model",
        lambda say: [one.replace(b'"model": "m"', b'"model": "other"') for one in _plain(say)],
    ),
    "a stream without any text": (
        "no_token",
        lambda say: [say.event(say.delta("")), say.event(say.finish()), say.event(b"[DONE]")],
    ),
    "an empty body": ("cut", lambda say: []),
    "fewer tokens than asked, for length": ("short", lambda say: [*_tokens(say, 50), *_end(say, 50)]),
    "fewer tokens than asked, aborted": (
        "short",
        lambda say: [
            *_tokens(say, 50),
            say.event(say.finish("abort")),
            say.event(say.usage(50)),
            say.event(b"[DONE]"),
        ],
    ),
    "a page instead of a stream": ("not_a_stream", lambda say: [b"<html>It works!</html>"]),
    "an error body with status 200": ("stream_error", lambda say: [b'{"error": {"message": "busy"}}']),
    "a whole completion instead of a stream": (
        "not_a_stream",
        lambda say: [b'{"choices": [{"message": {"content": "word"}}]}'],
    ),
}


@pytest.mark.parametrize("framing", ["until close", "chunked"])
@pytest.mark.parametrize("name", BAD)
def test_a_failure_inside_a_200_stream_is_a_failure_of_its_class(
    serve: Any, bench: Any, say: Say, name: str, framing: str
) -> None:
    fault, pieces = BAD[name]
    result = bench(serve(measured=say.once(_as_reply(say, pieces, framing))).url)
    assert (result.outcome, result.completed, result.failed) == ("done", 1, 1)
    assert result.failures == {fault: 1}
    assert result.output_tokens == N


def test_an_answer_that_ends_by_itself_is_a_success_and_said(serve: Any, bench: Any, say: Say) -> None:
    def early(_: Any) -> Iterator[bytes | str]:
        yield say.head()
        yield from [*_tokens(say, 30), say.event(say.finish("stop")), say.event(say.usage(30))]
        yield "close"

    result = bench(serve(measured=early).url)
    assert (result.completed, result.failures, result.output_tokens) == (2, {}, 60)
    assert "2 answers ended by themselves" in result.sentence


def test_without_usage_chunks_are_counted_and_the_result_says_so(serve: Any, bench: Any, say: Say) -> None:
    def uncounted(_: Any) -> Iterator[bytes | str]:
        yield say.head()
        yield from [*_tokens(say), say.event(say.finish()), say.event(b"[DONE]")]
        yield "close"

    result = bench(serve(measured=uncounted).url)
    assert (result.output_tokens, result.tokens_counted_by) == (2 * N, "chunks")
    assert result.input_tokens is None
    assert "chunks were counted" in result.sentence


def test_several_tokens_a_chunk_show_in_itl_but_not_in_tpot(serve: Any, bench: Any, say: Say) -> None:
    def bundled(_: Any) -> Iterator[bytes | float | str]:
        yield say.head()
        for _ in range(N // 4):
            yield say.event(say.delta("four of them here"))
            yield 0.004
        yield from _end(say)
        yield "close"

    result = bench(serve(measured=bundled).url)
    assert result.output_tokens == 2 * N
    assert result.itl_ms.samples == 2 * (N // 4 - 1)
    assert result.itl_ms.mean > 3 * result.tpot_ms.mean
