"""A load is not called quiet before there was time, and were two readings, to see it move."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from verdict_host import COMPILES, IDLES, LOADS, POLLS, STOPPED, Doing, VerdictHost

from tui.engines.phase import Phase
from tui.watch.verdict.rules import judge, judge_seen
from tui.watch.verdict.scene import AWAITED_S, FIRST_S
from tui.watch.verdict.situation import End
from tui.watch.verdict.verdict import Word

UNREAD = replace(IDLES, signals=False)


def said(host: VerdictHost, seconds: int) -> list[Word | None]:
    """Run, and return the word of each second, None for none."""
    told: list[Word | None] = []

    def note(_second: int) -> None:
        found = judge_seen(host.at(), host.movement)
        told.append(None if found is None else found.word)

    host.run(seconds, note)
    return told


def under_way(doing: Doing = COMPILES) -> VerdictHost:
    """Return a host whose ranks have been at it for longer than any window."""
    host = VerdictHost(2, doing=[doing] * 2)
    host.run(60)
    return host


def lost(host: VerdictHost) -> None:
    """Lose the link and take it up again, a minute later."""
    host.movement.link_lost(host.now_s)
    host.blind(60.0)


def late(host: VerdictHost) -> None:
    """Hear nothing for a little too long, as on a busy machine."""
    host.blind(2.5)


def asleep(host: VerdictHost) -> None:
    """Sleep for a night, as a laptop does."""
    host.blind(30_000.0)


def followed(host: VerdictHost) -> None:
    """Follow another server of the same host."""
    host.movement.new_load(host.now_s)


def begun(host: VerdictHost) -> None:
    """Begin to watch."""
    host.movement = VerdictHost(2).movement
    host.movement.new_load(host.now_s)


every_beginning = pytest.mark.parametrize("begin", [lost, late, asleep, followed, begun])


@every_beginning
def test_a_load_under_way_is_never_called_quiet_at_first(begin: Callable[[VerdictHost], None]) -> None:
    host = under_way()
    begin(host)
    told = said(host, 20)
    assert set(told) <= {None, "progressing"}
    assert told[2:] == ["progressing"] * 18


@every_beginning
def test_one_that_does_nothing_is_called_quiet_once_it_was_seen_to(
    begin: Callable[[VerdictHost], None],
) -> None:
    host = under_way(POLLS)
    begin(host)
    told = said(host, 20)
    assert told[: int(FIRST_S) - 1] == [None] * (int(FIRST_S) - 1)
    assert told[int(FIRST_S) + 1 :] == ["quiet"] * (19 - int(FIRST_S))


@every_beginning
def test_readings_that_come_late_are_awaited(begin: Callable[[VerdictHost], None]) -> None:
    host = under_way()
    begin(host)
    host.all_do(UNREAD)
    host.gpus = False
    told = said(host, 10)
    host.all_do(COMPILES)
    told += said(host, 5)
    assert set(told) == {None, "progressing"}


def test_readings_that_never_come_are_not_awaited_for_ever() -> None:
    host = VerdictHost(2, doing=[UNREAD] * 2)
    begun(host)
    told = said(host, 30)
    assert told == [None] * (int(AWAITED_S) - 1) + ["quiet"] * (31 - int(AWAITED_S))
    assert "not read" in judge(host.at(), host.movement).sentence


def test_ranks_that_come_late_are_given_the_same_time() -> None:
    host = VerdictHost(2, doing=[UNREAD] * 2, situation=VerdictHost(2).at())
    begun(host)
    told = said(host, 20)
    assert told[-1] == "quiet"
    host.all_do(POLLS)
    told = said(host, 10)
    assert told == [None] * 5 + ["quiet"] * 5


def test_what_is_sure_at_once_is_said_at_once() -> None:
    host = under_way()
    lost(host)
    host.doing[1] = STOPPED
    assert said(host, 4)[-1] == "suspended"
    ended = replace(host.at(), end=End("it exited with code 1"))
    begun(host)
    found = judge_seen(ended, host.movement)
    assert found is not None
    assert found.word == "dead"


def test_that_nothing_is_heard_is_said_while_it_is_so() -> None:
    host = under_way()
    host.blind(10.0)
    found = judge_seen(host.at(), host.movement)
    assert found is not None
    assert (found.word, found.heard) == ("quiet", False)
    host.run(3)
    found = judge_seen(host.at(), host.movement)
    assert found is not None
    assert (found.word, found.heard) == ("progressing", True)


def test_a_server_that_is_ready_is_said_to_be_at_once() -> None:
    host = VerdictHost(2)
    host.phase(Phase.READY)
    begun(host)
    host.situation = replace(host.situation, ready=True, ready_since_s=host.now_s)
    assert said(host, 3) == ["ready"] * 3


def test_processes_that_come_work_and_go_are_progress_between_their_lives() -> None:
    """As workers that are started anew for each piece: no silence of 30 s, so never quiet."""
    host = VerdictHost(2, doing=[LOADS, POLLS])
    host.situation = replace(host.situation, ranks=())
    told: set[Word | None] = set()
    for _ in range(4):
        host.doing[0] = LOADS
        told |= set(said(host, 4)[2:])
        host.doing[0] = UNREAD
        told |= set(said(host, 15))
    assert told == {"progressing"}
    assert "quiet" in said(host, 40)
