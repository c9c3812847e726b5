"""The ranks as they are shown."""

from dataclasses import replace

from tui.engines.phase import Phase
from tui.present.lanes import lane_rows
from tui.watch.rank_lanes import RankLane
from widgets.values import Mood

TP0 = RankLane(
    name="TP0",
    pid=101,
    gpus=(0,),
    phase=Phase.CAPTURE,
    received_mib=67_584.0,
    memory_mib=123_290.0,
    state="S",
    wait="collective",
    waits_s=72.0,
    quiet_s=75.0,
    odd=False,
)


def test_the_odd_one_is_on_top_and_bad_where_it_holds_up_the_load() -> None:
    rows = lane_rows([TP0, replace(TP0, name="TP1", odd=True), replace(TP0, name="TP2")], bad=True)
    assert [(row.name, row.mood) for row in rows] == [
        ("TP1", Mood.BAD),
        ("TP0", Mood.IDLE),
        ("TP2", Mood.IDLE),
    ]
    assert lane_rows([replace(TP0, odd=True)])[0].mood is Mood.WARNING


def test_a_rank_has_words_and_units() -> None:
    (row,) = lane_rows([replace(TP0, gpus=(0, 1))])
    assert (row.pid, row.gpus, row.phase, row.received, row.memory, row.state, row.wait) == (
        "101", "0,1", "capture", "66.0 GiB", "120.4 GiB", "S", "waiting in a collective 1:12",
    )  # fmt: skip


def test_a_rank_that_is_quiet_says_for_how_long() -> None:
    told = [replace(TP0, wait="sleeping", waits_s=None, quiet_s=quiet) for quiet in (95.0, 3.0)]
    assert [row.wait for row in lane_rows(told)] == ["sleeping, quiet 1:35", "sleeping"]


def test_what_is_not_known_is_left_empty_and_never_nought() -> None:
    told = replace(TP0, pid=None, gpus=(), phase=None, received_mib=None, memory_mib=None, state="?")
    (row,) = lane_rows([told])
    assert (row.pid, row.gpus, row.phase, row.received, row.memory, row.state) == ("",) * 6
