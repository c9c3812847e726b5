"""The verdict as text."""

from dataclasses import replace

import pytest

from widgets.glyphs import ASCII, BLOCK, Glyphs
from widgets.lines import text_of, width_of
from widgets.values import Mood, VerdictPanel
from widgets.verdict_row import VerdictRow, rows_wanted

HUNG = VerdictPanel(
    word="HUNG",
    mood=Mood.BAD,
    clock="1:12",
    place="in capture (12 of 52)",
    told="7 wait for TP5 (pid 4711), which does nothing",
    cause="the other ranks wait in a collective (by a known pattern)",
    figures=("TP5 (pid 4711): state S for 1:12", "GPU 5: util 0 %, SM 0 %", "no log for 1:12"),
    waiting="TP0-TP4, TP6, TP7",
    next_step="py-spy dump --nonblocking --pid 4711",
    not_to_do="do not kill it yet",
)
QUIET = VerdictPanel(
    word="QUIET", mood=Mood.WARNING, clock="0:35", place="in weights", countdown="stalled in 0:41"
)


def texts(panel: VerdictPanel, width: int, height: int, glyphs: Glyphs = BLOCK) -> list[str]:
    row = VerdictRow(glyphs=glyphs)
    row.panel = panel
    lines = row.lines(width, height)
    assert all(width_of(line) <= width for line in lines)
    return [text_of(line) for line in lines]


def test_nothing_is_drawn_before_anything_is_known() -> None:
    assert texts(VerdictPanel(), 80, 3) == []
    assert rows_wanted(VerdictPanel()) == 0


def test_one_row_says_the_word_the_time_who_waits_for_whom_and_where_more_is() -> None:
    (row,) = texts(HUNG, 80, 1)
    assert row.startswith(" ✕ HUNG 1:12 · 7 wait for TP5 (pid 4711), which does nothing ")
    assert row.endswith(" w why ")


def test_where_it_stands_is_said_where_there_is_room() -> None:
    assert " · in capture (12 of 52) · 7 wait for TP5" in texts(HUNG, 120, 1)[0]


def test_three_rows_say_the_cause_figures_who_waits_and_what_to_do() -> None:
    _, evidence, advice = texts(HUNG, 120, 3)
    assert evidence.startswith(
        "   the other ranks wait in a collective (by a known pattern) · TP5 (pid 4711)"
    )
    assert evidence.endswith(" TP0-TP4, TP6, TP7 wait ")
    assert advice == "   next: py-spy dump --nonblocking --pid 4711 · do not kill it yet"
    assert rows_wanted(HUNG) == 3


def test_of_two_rows_the_second_says_what_to_do() -> None:
    assert texts(HUNG, 120, 2)[1].startswith("   next: ")
    assert texts(replace(HUNG, next_step="", not_to_do=""), 120, 2)[1].startswith("   the other ranks")


def test_a_quiet_load_has_its_countdown_in_the_row() -> None:
    assert texts(QUIET, 80, 1)[0].startswith(" ▲ QUIET 0:35 · in weights · stalled in 0:41 ")
    assert rows_wanted(QUIET) == 1


def test_a_deadline_outlives_where_it_stands_and_the_hint() -> None:
    near = replace(HUNG, deadline="NCCL group time-out in 1:20", deadline_left="1:20")
    assert texts(near, 100, 1)[0].endswith(" NCCL group time-out in 1:20  w why ")
    assert texts(near, 90, 1)[0].endswith(" time-out 1:20  w why ")
    assert texts(near, 80, 1)[0].endswith(" time-out 1:20 ")
    assert "w why" not in texts(near, 80, 1)[0]


def test_what_exactly_moves_is_left_out_before_the_sentence_is_cut() -> None:
    moves = replace(HUNG, told="7 wait for TP5 (pid 4711), which moves (12.1 GiB of file data in 30 s)")
    assert "12.1 GiB" in texts(moves, 120, 1)[0]
    row = texts(moves, 80, 1)[0]
    assert "7 wait for TP5 (pid 4711), which moves " in row
    assert row.endswith(" w why ")


def test_it_reads_without_colour_and_in_ascii() -> None:
    assert texts(HUNG, 80, 1, ASCII)[0].startswith(" x HUNG 1:12 | 7 wait for TP5")
    assert all(text.isascii() for text in texts(HUNG, 160, 3, ASCII))


@pytest.mark.parametrize("width", [1, 5, 12, 20, 40, 60, 100, 200])
@pytest.mark.parametrize("height", [1, 2, 3, 5])
def test_rows_fit_every_size(width: int, height: int) -> None:
    assert 1 <= len(texts(replace(HUNG, deadline="gloo time-out in 0:10"), width, height)) <= height


def test_a_load_that_moves_wants_one_row() -> None:
    assert rows_wanted(replace(HUNG, brief=True)) == 1
