"""The probe worker as a process: its pace, what interrupts it, and what it never does."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest
from agent_process import PATIENCE_S
from probed_server import Engine, ProbedServer, certificate, http

from tui.agent import wire
from tui.requests import FollowRequest, ProbePlan

NOT_YET = http(b"", "503 Service Unavailable")


class Worker(Protocol):
    """What the ``served`` fixture starts."""

    process: Any

    def send(self, request: FollowRequest) -> None: ...
    def receive(self, kind: str, timeout_s: float = PATIENCE_S) -> dict[str, Any]: ...
    def receive_within(self, kind: str, timeout_s: float) -> dict[str, Any] | None: ...


Start = Callable[..., Worker]
LOOKS = 20


@pytest.fixture
def server(engine: Engine) -> Iterator[ProbedServer]:
    """A server of that engine, not started."""
    one = ProbedServer(lambda asked: engine(asked))
    yield one
    one.close()


def plan(server: ProbedServer, **fields: Any) -> FollowRequest:
    """Ask for a server to be probed."""
    pid = fields.pop("pid", 1)
    return FollowRequest(pid=pid, probe=ProbePlan(url=f"http://127.0.0.1:{server.port}", **fields))


def until(worker: Worker, rung: str, outcome: str) -> dict[str, Any]:
    """Return the first probe of this rung with this outcome."""
    end_s = time.monotonic() + PATIENCE_S
    told: list[tuple[str, str]] = []
    while time.monotonic() < end_s:
        probe = worker.receive(wire.PROBE)
        told.append((probe["rung"], probe["outcome"]))
        if told[-1] == (rung, outcome):
            return probe
    raise AssertionError(f"{rung} is never {outcome}, only {told[-8:]}")


def requests_within(server: ProbedServer, path: str, seconds: float) -> int:
    """Count what is asked of a path from the next request on."""
    known = len(server.requests)
    end_s = time.monotonic() + PATIENCE_S
    while len(server.requests) == known:
        assert time.monotonic() < end_s, "nothing is asked"
        time.sleep(0.005)
    time.sleep(seconds)
    return server.paths[known:].count(path)


def test_refused_then_503_then_a_token(served: Start, server: ProbedServer, engine: Engine) -> None:
    engine.health = engine.models = (NOT_YET,)
    worker = served("probe")
    worker.send(plan(server))
    until(worker, "port", "refused")
    server.start()
    until(worker, "port", "ok")
    assert until(worker, "health", "status")["status"] == 503
    engine.health, engine.models = Engine().health, Engine().models
    assert until(worker, "token", "ok")["text"] == "Hello"


def test_it_asks_four_times_a_second_while_that_costs_nothing(
    served: Start, server: ProbedServer, engine: Engine
) -> None:
    engine.health = (NOT_YET,)
    server.start()
    worker = served("probe")
    worker.send(plan(server))
    # On a busy machine rounds come late, never early: it may take some looks to see them all.
    looks = [requests_within(server, "/health", 1.2)]
    while looks[-1] < 3 and len(looks) < LOOKS:
        looks.append(requests_within(server, "/health", 1.2))
    assert looks[-1] >= 3
    assert max(looks) <= 6


def test_it_knocks_four_times_a_second_at_a_closed_port(served: Start, server: ProbedServer) -> None:
    worker = served("probe")
    worker.send(plan(server))
    moments = [until(worker, "port", "refused")["mono_s"] for _ in range(5)]
    assert moments[-1] - moments[0] >= 0.95


def test_ready_is_noticed_at_the_next_round(served: Start, server: ProbedServer) -> None:
    worker = served("probe")
    worker.send(plan(server))
    until(worker, "port", "refused")
    began_s = time.monotonic()
    server.start()
    assert until(worker, "token", "ok")["mono_s"] - began_s < 4.5


def test_the_death_of_a_ready_server_is_noticed_without_waiting_for_the_next_look(
    served: Start, server: ProbedServer
) -> None:
    server.start()
    worker = served("probe")
    worker.send(plan(server))
    until(worker, "token", "ok")
    began_s = time.monotonic()
    server.stop()
    assert until(worker, "port", "refused")["mono_s"] - began_s < 4.5  # looks come each 5 s


def test_a_server_that_closes_idle_connections_is_not_asked_more_often(
    served: Start, server: ProbedServer
) -> None:
    server.start()
    worker = served("probe")
    worker.send(plan(server))
    until(worker, "token", "ok")
    asked = len(server.requests)
    server.cut()
    until(worker, "port", "ok")
    assert worker.receive_within(wire.PROBE, 0.5) is None
    assert len(server.requests) == asked


def test_another_request_interrupts_a_question_that_hangs(
    served: Start, server: ProbedServer, engine: Engine
) -> None:
    engine.health = ("hang",)
    server.start()
    ready = ProbedServer(Engine())
    ready.start()
    worker = served("probe")
    worker.send(plan(server))
    until(worker, "port", "ok")
    worker.send(plan(ready))
    assert until(worker, "token", "ok")["url"].startswith(f"http://127.0.0.1:{ready.port}/")
    ready.close()


def test_the_same_request_again_interrupts_nothing(
    served: Start, server: ProbedServer, engine: Engine
) -> None:
    engine.health = (0.3, http())
    server.start()
    worker = served("probe")
    worker.send(plan(server))
    until(worker, "port", "ok")
    for _ in range(3):
        worker.send(plan(server))
        time.sleep(0.03)
    until(worker, "token", "ok")
    assert server.paths.count("/health") == 1


def test_another_process_on_the_same_port_is_climbed_anew(served: Start, server: ProbedServer) -> None:
    server.start()
    worker = served("probe")
    worker.send(plan(server, pid=1))
    until(worker, "token", "ok")
    worker.send(plan(server, pid=2))
    until(worker, "token", "ok")
    assert server.paths.count("/health") == 2


def test_letting_go_stops_the_questions(served: Start, server: ProbedServer, engine: Engine) -> None:
    engine.health = (NOT_YET,)
    server.start()
    worker = served("probe")
    worker.send(plan(server))
    until(worker, "health", "status")
    worker.send(FollowRequest(pid=None))
    end_s = time.monotonic() + PATIENCE_S
    while worker.receive_within(wire.PROBE, 0.6) is not None:
        assert time.monotonic() < end_s, "it goes on asking"
    asked = len(server.requests)
    assert worker.receive_within(wire.PROBE, 0.4) is None
    assert len(server.requests) == asked
    worker.send(plan(server))
    until(worker, "health", "status")


def test_tls_is_spoken_with_a_trusted_certificate(served: Start, engine: Engine, tmp_path: Path) -> None:
    file, context = certificate(tmp_path)
    server = ProbedServer(engine, tls=context)
    server.start()
    worker = served("probe")
    url = f"https://127.0.0.1:{server.port}"
    worker.send(FollowRequest(pid=1, probe=ProbePlan(url=url)))
    assert "--insecure" in until(worker, "health", "tls")["detail"]
    worker.send(FollowRequest(pid=1, probe=ProbePlan(url=url, ca_file=str(file))))
    until(worker, "token", "ok")
    began_s = time.monotonic()
    server.stop()
    assert until(worker, "port", "refused")["mono_s"] - began_s < 4.5
    server.close()


def test_no_proxy_is_ever_asked(served: Start, server: ProbedServer, free_port: int) -> None:
    server.start()
    proxy = f"http://127.0.0.1:{free_port}"
    names = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "ALL_PROXY")
    worker = served("probe", env=dict.fromkeys(names, proxy))
    worker.send(plan(server))
    until(worker, "token", "ok")


def test_it_ends_with_the_agent_in_the_middle_of_a_question(
    served: Start, server: ProbedServer, engine: Engine
) -> None:
    engine.health = ("hang",)
    server.start()
    worker = served("probe")
    worker.send(plan(server))
    until(worker, "port", "ok")
    worker.process.stdin.close()
    assert worker.process.wait(PATIENCE_S) == 0
