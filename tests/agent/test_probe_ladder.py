"""The readiness ladder against real loopback servers: which answer means what, and what is asked next."""

import json
import select
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from probed_server import (
    KEY,
    Answer,
    Asked,
    Climbing,
    Engine,
    ProbedServer,
    Step,
    as_json,
    certificate,
    http,
    wait,
)

from tui.agent import http_connection

LISTED = b'{"data":[{"id":"tiny"}]}'
Serve = Callable[..., ProbedServer]
Climb = Callable[..., Climbing]
NOT_YET = as_json(
    {"error": {"message": "Loading model", "type": "unavailable_error"}}, "503 Service Unavailable"
)


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start servers that are stopped after the test."""
    started: list[ProbedServer] = []

    def start(answer: Answer, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None) -> ProbedServer:
        server = ProbedServer(answer, host, tls)
        server.start()
        started.append(server)
        return server

    yield start
    for server in started:
        server.close()


@pytest.fixture
def engine() -> Engine:
    """An engine that is ready."""
    return Engine()


def url(server: ProbedServer, path: str = "", scheme: str = "http") -> str:
    """Return a server's URL."""
    host = f"[{server.host}]" if ":" in server.host else server.host
    return f"{scheme}://{host}:{server.port}{path}"


@pytest.fixture
def climb() -> Iterator[Climb]:
    """Make ladders that are let go of after the test."""
    made: list[Climbing] = []

    def start(url: str, pid: int | None = None, **fields: Any) -> Climbing:
        made.append(Climbing(url, pid, **fields))
        return made[-1]

    yield start
    for climbing in made:
        climbing.prober.close()


READY = [("port", "ok"), ("health", "ok"), ("models", "ok"), ("token", "ok")]


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


# No answer, and answers that are none.


