"""The steady window, goodput, records and lag, on made-up moments."""

import asyncio
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

from tui import events
from tui.agent.load import counters as load_counters
from tui.agent.load import fast
from tui.agent.load import recent as load_recent
from tui.agent.load import records as load_records
from tui.agent.load.connections import Exchange, StampingSelector
from tui.agent.load.counters import Spill
from tui.agent.load.flight import Arrival, Flight
from tui.agent.load.judge import Asked, judge
from tui.agent.load.lag import Watch
from tui.agent.load.metrics import Tally
from tui.agent.load.samples import Samples
from tui.agent.load.stage import pause_s
from tui.agent.load.steady import Steady
from tui.agent.load.stream import Answer
from tui.benchmark import BenchRecord, BenchRecords


def _answer(stamps_s: list[float], tokens: int | None = None, content_s: float | None = None) -> Answer:
    answer = Answer()
    answer.stamps_s, answer.usage_output = stamps_s, tokens
    answer.last_s = stamps_s[-1] if stamps_s else None
    answer.first_content_s = content_s
    answer.done, answer.nothing_read = True, False
    return answer


def _flight(sent_s: float, ended_s: float, *, due_s: float | None = None, tokens: int = 0) -> Flight:
    exchange = Exchange()
    exchange.status, exchange.sent_s, exchange.ended_s = 200, sent_s, ended_s
    return Flight(0, Asked(None, tokens), exchange, Arrival(0, due_s, measured=True))


def test_the_steady_window_counts_the_parts_of_requests_that_arrived_in_it() -> None:
    steady = Steady([0, 1])
    steady.join(0, 8.0)
    assert steady.begin_s is None
    steady.join(1, 10.0)
    steady.join(1, 15.0)
    steady.add([9.0, 9.5, 11.0, 19.0], 8)  # 2 of 4 chunks of 2 tokens: 4
    steady.end(20.0)
    steady.end(30.0)
    steady.add([19.5, 20.0, 20.5], 3)  # 2 tokens
    steady.add([5.0, 9.9], 2)
    steady.add([12.0, 13.0], 0)
    assert steady.seconds == pytest.approx(10.0)
    assert steady.tokens_per_s == pytest.approx(0.6)
    steady.add([11.0, 12.0, 25.0], None)  # 2 chunks of the average of 1.5 tokens
    assert steady.tokens_per_s == pytest.approx(0.9)


def test_without_a_moment_at_which_all_are_measured_there_is_no_steady_window() -> None:
    steady = Steady([0, 1])
    steady.join(0, 1.0)
    steady.add([1.5, 2.0], 2)
    steady.end(3.0)
    assert (steady.seconds, steady.tokens_per_s) == (None, None)


def test_goodput_takes_those_that_kept_every_limit() -> None:
    tally = Tally({"ttft_ms": 100.0, "tpot_ms": None, "e2e_ms": 400.0})
    for first_s, last_s in ((0.1, 0.4), (0.11, 0.2), (0.05, 0.41), (0.05, 0.05)):
        tally.add(_flight(0.0, 1.0), _answer([first_s, last_s] if last_s > first_s else [first_s]))
    figures = tally.fields()
    assert (figures["good"], figures["goodput_per_s"]) == (2, pytest.approx(2.0))
    assert Tally().fields()["good"] is None


def test_a_limit_of_tpot_does_not_concern_single_tokens() -> None:
    tally = Tally({"ttft_ms": None, "tpot_ms": 10.0, "e2e_ms": None})
    tally.add(_flight(0.0, 1.0), _answer([0.5]))
    tally.add(_flight(0.0, 1.0), _answer([0.5, 0.6]))
    assert tally.fields()["good"] == 1


def test_the_first_output_is_told_apart_from_the_first_reasoning() -> None:
    tally = Tally()
    tally.add(_flight(1.0, 2.0), _answer([1.1, 1.5], content_s=1.5))
    tally.add(_flight(1.0, 2.0), _answer([1.2, 1.3]))
    ttft, ttfo = cast("Any", tally.fields()["ttft_ms"]), cast("Any", tally.fields()["ttfo_ms"])
    assert (ttft["samples"], ttft["mean"]) == (2, pytest.approx(150.0))
    assert (ttfo["samples"], ttfo["mean"]) == (1, pytest.approx(500.0))


