"""The ladder, and what makes a server ready."""

import pytest
from watched_host import Watch, WatchedHost

from tui.engines.phase import Phase
from tui.watch.ladder import Rung

WORDS = {"unknown": "?", "waiting": "w", "ok": "o", "bad": "b"}


def rungs(host: WatchedHost) -> str:
    """Return process, port, health, model, token as one letter each."""
    return "".join(WORDS[rung.state] for rung in host.state.ladder)


def rung(host: WatchedHost, name: str) -> Rung:
    return next(rung for rung in host.state.ladder if rung.name == name)


@pytest.fixture
def host(watched: Watch) -> WatchedHost:
    watched_host = watched()
    watched_host.hello()
    watched_host.starts()
    return watched_host


def test_the_ladder_is_climbed_rung_by_rung(host: WatchedHost) -> None:
    assert rungs(host) == "o????"
    host.refuses()
    assert rungs(host) == "ow???"
    host.probe("port")
    assert rungs(host) == "oo???"
    host.probe("health", "status", "503 Service Unavailable", status=503)
    assert rungs(host) == "oow??"
    host.probe("health", status=200)
    assert rungs(host) == "ooo??"
    host.probe("models", status=200, models=["qwen"])
    assert rungs(host) == "oooo?"
    assert not host.state.ready
    host.wait(1)
    host.probe("token", status=200, model="qwen")
    assert rungs(host) == "ooooo"
    assert host.state.ready
    assert host.state.ready_s == host.mono
    assert host.state.phase is Phase.READY
    assert host.state.outcome == "ready"
    assert host.state.reason == ""


def test_a_rung_keeps_since_tries_latency_and_the_last_answer(host: WatchedHost) -> None:
    since = host.mono
    for _ in range(3):
        host.refuses()
        host.wait(0.25)
    host.probe("port", "timeout", "no answer in 2 s", latency_ms=2000.0)
    port = rung(host, "port")
    assert (port.since_s, port.tries, port.latency_ms) == (since, 4, 2000.0)
    assert port.answer == "no answer in 2 s"
    host.probe("port", latency_ms=0.3)
    assert rung(host, "port").since_s == host.mono
    assert host.state.attempts == 5


def test_an_answer_of_a_higher_rung_shows_the_port_open(host: WatchedHost) -> None:
    host.probe("health", status=200)
    assert rung(host, "port").state == "ok"
    host.probe("health", "refused", "connection refused")
    assert rungs(host) == "oww??"
    assert rung(host, "port").answer == "connection refused"


def test_a_port_that_closes_takes_the_higher_rungs_with_it(host: WatchedHost) -> None:
    host.becomes_ready()
    host.refuses()
    assert rungs(host) == "owwww"
    assert host.state.ready  # the process lives: only its end ends the load


def test_the_log_saying_ready_is_no_token(host: WatchedHost) -> None:
    host.log("The server is fired up and ready to roll!")
    assert not host.state.ready
    assert host.state.phase is Phase.START_API


def test_a_wrong_model_is_said_with_both_names_and_is_never_ready(host: WatchedHost) -> None:
    host.probe("models", "wrong_model", "another model", models=["llama", "bert"], status=200)
    host.probe("token", model="llama", status=200)
    assert not host.state.ready
    assert host.state.outcome is None
    assert host.state.fault == "wrong_model"
    assert host.state.reason == 'model: serves "llama", "bert", expected "qwen"'
    assert host.state.model == "llama"


def test_a_token_of_another_model_is_said_with_both_names_and_is_not_ready(host: WatchedHost) -> None:
    host.probe("models", status=200, models=["qwen"])
    host.probe("token", "wrong_model", "expected qwen, llama answered", status=200, model="llama")
    assert not host.state.ready
    assert host.state.fault == "wrong_model"
    assert host.state.reason == "token: expected qwen, llama answered"


def test_a_port_that_another_server_holds_tells_nothing_of_where_the_load_stands(host: WatchedHost) -> None:
    host.log_source("open")
    host.probe("port")
    host.probe("health", status=200)
    host.probe("models", "wrong_model", "another model", models=["llama"], status=200)
    assert host.state.phase is Phase.LAUNCH
    host.wait(10)
    host.log("[2026-11-29 13:48:34 TP0] Load weight begin. avail mem=9 GB")
    host.probe("health", status=200)
    assert (host.state.phase, host.state.fault) == (Phase.WEIGHTS, "wrong_model")


def test_a_load_heard_below_a_port_that_seemed_its_own_is_believed_once_another_model_answers(
    host: WatchedHost,
) -> None:
    host.log_source("open")
    host.probe("health", "status", "503 Service Unavailable", status=503)
    assert host.state.phase is Phase.WARMUP
    host.probe("models", "wrong_model", "another model", models=["llama"], status=200)
    host.log("[2026-11-29 13:48:34 TP0] Load weight begin. avail mem=9 GB")
    assert host.state.phase is Phase.WEIGHTS


def test_without_a_log_an_open_port_tells_where_the_load_stands_whoever_answers(host: WatchedHost) -> None:
    host.log_source("none")
    host.probe("health", status=200)
    host.probe("models", "wrong_model", "another model", models=["llama"], status=200)
    assert host.state.phase is Phase.START_API


