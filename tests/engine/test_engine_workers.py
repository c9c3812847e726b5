"""The probe and the log worker beside a real llama.cpp server: loading, ready, dead."""

import base64
import json
from typing import Any

import pytest
from llama_server import StartLlamaServer
from probed_server import KEY, Climbing
from tail_reading import Reading

from tui.agent import wire

pytestmark = pytest.mark.engine
ROUNDS = 2000


def climbed(climbing: Climbing, rung: str, outcome: str) -> Any:
    """Climb until a rung has an outcome; return that probe."""
    import time

    for _ in range(ROUNDS):
        pause_s = climbing.round()
        if (rung, outcome) in climbing.outcomes:
            return climbing.last(rung)
        time.sleep(min(pause_s, 0.05))
    raise AssertionError(f"{rung} is never {outcome}: {climbing.outcomes[-5:]}")


def test_a_real_server_is_climbed_with_its_own_key_and_its_log_followed(
    start_llama_server: StartLlamaServer, free_port: int
) -> None:
    climbing = Climbing(f"http://127.0.0.1:{free_port}", expected_model="gemma-3-270m")
    climbed(climbing, "port", "refused")
    server = start_llama_server(free_port, "--api-key", KEY)
    climbing = Climbing(server.url, server.pid, expected_model="gemma-3-270m", key_from_argv=True)
    reading = Reading(server.log, pid=server.pid)
    loading = climbed(climbing, "health", "status")
    assert loading.status == 503
    assert "Loading model" in loading.detail
    token = climbed(climbing, "token", "ok")
    assert token.model == "gemma-3-270m"
    assert climbing.last("models").models == ["gemma-3-270m"]
    assert climbing.last("health").server == "llama.cpp"
    assert KEY not in json.dumps(climbing.messages)
    reading.look()
    assert b"model loaded" in reading.text
    server.kill()
    climbed(climbing, "port", "refused")
    reading.look()
    assert reading.text == server.log.read_bytes()
    climbing.prober.close()
    chunks = [one["data"] for one in reading.messages if one["kind"] == wire.LOG_BYTES]
    assert max(len(base64.b64decode(chunk)) for chunk in chunks) <= wire.LOG_CHUNK_BYTES


def test_a_real_server_wants_a_key_and_lists_another_model(
    start_llama_server: StartLlamaServer, free_port: int
) -> None:
    server = start_llama_server(free_port, "--api-key", KEY)
    without = Climbing(server.url)
    assert "key is needed" in climbed(without, "token", "key_needed").detail
    other = Climbing(server.url, api_key=KEY, expected_model="llama-4")
    wrong = climbed(other, "models", "wrong_model")
    assert "llama-4" in wrong.detail
    assert "gemma-3-270m" in wrong.detail
    without.prober.close()
    other.prober.close()
