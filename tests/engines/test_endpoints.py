"""What the answers of each engine's endpoints mean, by version, and what its series are called."""

import re

import pytest

from tui.engines.base import Engine
from tui.engines.endpoints import PORT, covers, version_key
from tui.engines.generic import GENERIC
from tui.engines.llamacpp import LLAMACPP
from tui.engines.registry import ENGINES
from tui.engines.sglang import SGLANG
from tui.engines.tgi import TGI
from tui.engines.trtllm import TRTLLM
from tui.engines.vllm import VLLM
from tui.events import Outcome

EVERY = (*ENGINES, GENERIC)


@pytest.mark.parametrize(
    "rising",
    [
        ["0.4.9", "0.4.10", "0.4.10.post1", "0.4.10.post2", "0.5.1", "0.5.14"],
        [
            "0.10.2",
            "0.11.0rc1",
            "0.11.0rc2.dev3+g1a2b3c",
            "0.11",
            "0.11.0.post1",
            "v0.11.1",
            "0.11.1.1",
            "1.0",
        ],
        ["999", "b1000", "4800"],
    ],
)
def test_versions_are_compared_by_their_numbers(rising: list[str]) -> None:
    def at_least(version: str) -> list[bool | None]:
        return [covers(f"{version.lstrip('vb')}+", each) for each in rising]

    assert [at_least(each) for each in rising] == [
        [place >= first for place in range(len(rising))] for first in range(len(rising))
    ]


@pytest.mark.parametrize("text", [None, "", "dev", "0.1.dev7+g1a2b3c", "main-abc", "1.x", "0.5.14 (abc)"])
def test_what_is_no_version_is_unknown(text: str | None) -> None:
    assert version_key(text) is None
    assert covers("0.5.1+", text) is None


@pytest.mark.parametrize(
    ("versions", "version", "expected"),
    [
        ("all", None, True),
        ("0.4.10.post2+", "0.4.10.post2", True),
        ("0.4.10.post2+", "0.4.10.post1", False),
        ("to 0.4.10", "0.4.10", True),
        ("to 0.4.10", "0.4.10.post2", False),
        ("to 0.11", "0.11.2", True),
        ("to 0.11", "0.12.0", False),
        ("0.4.7 to 0.5.20", "0.4.6", False),
        ("0.4.7 to 0.5.20", "0.5.20", True),
        ("0.5.20+", "0.5.20rc1", False),
        ("seen 0.32", "0.32", None),
    ],
)
def test_a_range_covers_a_version(versions: str, version: str | None, expected: bool | None) -> None:
    assert covers(versions, version) is expected


MEANINGS: list[tuple[Engine, str, int | None, Outcome, str | None, str | None]] = [
    (SGLANG, PORT, None, "refused", None, "loading, or gone"),
    (SGLANG, "/health", None, "refused", "0.5.14", "loading, or gone"),
    (SGLANG, "/health", 200, "ok", "0.4.9", "up, may still warm up"),
    (SGLANG, "/health", 200, "ok", "0.5.14", "up and generating"),
    (SGLANG, "/health", 200, "ok", None, "up"),
    (SGLANG, "/health", 503, "status", "0.5.14", "starting, stuck, or stopping"),
    (SGLANG, "/health", 503, "status", None, "starting, stuck, or stopping"),
    (SGLANG, "/health", None, "timeout", "0.5.14", "busy, or a stuck scheduler"),
    (SGLANG, "/ready", 200, "ok", "0.5.20", "up and warmed up"),
    (SGLANG, "/ready", 404, "status", "0.5.14", "not served by this version"),
    (SGLANG, "/ready", 404, "status", None, None),
    (SGLANG, "/model_info", 404, "status", "0.5.5", "not served by this version"),
    (SGLANG, "/model_info", 200, "ok", "0.5.6", "port open, may still warm up"),
    (SGLANG, "/server_info", 200, "ok", "0.5.23", "a scheduler answers"),
    (SGLANG, "/v1/models", 401, "key_needed", None, "up, wants the API key"),
    (SGLANG, "/flush_cache", 400, "status", "0.5.14", "requests are running: not flushed"),
    (VLLM, PORT, None, "refused", None, "loading, or gone"),
    (VLLM, "/health", 200, "ok", "0.24.0", "the engine is not known to be dead"),
    (VLLM, "/health", 503, "status", None, "the engine is dead"),
    (VLLM, "/ping", 503, "status", None, "the engine is dead"),
    (VLLM, "/v1/models", 401, "key_needed", None, "up, wants the API key"),
    (VLLM, "/is_sleeping", 404, "status", None, "not served by this version or mode"),
    (LLAMACPP, "/health", 503, "status", "4800", "loading the model"),
    (LLAMACPP, "/health", 200, "ok", None, "the model is loaded"),
    (LLAMACPP, "/metrics", 501, "status", None, "not enabled"),
    (LLAMACPP, "/v1/models", 200, "ok", None, "up"),
    (TGI, PORT, None, "refused", None, "loading or warming up, or gone"),
    (TGI, "/health", 503, "status", None, "a shard is unhealthy"),
    (TRTLLM, PORT, None, "refused", None, "loading, or gone"),
    (TRTLLM, "/health", 503, "status", None, "still initializing, or failed"),
    (TRTLLM, "/v1/models", 503, "status", None, "still initializing"),
    (TRTLLM, "/health_generate", 500, "status", None, "generates nothing"),
    (GENERIC, "/health", 503, "status", None, "starting, or ill"),
    (GENERIC, "/health", 404, "status", None, "this server has no /health"),
    (GENERIC, "/nothing", 200, "ok", None, None),
    (GENERIC, "/health", None, "tls", None, None),
]


