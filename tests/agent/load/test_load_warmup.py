"""The warm-up runs into the measurement without a break, agrees or does not, fails or is cancelled."""

import itertools
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from tui.agent.load import warmup as load_warmup

Say = Any


@pytest.fixture(autouse=True)
def _short_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load_warmup, "WINDOW_S", 0.005)


def _taking(say: Say, seconds: Callable[[int], float]) -> Any:
    """Answer each request after so long a time, given its number."""
    numbers = itertools.count()

    def reply(asked: Any) -> Iterable[Any]:
        number = next(numbers)
        return [seconds(number), *say.whole(asked)]

    return reply


def _restless(number: int) -> float:
    return 0.02 if number % 2 else 0.06


def test_two_windows_of_one_speed_end_the_warm_up(serve: Any, bench: Any, say: Say) -> None:
    server = serve(measured=_taking(say, lambda _: 0.05))
    result = bench(server.url, concurrency=2, requests=4, warmup_s=20.0)
    assert (result.outcome, result.completed, result.warmup.agreed) == ("done", 4, True)
    assert 3 <= result.warmup.requests < 100
    assert result.warmup.seconds >= 0.1
    assert len(server.measurements) <= result.warmup.requests + 4 + 2


def test_a_warm_up_that_never_agrees_ends_at_its_limit_and_is_told(serve: Any, bench: Any, say: Say) -> None:
    server = serve(measured=_taking(say, _restless))
    result = bench(server.url, requests=3, warmup_s=0.4)
    assert (result.outcome, result.completed, result.warmup.agreed) == ("done", 3, False)
    assert result.warmup.seconds == pytest.approx(0.4, abs=0.3)
    assert "no steady rate" in result.sentence


def test_without_a_warm_up_the_first_request_is_measured(serve: Any, bench: Any, say: Say) -> None:
    server = serve(measured=_taking(say, lambda number: 0.0 if number else 0.3))
    result = bench(server.url, requests=3)
    assert (result.warmup.requests, result.warmup.agreed) == (0, None)
    assert bench.records[0].ttft_ms >= 300
    assert len(server.measurements) == 3


def test_what_the_warm_up_left_on_its_way_is_busy_but_not_measured(serve: Any, bench: Any, say: Say) -> None:
    server = serve(measured=_taking(say, lambda number: 0.06 if number else 3.0))
    result = bench(server.url, concurrency=2, requests=4, warmup_s=0.1)
    assert (result.completed, result.failed, result.warmup.agreed) == (4, 0, False)
    assert result.achieved_concurrency == pytest.approx(2, rel=0.15)
    assert result.steady_s is None
    assert result.ttft_ms.p50 < 1000


def test_a_request_is_measured_though_the_one_before_took_all_the_time(
    serve: Any, bench: Any, say: Say
) -> None:
    server = serve(measured=_taking(say, lambda number: 0.0 if number else 0.4))
    result = bench(server.url, concurrency=1, requests=1000, warmup_s=0.05, duration_s=0.1)
    assert (result.outcome, result.completed) == ("done", 1)


def test_warm_up_requests_are_of_the_shape_of_those_measured(serve: Any, bench: Any, say: Say) -> None:
    server = serve(measured=_taking(say, lambda _: 0.02))
    bench(server.url, requests=2, warmup_s=0.2, input_tokens=40)
    assert len(server.measurements) > 2
    prompts = [asked.body["messages"][0]["content"] for asked in server.measurements]
    assert len({len(prompt.split()) for prompt in prompts}) == 1
    assert len(set(prompts)) == len(prompts)


def test_a_warm_up_in_which_all_fails_ends_the_run_with_its_class(serve: Any, bench: Any, say: Say) -> None:
    server = serve(measured=say.refusing("429 Too Many Requests"))
    result = bench(server.url, concurrency=2, requests=8, warmup_s=20.0)
    assert (result.outcome, result.fault, result.completed) == ("failed", "http_429", 0)
    assert set(result.failures) == {"http_429"}
    assert "takes no more requests" in result.sentence


def test_a_failure_among_successes_does_not_end_the_warm_up(serve: Any, bench: Any, say: Say) -> None:
    server = serve(measured=say.once(say.refusing("503 Service Unavailable")))
    result = bench(server.url, concurrency=2, requests=4, warmup_s=0.3)
    assert (result.outcome, result.completed, result.failures) == ("done", 4, {})


def test_a_run_cancelled_in_its_warm_up_measured_nothing(serve: Any, bench: Any, say: Say) -> None:
    server = serve(measured=_taking(say, _restless))
    result = bench(server.url, warmup_s=60.0, requests=100, cancel_when=lambda: len(server.measurements) >= 4)
    assert (result.outcome, result.completed, result.failed) == ("cancelled", 0, 0)
    assert result.sentence == "nothing was measured yet"
    assert result.warmup.requests >= 2
    assert result.output_tokens_per_s is None
    assert bench.records == []


def test_a_run_cancelled_in_its_measurement_keeps_its_figures(serve: Any, bench: Any, say: Say) -> None:
    server = serve(measured=_taking(say, lambda number: 0.02 if number < 6 else 5.0))
    result = bench(server.url, concurrency=2, requests=100, cancel_when=lambda: len(server.measurements) >= 8)
    assert (result.outcome, result.completed, result.failed) == ("cancelled", 6, 0)
    assert result.sentence == "6 of 100 requests answered"
    assert [record.fault for record in bench.records] == [""] * 6
    assert result.output_tokens_per_s == pytest.approx(600 / result.duration_s)
    assert result.client_cpu_fraction is not None
    assert 0 < result.achieved_concurrency <= 2.001


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [(100, 104.9, True), (104.9, 100, True), (100, 106, False), (0, 0, False), (100, 0, False)],
)
def test_speeds_agree_within_a_twentieth_of_the_faster(before: float, after: float, same: bool) -> None:
    assert load_warmup.agree(before, after) is same


def test_a_window_waits_for_every_stream() -> None:
    windows = load_warmup.Windows(load_warmup.Mark(0.0, 0, 0.0), [0, 1])
    assert not windows.due(0, 1.0)
    assert not windows.due(0, 2.0)
    assert windows.due(1, 2.5)
    assert not windows.turn(load_warmup.Mark(2.5, 500, 5.0), [0, 1])
    assert not windows.due(1, 3.0)
    assert windows.due(0, 3.5)
    assert windows.turn(load_warmup.Mark(3.5, 700, 7.0), [0, 1])
