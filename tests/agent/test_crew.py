"""Who hangs is overdue by time in which the agent itself ran."""

from tui.agent import wire
from tui.agent.crew import Awake


def watched(*seconds: float) -> Awake:
    awake = Awake()
    for now_s in seconds:
        awake.look(now_s)
    return awake


def test_a_worker_is_overdue_for_as_long_as_it_is_silent() -> None:
    awake = watched(*(1000.0 + second for second in range(30)))
    assert awake.overdue_s(0.0) == 0.0
    assert awake.overdue_s(12.0) == 12.0


def test_nobody_is_overdue_at_once_on_a_host_that_was_frozen() -> None:
    awake = watched(1000.0, 1001.0, 1601.0)
    assert awake.overdue_s(600.0) == 0.0
    for second in range(1, 8):
        awake.look(1601.0 + second)
    assert awake.overdue_s(607.0) == 7.0 > wire.BLOCKING_DEADLINE_S


def test_an_agent_that_is_a_little_late_has_not_slept() -> None:
    assert watched(1000.0, 1001.0, 1003.0, 1004.5, 1006.5).overdue_s(5.5) == 5.5
