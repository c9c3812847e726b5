"""Every scenario of the demo run through: its phases, its readiness, its end, and whom the state names."""

from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import cast

import pytest
from scenario_truth import TRUTH, Change
from tminus_command import Tminus

from tui.commands.demo import Settled, past_loads, tape_of
from tui.commands.replay import ReplayReport, reported
from tui.demo.scenario import names, scenario
from tui.demo.tape import simulation
from tui.engines.phase import Phase
from tui.replay.ending import EXIT_CODES, ending
from tui.replay.headless import Played, Step, play
from tui.watch.state import JUDGE_S, WatchState
from tui.watch.target import Member
from tui.watch.transitions import Kind

NEAR_S = 0.15
"""A change may move by as much as the log is read less often."""
# A scenario is run once: all tests of it are one process's.
EVERY = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.xdist_group(f"scenario-{name}")) for name in sorted(TRUTH)]
)
HANGS = pytest.mark.parametrize(("name", "state"), [("capture-hang", "S"), ("capture-suspended", "T")])


def run(name: str, stop: Callable[[Step, WatchState], bool] | None = None) -> Played:
    """Run a scenario to where the command ends it, or to where ``stop`` says."""
    chosen = scenario(name)
    simulated = simulation(chosen, past=past_loads(chosen))
    return play(tape_of(chosen, simulated), stop or Settled(simulated.told_s))


@cache
def whole(name: str) -> Played:
    """Return a scenario run to its end."""
    return run(name)


@cache
def at(name: str, t: float) -> WatchState:
    """Return the state of a scenario at a second."""
    return run(name, lambda step, _: step.t >= t).state


def changes(name: str, kind: Kind) -> list[Change]:
    """Return the changes of one kind."""
    return [(each.t, each.after) for each in whole(name).transitions if each.kind == kind]


def ranks(state: WatchState) -> dict[str, Member]:
    """Return the processes of the ranks that there are, by rank."""
    assert state.shown is not None
    return {each.role.rank: each for each in state.shown.members if each.role.rank is not None}


def told(expected: tuple[Change, ...]) -> list[tuple[object, str | None]]:
    """Return changes whose times may be a little off."""
    return [(pytest.approx(t, abs=NEAR_S), after) for t, after in expected]


def test_each_scenario_has_its_truth_here() -> None:
    assert sorted(names()) == sorted(TRUTH)


@EVERY
def test_it_goes_through_its_phases_in_order_and_in_time(name: str) -> None:
    assert changes(name, "phase") == told(TRUTH[name].phases)


@EVERY
def test_its_port_is_told_as_it_answers(name: str) -> None:
    assert changes(name, "readiness") == told(TRUTH[name].readiness)


@EVERY
def test_it_ends_as_it_should(name: str) -> None:
    truth, played = TRUTH[name], whole(name)
    outcome, fault, _ = ending(played.state, played.length_s)

    assert (outcome, fault, EXIT_CODES[outcome]) == (truth.outcome, truth.fault, truth.exit_code)
    assert played.length_s == pytest.approx(truth.ends_s, abs=NEAR_S)


@EVERY
def test_what_fails_is_told_when_it_does_and_nothing_else_is(name: str) -> None:
    assert changes(name, "fault") == told(TRUTH[name].told)


@EVERY
def test_the_rank_that_failed_is_named_from_then_on_and_no_other(name: str) -> None:
    failed = [each for each in whole(name).transitions if each.kind == "fault" or each.after == "dead"]

    named = [(each.rank, each.pid) for each in failed]
    assert named == [TRUTH[name].culprit] * len(failed)


@EVERY
def test_it_is_judged_as_it_stands_and_never_worse(name: str) -> None:
    assert tuple(after for _, after in changes(name, "verdict")) == TRUTH[name].judged


@pytest.mark.parametrize("name", [name for name in sorted(TRUTH) if TRUTH[name].worst is not None])
def test_the_worst_is_told_in_time_with_its_rank(name: str) -> None:
    worst = TRUTH[name].worst
    assert worst is not None
    first = next(each for each in whole(name).transitions if each.after == worst.word)

    assert (first.kind, first.rank) == ("verdict", worst.culprit)
    assert first.t == pytest.approx(worst.since_s, abs=JUDGE_S)


@EVERY
def test_nothing_is_called_dead_before_it_is(name: str) -> None:
    """The rank that is killed is dead before its server is."""
    worst = TRUTH[name].worst
    died = worst.since_s if worst is not None and worst.word == "dead" else None

    assert [t for t, after in changes(name, "verdict") if after == "dead"] == (
        [] if died is None else [pytest.approx(died, abs=NEAR_S)]
    )


