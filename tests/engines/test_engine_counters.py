"""Which counters are read of which engine, and what they say."""

from typing import Any

import msgspec
import pytest

from tui.benchmark import BenchResult, BenchSpec, Counter, Percentiles, Spilled
from tui.engines.counters import counters_for, figures_of
from tui.engines.registry import ENGINES
from tui.requests import Counters, Flush

NONE = Percentiles(mean=None, p50=None, p90=None, p99=None, samples=0)
SPEC = BenchSpec(url="http://h:1", model=None, concurrency=1, requests=1, input_tokens=8, output_tokens=100)


def result(*counters: tuple[str, float | None, float | None], **fields: Any) -> BenchResult:
    told = tuple(Counter(name=name, before=before, after=after) for name, before, after in counters)
    base: dict[str, Any] = {
        "mono_s": 0.0, "wall_s": 0.0, "run": "r", "outcome": "done", "sentence": "", "spec": SPEC,
        "model": "m", "completed": 1, "failed": 0, "failures": {}, "output_tokens": 100, "input_tokens": 8,
        "ttft_ms": NONE, "itl_ms": NONE, "tpot_ms": NONE, "e2e_ms": NONE, "tokens_counted_by": "usage",
        "duration_s": 2.0, "output_tokens_per_s": 50.0, "requests_per_s": 0.5, "achieved_concurrency": 1.0,
        "client_cpu_fraction": 0.1, "measured_on": "server_host",
        "spilled": Spilled(requests=0, tokens=0, arrived=0),
    }  # fmt: skip
    return BenchResult(**{**base, **fields}, counters=told)


@pytest.mark.parametrize("engine", [engine.name for engine in ENGINES])
def test_every_engine_tells_what_runs_and_what_it_generated(engine: str) -> None:
    counters = counters_for(engine)
    assert len(counters.running) == 2
    assert counters.names
    assert len(set(counters.names)) == len(counters.names)


@pytest.mark.parametrize("engine", [None, "generic", "no such engine"])
def test_of_an_unknown_engine_all_names_are_read_and_no_cache_is_emptied(engine: str | None) -> None:
    counters = counters_for(engine)
    for known in ENGINES:
        assert set(counters_for(known.name).names) <= set(counters.names)
        assert set(counters_for(known.name).running) <= set(counters.running)
    assert counters.flush is None
    assert counters.path == "/metrics"


def test_the_prefix_cache_is_emptied_where_one_call_does_it() -> None:
    assert counters_for("sglang").flush == Flush(
        method="POST", path="/flush_cache", hits=("sglang:cached_tokens_total",)
    )
    vllm = counters_for("vllm").flush
    assert vllm is not None
    assert (vllm.path, vllm.needs) == ("/reset_prefix_cache", "VLLM_SERVER_DEV_MODE=1")
    assert [counters_for(name).flush for name in ("llamacpp", "tgi", "trtllm")] == [None] * 3


def test_what_is_read_survives_the_way_to_the_agent() -> None:
    counters = counters_for(None)
    assert msgspec.json.decode(msgspec.json.encode(counters), type=Counters) == counters


def test_sglang_tells_acceptance_by_its_verification_steps() -> None:
    found = figures_of(
        result(
            ("sglang:prompt_tokens_total", 1000, 2000),
            ("sglang:generation_tokens_total", 50, 150),
            ("sglang:spec_verify_calls_total", 10, 50),
            ("sglang:spec_num_steps", 3, 3),
            ("sglang:cached_tokens_total", None, 250),
        )
    )
    assert found.acceptance_length == pytest.approx(2.5)
    assert found.acceptance_rate == pytest.approx(0.5)
    assert found.prefix_hit_rate == pytest.approx(0.25)
    assert found.gap == pytest.approx(0.0)


def test_vllm_tells_acceptance_by_drafts_and_hits_by_queries() -> None:
    found = figures_of(
        result(
            ("vllm:prompt_tokens_total", 0, 800),
            ("vllm:generation_tokens_total", 0, 110),
            ("vllm:prefix_cache_queries_total", 0, 800),
            ("vllm:prefix_cache_hits_total", 0, 640),
            ("vllm:spec_decode_num_drafts_total", 0, 40),
            ("vllm:spec_decode_num_draft_tokens_total", 0, 120),
            ("vllm:spec_decode_num_accepted_tokens_total", 0, 60),
        )
    )
    assert (found.acceptance_length, found.acceptance_rate) == (2.5, 0.5)
    assert found.prefix_hit_rate == pytest.approx(0.8)
    assert found.generated_tokens_per_s == pytest.approx(55.0)
    assert found.sentence.startswith("the server's own counters say 10.0% more")


def test_llamacpp_counts_cached_prompt_tokens_apart() -> None:
    found = figures_of(
        result(
            ("llamacpp:prompt_tokens_total", 129, 134),
            ("llamacpp:prompt_tokens_cached_total", 119, 238),
            ("llamacpp:tokens_predicted_total", 64, 164),
        )
    )
    assert found.prompt_tokens == 124
    assert found.prefix_hit_rate == pytest.approx(119 / 124)
    old = figures_of(result(("llamacpp:prompt_tokens_total", 129, 134)))
    assert (old.prompt_tokens, old.prefix_hit_rate) == (5, None)
