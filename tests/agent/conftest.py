"""What the agent's tests share: the whole agent, or one worker of it, ended with the test."""

import sys
from collections.abc import Callable, Collection, Iterator, Mapping

import pytest
from agent_process import Agent, Served, StartAgent


@pytest.fixture
def served() -> Iterator[Callable[..., Served]]:
    """Start a worker by its module's name: ``served("tail")``, with ``python=`` or ``env=`` of its own."""
    started: list[Served] = []

    def start(name: str, *, python: str = sys.executable, env: Mapping[str, str] | None = None) -> Served:
        started.append(Served(name, python=python, env=env))
        return started[-1]

    yield start
    for one in started:
        one.close()


@pytest.fixture
def agent() -> Iterator[StartAgent]:
    """Start the whole agent as a process."""
    started: list[Agent] = []

    def start(
        stand_ins: Mapping[str, str] | None = None,
        *,
        prelude: str = "",
        python: str = sys.executable,
        real: Collection[str] = (),
    ) -> Agent:
        started.append(Agent(stand_ins, prelude=prelude, python=python, real=real))
        return started[-1]

    yield start
    for one in started:
        one.close()
