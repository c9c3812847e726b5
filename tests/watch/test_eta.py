"""T-: by past loads, by the load's own rate, by both; and no figure without a basis."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tui.engines.marks import Progress
from tui.engines.phase import Phase
from tui.past_load import PastLoad, PhaseTime
from tui.watch.eta import Estimate, Standing, estimate, fraction, words
from tui.watch.history import Matching
from tui.watch.pace import Pace
from tui.watch.timeline import PhaseSpan

STARTED_S = 1000.0
NONE = Matching((), "no past load of this engine, model and parallelism is known")


def past(*stays: tuple[Phase, float | None], ready_s: float | None = None) -> PastLoad:
    return PastLoad(
        engine="sglang",
        version="1",
        model="qwen",
        host="gpu01",
        gpus=2,
        gpu_name="H200",
        tensor_parallel=2,
        pipeline_parallel=None,
        data_parallel=None,
        wall_s=0.0,
        ready_s=sum(seconds or 0.0 for _, seconds in stays) if ready_s is None else ready_s,
        phases=[PhaseTime(phase=phase.value, seconds=seconds) for phase, seconds in stays],
    )


def usual(weights_s: float, capture_s: float = 40.0) -> PastLoad:
    return past((Phase.LAUNCH, 20.0), (Phase.WEIGHTS, weights_s), (Phase.CAPTURE, capture_s))


def matching(*loads: PastLoad) -> Matching:
    return Matching(loads, f"{len(loads)} past loads")


def standing(*stays: tuple[Phase, float | None], pace: Pace | None = None) -> Standing:
    """The load's phases, each with when it began after the start; the last one goes on."""
    ends = [*(began for _, began in stays[1:]), None][: len(stays)]
    spans = [PhaseSpan(phase, _at(began), _at(end)) for (phase, began), end in zip(stays, ends, strict=True)]
    return Standing(spans, pace or Pace(), STARTED_S, lambda phase: phase.order)


def _at(after_s: float | None) -> float | None:
    return None if after_s is None else STARTED_S + after_s


def estimated(where: Standing, loads: Matching, after_s: float) -> Estimate:
    found = estimate(where, loads, STARTED_S + after_s)
    assert found is not None
    return found


def stepped(steps: Sequence[tuple[float, float]], total: float = 10.0) -> Pace:
    """A bar of shards that was seen to stand at so many after so many seconds from the start."""
    pace = Pace()
    for after_s, done in steps:
        pace.take(Progress(done, total, "shards"), STARTED_S + after_s)
    return pace


IN_WEIGHTS = standing((Phase.LAUNCH, 0.0), (Phase.WEIGHTS, 20.0))


def test_without_a_past_and_a_rate_there_is_no_estimate() -> None:
    assert estimate(IN_WEIGHTS, NONE, STARTED_S + 30) is None
    assert words(None, NONE) == (
        "no estimate yet: no past load of this engine, model and parallelism is known"
    )
    assert words(None, Matching((), "")) == "no estimate yet"


def test_what_is_left_of_the_phase_and_the_phases_after_it_count() -> None:
    found = estimated(IN_WEIGHTS, matching(usual(60)), 30)
    assert (found.remaining_s, found.low_s, found.high_s) == (90, 90, 90)
    assert (found.basis, found.loads, found.of_phase) == ("past loads", 1, False)
    assert found.sentence == "1:30 left by 1 past loads"


def test_several_loads_give_their_median_and_range() -> None:
    found = estimated(IN_WEIGHTS, matching(usual(60), usual(80), usual(200)), 30)
    assert (found.remaining_s, found.low_s, found.high_s) == (110, 90, 230)
    assert found.sentence == "1:50 left (1:30 to 3:50) by 3 past loads"


def test_it_counts_down_with_the_clock_and_the_same_moment_says_the_same() -> None:
    loads = matching(usual(60), usual(80))
    left = [estimated(IN_WEIGHTS, loads, after_s).remaining_s for after_s in (30, 30, 35, 40)]
    assert left == [100, 100, 95, 90]


def test_past_loads_that_were_through_by_now_no_longer_count() -> None:
    found = estimated(IN_WEIGHTS, matching(usual(60), usual(80)), 90)
    assert (found.remaining_s, found.loads) == (50, 1)
    assert found.sentence == "0:50 left by 2 past loads, 1 of them faster than this one is"


