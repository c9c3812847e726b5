"""The ranks side by side: what each does or waits for, and which one is unlike the others."""

from dataclasses import replace

import msgspec
import pytest
from verdict_host import COMPILES, IDLES, LOADS, SPINS, STOPPED, Doing, VerdictHost

from tui.demo.scenario import scenario
from tui.demo.tape import simulation
from tui.engines.phase import Phase
from tui.replay.headless import Run
from tui.replay.tape import Tape
from tui.signals import LockFile, Locks, ProcessSignals, Signals
from tui.watch.options import WatchOptions
from tui.watch.rank_lanes import RankLane, rank_lanes, wait_of
from tui.watch.state import WatchState
from tui.watch.verdict.situation import Rank

POLL = "hrtimer_nanosleep"


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


def test_ranks_that_poll_while_a_lock_file_is_there_wait_for_a_lock() -> None:
    state, now_s = state_at("capture-hang", 60.0)
    told = state.judging.movement.of(Rank("TP5", 4205), now_s, Phase.CAPTURE)
    polls = Signals(
        mono_s=now_s + 1.0,
        wall_s=0.0,
        client_s=0.0,
        processes=[
            ProcessSignals(pid=4205, state="S", cpu_s=99.0, minor_faults=1, major_faults=0, wchan=POLL)
        ],
        compilers=[],
        cost_ms=0.1,
    )
    assert told.state == "S"
    lock = LockFile(path="/c/lock", age_s=60.0, kind="existence", open=False)
    for second in range(1, 40):
        later = msgspec.structs.replace(polls, mono_s=now_s + second)
        state.apply(later)
    state.apply(Locks(mono_s=now_s + 40.0, wall_s=0.0, client_s=0.0, locks=[lock]))
    lane = next(each for each in rank_lanes(state, now_s + 40.0) if each.name == "TP5")
    assert lane.wait == "lock"