@pytest.mark.parametrize(
    ("steps", "outcome", "words"),
    [
        (("hang",), "timeout", "no answer in time"),
        (("close",), "reset", "closed without an answer"),
        (("reset",), "reset", "before an answer"),
        ((b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", "close"), "reset", "middle of the answer"),
        (
            (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", 0.05, "reset"),
            "reset",
            "middle of the answer",
        ),
        ((b"220 mail.example ESMTP\r\n",), "not_http", "220 mail.example ESMTP"),
        ((b"\x15\x03\x01\x00\x02\x02\x46", "close"), "not_http", "use https://"),
        ((b"HTTP/1.1 abc\r\n\r\n",), "not_http", "no proper HTTP"),
        ((b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",), "not_http", "no proper HTTP"),
        ((b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",), "not_http", "no proper HTTP"),
        ((b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 60_000,), "not_http", "no proper HTTP"),
        ((b"\xff\x00\x1b[31m\x9b\r\n",), "not_http", "another program"),
        ((b"H", "close"), "not_http", "another program"),
    ],
)
def test_each_way_of_not_answering_is_an_outcome_of_its_own(
    climb: Climb, serve: Serve, steps: Sequence[Step], outcome: str, words: str
) -> None:
    climbing = climb(url(serve(Engine(health=steps))), health_timeout_s=0.3)
    climbing.round()
    health = climbing.last("health")
    assert health.outcome == outcome
    assert words in health.detail
    assert health.detail.isprintable()
    assert health.status is None


def test_an_ssh_banner_is_another_programs_port(climb: Climb, serve: Serve) -> None:
    server = serve(Engine(health=("hang",)))
    server.greeting = b"SSH-2.0-OpenSSH_9.6p1\r\n"
    climbing = climb(url(server))
    climbing.round()
    assert climbing.last("health").outcome == "not_http"
    assert "SSH-2.0-OpenSSH_9.6p1" in climbing.last("health").detail


def test_a_page_of_another_program_is_no_model_list(climb: Climb, serve: Serve, engine: Engine) -> None:
    engine.models = (http(b"<!doctype html><title>Grafana</title>", "200 OK", "Content-Type: text/html"),)
    climbing = climb(url(serve(engine)), expected_model="tiny")
    climbing.round()
    models = climbing.last("models")
    assert (models.outcome, models.status) == ("not_http", 200)
    assert "HTML page" in models.detail
    assert "another program" in models.detail


def test_a_body_that_drips_does_not_outlive_the_deadline(climb: Climb, serve: Serve) -> None:
    drip = (b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", *[b"x", 0.05] * 100)
    climbing = climb(url(serve(Engine(health=drip))), health_timeout_s=0.4)
    began_s = time.monotonic()
    climbing.round()
    assert climbing.last("health").outcome == "timeout"
    assert time.monotonic() - began_s < 3


def test_a_silent_port_is_a_timeout_with_its_latency(climb: Climb, serve: Serve) -> None:
    climbing = climb(url(serve(Engine(health=("hang",)))), health_timeout_s=0.2)
    climbing.round()
    assert climbing.outcomes == [("port", "ok"), ("health", "timeout"), ("port", "ok"), ("models", "ok")]
    assert 150 <= climbing.last("health").latency_ms < 2000


@pytest.mark.parametrize(
    "body",
    [
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            b'f\r\n{"data":[{"id":\r\n8\r\n"tiny"}]\r\n',
            b"1\r\n}\r\n0\r\n\r\n",
        ),
        (b"HTTP/1.1 200 OK\r\n\r\n", LISTED, "close"),
        (b"HTTP/1.0 200 OK\r\n\r\n", LISTED, "close"),
        (
            b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n",
            b"Connection: close\r\nContent-Length: 24\r\n\r\n",
            LISTED,
            "close",
        ),
        (b"HTTP/1.1 200 OK\r\ncontent-LENGTH:24\r\n\r\n", *[bytes([byte]) for byte in LISTED]),
    ],
)
def test_bodies_are_read_in_every_framing(
    climb: Climb, serve: Serve, engine: Engine, body: Sequence[Step]
) -> None:
    engine.models = body
    climbing = climb(url(serve(engine)))
    climbing.round()
    assert climbing.last("models").models == ["tiny"]
    assert climbing.outcomes[-1] == ("token", "ok")


def test_no_more_than_a_mebibyte_is_read(climb: Climb, serve: Serve, engine: Engine) -> None:
    engine.health = (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        *[b"10000\r\n" + b"x" * 65536 + b"\r\n"] * 640,
    )
    climbing = climb(url(serve(engine)))
    climbing.round()
    assert climbing.last("health").outcome == "ok"
    assert climbing.outcomes[-1] == ("token", "ok")


def test_a_port_that_connects_to_itself_is_refused(
    climb: Climb, free_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = socket.socket

    def bound(family: int, kind: int) -> socket.socket:
        one = real(family, kind)
        one.bind(("127.0.0.1", free_port))  # as the kernel may choose for an outgoing connection
        return one

    monkeypatch.setattr(http_connection.socket, "socket", bound)
    climbing = climb(f"http://127.0.0.1:{free_port}")
    climbing.round()
    assert climbing.outcomes == [("port", "refused")]
    monkeypatch.undo()
    with socket.socket() as server:
        server.bind(("127.0.0.1", free_port))


def test_a_host_that_nobody_knows_is_unreachable(climb: Climb, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    climbing = climb("http://no.such.host:1")
    assert climbing.round() > 0.5
    assert climbing.outcomes == [("port", "unreachable")]
    assert "no.such.host" in climbing.last("port").detail


@pytest.mark.parametrize("address", ["", "127.0.0.1:80", "ftp://x:1", "http://x:99999", "http://x:1/a?b"])
def test_what_is_no_url_is_unreachable_in_words(climb: Climb, address: str) -> None:
    climbing = climb(address)
    assert climbing.round() > 0.5
    assert climbing.outcomes == [("port", "unreachable")]
    assert "http://host:port" in climbing.last("port").detail


# Models.


def test_a_wrong_model_names_both_and_is_asked_on(climb: Climb, serve: Serve, engine: Engine) -> None:
    server = serve(engine)
    climbing = climb(url(server), expected_model="big")
    assert 0.8 < climbing.round() <= 1.0
    models = climbing.last("models")
    assert (models.outcome, models.models) == ("wrong_model", ["tiny"])
    assert "big" in models.detail
    assert "tiny" in models.detail
    climbing.round()
    assert server.paths == ["/health", "/v1/models", "/v1/models"]
    engine.models = (as_json({"data": [{"id": "tiny"}, {"id": "big"}]}),)
    climbing.round()
    assert server.requests[-1].body["model"] == "big"


def test_a_path_is_listed_by_its_last_part(climb: Climb, serve: Serve, engine: Engine) -> None:
    engine.models = (as_json({"data": [{"id": "Qwen3-8B"}]}),)
    server = serve(engine)
    assert climb(url(server), expected_model="/data/models/Qwen3-8B/").round() > 4
    assert server.requests[-1].body["model"] == "Qwen3-8B"


def test_a_server_that_lists_nothing_is_not_ready(climb: Climb, serve: Serve, engine: Engine) -> None:
    engine.models = (as_json({"data": []}),)
    climbing = climb(url(serve(engine)))
    climbing.round()
    assert climbing.outcomes[-1] == ("models", "empty")


def test_another_model_after_ready_is_told(climb: Climb, serve: Serve, engine: Engine) -> None:
    climbing = climb(url(serve(engine)), expected_model="tiny")
    climbing.round()
    engine.models = (as_json({"data": [{"id": "other"}]}),)
    assert climbing.round() <= 1.0
    assert climbing.outcomes[-1] == ("models", "wrong_model")


# Tokens.


def completion(**choice: object) -> Sequence[Step]:
    """Return a completion with one choice."""
    return (as_json({"model": "tiny", "choices": [choice]}),)


@pytest.mark.parametrize(
    ("token", "text"),
    [
        (completion(message={"content": None, "reasoning_content": "Okay"}), "Okay"),
        (completion(message={"content": "", "reasoning": "So"}), "So"),
        ((as_json({"choices": [{"message": {"content": ""}}], "usage": {"completion_tokens": 1}}),), ""),
        ((http(b'data: {"choices":[{"delta":{"content":"Hi"}}]}\n\ndata: [DONE]\n\n'),), "Hi"),
    ],
)
def test_every_kind_of_generated_token_counts(
    climb: Climb, serve: Serve, engine: Engine, token: Sequence[Step], text: str
) -> None:
    engine.token = token
    climbing = climb(url(serve(engine)))
    climbing.round()
    assert (climbing.last("token").outcome, climbing.last("token").text) == ("ok", text)


@pytest.mark.parametrize(
    ("token", "outcome", "words"),
    [
        (completion(message={"content": ""}), "empty", "without a generated token"),
        ((as_json({"choices": [{"message": None}], "usage": {"completion_tokens": 0}}),), "empty", "without"),
        ((http(b"<html>"),), "empty", "without"),
        ((http(b"[[]]"),), "empty", "without"),
        ((as_json({"error": {"message": "engine dead", "code": 500}}),), "empty", "engine dead"),
        ((http(b"data: [DONE]\n\n"),), "empty", "without"),
        ((as_json({"error": {"message": "overloaded"}}, "429 Too Many Requests"),), "status", "overloaded"),
        (("hang",), "timeout", "no answer in time"),
    ],
)
def test_an_answer_without_a_token_is_not_ready(
    climb: Climb, serve: Serve, engine: Engine, token: Sequence[Step], outcome: str, words: str
) -> None:
    engine.token = token
    climbing = climb(url(serve(engine)), token_timeout_s=0.2)
    assert climbing.round() <= 1.0
    assert climbing.last("token").outcome == outcome
    assert words in climbing.last("token").detail


def test_a_model_without_chat_template_is_asked_for_a_plain_completion(
    climb: Climb, serve: Serve, engine: Engine
) -> None:
    engine.token = (as_json({"error": {"message": "no chat template"}}, "400 Bad Request"),)
    engine.others = {"/v1/completions": (as_json({"choices": [{"text": " world"}]}),)}
    server = serve(engine)
    climbing = climb(url(server))
    assert climbing.round() > 4
    assert climbing.outcomes[-2:] == [("token", "status"), ("token", "ok")]
    assert climbing.last("token").text == " world"
    assert server.requests[-1].body["prompt"]


def test_text_of_the_server_is_cut_and_printable(climb: Climb, serve: Serve, engine: Engine) -> None:
    engine.token = completion(message={"content": "\x1b[31m\u202e" + "x" * 10_000})
    climbing = climb(url(serve(engine)))
    climbing.round()
    text = climbing.last("token").text
    assert text is not None
    assert text.isprintable()
    assert len(text) <= 200


# Keys.


def test_a_server_that_wants_a_key_is_open_and_says_so(climb: Climb, serve: Serve) -> None:
    server = serve(Engine(key=KEY))
    climbing = climb(url(server))
    climbing.round()
    assert climbing.outcomes == [("port", "ok"), ("health", "ok"), ("models", "key_needed")]
    assert "key is needed" in climbing.last("models").detail
    assert "authorization" not in server.requests[-1].headers


def test_the_key_goes_to_the_server_and_nowhere_else(climb: Climb, serve: Serve) -> None:
    climbing = climb(url(serve(Engine(key=KEY))), api_key=KEY)
    climbing.round()
    assert climbing.outcomes == READY
    assert KEY not in json.dumps(climbing.messages)


def test_a_refusal_that_quotes_the_key_does_not_show_it(climb: Climb, serve: Serve) -> None:
    said = as_json({"error": {"message": f"Incorrect API key provided: {KEY}."}}, "429 Too Many Requests")
    climbing = climb(url(serve(Engine(token=(said,)))), api_key=KEY)
    climbing.round()
    assert "Incorrect API key" in climbing.last("token").detail
    assert KEY not in json.dumps(climbing.messages)


def test_a_wrong_key_is_said_to_be_wrong(climb: Climb, serve: Serve) -> None:
    climbing = climb(url(serve(Engine(key=KEY))), api_key="another")
    climbing.round()
    assert climbing.last("models").outcome == "key_needed"
    assert "does not take this" in climbing.last("models").detail


def test_a_key_that_would_begin_another_header_is_not_sent(climb: Climb, serve: Serve) -> None:
    server = serve(Engine(key=KEY))
    climbing = climb(url(server), api_key="a\r\nX-Evil: 1")
    climbing.round()
    assert climbing.last("models").outcome == "key_needed"
    assert "x-evil" not in server.requests[-1].headers


def test_the_key_of_the_servers_own_arguments_is_used(climb: Climb, serve: Serve) -> None:
    server = serve(Engine(key=KEY))
    script = "import sys; print(flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", script, "--api-key", KEY], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        climbing = climb(url(server), process.pid, key_from_argv=True)
        climbing.round()
        process.communicate()
    assert climbing.outcomes == READY
    assert KEY not in json.dumps(climbing.messages)


def test_health_gets_the_key_only_where_it_wants_one(climb: Climb, serve: Serve, engine: Engine) -> None:
    server = serve(engine)
    engine.health = (http(b"", "401 Unauthorized"),)
    climbing = climb(url(server), api_key=KEY, ready_on="health")
    climbing.round()
    engine.health = (http(),)
    climbing.round()
    sent = [asked.headers.get("authorization") for asked in server.requests if asked.path == "/health"]
    assert sent == [None, f"Bearer {KEY}"]


# Addresses.


@pytest.mark.parametrize("given", ["/serve/llm", "/serve/llm/", "/serve/llm/v1", "/serve/llm/v1/"])
def test_a_prefix_stands_before_every_path(climb: Climb, serve: Serve, engine: Engine, given: str) -> None:
    engine.prefix = "/serve/llm"
    server = serve(engine)
    assert climb(url(server, given)).round() > 4
    assert server.paths == ["/serve/llm/health", "/serve/llm/v1/models", "/serve/llm/v1/chat/completions"]


def test_all_addresses_means_this_machine(climb: Climb, serve: Serve, engine: Engine) -> None:
    server = serve(engine)
    assert climb(f"http://0.0.0.0:{server.port}").round() > 4
    assert server.requests[-1].headers["host"] == f"127.0.0.1:{server.port}"


def test_a_name_with_two_addresses_is_reached_at_the_one_that_listens(
    climb: Climb, serve: Serve, engine: Engine
) -> None:
    server = serve(engine)
    assert climb(f"http://localhost:{server.port}").round() > 4


def test_ipv6_is_reached_also_as_all_addresses(climb: Climb, serve: Serve, engine: Engine) -> None:
    try:
        server = serve(engine, "::1")
    except OSError:
        pytest.skip("needs IPv6 on loopback")
    assert climb(f"http://[::1]:{server.port}").round() > 4
    assert climb(f"http://[::]:{server.port}").round() > 4
    assert server.requests[-1].headers["host"] == f"[::1]:{server.port}"


def test_credentials_in_a_url_are_not_told(climb: Climb, free_port: int) -> None:
    climbing = climb(f"http://user:{KEY}@127.0.0.1:{free_port}")
    climbing.round()
    assert KEY not in json.dumps(climbing.messages)


# TLS.


def test_an_unknown_certificate_is_said_to_be_one(
    climb: Climb, serve: Serve, engine: Engine, tmp_path: Path
) -> None:
    _, context = certificate(tmp_path)
    climbing = climb(url(serve(engine, tls=context), scheme="https"))
    climbing.round()
    assert climbing.outcomes[:2] == [("port", "ok"), ("health", "tls")]
    assert "--insecure" in climbing.last("health").detail


def test_a_certificate_is_trusted_by_its_file_or_not_asked_for(
    climb: Climb, serve: Serve, engine: Engine, tmp_path: Path
) -> None:
    file, context = certificate(tmp_path)
    server = serve(engine, tls=context)
    for trusting in (
        climb(url(server, scheme="https"), ca_file=str(file)),
        climb(url(server, scheme="https"), insecure=True),
    ):
        assert trusting.round() > 4
        assert trusting.outcomes == READY


def test_a_certificate_for_another_host_is_not_trusted(
    climb: Climb, serve: Serve, engine: Engine, tmp_path: Path
) -> None:
    file, context = certificate(tmp_path, "127.0.0.9")
    climbing = climb(url(serve(engine, tls=context), scheme="https"), ca_file=str(file))
    climbing.round()
    assert climbing.last("health").outcome == "tls"
    assert "mismatch" in climbing.last("health").detail


def test_a_ca_file_that_is_not_there_is_named(
    climb: Climb, serve: Serve, engine: Engine, tmp_path: Path
) -> None:
    _, context = certificate(tmp_path)
    climbing = climb(url(serve(engine, tls=context), scheme="https"), ca_file="/no/such/ca.pem")
    climbing.round()
    assert climbing.last("health").outcome == "tls"
    assert "/no/such/ca.pem" in climbing.last("health").detail


def test_https_to_a_plain_port_and_http_to_a_tls_port_are_told_apart(
    climb: Climb, serve: Serve, engine: Engine, tmp_path: Path
) -> None:
    def plain(asked: Asked) -> Sequence[Step]:
        return engine(asked)

    server = serve(plain)
    server.greeting = b"HTTP/1.1 400 Bad Request\r\n\r\n"  # what plain servers say to a TLS hello
    climbing = climb(url(server, scheme="https"), insecure=True)
    climbing.round()
    assert (climbing.last("health").outcome, "http://" in climbing.last("health").detail) == ("tls", True)
    _, context = certificate(tmp_path)
    climbing = climb(url(serve(engine, tls=context)))
    climbing.round()
    assert climbing.last("health").outcome in ("not_http", "reset")


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