@pytest.mark.parametrize(("engine", "path", "status", "outcome", "version", "expected"), MEANINGS)
def test_an_answer_has_its_meaning(
    engine: Engine, path: str, status: int | None, outcome: Outcome, version: str | None, expected: str | None
) -> None:
    assert engine.meaning(path, status, outcome, version) == expected


@pytest.mark.parametrize("engine", EVERY, ids=lambda engine: engine.name)
def test_the_paths_that_are_asked_have_a_good_answer_and_the_port_a_refusal(engine: Engine) -> None:
    assert engine.meaning(engine.health_path, 200, "ok")
    assert engine.meaning(engine.models_path, 200, "ok")
    assert engine.meaning(PORT, None, "refused")


@pytest.mark.parametrize("engine", EVERY, ids=lambda engine: engine.name)
def test_every_row_is_reached_by_some_version_and_is_short_enough_for_a_pane(engine: Engine) -> None:
    for endpoint in engine.endpoints:
        assert endpoint.versions
        for row in endpoint.answers:
            first = re.search(r"\d[\w.]*", row.versions)
            outcome = row.said if isinstance(row.said, str) else "status"
            status = row.said if isinstance(row.said, int) else None
            version = first[0] if first is not None else None
            assert engine.meaning(endpoint.path, status, outcome, version) == row.phrase
            assert len(row.phrase) <= 36, row.phrase


SERIES: dict[str, dict[str, str | None]] = {
    "sglang": {
        "running": "sglang:num_running_reqs",
        "queued": "sglang:num_queue_reqs",
        "kv_used": "sglang:token_usage",
        "generated_tokens": "sglang:generation_tokens_total",
        "prompt_tokens": "sglang:prompt_tokens_total",
        "ttft": "sglang:time_to_first_token_seconds",
        "itl": "sglang:inter_token_latency_seconds",
    },
    "vllm": {
        "running": "vllm:num_requests_running",
        "queued": "vllm:num_requests_waiting",
        "kv_used": "vllm:kv_cache_usage_perc",
        "generated_tokens": "vllm:generation_tokens_total",
        "prompt_tokens": "vllm:prompt_tokens_total",
        "ttft": "vllm:time_to_first_token_seconds",
        "itl": "vllm:inter_token_latency_seconds",
    },
    "llamacpp": {
        "running": "llamacpp:requests_processing",
        "queued": "llamacpp:requests_deferred",
        "kv_used": None,
        "generated_tokens": "llamacpp:tokens_predicted_total",
        "prompt_tokens": "llamacpp:prompt_tokens_total",
        "ttft": None,
        "itl": None,
    },
    "tgi": {
        "running": "tgi_batch_current_size",
        "queued": "tgi_queue_size",
        "kv_used": None,
        "generated_tokens": "tgi_request_generated_tokens_sum",
        "prompt_tokens": "tgi_request_input_length_sum",
        "ttft": None,
        "itl": "tgi_request_mean_time_per_token_duration",
    },
    "trtllm": {
        "running": "trtllm_num_requests_running",
        "queued": "trtllm_num_requests_waiting",
        "kv_used": "trtllm_kv_cache_utilization",
        "generated_tokens": "trtllm_generation_tokens_total",
        "prompt_tokens": "trtllm_prompt_tokens_total",
        "ttft": "trtllm_time_to_first_token_seconds",
        "itl": "trtllm_time_per_output_token_seconds",
    },
}
OLDER = {
    "sglang": (("itl", "sglang:time_per_output_token_seconds", "early 0.4"),),
    "vllm": (
        ("kv_used", "vllm:gpu_cache_usage_perc", "to 0.11"),
        ("itl", "vllm:time_per_output_token_seconds", "to 0.11"),
    ),
    "llamacpp": (("kv_used", "llamacpp:kv_cache_usage_ratio", "2024 and 2025; not in the builds of 2026"),),
    "tgi": (),
    "trtllm": (),
}
FLUSH = {
    "sglang": "POST /flush_cache",
    "vllm": "POST /reset_prefix_cache",
    "llamacpp": "POST /slots/{id}?action=erase",
    "tgi": None,
    "trtllm": None,
    "generic": None,
}


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_the_series_have_the_names_that_the_engine_gives_them(engine: Engine) -> None:
    metrics = engine.metrics
    assert metrics is not None
    assert {name: getattr(metrics, name) for name in SERIES[engine.name]} == SERIES[engine.name]
    assert metrics.older == OLDER[engine.name]


@pytest.mark.parametrize("engine", EVERY, ids=lambda engine: engine.name)
def test_the_call_that_empties_the_prefix_cache_is_known(engine: Engine) -> None:
    assert engine.flush_cache == FLUSH[engine.name]
