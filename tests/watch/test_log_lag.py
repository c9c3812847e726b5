"""How far the reading of a log is behind its writing, by the sizes that were seen of it."""

import pytest

from tui.events import Log
from tui.watch.log_lag import FAR_S, KEPT, Lag, LogLag


def read(lag: LogLag, at_s: float, offset: int, size: int, inode: int = 2) -> None:
    """So much of a file of that size was read."""
    lag.take(
        Log(
            mono_s=at_s, wall_s=0.0, lines=[], tail="", returns=[], path="/a", device=1, inode=inode,
            offset=offset, behind_bytes=size - offset,
        )
    )  # fmt: skip


def test_a_log_that_is_read_to_its_end_is_not_behind() -> None:
    lag = LogLag()
    assert lag.lag(5.0) is None
    read(lag, 1.0, 100, 100)
    assert lag.lag(5.0) is None
    assert not lag.is_far(100.0)


def test_what_is_read_now_was_written_when_the_file_grew_past_it() -> None:
    lag = LogLag()
    for second in range(60):  # 100 bytes a second are written, 10 read
        read(lag, float(second), 10 * second, 100 * second)
    found = lag.lag(59.0)
    assert found is not None
    assert found.seconds == pytest.approx(59 - 6, abs=1.0)
    assert not found.at_least
    assert lag.bytes == 90 * 59
    assert lag.is_far(59.0)


@pytest.mark.parametrize("read_share", [0.0, 0.005, 0.2, 0.5])
def test_it_is_far_when_what_is_read_was_written_30_s_ago_and_not_sooner(read_share: float) -> None:
    lag, told_s = LogLag(), 0.0
    for tenth in range(900):  # a megabyte in each tenth of a second, of which a share is read
        written = 1_000_000 * tenth
        read(lag, tenth / 10, int(written * read_share), written)
        if lag.is_far(tenth / 10):
            told_s = tenth / 10
            break
    written_s = told_s * read_share
    assert told_s - written_s == pytest.approx(FAR_S, abs=0.5)


def test_of_what_was_there_at_first_only_the_least_is_known() -> None:
    lag = LogLag()
    read(lag, 0.0, 10, 1000)
    read(lag, 40.0, 400, 1400)
    assert lag.lag(45.0) == Lag(45.0, at_least=True)


def test_another_file_begins_anew() -> None:
    lag = LogLag()
    read(lag, 0.0, 10, 1000)
    read(lag, 40.0, 0, 50, inode=3)
    assert lag.lag(41.0) == Lag(1.0, at_least=True)


def test_it_remembers_little_and_stays_right() -> None:
    lag = LogLag()
    for step in range(20 * KEPT):
        read(lag, float(step), step, 10 * step)
    end_s = 20.0 * KEPT - 1
    found = lag.lag(end_s)
    assert found is not None
    assert found.seconds == pytest.approx(0.9 * end_s, rel=0.01)


def told(lag: LogLag, arrived_s: float, stamp_s: float) -> None:
    """A container's runtime told a line of that time."""
    line = Log(
        mono_s=stamp_s, wall_s=0.0, lines=["a"], tail="", returns=[], path="", device=0, inode=0, offset=0
    )
    lag.take(line, arrived_s)


def test_lines_of_a_runtime_are_behind_by_their_own_times_while_they_come() -> None:
    lag = LogLag()
    for second in range(4):
        told(lag, 100.0 + second, 20.0 + 2 * second)
    assert lag.stamp_lag_s(103.5) == 77.0
    assert lag.stamp_lag_s(110.0) is None
    told(lag, 104.0, 103.0)
    assert lag.stamp_lag_s(104.0) is None


def test_the_old_lines_at_the_beginning_of_a_silent_log_do_not_count_as_behind() -> None:
    lag = LogLag()
    told(lag, 100.0, 20.0)
    told(lag, 100.1, 21.0)
    assert lag.stamp_lag_s(100.2) is None
    assert lag.stamp_lag_s(101.9) is None


def test_only_a_runtimes_log_cannot_be_skipped_when_it_is_behind() -> None:
    lag = LogLag()
    read(lag, 1.0, 100, 200)
    assert lag.no_skip == ""
    told(lag, 100.0, 20.0)
    assert "cannot be skipped" in lag.no_skip