def test_longer_than_ever_before_is_said_without_a_false_zero() -> None:
    found = estimated(IN_WEIGHTS, matching(usual(60), usual(192)), 220)
    assert (found.remaining_s, found.low_s, found.high_s, found.at_least) == (40, 40, None, True)
    assert found.sentence == (
        "weights takes longer than ever before (max 3:12), by 2 past loads; the later phases took 0:40"
    )


def test_in_the_last_phase_longer_than_ever_leaves_no_figure() -> None:
    where = standing((Phase.WEIGHTS, 20.0), (Phase.CAPTURE, 80.0))
    found = estimated(where, matching(usual(60)), 121)
    assert (found.remaining_s, found.at_least) == (None, True)
    assert found.sentence == "capture takes longer than ever before (max 0:40), by 1 past loads"


def test_the_second_stay_in_a_phase_is_compared_with_the_second_one() -> None:
    draft = past((Phase.WEIGHTS, 60.0), (Phase.CAPTURE, 40.0), (Phase.WEIGHTS, 10.0), (Phase.CAPTURE, 5.0))
    first = standing((Phase.WEIGHTS, 0.0))
    second = standing((Phase.WEIGHTS, 0.0), (Phase.CAPTURE, 60.0), (Phase.WEIGHTS, 100.0))
    assert estimated(first, matching(draft), 20).remaining_s == 95
    assert estimated(second, matching(draft), 104).remaining_s == 11


def test_a_phase_that_no_past_load_had_is_bounded_by_the_time_since_the_start() -> None:
    where = standing((Phase.WEIGHTS, 20.0), (Phase.COMPILE, 80.0))
    assert estimated(where, matching(usual(60)), 90).remaining_s == 40
    late = past((Phase.LAUNCH, 20.0), (Phase.WEIGHTS, 60.0), (Phase.CAPTURE, 40.0), ready_s=150.0)
    assert estimated(where, matching(late), 90).remaining_s == 60


def test_a_load_taken_up_in_its_middle_is_compared_by_the_time_since_its_start() -> None:
    where = standing((Phase.LAUNCH, None), (Phase.WEIGHTS, None))
    assert estimated(where, matching(usual(60)), 30).remaining_s == 90
    over = estimated(where, matching(past((Phase.WEIGHTS, 60.0))), 70)
    assert over.remaining_s is None
    assert over.sentence == "this load takes longer than ever before (max 1:00), by 1 past loads"


def test_a_past_load_of_unknown_phase_times_tells_by_its_whole() -> None:
    blank = past((Phase.LAUNCH, 20.0), (Phase.WEIGHTS, None), (Phase.CAPTURE, 40.0), ready_s=120.0)
    assert estimated(IN_WEIGHTS, matching(blank), 30).remaining_s == 90
    assert estimated(standing(), matching(blank), 30).remaining_s == 90


def test_a_load_whose_start_is_unknown_has_no_estimate() -> None:
    unknown = Standing([], Pace(), None, lambda phase: phase.order)
    assert estimate(unknown, matching(usual(60)), STARTED_S + 30) is None


def test_a_ready_load_has_no_estimate() -> None:
    where = standing((Phase.WEIGHTS, 20.0), (Phase.READY, 80.0))
    assert estimate(where, matching(usual(60)), STARTED_S + 90) is None


# This load's own rate.


def test_the_first_step_gives_no_rate() -> None:
    assert stepped([(20, 0), (50, 1)]).left_s(STARTED_S + 50) is None


def test_from_the_second_step_on_the_first_one_is_left_out_of_the_rate() -> None:
    pace = stepped([(20, 0), (50, 1), (52, 2), (54, 3)])
    assert pace.left_s(STARTED_S + 54) == 14
    assert pace.left_s(STARTED_S + 55) == 13


def test_a_bar_drawn_again_changes_nothing() -> None:
    pace = stepped([(50, 1), (52, 2), (53, 2), (53.9, 2)])
    assert pace.left_s(STARTED_S + 53.9) == pytest.approx(
        stepped([(50, 1), (52, 2)]).left_s(STARTED_S + 53.9)
    )


def test_steps_that_come_in_one_burst_are_no_rate() -> None:
    assert stepped([(50, 1), (50.1, 5)]).left_s(STARTED_S + 50.1) is None


def test_steps_that_become_faster_are_counted_by_the_later_half() -> None:
    pace = stepped([(0, 1), (20, 2), (30, 3), (32, 4), (34, 5), (36, 6)])
    assert pace.left_s(STARTED_S + 36) == 8


