"""A server known by its URL alone, asked over real sockets."""

import asyncio
import json
import ssl
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import pytest

from tui.events import Notice, Outcome, Probe, Rung
from tui.requests import ProbePlan
from tui.transport.endpoint import EndpointSource
from tui.transport.pace import Pace

Reply = tuple[int, bytes]
Script = Callable[[str], Reply]
MODELS = json.dumps({"data": [{"id": "gemma"}]}).encode()
TOKEN = json.dumps(
    {"choices": [{"message": {"content": "Hello"}}], "usage": {"completion_tokens": 1}}
).encode()


def healthy(path: str) -> Reply:
    if path == "/v1/models":
        return 200, MODELS
    return 200, TOKEN if "completions" in path else b""


@asynccontextmanager
async def serving(script: Script, *, raw: bytes | None = None) -> AsyncGenerator[tuple[str, list[str]], None]:
    """Serve a script of answers by path on loopback; yield the URL and the paths that were asked."""
    asked: list[str] = []
    writers: list[asyncio.StreamWriter] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        if raw is not None:
            writer.write(raw)
            await reader.read()
            return
        request = await reader.readline()
        while request:
            path = request.split()[1].decode()
            asked.append(path)
            length = 0
            while (line := await reader.readline()) not in (b"\r\n", b""):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            await reader.readexactly(length)
            status, body = script(path)
            writer.write(b"HTTP/1.1 %d X\r\ncontent-length: %d\r\n\r\n" % (status, len(body)) + body)
            await writer.drain()
            request = await reader.readline()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}", asked
    finally:
        server.close()
        await settle()
        for writer in writers:
            writer.close()
        await settle()


async def settle() -> None:
    """Let accepted connections reach their handlers and closed ones their end."""
    await asyncio.sleep(0.02)


async def probes(plan: ProbePlan, until: Callable[[Probe], bool]) -> list[Probe]:
    """Collect probes until one satisfies the condition, ten seconds at most."""
    source = EndpointSource(plan)
    found: list[Probe] = []
    async with asyncio.timeout(10), aclosing(aiter(source)) as events:
        async for event in events:
            if isinstance(event, Probe):
                found.append(event)
                if until(event):
                    break
    return found


def on(rung: str) -> Callable[[Probe], bool]:
    return lambda probe: probe.rung == rung


async def test_it_is_said_what_a_url_alone_does_not_show(free_port: int) -> None:
    source = EndpointSource(ProbePlan(url=f"http://127.0.0.1:{free_port}"))
    async with asyncio.timeout(10), aclosing(aiter(source)) as events:
        told = await anext(event async for event in events if isinstance(event, Notice))

    assert told.sentence == (
        "a URL alone shows readiness and benchmarks; name a HOST to see GPUs, processes and the log"
    )


async def test_a_ready_server_is_climbed_to_its_first_token() -> None:
    async with serving(healthy) as (url, _):
        found = await probes(ProbePlan(url=url), on("token"))
    assert [(probe.rung, probe.outcome) for probe in found] == [
        ("port", "ok"),
        ("health", "ok"),
        ("models", "ok"),
        ("token", "ok"),
    ]
    assert (found[-1].model, found[-1].text) == ("gemma", "Hello")


async def test_a_closed_port_says_refused(free_port: int) -> None:
    found = await probes(ProbePlan(url=f"http://127.0.0.1:{free_port}"), on("port"))
    assert found[0].outcome == "refused"


async def test_a_loading_server_is_told_by_its_status_and_its_models_are_asked_slowly() -> None:
    async with serving(lambda path: (503, b"")) as (url, asked):
        found = await probes(ProbePlan(url=url), lambda _: asked.count("/health") >= 4)
    assert {probe.status for probe in found if probe.rung == "health"} == {503}
    assert asked.count("/v1/models") == 1


async def test_another_model_is_said_with_both_names() -> None:
    async with serving(healthy) as (url, _):
        found = await probes(ProbePlan(url=url, expected_model="llama"), on("models"))
    assert found[-1].outcome == "wrong_model"
    assert "llama" in found[-1].detail
    assert "gemma" in found[-1].detail


@pytest.mark.parametrize(("answered", "outcome"), [("gemma", "ok"), ("other", "wrong_model")])
async def test_a_token_of_another_model_does_not_count(answered: str, outcome: str) -> None:
    token = json.dumps({"model": answered, "choices": [{"message": {"content": "Hi"}}]}).encode()

    def script(path: str) -> Reply:
        return (200, token) if "completions" in path else healthy(path)

    async with serving(script) as (url, _):
        found = await probes(ProbePlan(url=url, expected_model="gemma"), on("token"))

    assert found[-1].outcome == outcome
    assert outcome == "ok" or found[-1].detail == "expected gemma, other answered"


async def test_a_missing_key_is_an_answer_of_its_own() -> None:
    def locked(path: str) -> Reply:
        return (401, b"{}") if path == "/v1/models" else (200, b"")

    async with serving(locked) as (url, _):
        found = await probes(ProbePlan(url=url), on("models"))
    assert found[-1].outcome == "key_needed"
    assert "--api-key-env" in found[-1].detail


