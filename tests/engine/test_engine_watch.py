"""A real llama.cpp server watched from refused to a generated token, benchmarked, and seen to die."""

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import pytest
from llama_server import MODEL, LlamaServer, StartLlamaServer

from tui.benchmark import BenchSpec
from tui.commands import start
from tui.events import AnyEvent, Probe
from tui.session import Session
from tui.watch.options import WatchOptions

pytestmark = [pytest.mark.engine, pytest.mark.xdist_group("engine")]

LOAD_S = 180.0
DEATH_S = 2.0
SPEC = BenchSpec(url="", model=None, concurrency=2, requests=4, input_tokens=16, output_tokens=8)


class Watch:
    """A session that is followed until something holds of it."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.events: list[AnyEvent] = []
        self._updates = session.updates()

    async def until(self, true: Callable[[], bool], within_s: float = LOAD_S) -> None:
        """Take in events until something holds. Raises TimeoutError."""
        async with asyncio.timeout(within_s):
            while not true():
                self.events.append(await anext(self._updates))

    def answers(self) -> list[tuple[str, str, int | None]]:
        """Return the answers of the port in order, each once."""
        seen = [(each.rung, each.outcome, each.status) for each in self.events if isinstance(each, Probe)]
        return list(dict.fromkeys(seen))


@asynccontextmanager
async def watching(options: WatchOptions) -> AsyncGenerator[Watch]:
    """Watch this machine with the real agent."""
    session = Session(start.local_agent(options), options, SPEC)
    try:
        yield Watch(session)
    finally:
        await session.close()


async def test_a_load_is_watched_from_refused_over_503_to_a_token_and_benchmarked(
    start_llama_server: StartLlamaServer, free_port: int
) -> None:
    async with watching(WatchOptions(port=free_port)) as watch:
        state = watch.session.state
        await watch.until(lambda: ("port", "refused", None) in watch.answers())
        server = start_llama_server(free_port)
        await watch.until(lambda: state.ready)

        assert ("health", "status", 503) in watch.answers()
        assert ("health", "ok", 200) in watch.answers()
        assert [rung.state for rung in state.ladder] == ["ok"] * 5
        assert state.target is not None
        assert state.target.pid == server.pid
        assert state.engine is not None
        assert state.engine.title == "llama.cpp"
        assert state.model == MODEL
        assert state.outcome == "ready"

        watch.session.start_bench()
        await watch.until(lambda: bool(state.bench.results))
        result = state.bench.results[-1]
        assert (result.outcome, result.completed, result.failed) == ("done", 4, 0)
        assert result.output_tokens == 32
        assert result.ttft_ms.p50 is not None
        assert result.measured_on == "server_host"


async def test_a_server_that_is_killed_is_named_failed_within_two_seconds(
    start_llama_server: StartLlamaServer, free_port: int
) -> None:
    async with watching(WatchOptions(port=free_port)) as watch:
        state = watch.session.state
        server = start_llama_server(free_port)
        await watch.until(lambda: state.target is not None and ("health", "status", 503) in watch.answers())
        server.kill()
        killed_s = time.monotonic()
        await watch.until(lambda: state.outcome == "failed")
        took_s = time.monotonic() - killed_s

    assert state.fault == "died"
    assert state.reason
    assert took_s < DEATH_S


async def test_the_log_is_followed_and_tells_the_phases(
    start_llama_server: StartLlamaServer, free_port: int
) -> None:
    async with watching(WatchOptions(port=free_port)) as watch:
        state = watch.session.state
        server = start_llama_server(free_port, "-lv", "4")
        await watch.until(lambda: state.ready)
        await watch.until(lambda: state.log_source is not None and state.log_source.state == "open", 10)

    assert state.log_source is not None
    assert state.log_source.path == str(server.log)
    assert [span.phase.value for span in state.past_phases][-1:] != ["ready"]


async def waiting(*arguments: str) -> asyncio.subprocess.Process:
    """Start ``tminus wait`` as a script would."""
    command = [sys.executable, "-m", "tui", "wait", "--json", "--no-record", *arguments]
    return await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, env=os.environ)


async def records(process: asyncio.subprocess.Process) -> list[dict[str, object]]:
    """Return every object that it printed, at its end."""
    output, _ = await asyncio.wait_for(process.communicate(), LOAD_S)
    return [json.loads(line) for line in output.decode().splitlines()]


async def test_wait_ends_with_0_when_the_real_server_is_ready(
    start_llama_server: StartLlamaServer, free_port: int
) -> None:
    process = await waiting("--port", str(free_port), "--timeout", f"{LOAD_S:g}s")
    server = start_llama_server(free_port)

    printed = await records(process)

    assert process.returncode == 0
    assert (printed[-1]["event"], printed[-1]["outcome"]) == ("end", "ready")
    assert printed[-1]["model"] == MODEL
    assert {"probe", "readiness", "verdict"} <= {each["event"] for each in printed}
    assert server.pid in [each.get("pid") for each in printed]


async def test_wait_by_url_alone_ends_with_0_when_the_real_server_is_ready(
    start_llama_server: StartLlamaServer, free_port: int
) -> None:
    server: LlamaServer = start_llama_server(free_port)
    process = await waiting("--url", server.url + "/v1", "--timeout", f"{LOAD_S:g}s")

    printed = await records(process)

    assert (process.returncode, printed[-1]["outcome"]) == (0, "ready")


async def test_wait_ends_with_1_when_the_real_server_dies(
    start_llama_server: StartLlamaServer, free_port: int
) -> None:
    process = await waiting("--port", str(free_port), "--timeout", f"{LOAD_S:g}s")
    server = start_llama_server(free_port)
    assert process.stdout is not None
    # Until the port's process is found, a port that refuses is all there is to tell of its end.
    async with asyncio.timeout(LOAD_S):
        async for line in process.stdout:
            if b'"pid":%d' % server.pid in line:
                break
    server.send(signal.SIGKILL)

    printed = await records(process)

    assert process.returncode == 1
    assert (printed[-1]["outcome"], printed[-1]["fault"]) == ("failed", "died")


async def test_the_wrong_model_is_failed_at_the_time_out_with_both_names(
    start_llama_server: StartLlamaServer, free_port: int
) -> None:
    start_llama_server(free_port)
    process = await waiting("--port", str(free_port), "--model", "another-model", "--timeout", "20s")

    printed = await records(process)

    assert (process.returncode, printed[-1]["outcome"], printed[-1]["fault"]) == (1, "failed", "wrong_model")
    assert "another-model" in str(printed[-1]["reason"])
    assert MODEL in str(printed[-1]["reason"])
