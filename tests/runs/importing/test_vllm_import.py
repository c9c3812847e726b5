"""``vllm bench serve``: real files of its 0.33.0 client against a server of 20 ms and 5 ms a token."""

import json
from datetime import datetime
from pathlib import Path

import pytest

from tui.runs.entry import RunEntry
from tui.runs.importing.entry import Wanted
from tui.runs.importing.files import entries

FILES = Path(__file__).parents[2] / "fixtures" / "bench_results"


def read(name: str) -> RunEntry:
    return entries([FILES / name], Wanted())[0]


def changed(folder: Path, name: str, **changes: object) -> RunEntry:
    path = folder / "changed.json"
    path.write_text(json.dumps(json.loads((FILES / name).read_text()) | changes))
    return entries([path], Wanted())[0]


def test_a_detailed_file_tells_exact_lengths_and_every_request() -> None:
    run = read("vllm.json")

    assert (run.origin, run.workload) == ("vllm", "4 streams, 64 in, 16 out, 12 requests")
    assert len(run.records) == 12
    assert run.records[0].sent_s == 0.0
    assert max(each.sent_s or 0.0 for each in run.records) > 0.2


def test_its_latencies_are_those_that_it_prints() -> None:
    result = read("vllm.json").result

    told = (result.ttft_ms.mean, result.ttft_ms.p50, result.tpot_ms.mean, result.itl_ms.p50)
    assert told == pytest.approx((29.030, 29.215, 5.597, 5.554), abs=0.001)


def test_a_p99_of_twelve_requests_is_hidden() -> None:
    result = read("vllm.json").result

    assert result.ttft_ms.p99 is None
    assert result.itl_ms.p99 == pytest.approx(6.128, abs=0.001)


def test_its_rate_is_over_the_time_of_the_requests() -> None:
    result = read("vllm.json").result

    assert result.duration_s == pytest.approx(0.35457, abs=1e-5)  # its own, with what it does around: 0.36143
    assert result.output_tokens_per_s == pytest.approx(192 / 0.35457, abs=0.1)
    assert result.achieved_concurrency == pytest.approx(3.82, abs=0.01)


def test_a_summary_tells_inexact_lengths_which_equal_no_exact_ones() -> None:
    run = read("vllm_summary.json")

    assert run.workload == "4 streams, about 64 in, about 17 out, 12 requests"
    assert "lengths are means" in run.result.sentence
    assert run.records == ()


def test_lengths_that_differ_are_told_as_a_range(tmp_path: Path) -> None:
    run = changed(tmp_path, "vllm.json", input_lens=[*range(50, 62)])

    assert run.workload == "4 streams, 50 to 61 in, 16 out, 12 requests"


def test_failures_are_in_the_records_and_their_count() -> None:
    run = read("vllm_failures.json")

    assert (run.result.completed, run.result.failed, run.result.failures) == (9, 3, {"error": 3})
    assert [each.fault for each in run.records].count("error") == 3
    assert run.result.ttft_ms.samples == 9


def test_failures_that_only_have_a_count_are_counted(tmp_path: Path) -> None:
    run = changed(tmp_path, "vllm_summary.json", completed=11, failed=1)

    assert (run.result.failed, run.result.failures, run.result.failed_known) == (1, {"error": 1}, True)


def test_goodput_against_limits_that_nobody_knows_is_left_out() -> None:
    result = read("vllm_failures.json").result

    assert result.goodput_per_s is None
    assert "goodput is left out" in result.sentence


def test_metadata_and_model_are_settings() -> None:
    told = {each.name: each.value for each in read("vllm_summary.json").fingerprint.settings}

    assert (told["metadata tp"], told["metadata version"], told["model"]) == ("2", "0.33.0", "mock")


def test_its_date_is_the_time_of_this_machine() -> None:
    assert read("vllm.json").made_wall_s == datetime(2026, 11, 30, 4, 22, 13).timestamp()


@pytest.mark.parametrize(
    ("changes", "workload"),
    [
        ({"max_concurrency": None}, "12 streams, 64 in, 16 out, 12 requests"),
        (
            {"request_rate": 8.0, "burstiness": 0.5},
            "8/s gamma of burstiness 0.5, at most 4 streams, 64 in, 16 out, 12 requests",
        ),
        (
            {"ramp_up_strategy": "linear", "ramp_up_start_rps": 1, "ramp_up_end_rps": 10},
            "1 to 10/s linear ramp, at most 4 streams, 64 in, 16 out, 12 requests",
        ),
    ],
)
def test_arrivals_are_told_apart(tmp_path: Path, changes: dict[str, object], workload: str) -> None:
    assert changed(tmp_path, "vllm.json", **changes).workload == workload


def test_appended_results_are_as_many_runs(tmp_path: Path) -> None:
    path = tmp_path / "appended.json"
    path.write_text(
        "\n".join((FILES / name).read_text().strip() for name in ("vllm.json", "vllm_summary.json"))
    )

    assert len(entries([path], Wanted())) == 2
