"""A live server beside the tape."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from playing import Hand, Played
from tapes import BEGAN_S, load, tape

from tui.bench.workload import Workload
from tui.benchmark import BenchProgress, BenchSpec
from tui.events import AnyEvent, Notice
from tui.replay.headless import Step
from tui.replay.player import Player
from tui.watch.benching import Benching
from tui.watch.state import WatchState


class Beside:
    """A live server that tells what a test has it tell."""

    def __init__(self) -> None:
        self.told: asyncio.Queue[AnyEvent | None] = asyncio.Queue()
        self.steps: list[float] = []
        self.closed = 0
        spec = BenchSpec(url="", model=None, concurrency=1, requests=1, input_tokens=1, output_tokens=1)
        self.choices = Benching([Workload("one", "", (spec,)), Workload("two", "", (spec, spec))])

    async def events(self) -> AsyncIterator[AnyEvent]:
        while (event := await self.told.get()) is not None:
            yield event
        raise OSError("the server broke")

    def took(self, step: Step, state: WatchState) -> None:
        assert state is not None
        self.steps.append(step.t)

    def start_bench(self, state: WatchState) -> str:
        state.bench.arm()
        return "armed"

    def cancel_bench(self, state: WatchState) -> str:
        state.bench.disarm()
        return "disarmed"

    @property
    def benching(self) -> Benching:
        return self.choices

    async def close(self) -> None:
        self.closed += 1


def progress(done: int) -> BenchProgress:
    return BenchProgress(
        mono_s=1e6,
        wall_s=0.0,
        client_s=1e6,
        run="r",
        stage="measure",
        completed=done,
        failed=0,
        in_flight=1,
        requests=64,
        output_tokens=1,
        elapsed_s=1.0,
        output_tokens_per_s=None,
    )


async def turns(count: int = 5) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_a_live_server_is_heard_during_a_pause_as_of_where_the_needle_is() -> None:
    hand, live = Hand(), Beside()
    player = Player(tape(load()), clock=hand, live=live)
    playing = asyncio.create_task(player.run())
    hand.now_s = 20.0
    await asyncio.sleep(0.02)
    player.pause()
    live.told.put_nowait(progress(7))
    live.told.put_nowait(Notice(mono_s=0, wall_s=0, client_s=0, level="info", about="b", sentence="said"))
    await turns()
    assert player.state.bench.progress is not None
    assert player.state.bench.progress.completed == 7
    assert player.state.notices[-1].client_s == BEGAN_S + 20.0
    assert player.state.source_now(player.client_now_s()) == pytest.approx(BEGAN_S + 25.0)
    playing.cancel()
    await asyncio.gather(playing, return_exceptions=True)


async def test_what_a_live_server_tells_during_a_jump_back_is_in_the_new_state() -> None:
    hand, live = Hand(), Beside()
    player = Player(tape(load()), clock=hand, live=live)
    playing = asyncio.create_task(player.run())
    hand.now_s = 55.0
    await asyncio.sleep(0.02)
    player.pause()
    player.seek(50.0)
    live.told.put_nowait(progress(9))
    await asyncio.sleep(0.02)
    assert player.generation == 1
    assert player.state.bench.progress is not None
    playing.cancel()
    await asyncio.gather(playing, return_exceptions=True)


async def test_a_live_server_that_breaks_ends_the_player() -> None:
    live = Beside()
    player = Player(tape(load()), clock=Hand(), live=live)
    live.told.put_nowait(None)
    with pytest.raises(OSError, match="broke"):
        await asyncio.wait_for(player.run(), 5.0)
    await player.close()
    assert live.closed == 1


def test_a_benchmark_is_the_live_servers_matter() -> None:
    played = Played(tape(load())).settle()
    assert "no server" in played.player.start_bench()
    assert "no benchmark" in played.player.cancel_bench()
    player = Player(tape(load()), clock=Hand(), live=Beside())
    assert player.start_bench() == "armed"
    assert player.state.bench.armed
    assert player.cancel_bench() == "disarmed"


def test_a_live_server_learns_each_step_also_of_a_way_back() -> None:
    hand, live = Hand(), Beside()
    player = Player(tape(load()), clock=hand, live=live)
    hand.now_s = 20.0
    player.work()
    player.seek(10.0)
    player.work()
    assert 20.0 in live.steps
    assert live.steps[-1] == 10.0
