"""The real server beside a scenario: when it answers, that a benchmark of it is real, that nothing stays."""

import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable

import httpx
import psutil
import pytest

from tui.bench.workload import Workload
from tui.benchmark import BenchProgress, BenchSpec
from tui.commands.demo import Settled, tape_of
from tui.commands.demo_live import DemoLive
from tui.demo.live import LiveServer, launch
from tui.demo.scenario import scenario
from tui.demo.tape import simulation
from tui.events import AnyEvent, Link, Log, Notice
from tui.replay.headless import Run, play
from tui.replay.player import Player
from tui.requests import AnyRequest, BenchRequest, WatchRequest
from tui.source import Source
from tui.transport.agent_source import AgentSource
from tui.transport.local import local_opener

MODEL = "simulated-qwen3"
PATIENCE_S = 60.0
SMALL = BenchSpec(url="", model=None, concurrency=2, requests=4, input_tokens=8, output_tokens=4)


async def eventually(what: Callable[[], bool]) -> bool:
    """Wait until something holds, for a while."""
    until_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < until_s:
        if what():
            return True
        await asyncio.sleep(0.02)
    return False


def agent() -> Source:
    """Return an agent that looks at nothing of this machine."""
    watch = WatchRequest(matchers=[], gpus=False, discover=False)
    return AgentSource(local_opener(), watch, reconnect=False, python=sys.executable)


@pytest.fixture
async def server() -> AsyncIterator[LiveServer]:
    """Start a live server and end it."""
    running = await launch(MODEL)
    yield running
    await running.close()


@pytest.fixture
async def playing(server: LiveServer) -> AsyncIterator[Player]:
    """Play the default scenario beside the server, a hundred times as fast."""
    live = DemoLive(server, [Workload("", "", (SMALL,))], agent)
    chosen = scenario("ready")
    tape = tape_of(chosen, simulation(chosen, port=server.port, busy=live.busy))
    player = Player(tape, speed=100.0, live=live)
    task = asyncio.create_task(player.run())
    yield player
    task.cancel()
    await player.close()


