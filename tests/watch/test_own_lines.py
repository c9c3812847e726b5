"""Our own access lines are hidden; anybody else's are not."""

import pytest
from watched_host import Watch, WatchedHost

HEALTH = '[2026-11-29 14:36:06] INFO:     127.0.0.1:39792 - "GET /health HTTP/1.1" 503 Service Unavailable'
MODELS = '[2026-11-29 14:36:06] INFO:     127.0.0.1:39792 - "GET /v1/models HTTP/1.1" 200 OK'
TOKEN = '[2026-11-29 14:36:06] INFO:     127.0.0.1:3 - "POST /v1/chat/completions HTTP/1.1" 200 OK'
ECHO = (
    "[2026-11-29 14:41:46] Prefill batch, #new-seq: 1, #new-token: 1, #cached-token: 0, token usage: 0.00, "
    "#running-req: 0, #queue-req: 0, cuda graph: False"
)


def shown(host: WatchedHost) -> list[str]:
    return [line.text for line in host.state.log.lines]


@pytest.fixture
def host(watched: Watch) -> WatchedHost:
    watched_host = watched()
    watched_host.hello()
    watched_host.starts()
    return watched_host


def test_each_probe_hides_one_line(host: WatchedHost) -> None:
    for _ in range(5):
        host.wait(0.25)
        host.probe("health", "status", "503", status=503)
        host.log(HEALTH)
    assert shown(host) == []


def test_a_persons_own_request_of_the_same_path_stays_visible(host: WatchedHost) -> None:
    host.probe("health", "status", "503", status=503)
    host.log(HEALTH)
    host.wait(60)
    host.log(HEALTH)
    assert shown(host) == [HEALTH]


def test_a_request_with_a_query_is_somebody_elses_and_takes_nothing_of_what_probes_paid_for(
    host: WatchedHost,
) -> None:
    asked = HEALTH.replace("/health", "/health?independent")
    host.probe("health", "status", "503", status=503)
    host.log(asked)
    host.log(HEALTH)
    assert shown(host) == [asked]


def test_of_a_persons_and_our_request_together_one_line_is_hidden(host: WatchedHost) -> None:
    for _ in range(3):
        host.wait(0.25)
        host.probe("health", "status", "503", status=503)
    host.log(HEALTH, HEALTH, HEALTH, HEALTH, HEALTH, HEALTH)
    assert len(shown(host)) == 2  # three were paid for, one more may be of a probe under way


def test_a_line_may_come_before_its_probes_answer(host: WatchedHost) -> None:
    host.probe("health", "status", "503", status=503)
    host.log(HEALTH)
    for _ in range(4):
        host.wait(0.25)
        host.log(HEALTH)
        host.probe("health", "status", "503", status=503)
    assert shown(host) == []


def test_a_line_before_its_answer_is_paid_for_once(host: WatchedHost) -> None:
    host.probe("health", "status", "503", status=503)
    host.log(HEALTH)
    host.wait(0.25)
    host.log(HEALTH, HEALTH)
    assert shown(host) == [HEALTH]


def test_the_first_question_of_a_rung_may_be_logged_before_its_answer(host: WatchedHost) -> None:
    host.probe("health", status=200)
    host.log(HEALTH, MODELS, TOKEN)
    host.probe("models", models=["qwen"], status=200)
    host.probe("token", model="qwen", status=200)
    assert shown(host) == []


def test_the_batch_that_a_health_answer_costs_is_hidden_with_it(host: WatchedHost) -> None:
    host.probe("health", status=200, latency_ms=1001.0)
    host.log(ECHO, HEALTH)
    assert shown(host) == []
    host.wait(60)
    host.log(ECHO)
    assert shown(host) == [ECHO]


def test_requests_from_elsewhere_and_of_other_paths_stay_visible(host: WatchedHost) -> None:
    foreign = HEALTH.replace("127.0.0.1", "192.0.2.44")
    other = HEALTH.replace("/health", "/metrics")
    host.probe("health", "status", "503", status=503)
    host.probe("health", "status", "503", status=503)
    host.log(foreign, other)
    assert shown(host) == [foreign, other]


def test_a_refused_probe_pays_for_nothing(host: WatchedHost) -> None:
    host.probe("health", "refused", "connection refused")
    host.log(HEALTH)
    assert shown(host) == [HEALTH]


def test_a_server_without_access_lines_saves_nothing_up(host: WatchedHost) -> None:
    for _ in range(10):
        host.wait(1)
        host.probe("health", "status", "503", status=503)
    host.wait(100)
    host.log(HEALTH)
    assert shown(host) == [HEALTH]


def test_our_own_lines_are_no_activity_of_the_log(host: WatchedHost) -> None:
    host.log("Load weight begin.")
    last = host.state.log_last_activity_s
    assert last == host.mono
    host.wait(3)
    host.probe("health", "status", "503", status=503)
    host.log(HEALTH)
    assert host.state.log_last_activity_s == last
    host.log("Load weight end.")
    assert host.state.log_last_activity_s == host.mono


def test_llama_cpp_writes_requests_in_its_own_form(watched: Watch) -> None:
    host = watched()
    host.hello()
    host.starts(argv="llama-server -m q.gguf", matched="llamacpp")
    host.probe("health", "status", "503", status=503)
    host.log("0.01.000.000 I srv  log_server_r: request: GET /health 127.0.0.1 503")
    assert shown(host) == []
