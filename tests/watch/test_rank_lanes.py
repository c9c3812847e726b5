"""The ranks side by side: what each does or waits for, and which one is unlike the others."""

from dataclasses import replace

import pytest
from verdict_host import COMPILES, IDLES, LOADS, SPINS, STOPPED, Doing, VerdictHost

from tui.demo.scenario import scenario
from tui.demo.tape import simulation
from tui.engines.phase import Phase
from tui.replay.headless import Run
from tui.replay.tape import Tape
from tui.watch.options import WatchOptions
from tui.watch.rank_lanes import RankLane, rank_lanes, wait_of
from tui.watch.state import WatchState


def state_at(name: str, t: float) -> tuple[WatchState, float]:
    """Return the state of a scenario at so many seconds of it, and the host's time then."""
    run = Run(Tape(name, WatchOptions(), simulation(scenario(name)).events))
    for step in run.steps():
        if step.t >= t:
            now_s = run.state.source_now(step.event.client_s)
            assert now_s is not None
            return run.state, now_s
    raise AssertionError("the scenario is shorter")


def at(name: str, t: float) -> tuple[RankLane, ...]:
    """Return the ranks of a scenario at so many seconds of it."""
    return rank_lanes(*state_at(name, t))


def test_all_ranks_read_while_weights_come() -> None:
    lanes = at("ready", 18.0)
    assert [lane.name for lane in lanes] == [f"TP{rank}" for rank in range(8)]
    assert [lane.gpus for lane in lanes] == [(index,) for index in range(8)]
    assert {lane.wait for lane in lanes} == {"reading"}
    assert all((lane.received_mib or 0) > 1000 and (lane.memory_mib or 0) > 1000 for lane in lanes)
    assert not any(lane.odd for lane in lanes)


def test_the_stopped_rank_is_the_odd_one_and_its_peers_wait_in_a_collective() -> None:
    lanes = at("capture-suspended", 60.0)
    assert [lane.name for lane in lanes if lane.odd] == ["TP5"]
    assert {lane.wait for lane in lanes if not lane.odd} == {"collective"}
    odd = lanes[5]
    assert (odd.wait, odd.state, odd.phase) == ("stopped", "T", Phase.CAPTURE)
    assert (odd.quiet_s or 0) > 20


@pytest.mark.parametrize(
    ("doing", "wait"),
    [
        (LOADS, "reading"),
        (SPINS, "collective"),
        (STOPPED, "stopped"),
        (COMPILES, "compiling"),
        (IDLES, "sleeping"),
        (Doing(state="R", wchan="0", cpu=1.0), "computing"),
        (Doing(state="D", wchan="folio_wait_bit_common"), "storage"),
        (Doing(wchan="locks_lock_inode_wait"), "lock"),
        (Doing(cpu=0.2, wakeups=5.0), "unknown"),
    ],
    ids=["reads", "spins", "stopped", "compiles", "idle", "works", "blocked", "locked", "unclear"],
)
def test_what_a_rank_does_is_said_in_one_word(doing: Doing, wait: str) -> None:
    host = VerdictHost(2)
    host.run(60)
    host.doing[1] = doing
    host.run(40)
    moves = host.movement.of(replace(host.ranks[1], phase=Phase.WEIGHTS), host.now_s, Phase.WEIGHTS)
    assert wait_of(moves) == wait


def test_there_is_a_time_to_ready_until_the_load_stands() -> None:
    state, now_s = state_at("capture-suspended", 30.0)
    assert state.estimate(now_s) is not None
    state, now_s = state_at("capture-suspended", 60.0)
    assert (state.verdict, state.estimate(now_s)) == ("suspended", None)


def test_without_a_server_there_are_no_ranks() -> None:
    run = Run(Tape("empty", WatchOptions(), lambda: iter(())))
    assert rank_lanes(run.state, 5.0) == ()
