"""sglang's bench_serving: real files of its 0.5.23 client against a server of 20 ms and 5 ms a token."""

import json
from pathlib import Path

import pytest

from tui.benchmark import NO_SAMPLES
from tui.runs.entry import RunEntry
from tui.runs.importing.entry import Wanted
from tui.runs.importing.files import entries

FILES = Path(__file__).parents[2] / "fixtures" / "bench_results"


def read(name: str, *, label: str = "", host: str = "") -> list[RunEntry]:
    return entries([FILES / name], Wanted(host, label))


def changed(folder: Path, name: str, place: int = 0, **changes: object) -> RunEntry:
    """Return the run of a real line with some fields changed."""
    line = json.loads((FILES / name).read_text().splitlines()[place]) | changes
    path = folder / "changed.jsonl"
    path.write_text(json.dumps(line))
    return entries([path], Wanted())[0]


def test_each_line_is_a_run() -> None:
    detailed, summary = read("sglang.jsonl")

    assert (detailed.origin, detailed.result.completed, detailed.result.model) == ("sglang", 12, "m")
    assert (len(detailed.records), len(summary.records)) == (12, 0)
    assert detailed.id != summary.id


def test_a_ratio_of_one_is_an_exact_length_and_one_of_zero_is_not() -> None:
    exact, drawn = read("sglang.jsonl")

    assert exact.workload == "4 streams, 64 in, 16 out, 12 requests"
    assert drawn.workload == "4 streams, 1 to 64 in, 1 to 16 out, 12 or more requests"


def test_its_itl_over_generate_is_no_gap_between_chunks() -> None:
    run = read("sglang.jsonl")[0].result

    assert run.itl_ms == NO_SAMPLES
    assert "no gap between chunks" in run.sentence


def test_its_itl_over_the_openai_route_is_one() -> None:
    run = read("sglang_chat.jsonl")[0]

    assert run.result.itl_ms.samples == 120 * 15
    assert run.result.itl_ms.p99 == pytest.approx(10.996, abs=0.001)  # as the client prints it
    assert run.records[0].chunks == 16


def test_speculative_decoding_over_the_openai_route_leaves_no_gaps(tmp_path: Path) -> None:
    run = changed(tmp_path, "sglang_chat.jsonl", accept_length=2.31).result

    assert run.itl_ms == NO_SAMPLES
    assert "acceptance length 2.31 over the server's life" in run.sentence


def test_time_per_token_ends_with_the_last_token_where_the_requests_are_known() -> None:
    detailed = read("sglang.jsonl")[0].result

    assert detailed.tpot_ms.mean == pytest.approx(6.569, abs=0.001)  # the client says 6.962, to [DONE]
    assert detailed.e2e_ms.mean == pytest.approx(124.168, abs=0.001)


def test_failures_are_counted_from_the_requests() -> None:
    run = read("sglang_chat.jsonl")[1]

    assert (run.result.completed, run.result.failed, run.result.failed_known) == (10, 2, True)
    assert run.result.failures == {"error": 2}
    assert [each.ttft_ms for each in run.records if each.fault] == [None, None]


def test_without_the_requests_nobody_knows_how_many_failed() -> None:
    summary = read("sglang.jsonl")[1].result

    assert not summary.failed_known
    assert "kept no count of failures" in summary.sentence


def test_tokens_that_are_only_credited_give_no_rate(tmp_path: Path) -> None:
    run = changed(tmp_path, "sglang_chat.jsonl", total_output_tokens_retokenized=960).result

    assert (run.output_tokens, run.output_tokens_per_s, run.tokens_counted_by) == (None, None, None)
    assert run.tpot_ms == NO_SAMPLES
    assert "asked for, not counted" in run.sentence


def test_its_own_rate_stands_where_the_server_counted() -> None:
    run = read("sglang.jsonl")[0].result

    assert run.output_tokens_per_s == pytest.approx(487.643, abs=0.001)
    assert run.tokens_counted_by == "usage"


def test_a_rate_is_an_open_loop() -> None:
    run = read("sglang_chat.jsonl")[1]

    assert run.workload == "40/s poisson, any number of streams, 64 in, 16 out, 12 requests"
    assert (run.result.spec.arrival, run.result.spec.rate_per_s) == ("poisson", 40.0)


def test_infinity_as_its_python_client_writes_it_is_a_closed_loop(tmp_path: Path) -> None:
    run = changed(tmp_path, "sglang.jsonl", request_rate=float("inf"))

    assert "Infinity" in (tmp_path / "changed.jsonl").read_text()
    assert run.workload.startswith("4 streams, ")


def test_a_data_set_is_told_by_its_name(tmp_path: Path) -> None:
    run = changed(tmp_path, "sglang.jsonl", dataset_name="sharegpt", request_rate="trace")

    assert run.workload == "arrivals of its trace, at most 4 streams, data sglang sharegpt, 12 requests"


def test_a_secret_within_a_value_is_hidden(tmp_path: Path) -> None:
    run = changed(
        tmp_path, "sglang.jsonl", server_info={"json_model_override_args": "token hf_abcdefghijklmnopqrst"}
    )

    assert "hf_abc" not in json.dumps([each.value for each in run.fingerprint.settings])
    told = run.fingerprint.setting("argument --json-model-override-args")
    assert told is not None
    assert told.value == "token ***"


def test_the_fingerprint_has_arguments_and_version_and_no_secret() -> None:
    told = read("sglang.jsonl")[0].fingerprint

    version = told.setting("engine version")
    backend = told.setting("argument --attention-backend")
    assert version is not None
    assert backend is not None
    assert (version.value, backend.value, backend.source) == ("0.5.14", "fa3", "server_info")
    assert [each.value for each in told.settings if each.name == "argument --api-key"] == ["***"]
    assert "sk-0123" not in str(told)
    assert told.environment_known == "unknown"


def test_only_a_label_makes_a_configuration() -> None:
    plain, named = read("sglang.jsonl"), read("sglang.jsonl", label="ring")

    assert {each.fingerprint.digest for each in plain} == {""}
    assert named[0].fingerprint.digest
    assert named[0].id == plain[0].id


def test_the_host_is_what_the_person_says() -> None:
    run = read("sglang.jsonl", host="gpu01")[0]

    assert (run.host, run.instance.host, run.instance.key) == ("gpu01", "gpu01", "")
