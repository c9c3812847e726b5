"""The readiness ladder as text."""

import pytest

from widgets import ladder_pane
from widgets.ladder_pane import LadderPane
from widgets.lines import text_of, width_of
from widgets.values import Ladder, LadderRung, Mood

RUNGS = (
    LadderRung("process", Mood.GOOD, "alive", "3:12", 1, "", "pid 41207"),
    LadderRung("port", Mood.GOOD, "open", "0:35", 642, "0.2 ms", "connected to 127.0.0.1:30000"),
    LadderRung("health", Mood.WAITING, "answers 503", "0:35", 41, "12 ms", "503 Service Unavailable"),
    LadderRung("model", Mood.IDLE, "not asked yet"),
    LadderRung("token", Mood.IDLE, "not asked yet"),
)


def pane(*rungs: LadderRung) -> LadderPane:
    """Return a pane with these rungs."""
    made = LadderPane()
    made.ladder = Ladder(rungs, "not ready: health answers 503", Mood.WAITING)
    return made


def texts(made: LadderPane, width: int, height: int) -> list[str]:
    """Return the lines as text."""
    return [text_of(line) for line in made.lines(width, height)]


def test_three_lines_at_eighty_cells_say_what_is_passed_and_what_is_waited_for() -> None:
    assert texts(pane(*RUNGS), 80, 3) == [
        " 2 Readiness  ◌ not ready: health answers 503",
        "  ● process alive  ● port open  ◌ health answers 503  · model  · token",
        "    health: 503 Service Unavailable · since 0:35 · 41 tries · 12 ms",
    ]


def test_words_of_rungs_not_reached_stand_where_there_is_room() -> None:
    assert "model not asked yet" in texts(pane(*RUNGS), 120, 3)[1]


def test_a_narrow_line_keeps_the_rung_that_is_waited_for() -> None:
    line = texts(pane(*RUNGS), 64, 3)[1]
    assert line == "  ● process  ● port  ◌ health answers 503  · model  · token"


def test_six_lines_are_a_table_with_everything() -> None:
    lines = texts(pane(*RUNGS), 100, 6)
    row = " ".join(lines[3].split())
    assert row == "◌ health answers 503 since 0:35 41 tries 12 ms 503 Service Unavailable"
    assert lines[1].index("alive") == lines[4].index("not asked yet")


def test_the_last_rung_is_told_when_all_are_passed() -> None:
    passed = (*RUNGS[:2], LadderRung("token", Mood.GOOD, "generated", "0:02", 1, "310 ms", '" Hello"'))
    assert ladder_pane.current(passed).name == "token"
    assert texts(pane(*passed), 80, 3)[2] == '    token: " Hello" · since 0:02 · 1 try · 310 ms'


def test_a_process_that_is_not_known_does_not_hide_what_is_waited_for() -> None:
    asked = (LadderRung("process", Mood.IDLE, "not known"), *RUNGS[1:])
    assert ladder_pane.current(asked).name == "health"
    assert ladder_pane.current((asked[0], *RUNGS[3:])).name == "process"


def test_nothing_known_is_said() -> None:
    assert texts(LadderPane(), 80, 3) == [" 2 Readiness  · nothing known yet"]


@pytest.mark.parametrize("width", range(10, 220, 9))
def test_every_line_fits_its_width(width: int) -> None:
    for height in (1, 2, 3, 6, 9):
        assert all(width_of(line) <= width for line in pane(*RUNGS).lines(width, height))
