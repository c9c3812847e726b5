"""What speaks for a verdict, as text."""

import pytest

from widgets.glyphs import ASCII, BLOCK, Glyphs
from widgets.lines import text_of, width_of
from widgets.values import DeadlineRow, LaneRow, Mood, RuleRow, VerdictPanel, WhyPanel
from widgets.why_pane import WhyPane

WHY = WhyPanel(
    verdict=VerdictPanel(
        word="HUNG",
        mood=Mood.BAD,
        clock="1:12",
        place="in capture (12 of 52)",
        told="7 wait for TP5 (pid 4711), which does nothing",
        cause="the other ranks wait in a collective that TP5 has not entered (by a known pattern)",
        figures=("TP5 (pid 4711): state S for 1:12, CPU 0 % of a core in 30 s",),
        waiting="TP0-TP4, TP6, TP7",
        next_step="py-spy dump --nonblocking --pid 4711",
        not_to_do="do not kill it yet",
    ),
    since="for 1:12, since T+ 3:07",
    rules=(
        RuleRow("R4(e) GPUs only wait", Mood.BAD, "made the verdict", "7 of 8 GPUs wait for 1:12"),
        RuleRow("R4(d) all asleep", Mood.WARNING, "nearly", "zero wake-ups for 0:40 (counts from 1:00)"),
        RuleRow("R0 dead", Mood.IDLE, "no", "8 ranks alive"),
    ),
    lanes=(LaneRow("TP5", "4711", "5", "capture", "", "", "S", "sleeping", Mood.BAD),),
    deadlines=(DeadlineRow("NCCL watchdog", "in 8:48", "TORCH_NCCL_TIMEOUT"),),
    diagnosis=("pid 4711: three equal stacks",),
)


def texts(panel: WhyPanel, width: int, glyphs: Glyphs = BLOCK) -> list[str]:
    pane = WhyPane(glyphs=glyphs)
    pane.panel = panel
    lines = pane.body(width)
    assert all(width_of(line) <= width for line in lines)
    return [text_of(line) for line in lines]


def test_all_of_it_is_there_the_verdict_first_and_the_rules_last() -> None:
    text = "\n".join(" ".join(line.split()) for line in texts(WHY, 100))
    told = (
        "✕ HUNG for 1:12, since T+ 3:07",
        "in capture (12 of 52) · 7 wait for TP5 (pid 4711), which does nothing",
        "cause the other ranks wait in a collective",
        "waiting TP0-TP4, TP6, TP7",
        "next py-spy dump",
        "caution do not kill it yet",
        "Figures",
        "CPU 0 % of a core",
        "Ranks",
        "sleeping",
        "Time-outs",
        "NCCL watchdog in 8:48 TORCH_NCCL_TIMEOUT",
        "Diagnosis",
        "three equal stacks",
        "Rules",
        "✕ R4(e) GPUs only wait made the verdict",
        "▲ R4(d) all asleep nearly",
        "· R0 dead no",
    )
    places = [text.find(words) for words in told]
    assert -1 not in places, told[places.index(-1)]
    assert places == sorted(places)


def test_where_it_is_narrow_a_rules_numbers_stand_beneath_it() -> None:
    lines = texts(WHY, 60)
    at = next(index for index, line in enumerate(lines) if "R4(e)" in line)
    assert lines[at + 1] == "    7 of 8 GPUs wait for 1:12"


def test_parts_without_anything_to_tell_have_no_heading() -> None:
    text = "\n".join(texts(WhyPanel(verdict=VerdictPanel(word="READY", mood=Mood.GOOD)), 80))
    assert not any(heading in text for heading in ("Figures", "Ranks", "Time-outs", "Diagnosis", "Rules"))


def test_without_a_verdict_it_says_why() -> None:
    assert "there is no load to judge" in "\n".join(texts(WhyPanel(sentence="there is no load to judge"), 80))


def test_what_does_not_fit_is_scrolled_to_and_stays_there_when_it_changes() -> None:
    pane = WhyPane()
    pane.panel = WHY
    pane.action_move(5)
    before = text_of(pane.lines(100, 10)[0])
    pane.update_panel(WhyPanel(verdict=WHY.verdict, since="for 1:13", rules=WHY.rules))
    assert text_of(pane.lines(100, 10)[0]) == before


@pytest.mark.parametrize("width", [1, 8, 20, 40, 80, 132, 200])
def test_lines_fit_every_width_and_are_ascii_where_the_glyphs_are(width: int) -> None:
    assert texts(WHY, width)
    assert all(line.replace("…", "~").isascii() for line in texts(WHY, width, ASCII))
