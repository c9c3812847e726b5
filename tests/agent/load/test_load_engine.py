"""The load generator against a real llama.cpp server: its figures are those of the server's own counters."""

import http.client
import json
import time
import urllib.request
from typing import Any

import pytest
from llama_server import LlamaServer, StartLlamaServer

from tui.engines.counters import counters_for, figures_of
from tui.requests import Counters

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("engine")]
LOAD_S = 180.0
COUNTERS = counters_for("llamacpp")


def ask(server: LlamaServer, path: str) -> str:
    with urllib.request.urlopen(server.url + path, timeout=LOAD_S) as answer:
        return answer.read().decode()


def page(server: LlamaServer) -> dict[str, float]:
    """Return what the server counts, read in another way than the generator's."""
    lines = [line.split() for line in ask(server, "/metrics").splitlines() if not line.startswith("#")]
    return {line[0]: float(line[1]) for line in lines if line}


@pytest.fixture
def server(start_llama_server: StartLlamaServer, free_port: int) -> LlamaServer:
    """Start a server that shows its counters, and wait until it is loaded."""
    started = start_llama_server(free_port, "--metrics")
    deadline_s = time.monotonic() + LOAD_S
    while time.monotonic() < deadline_s:
        try:
            ask(started, "/health")
        except OSError:
            time.sleep(0.05)
        else:
            return started
    raise AssertionError("the server was not loaded in time")


def test_the_figures_are_those_of_the_servers_own_counters(server: LlamaServer, bench: Any) -> None:
    result = bench(
        server.url, counters=COUNTERS, requests=6, concurrency=2, input_tokens=32, output_tokens=24,
        warmup_s=4.0, timeout_s=LOAD_S,
    )  # fmt: skip
    assert (result.outcome, result.failures, result.output_tokens) == ("done", {}, 6 * 24)
    assert result.others_running == 0
    found = figures_of(result)
    assert found.gap == pytest.approx(0.0, abs=0.02)
    assert found.generated_tokens_per_s == pytest.approx(result.output_tokens_per_s, rel=0.02)
    assert found.prefix_hit_rate is not None
    assert found.prefix_hit_rate < 0.5
    assert found.acceptance_length is None


def test_the_time_of_a_token_is_that_of_the_servers_own_clock(server: LlamaServer, bench: Any) -> None:
    names = ("llamacpp:tokens_predicted_total", "llamacpp:tokens_predicted_seconds_total")

    def measured() -> Any:
        return bench(
            server.url, counters=Counters(names=names), requests=3, input_tokens=16, output_tokens=64,
            timeout_s=LOAD_S,
        )  # fmt: skip

    def counted(result: Any) -> list[float]:
        return [counter.after - counter.before for counter in result.counters]

    # The questions before a run may be counted late, within it: then it is run again.
    runs = (measured() for _ in range(3))
    result = next((run for run in runs if counted(run)[0] == 3 * 64), None)
    assert result is not None
    tokens, seconds = counted(result)
    # Its clock starts with the first token of each of the three answers.
    assert 1e3 * seconds / (tokens - 3) == pytest.approx(result.tpot_ms.mean, rel=0.02)


def test_turns_of_a_conversation_find_it_in_the_cache(server: LlamaServer, bench: Any) -> None:
    result = bench(
        server.url, counters=COUNTERS, requests=4, turns=4, input_tokens=64, output_tokens=8,
        timeout_s=LOAD_S,
    )  # fmt: skip
    assert result.failures == {}
    found = figures_of(result)
    assert found.prefix_hit_rate is not None
    assert found.prefix_hit_rate > 0.4


def test_a_request_of_another_is_seen_before_the_start(server: LlamaServer, bench: Any) -> None:
    words = [{"role": "user", "content": "count"}]
    body = json.dumps({"messages": words, "max_tokens": 400, "ignore_eos": True}).encode()
    other = http.client.HTTPConnection("127.0.0.1", server.port)
    other.request("POST", "/v1/chat/completions", body, {"Content-Type": "application/json"})
    while not page(server)["llamacpp:requests_processing"]:
        time.sleep(0.02)
    result = bench(server.url, counters=COUNTERS, output_tokens=8, timeout_s=LOAD_S)
    assert (result.outcome, result.fault, result.others_running) == ("failed", "busy", 1)
    assert "1 other request runs on" in result.sentence
    other.close()
