"""The phases of a load as text."""

from dataclasses import replace

from widgets import phase_pane
from widgets.lines import text_of, width_of
from widgets.phase_pane import PhasePane
from widgets.values import Mood, PhaseCell, PhasePanel

CELLS = (
    PhaseCell("launch", Mood.GOOD, "0:38", 38),
    PhaseCell("distributed", Mood.GOOD, "0:02", 2),
    PhaseCell("weights", Mood.ACTIVE, "1:17", 77),
    PhaseCell("KV cache", Mood.IDLE),
    PhaseCell("capture", Mood.IDLE),
    PhaseCell("ready", Mood.IDLE),
)
LOADING = PhasePanel(
    CELLS, fraction=0.5, work="8 of 16 shards", waits="waits for TP7", estimate="T- 1:24", mood=Mood.ACTIVE
)
TOOK = (("launch", 38), ("KV cache", 1), ("weights", 17))
READY = PhasePanel(
    (
        *(PhaseCell(name, Mood.GOOD, f"0:{seconds:02}", seconds) for name, seconds in TOOK),
        PhaseCell("ready", Mood.GOOD),
    ),
    mood=Mood.GOOD,
)


def texts(panel: PhasePanel, width: int, height: int) -> list[str]:
    """Return the lines as text."""
    pane = PhasePane()
    pane.panel = panel
    lines = pane.lines(width, height)
    assert all(width_of(line) <= width for line in lines)
    return [text_of(line) for line in lines]


def test_wide_enough_every_phase_stands_with_its_time() -> None:
    row, work = texts(LOADING, 120, 2)
    assert row == " ● launch 0:38  ● distributed 0:02  ► weights 1:17  · KV cache  · capture  · ready"
    assert work.startswith(" ━━━━━━━━━━━━────────────  50% 8 of 16 shards · waits for TP7 ")
    assert work.endswith(" T- 1:24 ")


def test_phases_to_come_give_way_before_the_times_of_those_behind() -> None:
    assert texts(LOADING, 78, 2)[0] == (
        " ● launch 0:38  ● distributed 0:02  ► weights 1:17  · KV cache  · 2 more"
    )
    assert texts(LOADING, 66, 2)[0] == " ● launch 0:38  ● distributed 0:02  ► weights 1:17  · 3 to come"


def test_phases_behind_are_counted_where_there_is_no_room_for_them() -> None:
    assert texts(LOADING, 60, 2)[0] == " ● 1 done  ● distributed 0:02  ► weights 1:17  · 3 to come"
    assert texts(LOADING, 48, 2)[0] == " ● 2 done  ► weights 1:17  · KV cache  · 2 more"


def test_the_bar_outlives_the_lesser_parts_of_the_words() -> None:
    work = "18 of 36 sizes, at most 0:03 left, bs=112 under way"
    panel = replace(LOADING, work=work, waits="", estimate="T- no estimate yet")
    assert texts(panel, 120, 2)[1].startswith(" ━━━━━━━━━━━━────────────  50% " + work)
    line = texts(panel, 80, 2)[1]
    assert " 50% 18 of 36 sizes, at most 0:03 left " in line
    assert "━━━━━━" in line


def test_one_line_keeps_the_phase_and_the_estimate() -> None:
    (line,) = texts(LOADING, 60, 1)
    assert line.startswith(" ► weights 1:17")
    assert line.endswith(" T- 1:24 ")


def test_without_a_basis_there_is_no_bar_and_no_percentage() -> None:
    work = texts(replace(LOADING, fraction=None), 120, 2)[1]
    assert "%" not in work
    assert "━" not in work
    assert "─" not in work


def test_a_bar_is_never_full_before_the_end() -> None:
    assert "100%" not in texts(replace(LOADING, fraction=0.996), 120, 2)[1]
    assert "99%" in texts(replace(LOADING, fraction=0.996), 120, 2)[1]


def test_a_failure_says_its_sentence_in_place_of_the_work() -> None:
    failed = replace(LOADING, sentence="out of GPU memory", mood=Mood.BAD)
    assert texts(failed, 80, 2)[1] == " out of GPU memory"


def test_the_reason_of_a_failure_is_wrapped_and_not_cut_where_there_is_room() -> None:
    reason = "out of GPU memory: process 1656 of the host holds 12.41 GiB of it. See who that is, and end it."
    failed = replace(LOADING, sentence=reason, mood=Mood.BAD)
    wanted = phase_pane.rows_wanted(failed, 60)
    assert wanted == 3
    assert " ".join(line.strip() for line in texts(failed, 60, wanted)[1:]) == reason


def test_a_ready_load_takes_one_line_and_keeps_the_long_phases() -> None:
    assert phase_pane.rows_wanted(READY) == 1
    assert texts(READY, 80, 1) == [" ● launch 0:38  ● KV cache 0:01  ● weights 0:17  ● ready"]
    assert texts(READY, 52, 1) == [" ● 1 shorter  ● launch 0:38  ● weights 0:17  ● ready"]


def test_nothing_known_takes_no_line() -> None:
    assert phase_pane.rows_wanted(PhasePanel()) == 0
    assert texts(PhasePanel(), 80, 2) == []


def test_at_every_width_the_lines_fit() -> None:
    for width in range(1, 130):
        for height in (1, 2):
            texts(LOADING, width, height)
            texts(READY, width, height)
