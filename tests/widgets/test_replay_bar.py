"""The line that says where a replay stands."""

from dataclasses import replace

import pytest

from widgets.glyphs import ASCII
from widgets.lines import text_of, width_of
from widgets.replay_bar import ReplayBar
from widgets.values import ReplayPanel

PANEL = ReplayPanel("REPLAY", "10x", "0:41", length="3:12", fraction=0.25, following="capture in 0:17")


def line(panel: ReplayPanel | None, width: int) -> str:
    """Return the line as text, "" where there is none."""
    bar = ReplayBar()
    bar.panel = panel
    return "".join(text_of(each) for each in bar.lines(width, 1))


def test_it_says_what_is_played_how_fast_when_and_what_comes() -> None:
    text = line(PANEL, 80)
    assert text.split() == [
        "REPLAY", "10x", "0:41", "/", "3:12", text.split()[5], "capture", "in", "0:17",
    ]  # fmt: skip
    assert len(text) == 80


def test_the_bar_is_as_full_as_the_recording_is_played() -> None:
    bar = line(PANEL, 80).split()[5]
    assert bar.count("━") == round(0.25 * len(bar))


def test_a_recording_of_unknown_length_has_no_bar() -> None:
    text = line(replace(PANEL, length="", fraction=None), 80)
    assert "━" not in text
    assert "/" not in text


def test_a_narrow_screen_keeps_what_is_now() -> None:
    assert line(PANEL, 24).startswith(" REPLAY  10x 0:41")


def test_without_a_replay_nothing_is_drawn() -> None:
    assert line(None, 80) == ""


def test_it_is_ascii_where_the_glyphs_are() -> None:
    bar = ReplayBar(glyphs=ASCII)
    bar.panel = PANEL
    assert text_of(bar.lines(80, 1)[0]).isascii()


def test_control_characters_of_a_recording_are_not_drawn() -> None:
    assert "\x1b" not in line(replace(PANEL, caption="a\x1b[2Jb", following="x\x07"), 80)


@pytest.mark.parametrize("width", range(1, 160, 7))
def test_it_is_never_wider_than_the_screen(width: int) -> None:
    bar = ReplayBar()
    bar.panel = PANEL
    assert all(width_of(each) <= width for each in bar.lines(width, 1))
