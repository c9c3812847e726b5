"""How long nothing may move before it is a stall."""

from typing import Any

import pytest

from tui.engines.phase import Phase
from tui.watch.verdict.bar import Bar
from tui.watch.verdict.situation import Past, Situation
from tui.watch.verdict.thresholds import stall_after


def seconds(phase: Phase | None, bar: Bar | None = None, **more: Any) -> float:
    situation = Situation(1000.0, phase, 0.0, **more)
    return stall_after(situation, bar or Bar()).seconds


def bar(*at_s: float, total: int = 52) -> Bar:
    made = Bar()
    for done, when_s in enumerate(at_s):
        made.take(done, total, when_s)
    return made


@pytest.mark.parametrize(
    ("phase", "more", "least"),
    [
        (Phase.LAUNCH, {}, 90.0),
        (Phase.DISTRIBUTED, {}, 60.0),
        (Phase.DISTRIBUTED, {"nodes": 2}, 180.0),
        (Phase.WEIGHTS, {}, 60.0),
        (Phase.WEIGHTS, {"network_storage": True}, 120.0),
        (Phase.WEIGHTS, {"downloading": True}, 120.0),
        (Phase.KV_CACHE, {}, 180.0),
        (Phase.COMPILE, {}, 300.0),
        (Phase.CAPTURE, {}, 300.0),
        (Phase.WARMUP, {}, 300.0),
        (None, {}, 300.0),
    ],
)
def test_each_phase_has_its_own(phase: Phase | None, more: dict[str, Any], least: float) -> None:
    assert seconds(phase, **more) == least


@pytest.mark.parametrize(
    ("items", "least"),
    [((0.0, 100.0), 300.0), ((0.0, 100.0, 103.0), 60.0), ((0.0, 100.0, 103.0, 143.0, 146.0), 120.0)],
)
def test_a_capture_is_measured_by_its_own_longest_gap_but_not_by_its_first_item(
    items: tuple[float, ...], least: float
) -> None:
    assert seconds(Phase.CAPTURE, bar(*items)) == least


def test_the_bar_of_the_phase_before_tells_nothing_of_a_capture() -> None:
    old = bar(-50.0, -40.0, -10.0, -5.0)
    assert seconds(Phase.CAPTURE, old) == 300.0


def test_a_gap_with_a_blind_time_in_it_is_no_yardstick() -> None:
    made = bar(0.0, 50.0, 53.0)
    made.blind()
    made.take(3, 52, 500.0)
    assert made.longest_gap_s == 3.0


@pytest.mark.parametrize(
    ("silences", "expected"),
    [
        ((10.0,), 45.0),
        ((41.0,), 123.0),
        ((41.0, 20.0, 30.0, 10.0), 123.0),
        ((41.0, 20.0, 30.0, 10.0, 5.0), 82.0),
        ((400.0,), 1200.0),
    ],
)
def test_past_loads_are_the_yardstick_above_half_of_the_usual(
    silences: tuple[float, ...], expected: float
) -> None:
    assert seconds(Phase.LAUNCH, past=Past(silences_s=silences)) == expected


def test_it_is_never_below_30_s() -> None:
    assert seconds(Phase.WEIGHTS, past=Past(silences_s=(1.0,) * 9)) == 30.0


def test_past_loads_do_not_undercut_this_capture() -> None:
    slow = bar(0.0, 100.0, 180.0)
    assert seconds(Phase.CAPTURE, slow, past=Past(silences_s=(5.0,) * 9)) == 240.0