async def test_no_completion_is_sent_when_health_is_all_that_counts() -> None:
    async with serving(healthy) as (url, asked):
        await probes(ProbePlan(url=url, ready_on="health"), lambda _: asked.count("/v1/models") >= 1)
    assert not [path for path in asked if "completions" in path]


async def test_a_port_of_another_program_is_said_to_be_so() -> None:
    async with serving(healthy, raw=b"SSH-2.0-OpenSSH_9.2\r\n") as (url, _):
        plan = ProbePlan(url=url, health_timeout_s=0.05)
        found = await probes(plan, lambda probe: probe.outcome == "not_http")
    assert "SSH-2.0-OpenSSH_9.2" in found[-1].detail


async def test_a_web_page_where_models_should_be_is_another_program() -> None:
    async with serving(lambda path: (200, b"<html>Hi</html>")) as (url, _):
        found = await probes(ProbePlan(url=url), on("models"))
    assert found[-1].outcome == "not_http"


async def test_a_silent_server_is_a_timeout_not_a_hang() -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    found = await probes(ProbePlan(url=url, health_timeout_s=0.05), on("health"))
    server.close()
    await settle()
    assert found[-1].outcome == "timeout"


async def test_a_proxy_in_the_environment_does_not_catch_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    async with serving(healthy) as (url, _):
        found = await probes(ProbePlan(url=url), on("token"))
    assert found[-1].outcome == "ok"


def probe(rung: Rung, outcome: Outcome, latency_ms: float) -> Probe:
    return Probe(mono_s=0.0, wall_s=0.0, rung=rung, outcome=outcome, latency_ms=latency_ms, detail="", url="")


@pytest.mark.parametrize(
    ("answers", "wait_s"),
    [
        ([probe("port", "refused", 1.0)], 0.25),
        ([probe("port", "ok", 1.0), probe("health", "status", 5.0)], 0.25),
        ([probe("port", "ok", 1.0), probe("health", "status", 300.0)], 1.0),
        ([probe("port", "ok", 1.0), probe("health", "ok", 1001.0)], 1.0),
        ([probe("health", "status", 1001.0), probe("port", "refused", 1.0)], 1.0),
        ([probe("token", "ok", 40.0)], 5.0),
        ([probe("token", "ok", 40.0), probe("port", "refused", 1.0)], 0.25),
    ],
)
def test_the_pace_follows_what_an_answer_costs(answers: list[Probe], wait_s: float) -> None:
    pace = Pace(health_costs_a_token=True, ready_on="token")
    for answer in answers:
        pace.heard(answer)
    assert pace.wait_s() == wait_s


@pytest.fixture
def certificate(tmp_path: Path, needs: Callable[[str], str]) -> tuple[Path, Path]:
    import subprocess

    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    make = [
        needs("openssl"),
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
    ]
    subprocess.run([*make, "-days", "1", "-keyout", str(key), "-out", str(cert), *subject], check=True)
    return key, cert


@pytest.mark.parametrize(("trust", "outcome"), [("nothing", "tls"), ("ca", "ok"), ("insecure", "ok")])
async def test_tls_is_checked_unless_told_otherwise(
    certificate: tuple[Path, Path], trust: str, outcome: str
) -> None:
    key, cert = certificate
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context)
    url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    ca_file = str(cert) if trust == "ca" else None
    plan = ProbePlan(url=url, ca_file=ca_file, insecure=trust == "insecure")
    found = await probes(plan, on("health"))
    server.close()
    await settle()
    assert found[-1].outcome == outcome


def models(body: bytes) -> Script:
    return lambda path: (200, body if path == "/v1/models" else b"")


@pytest.mark.parametrize("body", [b"[" * 200_000, b'{"data":' + b"[" * 3000 + b"]" * 3000 + b"}"])
async def test_brackets_without_end_are_no_list_of_models(body: bytes) -> None:
    async with serving(models(body)) as (url, _):
        found = await probes(ProbePlan(url=url), on("models"))
    assert found[-1].outcome == "not_http"


@pytest.mark.parametrize("body", [b'{"data": []}', b'{"data": [{"id": 5}, {"id": null}, []]}'])
async def test_a_list_without_a_model_is_not_ready(body: bytes) -> None:
    async with serving(models(body)) as (url, _):
        found = await probes(ProbePlan(url=url), on("models"))
    assert found[-1].outcome == "empty"


async def test_a_long_list_of_long_names_is_cut_to_what_can_be_shown() -> None:
    body = json.dumps({"data": [{"id": f"{number}-" + "x" * 2000} for number in range(200)]}).encode()
    async with serving(models(body)) as (url, _):
        found = await probes(ProbePlan(url=url), on("models"))
    assert found[-1].outcome == "ok"
    assert found[-1].models is not None
    assert max(map(len, found[-1].models)) <= 1024
    assert len(found[-1].detail) <= 200
