"""AIPerf: real files of its 0.13.0 against a server of 20 ms and 5 ms a token."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tui.benchmark import NO_SAMPLES
from tui.runs.entry import RunEntry
from tui.runs.importing.entry import Wanted
from tui.runs.importing.files import entries
from tui.runs.importing.reading import ImportFault

FILES = Path(__file__).parents[2] / "fixtures" / "bench_results"
SUMMARY, RECORDS = FILES / "aiperf.json", FILES / "aiperf_records.jsonl"


def both(name: str = "aiperf") -> RunEntry:
    """Return the run of a summary with its records, which lie alone in a folder as AIPerf leaves them."""
    return entries([FILES / f"{name}_records.jsonl", FILES / f"{name}.json"], Wanted())[0]


def changed(folder: Path, change: dict[str, Any]) -> RunEntry:
    path = folder / "changed.json"
    path.write_text(json.dumps(json.loads(SUMMARY.read_text()) | change))
    return entries([path], Wanted())[0]


def test_the_summary_alone_is_a_run() -> None:
    (run,) = entries([SUMMARY], Wanted())

    assert (run.origin, run.workload) == ("aiperf", "4 streams, 64 in, 16 out, 12 requests")
    assert (run.result.completed, run.result.failed, run.result.model) == (12, 0, "mock")
    assert run.records == ()


def test_its_inter_token_latency_is_our_tpot_and_its_chunk_latency_our_itl() -> None:
    (run,) = entries([SUMMARY], Wanted())

    assert run.result.tpot_ms.p50 == pytest.approx(4.984, abs=0.001)
    assert run.result.itl_ms.samples == 180
    assert run.result.itl_ms.p99 == pytest.approx(13.868, abs=0.001)


def test_records_give_each_request_and_the_same_latencies() -> None:
    alone, run = entries([SUMMARY], Wanted())[0], both()

    assert len(run.records) == 12
    assert run.id == alone.id
    for name in ("ttft_ms", "ttfo_ms", "itl_ms", "tpot_ms", "e2e_ms"):
        ours, theirs = getattr(run.result, name), getattr(alone.result, name)
        assert (ours.mean, ours.p50, ours.p90) == pytest.approx(
            (theirs.mean, theirs.p50, theirs.p90), abs=1e-6
        )


def test_its_rate_is_over_the_time_of_the_requests_and_not_of_the_phase() -> None:
    result = both().result

    assert result.duration_s == pytest.approx(0.361703, abs=1e-6)
    assert result.output_tokens_per_s == pytest.approx(192 / 0.361703, abs=0.01)  # it says 517.0


def test_failures_have_their_classes() -> None:
    run = both("aiperf_failures")

    assert (run.result.completed, run.result.failed, run.result.failures) == (9, 3, {"http_500": 3})
    assert sorted({each.fault for each in run.records}) == ["", "http_500"]


def test_a_spread_of_lengths_equals_no_exact_length() -> None:
    assert both("aiperf_failures").workload == (
        "40/s poisson, any number of streams, 64 ± 8 in, 16 out, 12 requests"
    )


def test_the_servers_count_of_tokens_goes_before_its_own(tmp_path: Path) -> None:
    counts = {"total_osl": {"unit": "tokens", "avg": 1536.0}}

    result = changed(tmp_path, counts).result

    assert (result.output_tokens, result.tokens_counted_by) == (192, "usage")
    assert result.tpot_ms == NO_SAMPLES
    assert "its time per token is left out" in result.sentence


def test_its_own_count_is_said_to_be_its_own(tmp_path: Path) -> None:
    result = changed(tmp_path, {"total_usage_completion_tokens": None}).result

    assert (result.output_tokens, result.tokens_counted_by) == (192, None)
    assert "counted by its own tokenizer" in result.sentence


def test_answers_that_may_end_early_are_said_in_the_workload(tmp_path: Path) -> None:
    config = json.loads(SUMMARY.read_text())["input_config"]
    config["endpoint"]["extra"] = {}

    assert changed(tmp_path, {"input_config": config}).workload == (
        "4 streams, 64 in, 16 or less out, 12 requests"
    )


def test_an_option_without_words_keeps_workloads_apart(tmp_path: Path) -> None:
    config = json.loads(SUMMARY.read_text())["input_config"]
    config["datasets"][0]["prompts"]["prefix_prompts"] = {"length": 32, "pool_size": 2}

    workload = changed(tmp_path, {"input_config": config}).workload

    assert workload.startswith("4 streams, 64 in, 16 out, 12 requests, other options of AIPerf ")


def test_a_run_that_was_cut_short_is_cancelled(tmp_path: Path) -> None:
    result = changed(tmp_path, {"is_complete": False, "incomplete_reason": "records stalled"}).result

    assert result.outcome == "cancelled"
    assert "it did not end: records stalled" in result.sentence


def test_records_need_their_summary() -> None:
    with pytest.raises(ImportFault, match=r"give the profile_export_aiperf\.json of their run too"):
        entries([RECORDS], Wanted())


def test_records_of_another_run_are_refused() -> None:
    with pytest.raises(ImportFault, match=r"not the requests of aiperf\.json: 9 succeeded, there 12"):
        entries([SUMMARY, FILES / "aiperf_failures_records.jsonl"], Wanted())


def test_two_runs_have_their_records_beside_them(tmp_path: Path) -> None:
    files: list[Path] = []
    for name in ("aiperf", "aiperf_failures"):
        folder = tmp_path / name
        folder.mkdir()
        for suffix in (".json", "_records.jsonl"):
            files.append(folder / f"export{suffix}")
            shutil.copy(FILES / f"{name}{suffix}", files[-1])

    assert [len(run.records) for run in entries(files, Wanted())] == [12, 12]
