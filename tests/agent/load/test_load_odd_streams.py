"""Streams as servers really send them, each over a real socket: one table of what the figures must be.

The first request of a run gets the odd stream, the second a healthy one of N tokens in N chunks.
"""

import gzip
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

Say = Any
Pieces = Callable[[Say], Iterable[bytes | float | str]]
N = 100
STREAMED = ("until close", "chunked")
ALL = (*STREAMED, "sized")
RAW = ("raw",)


@dataclass(frozen=True)
class Row:
    """A stream and what must come of it: a class of failure, or how it counts.

    ``chunks`` are those with text, ``content`` says whether any is not reasoning. ``framing`` raw: the pieces
    are all that is sent, head included.
    """

    pieces: Pieces
    fault: str = ""
    tokens: int = N
    chunks: int = N
    content: bool = True
    counted_by: str = "usage"
    ended_early: int = 0
    framings: tuple[str, ...] = ALL


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


def _delta(say: Say, **fields: Any) -> bytes:
    """Return a chunk whose delta has just these fields."""
    return say.delta(choice={"delta": fields})


def _named(say: Say, name: str) -> list[bytes]:
    reasoning = [say.event(_delta(say, content=None, **{name: "hm"}))] * (N // 2)
    return [*reasoning, *_tokens(say, N // 2), *_end(say)]


def _empty_between(say: Say) -> list[bytes]:
    empty = say.event(say.delta(""))
    return [piece for token in _tokens(say) for piece in (empty, token)] + _end(say)


def _megabyte(say: Say) -> list[bytes]:
    return [say.event(say.delta("x" * 1_000_000)), *_tokens(say, N - 1), *_end(say)]


def _raw(status: str, *fields: str) -> Pieces:
    body = b'{"error": {"message": "not now"}}'
    return lambda say: [say.sized(body, status, *fields)]


def _chat(say: Say, *between: bytes) -> list[bytes]:
    """Return a healthy stream with these events in its middle."""
    return [*_tokens(say, N // 2), *(say.event(one) for one in between), *_tokens(say, N // 2), *_end(say)]


def _bundled(say: Say, size: int) -> list[bytes]:
    return [*(say.event(say.delta("so many words here")) for _ in range(N // size)), *_end(say)]


def _two_choices(say: Say) -> list[bytes]:
    other = {"index": 1, "delta": {"content": "other"}, "finish_reason": None}
    return [say.event(say.delta()[:-2] + b", " + json.dumps(other).encode() + b"]}")] * N + _end(say)


def _second_choice_speaks(say: Say) -> list[bytes]:
    silent = b'{"index": 1, "delta": {}, "finish_reason": null}, '
    return [say.event(say.delta().replace(b'"choices": [', b'"choices": [' + silent))] * N + _end(say)


def _tool_calls(say: Say) -> list[bytes]:
    def call(**function: str) -> bytes:
        calls = [{"index": 0, "function": function}]
        return say.event(say.delta(choice={"delta": {"content": None, "tool_calls": calls}}))

    return [call(name="search"), *(call(arguments="{}") for _ in range(N - 1)), *_end(say)]


def _uncounted(say: Say, usage: bytes) -> list[bytes]:
    counts = b'{"model": "m", "choices": [], "usage": ' + usage + b"}"
    return [*_tokens(say), say.event(say.finish()), say.event(counts), say.event(b"[DONE]")]


def _stopped(say: Say, reason: str) -> list[bytes]:
    return [*_tokens(say, 50), say.event(say.finish(reason)), say.event(say.usage(50)), say.event(b"[DONE]")]


def _gzipped(say: Say) -> list[bytes]:
    body = gzip.compress(b"".join(_plain(say)))
    return [say.head("200 OK", "Content-Encoding: gzip", f"Content-Length: {len(body)}") + body]


ROWS: dict[str, Row] = {
    "as most servers send it": Row(_plain),
    "all in one write": Row(lambda say: [b"".join(_plain(say))]),
    "characters split over reads": Row(_split_utf8),
    "events split over reads": Row(_between_reads),
    "a byte at a time": Row(lambda say: _bytewise(b"".join(_plain(say)))),
    "CRLF line ends": Row(lambda say: _each(say, lambda one: one.replace(b"\n", b"\r\n"))),
    "CRLF split over reads": Row(_crlf_between_reads),
    "bare CR line ends": Row(lambda say: _each(say, lambda one: one.replace(b"\n", b"\r"))),
    "data without a space": Row(lambda say: _each(say, lambda one: one.replace(b"data: ", b"data:"))),
    "comments between events": Row(lambda say: _each(say, lambda one: b": ping\n\n" + one + b":\n")),
    "ids, retries, event names": Row(
        lambda say: _each(say, lambda one: b"id: 7\nretry: 9\nevent: x\n" + one)
    ),
    "a byte order mark": Row(lambda say: [b"\xef\xbb\xbf", *_plain(say)]),
    "JSON over two data lines": Row(lambda say: _each(say, lambda one: one.replace(b', "', b',\ndata: "'))),
    "JSON over two data lines with CRLF": Row(lambda say: [_two_lines_crlf(say)]),
    "JSON over two data lines, a byte at a time": Row(lambda say: _bytewise(_two_lines_crlf(say))),
    "no role chunk": Row(lambda say: [*_tokens(say), *_end(say)]),
    "a role-only first delta": Row(lambda say: [say.event(_delta(say, role="assistant")), *_plain(say)]),
    "empty content between tokens": Row(_empty_between),
    "usage null on each chunk": Row(lambda say: [say.event(say.delta(usage=None))] * N + _end(say)),
    "usage on every chunk": Row(_usage_on_every_chunk),
    "usage in the finish chunk": Row(
        lambda say: [
            *_tokens(say),
            say.event(say.finish()[:-1] + b', "usage": {"prompt_tokens": 8, "completion_tokens": 100}}'),
            say.event(b"[DONE]"),
        ]
    ),
    "no usage at all": Row(
        lambda say: [*_tokens(say), say.event(say.finish()), say.event(b"[DONE]")], counted_by="chunks"
    ),
    "usage that is NaN": Row(
        lambda say: _uncounted(say, b'{"completion_tokens": NaN, "prompt_tokens": NaN}'), counted_by="chunks"
    ),
    "usage beyond all measure": Row(
        lambda say: _uncounted(say, b'{"completion_tokens": 1' + b"0" * 400 + b"}"), counted_by="chunks"
    ),
    "usage below nothing": Row(
        lambda say: _uncounted(say, b'{"completion_tokens": -5, "prompt_tokens": 1.5}'), counted_by="chunks"
    ),
    "no [DONE]": Row(lambda say: [*_tokens(say), say.event(say.finish()), say.event(say.usage(N))]),
    "no finish_reason, only [DONE]": Row(
        lambda say: [*_tokens(say), say.event(say.usage(N)), say.event(b"[DONE]")]
    ),
    "no line end after [DONE]": Row(lambda say: [*_tokens(say), say.event(say.usage(N)), b"data: [DONE]"]),
    "content after finish_reason": Row(
        lambda say: [
            *_tokens(say, N - 1),
            *(say.event(one) for one in (say.finish(), say.delta(), say.usage(N), b"[DONE]")),
        ]
    ),
    "reasoning first": Row(lambda say: _named(say, "reasoning")),
    "reasoning_content first": Row(lambda say: _named(say, "reasoning_content")),
    "reasoning alone": Row(
        lambda say: [say.event(_delta(say, reasoning_content="hm"))] * N + _end(say), content=False
    ),
    "U+2028 inside a string": Row(
        lambda say: [say.event(say.delta("a\u2028b\u0085c\x0bd")), *_tokens(say, N - 1), *_end(say)]
    ),
    "a chunk of a megabyte": Row(_megabyte),
    "tool_calls": Row(_tool_calls),
    "several tokens a chunk": Row(lambda say: _bundled(say, 4), chunks=N // 4),
    "all tokens in one chunk": Row(lambda say: _bundled(say, N), chunks=1),
    "a chunk with several choices": Row(_two_choices),
    "text in the second choice": Row(_second_choice_speaks),
    "lone surrogates": Row(lambda say: _chat(say, b'{"model": "m", "choices": [], "x": "\\ud800"}')),
    "null choices, error null, strange types": Row(
        lambda say: _chat(
            say,
            b'{"model": 7, "choices": null, "usage": []}',
            b'{"choices": [null, 7, "x"], "error": null}',
            b'{"choices": [{"delta": [1], "finish_reason": 5}], "usage": {"completion_tokens": "9"}}',
            b'{"choices": [{"delta": {"content": [{"a": 1}], "tool_calls": [1, {"function": 2}]}}]}',
            b'{"choices": {"delta": 1}, "usage": {"completion_tokens": true, "prompt_tokens_details": []}}',
        )
    ),
    "an end of its own before the length": Row(
        lambda say: _stopped(say, "stop"), tokens=50, chunks=50, ended_early=1
    ),
    # Failures.
    "an error object in mid-stream": Row(
        lambda say: [*_tokens(say, 50), b'data: {"error": {"message": "out of blocks", "code": 500}}\n\n'],
        "stream_error",
    ),
    "an error object, then a proper end": Row(
        lambda say: [*_tokens(say, 50), b'data: {"error": "no"}\n\n', *_end(say, 50)], "stream_error"
    ),
    "an error event": Row(
        lambda say: [*_tokens(say, 50), b'event: error\ndata: {"message": "gone"}\n\n', *_end(say, 50)],
        "stream_error",
    ),
    "an object called error": Row(
        lambda say: [b'data: {"object": "error", "message": "too long"}\n\n', say.event(b"[DONE]")],
        "stream_error",
    ),
    "an error object before any token": Row(
        lambda say: [say.event(b'{"error": {"message": "no room"}}'), say.event(b"[DONE]")], "stream_error"
    ),
    "an event that is no JSON": Row(lambda say: _chat(say, b"{not json"), "bad_json"),
    "an event that is no object": Row(lambda say: _chat(say, b"7"), "bad_json"),
    "JSON nested beyond all depth": Row(lambda say: _chat(say, b"[" * 100_000), "bad_json"),
    "the end of the stream without an end": Row(lambda say: _tokens(say, 50), "cut", framings=STREAMED),
    "all tokens and no end": Row(_tokens, "cut", framings=STREAMED),
    "an event cut in its middle": Row(
        lambda say: [*_tokens(say, 50), say.event(say.delta())[:40]], "cut", framings=STREAMED
    ),
    "an empty body": Row(lambda say: [], "cut", framings=STREAMED),
    "an answer by another model": Row(
        lambda say: [one.replace(b'"model": "m"', b'"model": "other"') for one in _plain(say)], "wrong_model"
    ),
    "a stream without any text": Row(
        lambda say: [say.event(say.delta("")), say.event(say.finish()), say.event(b"[DONE]")], "no_token"
    ),
    "a role and nothing else": Row(
        lambda say: [say.event(_delta(say, role="assistant")), say.event(say.finish()), say.event(b"[DONE]")],
        "no_token",
    ),
    "a count of more tokens than were asked": Row(lambda say: [*_tokens(say), *_end(say, 2 * N)], "long"),
    "a count beyond all belief": Row(lambda say: [*_tokens(say), *_end(say, 999_999_999)], "long"),
    "the end counted as a token": Row(lambda say: [*_tokens(say), *_end(say, N + 1)], tokens=N + 1),
    "fewer tokens than asked, for length": Row(lambda say: [*_tokens(say, 50), *_end(say, 50)], "short"),
    "fewer tokens than asked, aborted": Row(lambda say: _stopped(say, "abort"), "short"),
    "fewer tokens than asked, bundled": Row(lambda say: [*_tokens(say, 10), *_end(say, N - 1)], "short"),
    "a page instead of a stream": Row(lambda say: [b"<html>It works!</html>"], "not_a_stream"),
    "an error body with status 200": Row(lambda say: [b'{"error": {"message": "busy"}}'], "stream_error"),
    "a whole completion instead of a stream": Row(
        lambda say: [b'{"choices": [{"message": {"content": "word"}}]}'], "not_a_stream"
    ),
    "429 with Retry-After": Row(_raw("429 Too Many Requests", "Retry-After: 0"), "http_429", framings=RAW),
    "503 with Retry-After": Row(_raw("503 Service Unavailable", "Retry-After: 0"), "http_503", framings=RAW),
    "a Retry-After that is a date": Row(
        _raw("503 Service Unavailable", "Retry-After: Mon, 30 Nov 2026 04:00:00 GMT"),
        "http_503",
        framings=RAW,
    ),
    "a body that is gzip": Row(_gzipped, "not_http", framings=RAW),
    "a restart of the server in mid-stream": Row(
        lambda say: [say.head(), *_tokens(say, 50), 0.02, "reset"], "reset", framings=RAW
    ),
}


def _as_reply(say: Say, pieces: Pieces, framing: str) -> Callable[[Any], Iterator[Any]]:
    def reply(_: Any) -> Iterator[Any]:
        if framing == "raw":
            yield from pieces(say)
        elif framing == "until close":
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


@pytest.mark.parametrize(
    ("name", "framing"), [(name, framing) for name, row in ROWS.items() for framing in row.framings]
)
def test_an_odd_stream_has_these_figures(serve: Any, bench: Any, say: Say, name: str, framing: str) -> None:
    row = ROWS[name]
    server = serve(measured=say.once(_as_reply(say, row.pieces, framing)))
    result = bench(server.url, warmup_s=0.0)

    good = not row.fault
    assert result.outcome == "done"
    assert result.failures == ({} if good else {row.fault: 1})
    assert result.completed == 1 + good
    assert result.output_tokens == N + good * row.tokens
    assert result.tokens_counted_by == (row.counted_by if good else "usage")
    assert result.chunks == N + good * row.chunks
    assert result.itl_ms.samples == N - 1 + good * (row.chunks - 1)
    assert result.ttft_ms.samples == result.e2e_ms.samples == 1 + good
    assert result.ttfo_ms.samples == 1 + (good and row.content)
    assert result.ended_early == row.ended_early
    assert (result.input_tokens is None) == (row.counted_by == "chunks")


def test_an_answer_that_ends_by_itself_is_said(serve: Any, bench: Any, say: Say) -> None:
    result = bench(serve(measured=_as_reply(say, lambda say: _stopped(say, "stop"), "sized")).url)
    assert "2 answers ended by themselves" in result.sentence


def test_without_usage_the_result_says_that_chunks_were_counted(serve: Any, bench: Any, say: Say) -> None:
    uncounted = _as_reply(say, ROWS["no usage at all"].pieces, "until close")
    assert "chunks were counted" in bench(serve(measured=uncounted).url).sentence


def test_reasoning_comes_before_the_first_output(serve: Any, bench: Any, say: Say) -> None:
    def thinking(_: Any) -> Iterator[bytes | float | str]:
        yield say.head()
        yield from (say.event(_delta(say, reasoning="hm")) for _ in range(50))
        yield 0.03
        yield from [*_tokens(say, 50), *_end(say)]
        yield "close"

    result = bench(serve(measured=thinking).url)
    assert result.ttfo_ms.p50 >= result.ttft_ms.p50 + 25


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
