"""Open loops: requests are sent when they are due, whatever becomes of those before."""

import asyncio
import itertools
import time
from collections.abc import Iterable
from typing import Any

import pytest

from tui.agent.load.arrivals import Open
from tui.agent.load.flight import Plan
from tui.agent.load.steady import Steady

Say = Any


def _after_50_ms(say: Say) -> Any:
    def reply(asked: Any) -> Iterable[Any]:
        return [0.05, *say.whole(asked)]

    return reply


def test_constant_arrivals_come_at_equal_distances(serve: Any, bench: Any) -> None:
    result = bench(serve().url, arrival="constant", rate_per_s=50.0, requests=10, concurrency=8)
    assert (result.outcome, result.completed) == ("done", 10)
    sent_s = sorted(record.sent_s for record in bench.records)
    assert sent_s == pytest.approx([number / 50 for number in range(10)], abs=1e-5)
    assert result.late_ms.samples == 10
    assert result.steady_s == pytest.approx(9 / 50, abs=1e-5)


def test_random_arrivals_are_those_of_the_seed_however_long_the_warm_up(serve: Any, bench: Any) -> None:
    server = serve()
    gaps: list[list[float]] = []
    for seed, warmup_s in ((1, 0.0), (1, 0.1), (2, 0.0)):
        bench(
            server.url,
            arrival="poisson",
            rate_per_s=200.0,
            requests=20,
            concurrency=8,
            seed=seed,
            warmup_s=warmup_s,
        )
        sent_s = sorted(record.sent_s for record in bench.records)
        gaps.append([after - before for before, after in itertools.pairwise(sent_s)])
    assert gaps[0] == pytest.approx(gaps[1], abs=2e-6)
    assert gaps[0] != pytest.approx(gaps[2], abs=2e-6)
    assert max(gaps[0]) > 2 * min(gaps[0])


def test_a_server_that_stalls_gets_no_rest_and_every_wait_is_counted(
    serve: Any, bench: Any, say: Say
) -> None:
    arrived_s: list[float] = []

    def stalling(asked: Any) -> Iterable[Any]:
        arrived_s.append(time.monotonic())
        left_s = arrived_s[0] + 1.0 - time.monotonic()
        return [max(0.0, left_s), *say.whole(asked)]

    server = serve(measured=stalling)
    result = bench(server.url, arrival="constant", rate_per_s=40.0, requests=20, concurrency=64)
    assert result.completed == 20
    assert arrived_s[-1] - arrived_s[0] < 0.9, "arrivals waited for the server"
    first, *_, last = sorted(bench.records, key=lambda record: record.sent_s)
    assert first.ttft_ms >= 990
    assert first.ttft_ms - last.ttft_ms == pytest.approx(19 / 40 * 1e3, abs=150)


def test_a_request_without_a_free_stream_waits_in_its_own_time(serve: Any, bench: Any, say: Say) -> None:
    server = serve(measured=_after_50_ms(say))
    result = bench(server.url, arrival="constant", rate_per_s=100.0, requests=8, concurrency=1)
    assert (result.completed, server.most_at_once) == (8, 1)
    waits_ms = [record.ttft_ms for record in sorted(bench.records, key=lambda record: record.sent_s)]
    assert waits_ms == sorted(waits_ms)
    assert waits_ms[-1] >= 50 + 7 * 40 - 1
    assert result.late_ms.mean >= 100
    assert result.achieved_concurrency <= 1.001


def test_a_request_is_waiting_until_its_stream_has_taken_it() -> None:
    async def counts() -> list[int]:
        open_loop = Open(Plan(3, None), Steady(()), rate_per_s=1e3, poisson=False, seed=1)
        stream = asyncio.ensure_future(open_loop.take())
        await asyncio.sleep(0)
        arriving = asyncio.ensure_future(open_loop.run())
        seen = [open_loop.waiting]
        await asyncio.sleep(0)  # one is offered to the stream, which has not run since
        seen.append(open_loop.waiting)
        await stream
        seen.append(open_loop.waiting)
        arriving.cancel()
        await asyncio.gather(arriving, return_exceptions=True)
        return seen

    assert asyncio.run(counts()) == [0, 1, 0]


def test_no_request_is_started_after_the_duration(serve: Any, bench: Any) -> None:
    server = serve()
    result = bench(
        server.url, arrival="constant", rate_per_s=50.0, requests=1000, concurrency=8, duration_s=0.3
    )
    assert result.outcome == "done"
    assert 14 <= result.completed <= 16
    assert result.sentence.startswith(f"{result.completed} of {result.completed} requests answered")


def test_a_closed_loop_ends_with_its_duration_too(serve: Any, bench: Any, say: Say) -> None:
    server = serve(measured=_after_50_ms(say))
    result = bench(server.url, requests=1000, concurrency=2, duration_s=0.3)
    assert result.outcome == "done"
    assert 2 <= result.completed <= 14
    assert result.steady_s == pytest.approx(0.3, abs=0.15)


def test_failures_do_not_hold_arrivals_up(serve: Any, bench: Any, say: Say) -> None:
    server = serve(measured=say.refusing("503 Service Unavailable"))
    result = bench(server.url, arrival="constant", rate_per_s=100.0, requests=30, concurrency=4)
    assert (result.outcome, result.failures, result.fault) == ("failed", {"http_503": 30}, "http_503")
    assert result.duration_s < 2


@pytest.mark.parametrize("rate", [None, 0.0, -1.0])
def test_an_open_loop_needs_a_rate(bench: Any, rate: float | None) -> None:
    result = bench("http://127.0.0.1:1", arrival="poisson", rate_per_s=rate)
    assert (result.outcome, result.fault) == ("failed", "bad_request")
    assert "rate" in result.sentence


def test_a_cancelled_open_loop_keeps_its_figures(serve: Any, bench: Any) -> None:
    server = serve()
    result = bench(
        server.url,
        arrival="constant",
        rate_per_s=50.0,
        requests=1000,
        concurrency=4,
        cancel_when=lambda: len(server.measurements) >= 10,
    )
    assert result.outcome == "cancelled"
    assert 9 <= result.completed <= 60
    assert len(bench.records) == result.completed
