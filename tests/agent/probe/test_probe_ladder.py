"""The readiness ladder against real loopback servers: what is asked next, up, down and how often."""

import select
import time
from collections.abc import Sequence

import pytest
from probed_server import READY, Asked, Climb, Engine, Serve, Step, as_json, http, url, wait

NOT_YET = as_json(
    {"error": {"message": "Loading model", "type": "unavailable_error"}}, "503 Service Unavailable"
)


# Climbing.


def test_a_ready_server_is_climbed_in_one_round(climb: Climb, serve: Serve, engine: Engine) -> None:
    server = serve(engine)
    climbing = climb(url(server), expected_model="tiny")
    assert climbing.round() > 4
    assert climbing.outcomes == READY
    token = climbing.last("token")
    assert (token.model, token.text, token.status, token.server) == ("tiny", "Hello", 200, "llama.cpp")
    assert token.url == url(server, "/v1/chat/completions")
    assert climbing.last("models").models == ["tiny"]
    asked = server.requests[-1]
    assert asked.body["max_tokens"] == 1
    assert asked.body["model"] == "tiny"
    assert asked.headers["user-agent"] == "tminus"
    assert server.connections == 1


def test_a_closed_port_is_refused_and_asked_again_soon(climb: Climb, free_port: int) -> None:
    climbing = climb(f"http://127.0.0.1:{free_port}")
    assert 0.1 < climbing.round() <= 0.25
    assert climbing.outcomes == [("port", "refused")]
    assert climbing.last("port").detail == "connection refused"


def test_not_yet_is_a_status_and_the_model_list_is_asked_once_a_second(climb: Climb, serve: Serve) -> None:
    engine = Engine(health=(NOT_YET,), models=(NOT_YET,))
    server = serve(engine)
    climbing = climb(url(server))
    pauses = [climbing.round() for _ in range(3)]
    assert max(pauses) <= 0.25
    assert server.paths == ["/health", "/v1/models", "/health", "/health"]
    assert climbing.last("health").detail == "503 Service Unavailable: Loading model"
    assert climbing.last("health").status == 503
    engine.health, engine.models = Engine().health, Engine().models
    climbing.round()
    assert climbing.outcomes[-3:] == READY[1:]


def test_a_warm_up_shows_the_models_before_health_is_ok(climb: Climb, serve: Serve, engine: Engine) -> None:
    engine.health = (http(b"", "503 Service Unavailable"),)
    climbing = climb(url(serve(engine)), expected_model="tiny")
    climbing.round()
    assert climbing.outcomes[1:] == [("health", "status"), ("models", "ok")]


def test_each_request_is_told_as_one_probe(climb: Climb, serve: Serve, engine: Engine) -> None:
    server = serve(engine)
    climbing = climb(url(server))
    for health in (NOT_YET, NOT_YET, http()):
        engine.health = (health,)
        climbing.round()
    told = [probe for probe in climbing.probes if probe.rung != "port"]
    assert [probe.url for probe in told] == [url(server, path) for path in server.paths]


@pytest.mark.parametrize(
    ("ready_on", "asked"), [("health", ["/health"]), ("model", ["/health", "/v1/models"])]
)
def test_a_lower_rung_can_be_ready_and_then_no_completion_is_sent(
    climb: Climb, serve: Serve, engine: Engine, ready_on: str, asked: list[str]
) -> None:
    server = serve(engine)
    climbing = climb(url(server), ready_on=ready_on)
    assert climbing.round() > 4
    assert server.paths == asked
    climbing.round()
    assert server.paths == [*asked, "/v1/models"]


def test_no_health_is_asked_of_a_ready_server(climb: Climb, serve: Serve, engine: Engine) -> None:
    server = serve(engine)
    climbing = climb(url(server))
    for _ in range(4):
        assert climbing.round() > 4
    assert server.paths[3:] == ["/v1/models"] * 3


def test_the_token_rung_alone_is_asked_again_when_it_fails(
    climb: Climb, serve: Serve, engine: Engine
) -> None:
    good = engine.token
    engine.token = (as_json({"choices": []}),)
    server = serve(engine)
    climbing = climb(url(server))
    assert 0.8 < climbing.round() <= 1.0
    climbing.round()
    engine.token = good
    assert climbing.round() > 4
    assert server.paths == ["/health", "/v1/models", *["/v1/chat/completions"] * 3]


def test_an_engine_without_health_endpoint_is_still_climbed(
    climb: Climb, serve: Serve, engine: Engine
) -> None:
    engine.health = (http(b"", "404 Not Found"),)
    climbing = climb(url(serve(engine)))
    assert climbing.round() > 4
    climbing = climb(url(serve(engine)), ready_on="health")
    assert climbing.round() <= 0.25