def test_a_model_asked_for_has_to_be_listed_exactly(watched: Watch) -> None:
    host = watched(model="org/qwen")
    host.hello()
    host.starts()
    host.becomes_ready("qwen")
    assert host.state.fault == "wrong_model"
    assert not host.state.ready
    host.becomes_ready("org/qwen")
    assert host.state.ready


def test_a_model_read_off_the_arguments_may_be_listed_without_its_folder(watched: Watch) -> None:
    host = watched()
    host.hello()
    host.starts(argv="python -m sglang.launch_server --model-path /models/qwen")
    host.becomes_ready("qwen")
    assert host.state.ready


def test_without_an_expectation_the_first_listed_model_counts(watched: Watch) -> None:
    host = watched()
    host.hello()
    host.starts(argv="llama-server -m /m/gemma.gguf", matched="llamacpp")
    host.becomes_ready("gemma.gguf", "other")
    assert host.state.ready
    assert host.state.expected_model is None
    assert host.state.model == "gemma.gguf"


def test_a_server_that_lists_no_model_yet_is_waited_for(host: WatchedHost) -> None:
    host.probe("models", status=200, models=[])
    assert rung(host, "model").state == "waiting"
    assert rung(host, "model").answer == "lists no model"


def test_a_key_that_is_missing_is_said(host: WatchedHost) -> None:
    host.probe("models", "key_needed", "401 Unauthorized: a key is needed", status=401)
    assert rung(host, "port").state == "ok"
    assert rung(host, "model").state == "bad"
    assert host.state.fault == "key_needed"
    assert not host.state.ready


def test_a_key_that_only_health_wants_does_not_stand_in_the_way(host: WatchedHost) -> None:
    host.probe("health", "key_needed", "401 Unauthorized", status=401)
    assert host.state.fault == "key_needed"
    host.probe("models", "status", "404 Not Found", status=404)
    host.probe("token", status=200, model="qwen")
    assert host.state.ready
    assert host.state.fault is None


def test_what_answers_is_no_server_of_ours(host: WatchedHost) -> None:
    host.probe("health", "not_http", "another program answers: not HTTP")
    assert host.state.fault == "not_http"
    assert rung(host, "port").state == "ok"


@pytest.mark.parametrize(
    ("ready_on", "last"), [("health", "health"), ("model", "models"), ("token", "token")]
)
def test_the_rung_asked_for_is_the_one_that_counts(watched: Watch, ready_on: str, last: str) -> None:
    host = watched(ready_on=ready_on)
    host.hello()
    host.starts()
    host.probe("health", status=200)
    assert host.state.ready == (last == "health")
    host.probe("models", status=200, models=["qwen"])
    assert host.state.ready == (last in ("health", "models"))
    host.probe("token", status=200, model="qwen")
    assert host.state.ready


def test_a_server_found_ready_has_no_time_to_ready(host: WatchedHost) -> None:
    host.wait(600)
    host.becomes_ready()
    assert host.state.ready
    assert not host.state.ready_seen
    assert host.state.alerts == 0


def test_a_server_seen_waiting_has_a_time_to_ready_and_rings_once(host: WatchedHost) -> None:
    host.refuses()
    host.wait(30)
    host.becomes_ready()
    host.becomes_ready()
    assert host.state.ready_seen
    assert host.state.started_s is not None
    assert host.state.ready_s is not None
    assert host.state.ready_s - host.state.started_s == 30
    assert host.state.alerts == 1


def test_an_open_port_means_loaded_where_the_engine_opens_it_late(host: WatchedHost) -> None:
    host.log_source("missing", "the log does not exist")
    assert host.state.phase is None
    host.probe("port")
    assert host.state.phase is Phase.START_API
    host.probe("health", "status", "503", status=503)
    assert host.state.phase is Phase.WARMUP


def test_an_open_port_means_little_where_the_engine_opens_it_early(watched: Watch) -> None:
    host = watched()
    host.hello()
    host.starts(argv="llama-server -m q.gguf", matched="llamacpp", stdout=None, stderr=None)
    host.probe("port")
    assert host.state.phase is None
    host.probe("health", "status", "503", status=503)
    assert host.state.phase is Phase.WEIGHTS


def test_the_state_wants_what_the_target_needs(watched: Watch) -> None:
    host = watched()
    assert host.state.wanted is None
    host.hello()
    host.starts()
    wanted = host.state.wanted
    assert wanted is not None
    assert wanted.pid == 100
    host.exits()
    assert host.state.wanted == wanted


def test_an_armed_benchmark_is_due_at_ready_and_only_once(watched: Watch) -> None:
    host = watched(bench_on_ready=True)
    host.hello()
    host.starts()
    assert host.state.bench.armed
    assert not host.state.bench_due
    host.becomes_ready()
    assert host.state.bench_due
    host.state.bench.started("r1")
    assert not host.state.bench_due
    host.bench_progress(10)
    assert host.state.bench.progress is not None
    host.bench_result()
    assert host.state.bench.running is None
    assert len(host.state.bench.results) == 1
    assert not host.state.bench_due


def test_a_port_that_another_program_greets_on_is_what_a_person_has_to_mend(host: WatchedHost) -> None:
    host.probe("port", "not_http", "the port greets with 'SSH-2.0': it is another program's")
    assert rung(host, "port").state == "bad"
    assert host.state.fault == "not_http"
    assert "SSH-2.0" in host.state.reason
