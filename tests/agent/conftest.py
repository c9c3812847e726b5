"""What the agent's tests share: the whole agent, or one worker of it, ended with the test."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Mapping

import pytest
from agent_process import Agent, Served, StartAgent
from watched_signals import QUICK, Follow, Launch, Process

from tui.requests import FollowRequest


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


@pytest.fixture
def launch() -> Iterator[Launch]:
    """Start a Python process with this code and these arguments, and wait until it (or its child) is here."""
    started: list[Process] = []

    def start(code: str, *arguments: str, uid: int | None = None) -> Process:
        process = subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            user=uid,
        )
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "here\n"
        return process

    yield start
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@pytest.fixture
def follow(agent: StartAgent) -> Follow:
    """Let an agent follow a process, looking twenty times a second."""

    def start(process: Process, prelude: str = "") -> Agent:
        one = agent(prelude=QUICK + prelude, real=["signals"])
        one.send(FollowRequest(pid=process.pid))
        return one

    return start
