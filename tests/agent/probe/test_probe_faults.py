"""No answer, no HTTP, no trusted certificate: each is an outcome of its own, in words."""

import json
import socket
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from probed_server import KEY, READY, Asked, Climb, Engine, Serve, Step, certificate, http, url

from tui.agent.http import connection as http_connection

LISTED = b'{"data":[{"id":"tiny"}]}'


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
    assert time.monotonic() - began_s < 4.5  # it drips for 5 s


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