def test_an_engine_without_model_list_is_asked_for_the_expected_model(
    climb: Climb, serve: Serve, engine: Engine
) -> None:
    engine.models = (http(b"", "404 Not Found"),)
    server = serve(engine)
    assert climb(url(server), expected_model="tiny").round() > 4
    assert server.requests[-1].body["model"] == "tiny"


@pytest.mark.parametrize(("answered", "outcome"), [("tiny", "ok"), ("alias", "ok"), ("other", "wrong_model")])
def test_a_token_of_a_model_that_is_not_the_expected_one_does_not_count(
    climb: Climb, serve: Serve, engine: Engine, answered: str, outcome: str
) -> None:
    engine.models = (as_json({"data": [{"id": "alias"}, {"id": "tiny"}]}),)
    choices = [{"message": {"content": "Hi"}}]
    engine.token = (as_json({"model": answered, "choices": choices}),)
    climbing = climb(url(serve(engine)), expected_model="tiny")
    climbing.round()
    assert climbing.outcomes[-1] == ("token", outcome)


# Down again.


def test_a_server_that_ends_is_refused_at_the_next_look_and_climbed_anew(
    climb: Climb, serve: Serve, engine: Engine
) -> None:
    server = serve(engine)
    climbing = climb(url(server))
    climbing.round()
    server.stop()
    assert climbing.round() <= 0.25
    assert climbing.outcomes[-1] == ("port", "refused")
    server.start()
    climbing.round()
    assert climbing.outcomes[-4:] == READY


def test_a_restart_between_two_looks_is_not_called_a_reset(
    climb: Climb, serve: Serve, engine: Engine
) -> None:
    server = serve(engine)
    climbing = climb(url(server))
    climbing.round()
    server.stop()
    server.start()
    climbing.round()
    assert climbing.outcomes[4:] == [("port", "ok"), ("models", "ok")]


def test_a_kept_connection_that_dies_under_the_question_is_replaced_once(climb: Climb, serve: Serve) -> None:
    engine = Engine()
    answered: list[Asked] = []

    def answer(asked: Asked) -> Sequence[Step]:
        answered.append(asked)
        # The second request on the first connection meets a server that has just closed it.
        return ("close",) if len(answered) == 2 else engine(asked)

    climbing = climb(url(serve(answer)))
    climbing.round()
    assert climbing.outcomes == [
        ("port", "ok"),
        ("health", "ok"),
        ("port", "ok"),
        ("models", "ok"),
        ("token", "ok"),
    ]


def test_what_a_server_says_at_the_end_of_an_idle_connection_is_no_answer(serve: Serve, climb: Climb) -> None:
    engine = Engine()
    engine.token = (
        *engine.token,
        0.05,
        b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n",
        "close",
    )
    climbing = climb(url(serve(engine)))
    climbing.round()
    descriptor = climbing.prober.idle_descriptor
    assert descriptor is not None
    wait(descriptor, select.POLLIN, time.monotonic() + 10)
    climbing.round()
    assert climbing.outcomes[4:] == [("port", "ok"), ("models", "ok")]


def test_a_ready_server_that_says_503_is_climbed_anew(climb: Climb, serve: Serve, engine: Engine) -> None:
    server = serve(engine)
    climbing = climb(url(server))
    climbing.round()
    engine.models = engine.health = (NOT_YET,)
    climbing.round()
    climbing.round()
    assert server.paths[-2:] == ["/v1/models", "/health"]


def test_a_ready_server_that_is_only_busy_stays_ready(climb: Climb, serve: Serve, engine: Engine) -> None:
    server = serve(engine)
    climbing = climb(url(server), health_timeout_s=0.1)
    climbing.round()
    engine.models = ("hang",)
    assert climbing.round() > 4
    assert climbing.outcomes[-1] == ("models", "timeout")


# Pace.


def test_health_that_costs_a_token_is_asked_once_a_second_at_most(climb: Climb, serve: Serve) -> None:
    slow = (0.55, http(b"", "503 Service Unavailable"))
    engine = Engine(health=slow)
    climbing = climb(url(serve(engine)), health_costs_a_token=True)
    assert 0.3 < climbing.round() < 0.5
    engine.health = (NOT_YET,)
    assert climbing.round() > 0.8


def test_a_slow_refusal_that_costs_nothing_is_asked_once_a_second(climb: Climb, serve: Serve) -> None:
    engine = Engine(health=(0.15, NOT_YET))
    climbing = climb(url(serve(engine)))
    assert 0.5 < climbing.round() < 0.9
    engine.health = (NOT_YET,)
    assert climbing.round() <= 0.25