def alive(pid: int) -> bool:
    """Say whether a process runs; a zombie does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def test_the_port_refuses_until_it_is_opened(server: LiveServer) -> None:
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{server.port}", trust_env=False) as client:
        with pytest.raises(httpx.ConnectError):
            await client.get("/v1/models")
        server.open()
        server.open()
        models: list[str] = []
        until_s = time.monotonic() + PATIENCE_S
        while not models and time.monotonic() < until_s:
            try:
                models = [each["id"] for each in (await client.get("/v1/models")).json()["data"]]
            except httpx.ConnectError:
                await asyncio.sleep(0.02)

    assert models == [MODEL]


async def test_two_at_once_have_ports_of_their_own(server: LiveServer) -> None:
    other = await launch(MODEL)
    try:
        assert other.port != server.port
    finally:
        await other.close()
    assert not alive(other.pid)
    assert alive(server.pid)


async def test_it_ends_with_a_parent_that_is_killed() -> None:
    code = (
        "import asyncio\n"
        "from tui.demo.live import launch\n"
        "async def main():\n"
        "    server = await launch('m')\n"
        "    server.open()\n"
        "    print(server.pid, flush=True)\n"
        "    await asyncio.sleep(60)\n"
        "asyncio.run(main())\n"
    )
    parent = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=subprocess.PIPE)
    assert parent.stdout is not None
    pid = int(await parent.stdout.readline())
    assert alive(pid)
    parent.kill()
    await parent.wait()

    assert await eventually(lambda: not alive(pid))


async def test_an_armed_benchmark_fires_at_ready_and_is_real(playing: Player, server: LiveServer) -> None:
    assert playing.start_bench() == "the benchmark will fire when the server is ready"
    assert await eventually(lambda: bool(playing.state.bench.results))

    result = playing.state.bench.results[0]
    assert (result.outcome, result.completed, result.output_tokens) == ("done", 4, 16)
    assert (result.spec.url, result.model) == (f"http://127.0.0.1:{server.port}", MODEL)
    assert playing.state.bench.running is None


async def test_a_jump_back_does_not_undo_a_benchmark(playing: Player) -> None:
    playing.start_bench()
    assert await eventually(lambda: bool(playing.state.bench.results))

    playing.pause()
    playing.seek(20.0)
    assert await eventually(lambda: not playing.state.ready)

    assert len(playing.state.bench.results) == 1


async def test_an_armed_benchmark_stays_armed_through_a_jump_and_can_be_disarmed(playing: Player) -> None:
    playing.pause()
    playing.seek(20.0)
    assert await eventually(lambda: playing.state.loading and not playing.seeking)
    playing.start_bench()
    playing.seek(10.0)
    assert await eventually(lambda: playing.generation == 1)
    assert playing.state.bench.armed

    assert playing.cancel_bench() == "the benchmark will not fire"
    assert playing.cancel_bench() == "no benchmark is running"
    playing.seek(60.0)
    assert await eventually(lambda: playing.state.ready)
    assert playing.state.bench.running is None
    assert not playing.state.bench.results


class Telling:
    """An agent that tells what it was given, and then ends."""

    def __init__(self, told: list[AnyEvent]) -> None:
        self._told = told
        self.asked: list[AnyRequest] = []

    async def __aiter__(self) -> AsyncIterator[AnyEvent]:
        for event in self._told:
            yield event

    def send(self, request: AnyRequest) -> None:
        self.asked.append(request)

    async def close(self) -> None:
        """There is nothing to end."""


async def told(server: LiveServer, event: AnyEvent, count: int) -> tuple[list[AnyEvent], DemoLive, Telling]:
    """Fire a benchmark whose agent tells one event; return what the demo makes of it."""
    source = Telling([event])
    live = DemoLive(server, [Workload("", "", (SMALL,))], lambda: source)
    chosen = scenario("ready")
    simulated = simulation(chosen)
    state = play(tape_of(chosen, simulated), Settled(simulated.told_s)).state
    assert live.start_bench(state) == "the benchmark runs"
    assert live.start_bench(state) == "a benchmark is running already; Esc cancels it"
    heard = aiter(live.events())
    return [await asyncio.wait_for(anext(heard), PATIENCE_S) for _ in range(count)], live, source


async def test_while_it_generates_the_gpus_are_busy_and_the_log_tells_of_its_batches(
    server: LiveServer,
) -> None:
    progress = BenchProgress(
        mono_s=1.0, wall_s=1.0, run="r", stage="measure", completed=1, failed=0, in_flight=2, requests=4,
        output_tokens=300, elapsed_s=2.0, output_tokens_per_s=150.0,
    )  # fmt: skip

    heard, live, source = await told(server, progress, 2)

    assert heard[0] == progress
    assert isinstance(heard[1], Log)
    assert "Decode batch, #running-req: 2" in heard[1].lines[0]
    assert "gen throughput (token/s): 150.00" in heard[1].lines[0]
    assert live.busy()
    assert [type(each) for each in source.asked] == [BenchRequest]


async def test_at_a_moment_before_ready_nothing_is_generated_for_a_benchmark_that_goes_on(
    server: LiveServer,
) -> None:
    progress = BenchProgress(
        mono_s=1.0, wall_s=1.0, run="r", stage="measure", completed=1, failed=0, in_flight=2, requests=4,
        output_tokens=300, elapsed_s=2.0, output_tokens_per_s=150.0,
    )  # fmt: skip
    live = DemoLive(server, [Workload("", "", (SMALL,))], lambda: Telling([progress, progress]))
    chosen = scenario("ready")
    simulated = simulation(chosen)
    assert live.start_bench(play(tape_of(chosen, simulated), Settled(simulated.told_s)).state) != ""
    earlier = Run(tape_of(chosen, simulated))
    step = earlier.advance()
    assert step is not None

    live.took(step, earlier.state)
    heard = aiter(live.events())
    told = [await asyncio.wait_for(anext(heard), PATIENCE_S) for _ in range(2)]

    assert told == [progress, progress], "no line of the log is made up"
    assert not live.busy()


async def test_an_agent_that_cannot_be_started_is_told_and_leaves_the_link_alone(server: LiveServer) -> None:
    failed = Link(mono_s=1.0, wall_s=1.0, state="failed", sentence="no Python here", fault="no_python")

    heard, live, _ = await told(server, failed, 1)

    assert isinstance(heard[0], Notice)
    assert heard[0].sentence == "no benchmark: no Python here"
    assert not live.busy()
