"""The recordings of H200 loads, judged whole: an alarm for each stop, in time, by name, and none besides."""

from dataclasses import dataclass
from functools import cache

import pytest
from longer_tapes import RECORDINGS, Again, stuck

from tui.replay.headless import Run
from tui.replay.opening import open_tape
from tui.replay.tape import Tape
from tui.watch.verdict.verdict import SEVERITY, Verdict

TOLD_IN_S = 5.0
"""Three seconds of state T, a reading a second, a verdict a second."""
OVER_IN_S = 2.0
SEEN_IN_S = 1.5
LONGEST_S = 5.0
"""Measured: 4.8 s, in vLLM's torch.compile and SGLang's."""


@dataclass(frozen=True, slots=True)
class Stop:
    """A rank (its name, its pid) was stopped from a second to another, while ``waiting`` could not go on."""

    from_s: float
    to_s: float
    rank: str
    pid: int
    waiting: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Truth:
    """The stops of a recording, when it ended (None: it did not before the recorder), who died first."""

    stops: tuple[Stop, ...] = ()
    dead_s: float | None = None
    first: tuple[str | None, int | None] = (None, None)


# Healthy until their end: the two first launches, the cold disk, the first launch with its JIT.
TRUTH = {
    "x1-sglang-2rank-hang-capture-and-serving": Truth(
        (Stop(41.1, 103.2, "TP1", 1790, ("TP0",)), Stop(154.9, 195.5, "TP1", 1790, ("TP0",))), 217.1
    ),
    "x1-sglang-2rank-missing-rank": Truth(dead_s=62.1),
    "x1-sglang-tp1-cold-disk-weights": Truth(dead_s=48.4),
    "x1-sglang-tp1-first-launch": Truth(dead_s=239.4),
    "x1-sglang-tp1-oom-in-capture": Truth(dead_s=56.1),
    "x1-sglang-tp1-stopped-then-killed-in-weights": Truth(
        (Stop(39.1, 63.2, "rank", 1325),), 66.1, ("rank", 1325)
    ),
    # Neither processes nor log were recorded: nothing is known, so nothing is claimed.
    "x1-vllm-tp1-engine-stopped": Truth(),
    "x1-vllm-tp1-first-launch": Truth(dead_s=204.3),
    "x2-sglang-tp2-first-launch-jit": Truth(dead_s=120.2),
    "x2-sglang-tp2-nccl-hang-capture-and-serving": Truth(
        (Stop(47.8, 91.8, "TP1", 1782, ("TP0",)), Stop(138.1, 167.3, "TP1", 1782, ("TP0",))), 188.9
    ),
}
FOLDERS = sorted(TRUTH)
HANGS = ("x1-sglang-2rank-hang-capture-and-serving", "x2-sglang-tp2-nccl-hang-capture-and-serving")


@dataclass(frozen=True, slots=True)
class Moment:
    """What was thought at ``t`` seconds of a recording."""

    t: float
    verdict: Verdict


def judged(tape: Tape) -> list[Moment]:
    """Return each verdict of a tape, with the second at which it was made."""
    run, told = Run(tape), list[Moment]()
    for step in run.steps():
        found = run.state.judged
        if found is not None and (not told or found is not told[-1].verdict):
            told.append(Moment(step.t, found))
    return told


@cache
def whole(folder: str) -> list[Moment]:
    if not (RECORDINGS / folder).is_dir():
        pytest.skip("needs the recordings of loads beside the checkout")
    return judged(open_tape(RECORDINGS / folder))


def alarms(told: list[Moment]) -> list[Moment]:
    return [each for each in told if each.verdict.severity >= SEVERITY["stalled"]]


@pytest.mark.parametrize("folder", FOLDERS)
def test_nothing_is_an_alarm_but_the_stops_and_the_end(folder: str) -> None:
    truth = TRUTH[folder]
    stray = [
        (each.t, each.verdict.sentence)
        for each in alarms(whole(folder))
        if not any(stop.from_s < each.t < stop.to_s + OVER_IN_S for stop in truth.stops)
        and (truth.dead_s is None or each.t < truth.dead_s - 0.1)
    ]
    assert stray == []


@pytest.mark.parametrize("folder", [name for name in FOLDERS if TRUTH[name].stops])
def test_each_stop_is_told_in_5_s_with_its_rank_until_it_is_over(folder: str) -> None:
    for stop in TRUTH[folder].stops:
        during = [each for each in whole(folder) if stop.from_s < each.t < stop.to_s]
        told = [each for each in during if each.verdict.word == "suspended"]

        assert told[0].t - stop.from_s <= TOLD_IN_S
        assert told == during[-len(told) :]
        for each in told:
            found = each.verdict
            assert (found.rank, found.pid, found.waiting) == (stop.rank, stop.pid, stop.waiting)
            assert (found.confidence, found.next_step) == ("proof", f"kill -CONT {stop.pid}")
            assert stop.from_s <= found.since_s <= stop.from_s + SEEN_IN_S
        after = next(each for each in whole(folder) if each.t >= stop.to_s + OVER_IN_S)
        assert after.verdict.word in ("progressing", "ready")


