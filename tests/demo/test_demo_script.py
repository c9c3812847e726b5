"""The recorded log on a scenario's clock, its marks, and the curve of the GPUs."""

import math
import re

import pytest

from tui.demo.curve import Curve
from tui.demo.scenario import LogEnds, Prints, RankFreezes, RankKilled, Scenario, ServerExits, Slow, scenario
from tui.demo.script import Clocks, Pause, Stretch, cues, filled, script

SECONDS = 45.0


def with_happenings(*happens: RankFreezes | RankKilled | ServerExits | LogEnds | Prints) -> Scenario:
    """Return the default scenario in which something happens."""
    ready = scenario("ready")
    return Scenario(
        name="made", title=ready.title, story=ready.story, server=ready.server, happens=list(happens)
    )


def slowed(factor: float) -> Scenario:
    """Return the default scenario with slow weights."""
    ready = scenario("ready")
    slow = Slow(line="Load weight begin", until_line="TP7] Load weight end", factor=factor)
    return Scenario(name="made", title=ready.title, story=ready.story, server=ready.server, slow=[slow])


def test_the_log_is_in_order_and_ends_ready_after_about_45_s() -> None:
    whole = cues()

    assert [cue.at_s for cue in whole] == sorted(cue.at_s for cue in whole)
    assert "The server is fired up" in whole[-1].text
    assert abs(whole[-1].at_s - SECONDS) < 3


def test_all_eight_ranks_load_their_weights_and_the_last_is_told_apart() -> None:
    ends = [cue for cue in cues() if "Load weight end" in cue.text]

    assert sorted(re.findall(r"TP\d", "".join(cue.text for cue in ends))) == [
        f"TP{rank}" for rank in range(8)
    ]
    assert "TP7" in ends[-1].text


def test_marks_are_filled_in() -> None:
    text = filled("[@NOW@ TP0] http://127.0.0.1:@PORT@ [@PID@]", 8000, 42, 0.0)

    assert text == "[1970-01-01 00:00:00 TP0] http://127.0.0.1:8000 [42]"


def test_no_mark_no_colour_and_no_path_of_another_machine_is_left() -> None:
    whole = "".join(filled(cue.text, 8000, 42, 0.0) for cue in cues())

    assert "@" not in whole
    assert "\x1b" not in whole
    assert not re.search(r"/(?:home|root|tmp|work|opt|usr)/", whole)


def test_the_clocks_lead_there_and_back() -> None:
    clocks = Clocks((Stretch(10.0, 20.0, 3.0), Stretch(30.0, 31.0, 0.5)), (Pause(45.0, 5.0),))

    assert [clocks.scenario_s(at_s) for at_s in (5.0, 10.0, 15.0, 20.0, 24.0, 31.0)] == [
        5,
        10,
        25,
        40,
        44,
        55.5,
    ]
    for at_s in (0.0, 10.0, 12.5, 20.0, 24.9, 26.0, 30.5, 31.0, 40.0):
        assert clocks.recorded_s(clocks.scenario_s(at_s)) == pytest.approx(at_s)
    assert clocks.recorded_s(48.0) == pytest.approx(25.0)


def test_what_never_comes_is_infinitely_late() -> None:
    clocks = Clocks(pauses=(Pause(10.0, math.inf),))

    assert clocks.scenario_s(10.5) == math.inf
    assert clocks.recorded_s(1000.0) == 10.0


def test_slow_weights_take_their_factor_and_their_lines_say_so() -> None:
    quick, slow = script(scenario("ready")), script(slowed(10.0))
    begin, end = "TP1] Load weight begin", "TP0] Load weight end"

    took_s = slow.when(end) - slow.when(begin)
    assert took_s == pytest.approx(10 * (quick.when(end) - quick.when(begin)))
    line = next(cue.text for cue in slow.cues if end in cue.text)
    assert float(line.split("elapsed=")[1].split()[0]) == pytest.approx(took_s, rel=0.01)
    bar = next(cue.text for cue in slow.cues if " 44% Completed | 4/9" in cue.text)
    assert "[00:40<00:50, 10.30s/it]" in bar


def test_nothing_is_printed_after_a_rank_has_frozen() -> None:
    told = script(with_happenings(RankFreezes(rank=5, state="S", line="bs=120 ")))

    assert "bs=120 " in told.cues[-1].text
    assert told.when("ready to roll") == math.inf


def test_a_rank_that_goes_on_brings_the_rest_later() -> None:
    told = script(with_happenings(RankFreezes(rank=5, state="T", at_s=30.0, for_s=20.0)))

    assert told.when("ready to roll") == pytest.approx(63.72)


def test_a_killed_rank_prints_nothing_more_while_the_others_do() -> None:
    told = script(with_happenings(RankKilled(rank=3, line="Memory pool end")))

    assert told.when("TP3] Capture target") == math.inf
    assert told.when("TP4] Capture target") < math.inf


def test_what_a_scenario_prints_stands_among_the_lines() -> None:
    told = script(with_happenings(LogEnds(at_s=30.0), Prints(at_s=30.0, lines=[(1.0, "It is over")])))

    assert (told.cues[-1].at_s, told.cues[-1].text) == (31.0, "It is over\n")


def test_the_curve_gives_gpus_that_fill_up_and_work_when_asked() -> None:
    curve = Curve()
    first, last = ([curve.figures(at_s, index) for index in range(8)] for at_s in (0.0, 60.0))
    busy = [curve.figures(60.0, index, busy=True) for index in range(8)]

    assert all(used == 0 for used, *_ in first)
    assert all(used > 130_000 for used, *_ in last)
    assert all(percent > 90 for _, percent, *_ in busy)
    assert len({tuple(row) for row in last}) == 8
