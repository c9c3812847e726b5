import json
from collections.abc import Callable
from typing import Any

import pytest

from tui.bench.metrics import tokens_per_chunk
from tui.bench.report import exit_code, json_object, level_lines, text_lines
from tui.benchmark import NO_SAMPLES, BenchResult, Percentiles

MakeResult = Callable[..., BenchResult]


def test_the_json_object_begins_with_the_promised_keys(make_result: MakeResult) -> None:
    found = json_object(make_result(failed=2, failures={"http_503": 2}))
    assert list(found)[:10] == [
        "completed",
        "failed",
        "failures",
        "ttft_ms",
        "itl_ms",
        "tpot_ms",
        "e2e_ms",
        "output_tokens_per_s",
        "requests_per_s",
        "achieved_concurrency",
    ]
    assert found["failures"] == {"http_503": 2}
    assert found["ttft_ms"] == {"mean": 20.1235, "p50": 20.0, "p90": 25.0, "p99": None}


def test_what_is_not_known_is_null_in_the_json(nothing_measured: BenchResult) -> None:
    found: dict[str, Any] = json.loads(json.dumps(json_object(nothing_measured), allow_nan=False))
    assert (found["completed"], found["failed"], found["failures"]) == (0, 1, {"refused": 1})
    assert set(found["ttft_ms"].values()) == {None}
    assert found["output_tokens_per_s"] is None
    assert found["sentence"] == "http://h:1 refuses connections"


def test_the_text_has_a_row_for_each_metric_and_says_where_it_was_measured(make_result: MakeResult) -> None:
    text = "\n".join(text_lines(make_result()))
    for words in (
        "2,048.0 output tokens/s",
        "TTFT",
        "ITL (chunk gap)",
        "TPOT",
        "E2E latency",
        "beside the server",
    ):
        assert words in text
    assert max(map(len, text_lines(make_result())[:-2])) <= 80
    assert "from this machine" in "\n".join(text_lines(make_result(measured_on="this_machine")))


def test_the_text_of_a_failed_run_shows_no_figures(nothing_measured: BenchResult) -> None:
    lines = text_lines(nothing_measured)
    assert lines[0] == "failed: http://h:1 refuses connections"
    assert "TTFT" not in "\n".join(lines)


def test_several_tokens_a_chunk_are_said(make_result: MakeResult) -> None:
    bundled = make_result(itl_ms=Percentiles(mean=20.0, p50=20.0, p90=20.0, p99=20.0, samples=64 * 31))
    assert tokens_per_chunk(bundled) == pytest.approx(4.0)
    assert "4.00 tokens a chunk" in "\n".join(text_lines(bundled))
    assert tokens_per_chunk(make_result()) == pytest.approx(1.0)
    assert tokens_per_chunk(make_result(tokens_counted_by="chunks")) is None
    assert tokens_per_chunk(make_result(chunks=2048)) == pytest.approx(4.0)


def test_what_another_client_did_not_tell_is_unknown_and_not_zero(make_result: MakeResult) -> None:
    outside = make_result(measured_on="elsewhere", failed_known=False, itl_ms=NO_SAMPLES)
    assert tokens_per_chunk(outside) is None
    told = json_object(outside)
    assert [told[name] for name in ("failed", "failures", "ended_early", "tokens_per_chunk")] == [None] * 4
    assert [json_object(make_result())[name] for name in ("failed", "failures", "ended_early")] == [0, {}, 0]
    text = "\n".join(text_lines(outside))
    assert "by another client" in text
    assert "machine" not in text
    assert level_lines([outside])[3].split()[-1] == "-"


def test_a_p99_that_another_client_left_out_is_not_put_down_to_few_samples(make_result: MakeResult) -> None:
    many = Percentiles(mean=20.0, p50=20.0, p90=20.0, p99=None, samples=500)
    assert "p99 is not shown: it needs 100 requests, and 64 were answered" in "\n".join(
        text_lines(make_result())
    )
    assert "p99 is not shown" not in "\n".join(text_lines(make_result(ttft_ms=many)))
    assert "p99 is not shown" not in "\n".join(text_lines(make_result(ttft_ms=NO_SAMPLES)))


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({}, 0),
        ({"completed": 1, "failed": 63}, 0),
        ({"completed": 0, "failed": 64, "outcome": "failed"}, 1),
        ({"completed": 5, "outcome": "failed"}, 0),
    ],
)
def test_the_exit_code_is_0_when_a_request_succeeded(
    make_result: MakeResult, fields: dict[str, Any], code: int
) -> None:
    assert exit_code(make_result(**fields)) == code


def test_a_sweep_tells_the_goodput_of_each_level(make_result: MakeResult) -> None:
    levels = [make_result(goodput_per_s=15.5, good=62), make_result(goodput_per_s=4.0, good=16)]

    told = [line for line in level_lines(levels) if "goodput" in line]

    assert told == ["8 streams: goodput 15.50/s (62 of 64)", "8 streams: goodput 4.00/s (16 of 64)"]


@pytest.mark.parametrize(("tokens", "told"), [(64 * 25, True), (64 * 256, False), (64 * 270, False)])
def test_prompts_of_another_length_than_was_asked_for_are_told(
    make_result: MakeResult, tokens: int, told: bool
) -> None:
    text = "\n".join(text_lines(make_result(input_tokens=tokens)))

    assert ("by the server's count, where 256 were asked for" in text) == told
