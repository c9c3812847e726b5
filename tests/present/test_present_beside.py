"""What is shown beside a verdict is worked out once for each verdict."""

import pytest
from watched_host import WatchedHost

from tui.present import beside as room
from tui.present import present
from tui.present.beside import Beside
from tui.watch.deadlines import RunningDeadline
from tui.watch.meaning import Meaning
from tui.watch.verdict.verdict import Verdict


@pytest.fixture
def asked(host: WatchedHost, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the times for which time-outs were worked out; one is 100 s after the first of them."""
    times: list[float] = []

    def told(_state: Meaning, now_s: float) -> tuple[RunningDeadline, ...]:
        times.append(now_s)
        return (RunningDeadline("NCCL group", 100.0, 600.0, "", "", "", times[0] + 100.0),)

    monkeypatch.setattr(room, "deadlines", told)
    return times


def test_time_outs_count_down_between_two_verdicts_without_being_worked_out(
    host: WatchedHost, asked: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    judged = [Verdict("hung", host.mono, "hung: 7 wait")]
    monkeypatch.setattr(type(host.state), "judged", property(lambda _: judged[0]))
    beside = Beside()
    for seconds, left in ((0.0, 100.0), (10.0, 90.0), (200.0, 0.0)):
        beside.look(host.state, host.mono + seconds)
        assert [each.left_s for each in beside.deadlines(host.mono + seconds)] == [left]
    assert len(asked) == 1
    judged[0] = Verdict("hung", host.mono, "hung: 7 wait")
    beside.look(host.state, host.mono + 1.0)
    assert len(asked) == 2


def test_the_next_time_out_stands_beside_a_verdict_of_a_load_that_stands_still(
    host: WatchedHost, asked: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(host.state), "judged", Verdict("hung", host.mono, "hung: 7 wait"))
    shown = present(host.state, host.now).verdict
    assert (shown.deadline, shown.deadline_left) == ("NCCL group time-out in 1:40", "1:40")
    assert asked


def test_without_a_verdict_nothing_is_worked_out(host: WatchedHost, asked: list[float]) -> None:
    shown = present(host.state, host.now)
    assert (shown.lanes, shown.verdict.deadline) == ((), "")
    assert asked == []