def test_a_wait_before_sending_is_in_the_times_but_is_no_concurrency() -> None:
    tally = Tally()
    tally.add(_flight(3.0, 4.0, due_s=1.0), _answer([3.5, 4.0]))
    figures = cast("Any", tally.fields())
    assert figures["ttft_ms"]["mean"] == pytest.approx(2500.0)
    assert figures["e2e_ms"]["mean"] == pytest.approx(3000.0)
    assert figures["late_ms"]["mean"] == pytest.approx(2000.0)
    assert figures["achieved_concurrency"] == pytest.approx(1 / 3)


def test_rates_count_what_was_done_for_requests_of_the_warm_up() -> None:
    tally = Tally()
    tally.pass_by(_flight(8.0, 12.0), _answer([9.0, 10.0, 11.0, 12.0]), 8)  # half of it in the run: 4 tokens
    tally.pass_by(_flight(9.0, 11.0), _answer([]), 0)  # failed: present for 1 s
    tally.add(_flight(10.0, 14.0), _answer([11.0, 14.0], tokens=6))
    figures = tally.fields()
    assert (figures["completed"], figures["output_tokens"], figures["chunks"]) == (1, 6, 2)
    assert figures["output_tokens_per_s"] == pytest.approx(10 / 4)
    assert figures["requests_per_s"] == pytest.approx(1.5 / 4)
    assert figures["achieved_concurrency"] == pytest.approx((4 + 2 + 1) / 4)


def test_what_comes_after_the_last_response_or_before_the_first_is_in_no_rate() -> None:
    tally = Tally({"ttft_ms": 2000.0, "tpot_ms": None, "e2e_ms": None})
    tally.add(_flight(10.0, 14.0), _answer([11.0, 14.0], tokens=6))
    tally.pass_by(
        _flight(8.0, 16.0), _answer([10.0, 10.5, 14.0, 14.5]), 8
    )  # 2 of its 4 chunks, half its time
    figures = tally.fields()
    assert figures["output_tokens_per_s"] == pytest.approx((6 + 4) / 4)
    assert figures["requests_per_s"] == figures["goodput_per_s"] == pytest.approx(1.5 / 4)


def test_of_what_the_warm_up_asked_the_tokens_since_the_beginning_are_told_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = SimpleNamespace(monotonic=lambda: 10.0)
    monkeypatch.setattr(load_counters, "time", now)
    begun: list[int] = []
    spill = Spill(lambda: begun.append(1))
    assert spill.fields() is None
    spill.begin()
    spill.begin()
    spill.add(_flight(8.0, 10.0), _answer([9.0, 10.0], tokens=50), "")  # it had ended by then
    spill.add(_flight(8.0, 12.0), _answer([9.0, 10.0, 11.0, 12.0], tokens=8), "")
    assert begun == [1]
    assert spill.fields() == {"requests": 1, "tokens": 8, "arrived": 4}
    spill.add(_flight(8.0, 12.0), _answer([11.0]), "")  # counted by nobody
    assert spill.fields() is None


@pytest.mark.parametrize(
    ("asked", "came", "fault"), [(8, 9, ""), (8, 10, "long"), (100, 102, ""), (100, 103, "long")]
)
def test_one_token_or_2_percent_more_than_asked_is_no_other_work(asked: int, came: int, fault: str) -> None:
    flight = _flight(0.0, 1.0, tokens=asked)
    assert judge(flight.exchange, _answer([0.5], tokens=came), flight.asked)[0] == fault


@pytest.mark.parametrize(("samples", "shown"), [(99, False), (100, True)])
def test_a_p99_needs_a_hundred_samples(samples: int, shown: bool) -> None:
    found = Samples()
    for number in range(samples):
        found.add(number / 1e3)
    assert (found.p99_ms is not None, found.summary()["p99"] is not None) == (shown, shown)


