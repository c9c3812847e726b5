"""What all processes of the agent take together, as it runs on a host: from what travelled there."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from agent_process import Agent, Bundled, StartAgent, children_of, until
from probed_server import Engine, ProbedServer, http
from watched_signals import Launch

from tui.agent import sources, wire
from tui.requests import CheckpointPlan, FollowRequest, PingRequest, ProbePlan, WatchRequest

LIMIT_MIB = 26.0
"""The goal is 30 MB (28.6); 22 to 25 were measured with CPython 3.8 to 3.13, 33 to 35 before it was kept."""
STAYING = 6
"""Readers of GPUs, processes, log, signals and locks, and the prober."""
FLOOD = b"%09d a request came in, and its answer went out of the door\n" * 100_000
ROLLUP = Path("/proc/self/smaps_rollup")
SERVES = "import sys, time; print('here', flush=True); time.sleep(600)"


@pytest.fixture
def bundled(nvml_stub: Any) -> Iterator[Callable[[], Bundled]]:
    """Start the agent as a client does, on a host with the stand-in for NVML."""
    started: list[Bundled] = []

    def start() -> Bundled:
        started.append(Bundled(env=nvml_stub.environment()))
        return started[-1]

    yield start
    for one in started:
        one.close()


def pss_mib(pid: int) -> float:
    """Return the memory of a process, in which what it shares is counted in parts."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    raise AssertionError("no Pss in smaps_rollup")


def follow_all(agent: Agent | Bundled, pid: int, folder: Path, port: int) -> None:
    """Follow a server with a long log, a checkpoint and a port, which takes every worker."""
    log, model = folder / "server.log", folder / "model"
    log.write_bytes(FLOOD)
    model.mkdir()
    (model / "model.safetensors").write_bytes(b"weights")
    agent.send(WatchRequest(matchers=[], interval_s=0.2))
    agent.send(
        FollowRequest(
            pid=pid,
            log_path=str(log),
            first_lines=["this start begins"],
            probe=ProbePlan(url=f"http://127.0.0.1:{port}", ready_on="health"),
            checkpoint=CheckpointPlan(model=str(model)),
        )
    )


def test_all_processes_together_stay_below_the_limit(
    bundled: Callable[[], Bundled], launch: Launch, tmp_path: Path
) -> None:
    if not os.access(ROLLUP, os.R_OK):
        pytest.skip("this kernel does not add a process's memory up")
    server = ProbedServer(Engine(health=(http(),)))
    server.start()
    agent = bundled()
    try:
        follow_all(agent, launch(SERVES).pid, tmp_path, server.port)
        missing = {
            wire.GPUS, wire.GPU_DETAILS, wire.PROCESSES, wire.PROBE, wire.CHECKPOINT, wire.SIGNALS,
            wire.HOST_SIGNALS,
        }  # fmt: skip
        while missing:
            message = agent.next()
            assert message is not None
            missing.discard(message["kind"])
        read_bytes = 0
        while read_bytes < len(FLOOD):
            read_bytes = int(agent.receive(wire.LOG_BYTES)["offset"])
        until(lambda: len(children_of(agent.process.pid)) == STAYING)
        processes = (agent.process.pid, *children_of(agent.process.pid))
        assert sum(map(pss_mib, processes)) < LIMIT_MIB
    finally:
        server.close()


def test_a_worker_whose_imports_fail_says_so_and_takes_no_other_along(agent: StartAgent) -> None:
    one = agent(prelude="sys.modules['pwd'] = None", real=["locks", "signals"])
    one.send(FollowRequest(pid=os.getpid()))
    kinds: dict[str, str] = {}
    while not {wire.NOTICE, wire.SIGNALS} <= kinds.keys():
        message = one.next()
        assert message is not None
        kinds.setdefault(message["kind"], str(message.get("sentence", "")))
    assert kinds[wire.NOTICE].startswith("the lock reader failed: ModuleNotFoundError")
    one.send(PingRequest(sent_s=0.0))
    one.receive(wire.PONG)


def test_what_is_made_aside_is_made_by_a_child() -> None:
    assert sources.aside(os.getppid) == os.getpid()
    assert sources.aside(lambda: {"text": "é" * 200_000}) == {"text": "é" * 200_000}


def test_the_child_ends_when_the_agent_dies_before_it_has_read_what_was_made() -> None:
    code = (
        "import os, signal, sys; from tui.agent import sources\n"
        "def make():\n"
        "    os.write(1, b'%d' % os.getpid()); os.close(1)\n"
        "    os.kill(os.getppid(), signal.SIGKILL)\n"
        "    return 'x' * 10_000_000\n"
        "sources.aside(make)"
    )
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=False)
    assert done.returncode == -signal.SIGKILL
    until_s = time.monotonic() + 10.0
    while Path(f"/proc/{int(done.stdout)}").exists():
        assert time.monotonic() < until_s
        time.sleep(0.02)


def test_where_no_child_can_be_had_it_is_made_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_more() -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", no_more)
    assert sources.aside(os.getpid) == os.getpid()


def test_what_fails_aside_fails_here_with_its_words() -> None:
    def fails() -> None:
        raise ValueError("no such thing")

    with pytest.raises(ValueError, match="no such thing"):
        sources.aside(fails)
