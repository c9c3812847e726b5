"""How far the reading of a log is behind its writing, by the sizes that were seen of it."""

import pytest

from tui.events import Log
from tui.watch.log_lag import KEPT, Lag, LogLag


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
