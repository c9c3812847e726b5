"""The worker as the agent runs it: a process of its own, asked and cancelled over its channel."""

import itertools
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from agent_process import StartAgent, children_of

from tui.agent import wire
from tui.requests import BenchCancelRequest, BenchRequest

Say = Any


def _slow(say: Say) -> Any:
    def reply(asked: Any) -> Iterable[Any]:
        yield say.head("200 OK", "Transfer-Encoding: chunked")
        for _ in range(asked.tokens):
            yield say.chunk(say.event(say.delta()))
            yield 0.01
        yield say.chunk(say.event(say.finish())) + say.chunk(say.event(say.usage(asked.tokens)))
        yield b"0\r\n\r\n"

    return reply


def _quick_then_slow(say: Say) -> Any:
    measured = 0

    def reply(asked: Any) -> Iterable[Any]:
        nonlocal measured
        measured += 1
        return say.whole(asked) if measured <= 6 else _slow(say)(asked)

    return reply


def test_it_runs_one_benchmark_after_the_other(served: Any, serve: Any, say: Say) -> None:
    worker = served("load")
    for run in ("first", "second"):
        worker.send(BenchRequest(run=run, spec=say.spec(serve().url)))
        result = worker.receive(wire.BENCH_RESULT)
        assert (result["run"], result["outcome"], result["completed"]) == (run, "done", 2)
        assert result["event_loop"] == ("uvloop" if find_spec("uvloop") else "asyncio")


def test_progress_comes_at_most_twice_a_second_and_counts_up(served: Any, serve: Any, say: Say) -> None:
    worker = served("load")
    server = serve(measured=_slow(say))
    worker.send(BenchRequest(run="r", spec=say.spec(server.url, requests=4, concurrency=2)))
    told: list[Any] = []
    while (message := worker.receive_within(wire.BENCH_PROGRESS, 1.5)) is not None:
        told.append(message)
    measure = [one for one in told if one["stage"] == "measure"]
    assert len(measure) >= 3
    stamps = [one["mono_s"] for one in told]
    assert all(after - before > 0.45 for before, after in itertools.pairwise(stamps))
    assert all(one["in_flight"] <= 2 and one["requests"] == 4 for one in measure)
    assert 0 < measure[1]["output_tokens"] <= measure[2]["output_tokens"] <= 400
    assert measure[2]["output_tokens_per_s"] > 20


def test_a_cancelled_run_tells_what_it_had_measured(served: Any, serve: Any, say: Say) -> None:
    worker = served("load")
    server = serve(measured=_quick_then_slow(say))
    worker.send(BenchRequest(run="r", spec=say.spec(server.url, requests=100, concurrency=2)))
    end_s = time.monotonic() + 10
    while len(server.measurements) < 8 and time.monotonic() < end_s:
        time.sleep(0.01)
    worker.send(BenchCancelRequest(run="another"))
    worker.send(BenchCancelRequest(run="r"))
    result = worker.receive(wire.BENCH_RESULT, 2.0)
    assert (result["outcome"], result["completed"], result["failed"]) == ("cancelled", 6, 0)
    assert result["sentence"] == "6 of 100 requests answered"
    assert result["output_tokens_per_s"] > 0


def test_a_second_benchmark_at_the_same_time_is_refused(served: Any, serve: Any, say: Say) -> None:
    worker = served("load")
    spec = say.spec(serve(measured=_slow(say)).url, requests=1)
    worker.send(BenchRequest(run="first", spec=spec))
    worker.send(BenchRequest(run="second", spec=spec))
    refused = worker.receive(wire.BENCH_RESULT)
    assert (refused["run"], refused["outcome"]) == ("second", "failed")
    assert refused["sentence"] == "a benchmark is already running"
    first = worker.receive(wire.BENCH_RESULT)
    assert (first["run"], first["outcome"]) == ("first", "done")


def test_it_ends_with_its_agent_in_the_middle_of_a_run(served: Any, serve: Any, say: Say) -> None:
    worker = served("load")
    server = serve(measured=_slow(say))
    worker.send(BenchRequest(run="r", spec=say.spec(server.url, requests=100)))
    end_s = time.monotonic() + 10
    while not server.measurements and time.monotonic() < end_s:
        time.sleep(0.01)
    worker.process.stdin.close()
    assert worker.process.wait(2) == 0


def test_asyncio_is_not_imported_before_the_first_benchmark(served: Any) -> None:
    program = "import sys, tui.agent.load.worker; sys.exit('asyncio' in sys.modules or 'ssl' in sys.modules)"
    worker = served("load")
    assert subprocess.run([worker.process.args[0], "-c", program], check=False).returncode == 0


def _find_python(version: str) -> str:
    """Return a working interpreter of that version; skip where there is none."""
    managed = Path(os.environ.get("PYENV_ROOT", "/nowhere")).glob(f"versions/{version}.*/bin/python3")
    for python in [*map(str, managed), shutil.which("python" + version)]:
        if python and not subprocess.run([python, "-c", ""], check=False, capture_output=True).returncode:
            return python
    pytest.skip(f"needs python{version}")


@pytest.mark.parametrize("version", ["3.8", "3.9", "3.13"])
def test_it_runs_on_other_pythons(served: Any, serve: Any, say: Say, version: str) -> None:
    worker = served("load", python=_find_python(version))
    worker.send(BenchRequest(run="r", spec=say.spec(serve().url, concurrency=4, requests=8)))
    result = worker.receive(wire.BENCH_RESULT)
    assert (result["outcome"], result["completed"]) == ("done", 8)


def test_a_run_whose_process_is_killed_has_a_result_and_the_next_one_runs(
    agent: StartAgent, serve: Any, say: Say
) -> None:
    one = agent(real=("load",))
    one.send(BenchRequest(run="killed", spec=say.spec(serve(measured=_slow(say)).url, requests=9)))
    one.receive(wire.BENCH_PROGRESS)
    (loader,) = children_of(one.process.pid)
    os.kill(loader, signal.SIGKILL)
    result = one.receive(wire.BENCH_RESULT)
    assert (result["run"], result["outcome"], result["completed"]) == ("killed", "failed", 0)
    assert result["sentence"] == "the load generator ended (signal 9)"
    one.send(BenchRequest(run="next", spec=say.spec(serve().url)))
    result = one.receive(wire.BENCH_RESULT)
    assert (result["run"], result["outcome"], result["completed"]) == ("next", "done", 2)


def test_more_streams_than_descriptors_are_allowed_at_first_are_opened(
    agent: StartAgent, serve: Any, say: Say
) -> None:
    few = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (48, 4096))"
    one = agent(real=("load",), prelude=few)
    one.send(BenchRequest(run="r", spec=say.spec(serve().url, requests=80, concurrency=80)))
    result = one.receive(wire.BENCH_RESULT)
    assert (result["completed"], result["failures"]) == (80, {})


def test_more_streams_than_descriptors_are_allowed_is_no_failure_of_the_server(
    agent: StartAgent, serve: Any, say: Say
) -> None:
    few = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (48, 48))"
    one = agent(real=("load",), prelude=few)
    one.send(BenchRequest(run="r", spec=say.spec(serve().url, requests=80, concurrency=80)))
    result = one.receive(wire.BENCH_RESULT)
    assert (result["outcome"], result["fault"], result["failures"]) == ("failed", "client_limit", {})
    assert result["sentence"].endswith("Too many open files; take fewer streams")
