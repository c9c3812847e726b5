"""The ranks as text."""

from dataclasses import replace

import pytest

from widgets.glyphs import ASCII, BLOCK, Glyphs
from widgets.lines import text_of, width_of
from widgets.rank_lanes import RankLanes
from widgets.values import LaneRow, Mood

ODD = LaneRow(
    "TP5", "4711", "5", "capture", "66.0 GiB", "120.4 GiB", "S", "waiting for a lock 1:12", Mood.BAD
)
ROWS = (
    ODD,
    *(
        replace(ODD, name=f"TP{rank}", gpus=str(rank), wait="waiting in a collective", mood=Mood.IDLE)
        for rank in range(5)
    ),
)


def texts(rows: tuple[LaneRow, ...], width: int, height: int, glyphs: Glyphs = BLOCK) -> list[str]:
    pane = RankLanes(glyphs=glyphs)
    pane.rows = rows
    lines = pane.lines(width, height)
    assert all(width_of(line) <= width for line in lines)
    return [text_of(line) for line in lines]


def test_each_rank_has_a_row_under_its_heads() -> None:
    head, odd, other, *_ = texts(ROWS, 120, 9)
    assert head.startswith(" 6 Ranks ")
    assert " ".join(odd.split()) == "✕ TP5 4711 5 capture 66.0 GiB 120.4 GiB S waiting for a lock 1:12"
    assert other.startswith(" ·  TP0 ")
    assert head.index("received") + len("received") == odd.index("66.0 GiB") + len("66.0 GiB")
    assert head.index("waits") == odd.index("waiting")


def test_where_it_is_narrow_the_rank_and_its_wait_stay() -> None:
    odd = texts(ROWS, 44, 3)[1]
    assert "TP5" in odd
    assert "waiting for a lock 1:12" in odd
    assert "120.4" not in odd


def test_what_is_not_known_is_a_dash() -> None:
    odd = texts((replace(ODD, received="", state="", pid=""),), 120, 2)[1]
    assert odd.split()[:3] == ["✕", "TP5", "-"]


def test_ranks_that_have_no_room_are_scrolled_to() -> None:
    pane = RankLanes()
    pane.rows = ROWS
    first = text_of(pane.lines(120, 3)[1])
    pane.action_move(3)
    assert "TP5" in first
    assert "TP2" in text_of(pane.lines(120, 3)[1])


def test_without_ranks_it_says_so() -> None:
    assert texts((), 80, 4) == [" 6 Ranks  no ranks are known"]


@pytest.mark.parametrize("width", range(1, 130, 9))
def test_rows_fit_their_width_and_are_ascii_where_the_glyphs_are(width: int) -> None:
    assert texts(ROWS, width, 5)
    assert all(text.replace("…", "~").isascii() for text in texts(ROWS, width, 5, ASCII))
