"""What must be the same for two runs to be compared, in words."""

import pytest
from run_entries import spec

from tui.bench.workload import workload_of


def test_a_workload_says_what_the_server_is_asked_to_do() -> None:
    assert workload_of(spec()) == "16 streams, 1024 in, 256 out, 64 requests"
    assert workload_of(spec(data="set.jsonl 0123abcd")) == (
        "16 streams, data set.jsonl 0123abcd, 256 out, 64 requests"
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"concurrency": 8},
        {"requests": 65},
        {"input_tokens": 1023},
        {"output_tokens": 255},
        {"arrival": "poisson", "rate_per_s": 4.0},
        {"arrival": "constant", "rate_per_s": 4.0},
        {"duration_s": 30.0},
        {"data": "set.jsonl 0123abcd"},
        {"data": "set.jsonl 0123abcd", "output_tokens": 255},
        {"turns": 2},
        {"prefix_tokens": 64},
        {"warmup_s": 0.0},
        {"flush_cache": True},
        {"seed": 1},
    ],
    ids=lambda changes: " ".join(changes),
)
def test_whatever_changes_the_work_makes_another_workload(changes: dict[str, object]) -> None:
    plain = {name: value for name, value in changes.items() if name == "data" and len(changes) > 1}
    assert workload_of(spec(**changes)) != workload_of(spec(**plain))


@pytest.mark.parametrize(
    "changes", [{"url": "http://other:1"}, {"model": "m"}, {"despite_load": True}, {"series": "s"}]
)
def test_what_belongs_to_the_server_or_the_result_makes_none(changes: dict[str, object]) -> None:
    assert workload_of(spec(**changes)) == workload_of(spec())
