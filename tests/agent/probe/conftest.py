"""Scripted servers and ladders that are let go of after each test."""

import ssl
from collections.abc import Iterator
from typing import Any

import pytest
from probed_server import Answer, Climb, Climbing, Engine, ProbedServer, Serve


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
def climb() -> Iterator[Climb]:
    """Make ladders that are let go of after the test."""
    made: list[Climbing] = []

    def start(url: str, pid: int | None = None, **fields: Any) -> Climbing:
        made.append(Climbing(url, pid, **fields))
        return made[-1]

    yield start
    for climbing in made:
        climbing.prober.close()


@pytest.fixture
def engine() -> Engine:
    """An engine that is ready."""
    return Engine()
