"""The formulas, against values worked out by hand and a plain reference."""

import itertools
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.agent.http.response import FramingError, Response
from tui.agent.load.connections import Exchange
from tui.agent.load.flight import Arrival, Flight
from tui.agent.load.judge import Asked
from tui.agent.load.metrics import Tally
from tui.agent.load.samples import Samples
from tui.agent.load.stream import StreamReader, read_exchange


def _event(choice: dict[str, object], **more: object) -> bytes:
    return b"data: " + json.dumps({"choices": [choice], **more}).encode() + b"\n\n"


def _exchange(sent_s: float, stamps_s: list[float], tokens: int) -> Exchange:
    exchange = Exchange()
    exchange.status, exchange.sent_s, exchange.ended_s = 200, sent_s, stamps_s[-1]
    exchange.reads = [(stamp, _event({"delta": {"content": "x"}})) for stamp in stamps_s]
    usage = {"completion_tokens": tokens, "prompt_tokens": 5}
    exchange.reads.append((stamps_s[-1], _event({"delta": {}, "finish_reason": "length"}, usage=usage)))
    return exchange


def _flight(exchange: Exchange, due_s: float | None = None, tokens: int = 3) -> Flight:
    return Flight(0, Asked(None, tokens), exchange, Arrival(0, due_s, measured=True))


def test_the_metrics_of_two_requests_are_those_worked_out_by_hand() -> None:
    tally = Tally()
    answers = ((_exchange(10.0, [10.1, 10.2, 10.4], 3), 3), (_exchange(10.5, [10.8, 10.9, 11.0], 5), 5))
    for exchange, asked in answers:
        tally.add(_flight(exchange, tokens=asked), read_exchange(exchange))
    figures = tally.fields()
    assert figures["ttft_ms"] == pytest.approx(
        {"mean": 200.0, "p50": 200.0, "p90": 280.0, "p99": None, "samples": 2}
    )
    assert figures["tpot_ms"] == pytest.approx(
        {"mean": 100.0, "p50": 100.0, "p90": 140.0, "p99": None, "samples": 2}
    )
    assert figures["itl_ms"] == pytest.approx(
        {"mean": 125.0, "p50": 100.0, "p90": 170.0, "p99": None, "samples": 4}
    )
    assert figures["e2e_ms"] == pytest.approx(
        {"mean": 450.0, "p50": 450.0, "p90": 490.0, "p99": None, "samples": 2}
    )
    assert (figures["output_tokens"], figures["input_tokens"]) == (8, 10)
    assert figures["duration_s"] == pytest.approx(1.0)
    assert figures["output_tokens_per_s"] == pytest.approx(8.0)
    assert figures["requests_per_s"] == pytest.approx(2.0)
    assert figures["achieved_concurrency"] == pytest.approx(0.9)


def test_a_failed_request_is_in_the_duration_and_the_concurrency_but_not_in_the_throughput() -> None:
    tally = Tally()
    good, bad = _exchange(0.0, [1.0, 2.0, 3.0], 3), _exchange(0.0, [1.0, 4.0], 2)
    for exchange in (good, bad):
        tally.add(_flight(exchange), read_exchange(exchange))
    figures = tally.fields()
    assert figures["failures"] == {"short": 1}
    assert figures["duration_s"] == pytest.approx(4.0)
    assert figures["output_tokens_per_s"] == pytest.approx(0.75)
    assert figures["achieved_concurrency"] == pytest.approx(7 / 4)


def test_nothing_measured_is_none_and_never_zero() -> None:
    figures = Tally().fields()
    assert figures["ttft_ms"] == {"mean": None, "p50": None, "p90": None, "p99": None, "samples": 0}
    for name in ("output_tokens", "input_tokens", "duration_s", "output_tokens_per_s", "requests_per_s"):
        assert figures[name] is None


def _reference(values: list[float], fraction: float) -> float:
    ordered = sorted(values)
    rank = (len(ordered) - 1) * fraction
    low, high = ordered[math.floor(rank)], ordered[math.ceil(rank)]
    return low + (high - low) * (rank - math.floor(rank))


@given(st.lists(st.integers(0, 5_000_000), min_size=1, max_size=300))
def test_percentiles_are_those_of_the_sorted_list(micros: list[int]) -> None:
    samples = Samples()
    for value in micros:
        samples.add(value / 1e6)
    summary = samples.summary()
    values = [value / 1e3 for value in micros]
    assert summary["p50"] == pytest.approx(_reference(values, 0.5))
    assert summary["p90"] == pytest.approx(_reference(values, 0.9))
    assert summary["mean"] == pytest.approx(sum(values) / len(values))
    p99 = pytest.approx(_reference(values, 0.99)) if len(values) >= 100 else None
    assert summary["p99"] == p99