@HANGS
def test_who_stands_and_who_waits_is_told_in_the_sentence(name: str, state: str) -> None:
    last = whole(name).state.judged

    assert last is not None
    assert (last.rank, last.pid) == ("TP5", 4205)
    assert last.waiting == tuple(f"TP{rank}" for rank in range(8) if rank != 5)
    assert "capture (17 of 36, bs=120 under way)" in last.sentence
    assert last.next_step == ("kill -CONT 4205" if state == "T" else "py-spy dump --nonblocking --pid 4205")


@pytest.mark.parametrize("name", [name for name in sorted(TRUTH) if TRUTH[name].server_code is not None])
def test_the_reason_holds_the_exit_code_and_the_line_of_the_cause(name: str) -> None:
    truth, played = TRUTH[name], whole(name)
    *_, cause = (each.reason for each in played.transitions if each.kind == "fault")

    assert f"(exit code {truth.server_code})" in played.state.reason
    assert cause in played.state.reason


@EVERY
def test_two_runs_are_the_same_to_the_byte(name: str) -> None:
    def report() -> ReplayReport:
        return reported(run(name))

    assert report() == report()


@EVERY
def test_all_that_it_needs_is_inside_the_package(name: str) -> None:
    chosen = scenario(name)

    for needed in (chosen.log.file, chosen.gpus):
        assert "/" not in needed
        assert files("tui.demo").joinpath("data", needed).is_file()


# Whom the state tells.


@HANGS
def test_a_frozen_rank_keeps_the_load_where_it_is_in_the_capture(name: str, state: str) -> None:
    frozen, later = at(name, 33.0), at(name, 92.0)

    assert (frozen.phase, later.phase) == (Phase.CAPTURE, Phase.CAPTURE)
    assert later.phase_progress is not None
    assert (later.phase_progress.done, later.phase_progress.current) == (17.0, "bs=120")
    assert frozen.phase_progress == later.phase_progress
    assert frozen.log_last_activity_s == later.log_last_activity_s
    del state


@HANGS
def test_the_log_cannot_tell_which_rank_froze_but_its_process_is_there(name: str, state: str) -> None:
    last = at(name, 92.0)

    assert last.lagging_ranks == []  # only rank 0 draws the bar
    assert {rank: each.state for rank, each in ranks(last).items()} == {
        f"TP{rank}": state if rank == 5 else "S" for rank in range(8)
    }


def test_a_killed_rank_is_missing_before_the_log_says_a_word() -> None:
    before, after, ending_now = at("rank-killed", 15.0), at("rank-killed", 17.0), at("rank-killed", 19.0)

    assert len(ranks(before)) == 8
    assert sorted(set(ranks(before)) - set(ranks(after))) == ["TP5"]
    assert after.log_failure is None
    assert ranks(ending_now) == {}  # the server has ended the others and is about to exit
    assert ending_now.log_failure is not None
    assert "Rank 5 scheduler died" in ending_now.log_failure.quote.text


def test_out_of_memory_is_told_with_the_gpu_of_the_rank_that_failed() -> None:
    last = whole("oom-capture").state

    assert "GPU 3 has a total capacity of 139.80 GiB of which 140.75 MiB is free" in last.reason
    assert "ended in capture" in last.reason


def test_a_port_of_another_server_never_makes_the_load_ready_whatever_its_log_prints() -> None:
    printed = at("false-ready", 37.5)

    assert any("fired up and ready to roll" in line.text for line in printed.log.lines)
    assert not printed.ready
    assert (printed.phase, printed.fault) == (Phase.START_API, "wrong_model")
    assert printed.reason == 'model: serves "another-model", expected "simulated-qwen3"'


# By the command itself.


def test_the_command_ends_a_killed_load_with_1(tminus: Tminus) -> None:
    done = tminus.run("demo", "--scenario", "rank-killed", "--headless", "--json")

    assert (done.code, done.err) == (1, "")
    end = done.last["end"]
    assert isinstance(end, dict)
    assert (end["outcome"], end["phase"], end["verdict"], end["fault"]) == (
        "failed",
        "weights",
        "dead",
        "died",
    )


def test_the_command_ends_a_slow_load_with_0_and_one_that_hangs_with_1(tminus: Tminus) -> None:
    slow = tminus.run("demo", "--scenario", "slow-storage", "--headless", "--json")
    stands = tminus.run("demo", "--scenario", "capture-hang", "--headless", "--json")

    assert (slow.code, stands.code) == (0, 1)
    end = stands.last["end"]
    assert isinstance(end, dict)
    reason = cast("dict[str, str]", end)["reason"]
    assert (end["fault"], "TP5 (pid 4205)" in reason) == ("hung", True)
    assert sum(f'"kind":"{kind}"' in slow.out for kind in ("phase", "readiness", "verdict")) == 3