@pytest.mark.parametrize("folder", [name for name in FOLDERS if TRUTH[name].dead_s is not None])
def test_the_end_is_told_in_a_second_with_who_died_first(folder: str) -> None:
    truth = TRUTH[folder]
    first = next(each for each in whole(folder) if each.verdict.word == "dead")

    assert truth.dead_s is not None
    assert truth.dead_s - 0.1 <= first.t <= truth.dead_s + 1.1
    assert (first.verdict.rank, first.verdict.pid) == truth.first


HEALTHY = (
    "x1-sglang-tp1-cold-disk-weights",
    "x1-sglang-tp1-first-launch",
    "x1-vllm-tp1-first-launch",
    "x2-sglang-tp2-first-launch-jit",
)


@pytest.mark.parametrize("folder", HEALTHY)
def test_something_moves_each_5_s_of_a_healthy_load(folder: str) -> None:
    """The log is silent for up to 55 s; the channels together never are, so 30 s of silence are no chance."""
    loading = [each.verdict for each in whole(folder) if each.verdict.word not in ("ready", "dead")]

    assert max(each.silence_s or 0.0 for each in loading) <= LONGEST_S


def test_who_polls_a_lock_while_the_other_builds_is_said_to_wait_for_it() -> None:
    told = whole("x2-sglang-tp2-first-launch-jit")
    builds = [each.verdict for each in told if 86.0 <= each.t <= 103.0]

    assert {(each.word, each.rank, each.waiting) for each in builds} == {("progressing", "TP1", ("TP0",))}
    assert any("cicc" in each.sentence for each in builds)


def test_a_build_of_55_s_without_a_line_is_progress_by_its_compilers() -> None:
    told = [each.verdict for each in whole("x1-sglang-tp1-first-launch") if 90.0 <= each.t <= 112.0]
    numbers = [next(rule.numbers for rule in each.rules if rule.rule.startswith("R3 ")) for each in told]

    assert {each.word for each in told} == {"progressing"}
    assert all(" s of CPU in 30 s" in each for each in numbers)
    assert not any("line of progress" in each for each in numbers)


# The same hangs, had nobody sent a signal: the rank sleeps on a lock, and for good.


@cache
def hung(folder: str) -> list[Moment]:
    if not (RECORDINGS / folder).is_dir():
        pytest.skip("needs the recordings of loads beside the checkout")
    stop = TRUTH[folder].stops[0]
    again = Again(stop.to_s - 10.0, stop.to_s - 2.0, 10)
    return [each for each in judged(stuck(folder, again)) if each.t < stop.to_s + again.seconds - 2.0]


@pytest.mark.parametrize("folder", HANGS)
def test_a_rank_that_hangs_in_the_capture_is_named_a_minute_after_the_last_movement(folder: str) -> None:
    stop, told = TRUTH[folder].stops[0], hung(folder)
    first = alarms(told)[0]
    quiet = next(each for each in told if each.verdict.word == "quiet")

    assert first.verdict.word == "hung"
    assert (first.verdict.rank, first.verdict.pid) == (stop.rank, stop.pid)
    assert first.verdict.waiting == stop.waiting
    assert first.t - stop.from_s <= 80.0  # the other rank starts its compile workers for 14 s of it
    assert first.t - (quiet.t - 30.0) == pytest.approx(60.0, abs=2.0)
    assert quiet.verdict.until_s == pytest.approx(first.verdict.since_s + 60.0, abs=2.0)
    assert (quiet.verdict.rank, quiet.verdict.waiting) == (stop.rank, stop.waiting)


@pytest.mark.parametrize("folder", HANGS)
def test_it_stays_hung_and_says_by_what(folder: str) -> None:
    told = alarms(hung(folder))

    assert {each.verdict.word for each in told} == {"hung"}
    assert len(told) >= 20
    last = told[-1].verdict
    assert last.next_step.startswith("py-spy dump")
    assert any("TP0 waits" in figure and "util 100 %" in figure for figure in last.figures)


def test_every_recording_is_held_to_a_truth() -> None:
    if not RECORDINGS.is_dir():
        pytest.skip("needs the recordings of loads beside the checkout")
    assert sorted(path.name for path in RECORDINGS.iterdir() if path.is_dir()) == FOLDERS