WORDS = st.one_of(
    st.sampled_from(["a", "a b", "role", ":", " ", '"', "\\", "\n", "\u2028", "é"]), st.text(max_size=4)
)


def _plainly(body: bytes) -> int:
    """Count the chunks with text the plain way."""
    events = [json.loads(line[6:]) for line in body.split(b"\n") if line]
    return sum(bool(event["choices"][0]["delta"].get("content")) for event in events)


@given(st.lists(WORDS, max_size=12), st.booleans())
def test_the_short_way_counts_the_same_chunks_as_the_long_way(words: list[str], ascii_only: bool) -> None:
    events = [
        b"data: %s\n\n" % json.dumps(_chunk_of(word), ensure_ascii=ascii_only, separators=(",", ":")).encode()
        for word in words
    ]
    reader = StreamReader()
    for at, event in enumerate(events):
        reader.feed(float(at), event)
    reader.close(99.0)
    assert len(reader.answer.stamps_s) == _plainly(b"".join(events))
    assert reader.answer.fault == ""


def _read(*events: bytes) -> StreamReader:
    reader = StreamReader()
    reader.feed(0.0, b": begun\n\n")
    for event in events:
        reader.feed(1.0, event)
    return reader


def test_the_short_way_notices_another_model_behind_the_same_text() -> None:
    chunk = b'data: {"model":"m","choices":[{"delta":{"content":"m"}}]}\n\n'
    assert _read(chunk, chunk.replace(b'"model":"m"', b'"model":"other"')).answer.model == "other"


@pytest.mark.parametrize("text", [b"a\\", b'a"', b'a", "b'])
def test_the_short_way_takes_no_broken_json_for_text(text: bytes) -> None:
    chunk = b'data: {"model":"m","choices":[{"delta":{"content":"word"}}]}\n\n'
    assert _read(chunk, chunk.replace(b"word", text)).answer.fault == "bad_json"


def test_the_short_way_takes_nothing_after_an_unfinished_event() -> None:
    chunk = b'data: {"model":"m","choices":[{"delta":{"content":"word"}}]}\n\n'
    reader = _read(chunk, b"event: error\n", chunk.replace(b"word", b"gone"))
    assert reader.answer.fault == "stream_error"
    assert len(reader.answer.stamps_s) == 1


def _chunk_of(word: str) -> dict[str, object]:
    delta: dict[str, object] = {"role": "a", "content": word} if len(word) == 2 else {"content": word}
    return {"id": "a", "model": "m", "choices": [{"delta": delta, "finish_reason": None}]}


BODY = b"".join(_event({"delta": {"content": text}}) for text in ("a", "\u20ac", "\U0001f680", "z" * 300))


def _chunked(body: bytes, sizes: list[int]) -> bytes:
    out, at = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", 0
    for size in [*sizes, len(body)]:
        piece = body[at : at + size]
        at += size
        out += b"%X;ext=1\r\n%s\r\n" % (len(piece), piece) if piece else b""
    return out + b"0\r\n\r\n"


def _pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({0, len(data), *(cut % len(data) for cut in cuts)})
    return [data[low:high] for low, high in itertools.pairwise(places)]


@given(st.lists(st.integers(1, 200), max_size=8), st.lists(st.integers(0, 10_000), max_size=30))
def test_a_chunked_body_is_the_same_however_it_is_cut(sizes: list[int], cuts: list[int]) -> None:
    response = Response()
    pieces = _pieces(_chunked(BODY, sizes), cuts)
    assert b"".join(response.feed(piece) for piece in pieces) == BODY
    assert response.done
    assert response.reusable


@given(st.lists(st.integers(0, 10_000), max_size=30), st.sampled_from([b"\n", b"\r\n", b"\r"]))
def test_a_stream_says_the_same_however_it_is_cut(cuts: list[int], line_end: bytes) -> None:
    reader = StreamReader()
    for at, piece in enumerate(_pieces(BODY.replace(b"\n", line_end), cuts)):
        reader.feed(float(at), piece)
    reader.close(99.0)
    assert len(reader.answer.stamps_s) == 4
    assert (reader.answer.fault, reader.answer.finish, reader.answer.done) == ("", None, False)


@given(st.binary(max_size=400), st.lists(st.integers(0, 10_000), max_size=10))
def test_no_bytes_make_the_readers_raise_anything_but_a_framing_error(data: bytes, cuts: list[int]) -> None:
    reader, response = StreamReader(), Response()
    for piece in _pieces(data, cuts) if data else []:
        reader.feed(0.0, piece)
        try:
            response.feed(piece)
        except FramingError:
            response = Response()
    reader.close(1.0)
