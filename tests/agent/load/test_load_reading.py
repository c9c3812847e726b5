"""The quick ways of the usual read: each gives what the long way gives, whatever the bytes and the cuts."""

import asyncio
import itertools
import json
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.agent.http.response import FramingError, Response
from tui.agent.load import connections
from tui.agent.load.connections import Exchange, WholeConnection
from tui.agent.load.fast import ReadingClock
from tui.agent.load.samples import Samples
from tui.agent.load.stream import Answer, StreamReader

HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


class Line(asyncio.Transport):
    """A transport without a wire."""

    closed = False

    def write(self, data: object) -> None:
        del data

    def is_closing(self) -> bool:
        return self.closed

    def abort(self) -> None:
        self.closed = True


def _event(text: str, name: str = "content") -> bytes:
    delta = {name: text} if text else {}
    return b"data: " + json.dumps({"choices": [{"delta": delta, "finish_reason": None}]}).encode() + b"\n\n"


def _chunk(body: bytes, size: bytes | None = None) -> bytes:
    return (b"%x" % len(body) if size is None else size) + b"\r\n" + body + b"\r\n"


TEXTS = st.sampled_from(
    ["a", " word", "two words", '"', "\\", "\n", "\r", "\u2028", "}\n\n\r\n", "", "z" * 300]
)
EVENTS = st.lists(st.tuples(TEXTS, st.sampled_from(["content", "reasoning_content", "refusal"])), max_size=40)
CUTS = st.lists(st.integers(0, 10_000), max_size=20)


def _pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({0, len(data), *(cut % len(data) for cut in cuts)})
    return [data[low:high] for low, high in itertools.pairwise(places)]


async def _asked(wire: list[bytes], size_lines: dict[int, bytes]) -> Exchange | None:
    """Return the exchange of one request that is answered so; None while it has not ended."""
    connection, line = WholeConnection(ReadingClock(), size_lines), Line()
    connection.connection_made(line)
    asking = asyncio.ensure_future(connection.request(b"", 60))
    await asyncio.sleep(0)
    for piece in wire:
        if not line.closed and not asking.done():
            connection.data_received(piece)
            await asyncio.sleep(0)
    if asking.done():
        return await asking
    asking.cancel()
    return None


def _framed(wire: list[bytes]) -> tuple[bytes, bool]:
    """Return what the framing alone makes of an answer: its body, and whether it is whole."""
    response, body = Response(), b""
    try:
        for piece in wire:
            body += response.feed(piece)
            if response.done:
                break
    except FramingError:
        return body, False
    return body, response.done


@given(
    EVENTS, CUTS, st.sampled_from([b"0\r\n\r\n", b"0\r\nA: b\r\n\r\n", b"", b"3\r\nabcd\r\n"]), st.booleans()
)
def test_a_body_is_the_same_by_the_quick_way(
    events: list[tuple[str, str]], cuts: list[int], end: bytes, done: bool
) -> None:
    chunks = [_chunk(_event(*event)) for event in events]
    last = _chunk(b"data: [DONE]\n\n") if done else b""
    pieces = [HEAD, *chunks, last + end] if last + end else [HEAD, *chunks]
    size_lines: dict[int, bytes] = {}
    for wire in (pieces, _pieces(b"".join(pieces), cuts), pieces):
        body, whole = _framed(wire)
        exchange = asyncio.run(_asked(wire, size_lines))
        if exchange is None:
            assert not whole
            continue
        assert exchange.body == body
        assert exchange.size == len(body)
        assert (exchange.fault == "") == whole


@given(
    st.lists(st.sampled_from([_chunk(_event("abc")), _chunk(_event("abd")), b"5\r\n", b"}\n\n\r\n", b"\r\n"]))
)
def test_the_quick_way_takes_no_wrong_chunk(wire: list[bytes]) -> None:
    size_lines: dict[int, bytes] = {}
    asyncio.run(_asked([HEAD, _chunk(_event("abc")), b"0\r\n\r\n"], size_lines))
    assert size_lines
    body, whole = _framed([HEAD, *wire])
    exchange = asyncio.run(_asked([HEAD, *wire], size_lines))
    assert exchange is None or exchange.fault == "not_http"
    assert not whole
    assert exchange is None or exchange.body == body


def test_size_lines_differ_by_server_and_are_believed_only_where_they_stand() -> None:
    padded = _chunk(_event("abc"), b"%06x" % len(_event("abc")))
    size_lines: dict[int, bytes] = {}
    asyncio.run(_asked([HEAD, padded, b"0\r\n\r\n"], size_lines))
    assert size_lines == {len(padded): padded[:8]}
    other = _chunk(_event("abcdabcd")[:-2] + b"\n\n")
    assert len(other) != len(padded)
    exchange = asyncio.run(_asked([HEAD, padded, other, padded, b"0\r\n\r\n"], size_lines))
    assert exchange is not None
    assert exchange.body == _event("abc") + _event("abcdabcd") + _event("abc")


def test_an_endless_answer_ends_by_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "BODY_LIMIT_BYTES", 1000)
    exchange = asyncio.run(_asked([HEAD] + [_chunk(_event("abc"))] * 30, {}))
    assert exchange is not None
    assert exchange.fault == "not_http"
    assert "MiB" in exchange.detail


def test_bytes_that_nobody_asked_for_close_the_connection() -> None:
    async def unasked() -> bool:
        size_lines: dict[int, bytes] = {}
        await _asked([HEAD, _chunk(_event("abc")), b"0\r\n\r\n"], size_lines)
        connection, line = WholeConnection(ReadingClock(), size_lines), Line()
        connection.connection_made(line)
        asking = asyncio.ensure_future(connection.request(b"", 60))
        await asyncio.sleep(0)
        connection.data_received(HEAD + _chunk(_event("abc")))
        asking.cancel()
        await asyncio.sleep(0)
        connection.data_received(_chunk(_event("abc")))
        return line.closed

    assert asyncio.run(unasked())


def _read(events: list[bytes], *, quick: bool, at_once: int) -> Answer:
    reader = StreamReader()
    reader.texts = None if quick else []  # no mould is made where texts are wanted
    reads = [(float(at), data) for at, data in enumerate(events)]
    for first in range(0, len(reads), at_once):
        reader.feed_all(reads[first : first + at_once])
    reader.close(99.0)
    return reader.answer


def _facts(answer: Answer) -> dict[str, object]:
    return {name: getattr(answer, name) for name in cast("tuple[str, ...]", Answer.__slots__)}


@given(EVENTS, CUTS, st.integers(1, 20), st.booleans())
def test_a_stream_says_the_same_by_its_mould(
    events: list[tuple[str, str]], cuts: list[int], at_once: int, cut: bool
) -> None:
    reads = [_event(*event) for event in [("first", "content"), ("second", "content"), *events]]
    if cut:
        reads = _pieces(b"".join(reads), cuts)
    assert _facts(_read(reads, quick=True, at_once=at_once)) == _facts(_read(reads, quick=False, at_once=1))


@given(st.lists(st.floats(0, 10), min_size=1, max_size=50))
def test_gaps_added_at_once_are_those_added_one_by_one(gaps_s: list[float]) -> None:
    one_by_one, at_once = Samples(), Samples()
    for gap_s in gaps_s:
        one_by_one.add(gap_s)
    at_once.add_all(gaps_s)
    assert at_once.summary() == pytest.approx(one_by_one.summary())
    moments_s = Samples()
    moments_s.add_gaps([1.0, 1.5, 3.5])
    assert moments_s.summary() == {"mean": 1250.0, "p50": 1250.0, "p90": 1850.0, "p99": None, "samples": 2}