@pytest.mark.parametrize(
    ("said", "wrong", "seconds"),
    [
        ("", 1, 0.1),
        ("", 3, 0.4),
        ("", 99, 1.0),
        ("2", 1, 2.0),
        ("86400", 1, 5.0),
        ("Mon, 30 Nov 2026 04:00:00 GMT", 1, 0.1),
        ("-1", 1, 0.1),
        ("\u00b2", 1, 0.1),  # a digit, and no number
    ],
)
def test_a_stream_that_failed_waits_as_the_server_asks_within_reason(
    said: str, wrong: int, seconds: float
) -> None:
    exchange = Exchange()
    exchange.headers = {"retry-after": said} if said else {}
    assert pause_s(exchange, wrong) == pytest.approx(seconds)


def test_what_is_shown_live_is_of_the_last_ten_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load_recent, "time", SimpleNamespace(monotonic=lambda: 100.0))
    recent = load_recent.Recent()
    assert recent.medians_ms() == (None, None)
    recent.add(_flight(80.0, 89.9), _answer([85.0, 89.0]))
    recent.add(_flight(80.0, 90.0), _answer([]))
    assert recent.medians_ms() == (None, None)
    for ttft_s in (0.1, 0.2, 0.6):
        recent.add(_flight(95.0, 99.0), _answer([95.0 + ttft_s, 95.1 + ttft_s, 95.4 + ttft_s]))
    assert recent.medians_ms() == (pytest.approx(200.0), pytest.approx(200.0))


def test_records_come_in_messages_of_five_hundred_and_say_each_request() -> None:
    tally = Tally()
    for number in range(1201):
        start_s = 100.0 + number
        tally.add(_flight(start_s, start_s + 0.5), _answer([start_s + 0.1, start_s + 0.4], tokens=3))
    messages = tally.records.messages("r")
    told = [events.decode(msgspec.json.encode(message)) for message in messages]
    assert [len(one.records) for one in told if isinstance(one, BenchRecords)] == [500, 500, 201]
    last = told[-1]
    assert isinstance(last, BenchRecords)
    assert last.records[-1] == BenchRecord(
        sent_s=1200.0,
        ttft_ms=100.0,
        ttfo_ms=None,
        last_ms=400.0,
        end_ms=500.0,
        output_tokens=3,
        input_tokens=None,
        chunks=2,
    )


def test_records_beyond_the_most_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load_records, "MOST", 3)
    tally = Tally()
    for _ in range(5):
        tally.add(_flight(0.0, 1.0), _answer([0.5]))
    (message,) = tally.records.messages("r")
    assert len(cast("list[object]", message["records"])) == 3
    assert tally.fields()["records_dropped"] == 2


def test_a_failed_request_has_a_record_with_its_class() -> None:
    tally = Tally()
    tally.add(_flight(0.0, 1.0, tokens=9), _answer([0.5], tokens=2))
    (message,) = tally.records.messages("r")
    assert message["records"] == [[0.0, 500.0, None, 500.0, 1000.0, 2, None, 1, "short"]]


def _hold_up(seconds: float) -> None:
    time.sleep(seconds)


def test_an_event_loop_that_was_held_up_has_a_lag() -> None:
    async def held_up() -> Watch:
        watch = Watch(clock)
        watch.start()
        await asyncio.sleep(0.05)
        _hold_up(0.2)
        await asyncio.sleep(0.05)
        watch.stop()
        return watch

    clock = StampingSelector()
    loop = asyncio.SelectorEventLoop(clock)
    watch = loop.run_until_complete(held_up())
    loop.close()
    summary = cast("Any", watch.lag.summary())
    assert summary["samples"] >= 20
    # One moment that waited 190 ms, and those that would have come meanwhile.
    assert summary["p90"] > 50
    assert watch.cpu_fraction is not None


@pytest.mark.parametrize("text", ["raise ImportError", "import no_such_module", "None.x", "x = = 1"])
def test_a_module_that_does_not_fit_this_python_is_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    (tmp_path / "uvloop.py").write_text(text)
    monkeypatch.setattr(fast, "sys", SimpleNamespace(modules=(modules := {}), path=[str(tmp_path)]))
    monkeypatch.setattr(fast, "_folders", list)
    assert fast.find("uvloop") is None
    assert modules == {}


def test_a_module_beside_the_interpreter_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "uvloop.py").write_text("here = 1")
    monkeypatch.setattr(fast, "sys", SimpleNamespace(modules={}, path=[]))
    monkeypatch.setattr(fast, "_folders", lambda: [str(tmp_path)])
    assert cast("Any", fast.find("uvloop")).here == 1