def test_a_step_that_takes_longer_slows_the_rate_down_and_never_ends_in_zero() -> None:
    pace = stepped([(0, 1), (2, 2)], total=4)
    left = [pace.left_s(STARTED_S + after_s) for after_s in (2, 4, 10, 20)]
    assert left == [4, 2, 5, 10]
    assert stepped([(0, 1), (2, 2)], total=3).left_s(STARTED_S + 10) is None


def test_a_full_bar_has_nothing_to_tell() -> None:
    assert stepped([(0, 1), (2, 9), (4, 10)]).left_s(STARTED_S + 4) is None


def test_another_bar_begins_anew() -> None:
    pace = stepped([(0, 1), (2, 2), (4, 3)])
    pace.take(Progress(1, 36, "sizes"), STARTED_S + 5)
    assert pace.left_s(STARTED_S + 6) is None
    again = stepped([(0, 1), (2, 2), (4, 3), (6, 1)])
    assert again.left_s(STARTED_S + 7) is None


def test_steps_read_long_after_they_were_written_are_no_rate() -> None:
    pace = stepped([(0, 1), (2, 2)])
    pace.take(Progress(3, 10, "shards"), None)
    assert pace.left_s(STARTED_S + 4) is None


def test_a_very_long_bar_keeps_its_rate_in_bounded_memory() -> None:
    pace = stepped([(float(step), float(step)) for step in range(1, 5001)], total=8000.0)
    assert pace.left_s(STARTED_S + 5000) == pytest.approx(3000)


def test_a_rate_alone_tells_of_the_bar_and_says_so() -> None:
    where = standing((Phase.WEIGHTS, 20.0), pace=stepped([(50, 1), (52, 2), (54, 3)]))
    found = estimated(where, NONE, 54)
    assert (found.remaining_s, found.basis, found.loads, found.of_phase) == (14, "own rate", 0, True)
    assert found.sentence == (
        "0:14 left of weights at its own rate; no past load of this engine, model and parallelism is known"
    )


def test_captured_sizes_become_smaller_so_their_rate_is_an_upper_bound() -> None:
    where = standing((Phase.CAPTURE, 20.0), pace=stepped([(50, 1), (52, 2)]))
    found = estimated(where, NONE, 52)
    assert found.at_most
    assert found.sentence.startswith("at most 0:16 left of this bar (capture)")


def test_weights_go_by_their_own_rate_and_the_rest_by_past_loads() -> None:
    where = standing((Phase.WEIGHTS, 20.0), pace=stepped([(50, 1), (52, 2), (54, 3)]))
    found = estimated(where, matching(usual(600), usual(60, 50)), 54)
    assert (found.remaining_s, found.low_s, found.high_s, found.basis) == (59, 54, 64, "both")
    assert found.sentence == "0:59 left (0:54 to 1:04) by its own rate and 2 past loads"


def test_several_bars_make_a_capture_so_past_loads_tell_its_length() -> None:
    where = standing((Phase.CAPTURE, 80.0), pace=stepped([(81, 1), (83, 2)]))
    assert estimated(where, matching(usual(60)), 83).remaining_s == 37
    assert estimated(where, matching(usual(60, 2.5)), 83).remaining_s == 16


def test_bytes_over_pcie_give_a_rate_where_the_bar_gives_none() -> None:
    where = replace(IN_WEIGHTS, received_left_s=12.0)
    assert estimated(where, NONE, 30).remaining_s == 12
    assert estimated(where, matching(usual(60)), 30).remaining_s == 52
    barred = replace(where, pace=stepped([(50, 1), (52, 2), (54, 3)]))
    assert estimated(barred, NONE, 54).remaining_s == 14
    capturing = replace(standing((Phase.CAPTURE, 20.0)), received_left_s=12.0)
    assert estimate(capturing, NONE, STARTED_S + 30) is None


# How much of the phase is done.


def test_the_share_done_is_that_of_the_bar_or_of_the_bytes() -> None:
    assert fraction(Phase.WEIGHTS, Progress(3, 12, "shards"), None) == 0.25
    assert fraction(Phase.WEIGHTS, Progress(3, 12, "shards"), 0.4) == 0.4
    assert fraction(Phase.WEIGHTS, None, 1.07) == 1.0
    assert fraction(Phase.CAPTURE, None, 0.4) is None
    assert fraction(Phase.WEIGHTS, Progress(3, None, "shards"), None) is None
    assert fraction(None, None, None) is None
