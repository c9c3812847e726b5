"""Bars and histories."""

import pytest

from widgets import chart
from widgets.glyphs import ASCII, BLOCK, BRAILLE, SETS, Glyphs
from widgets.values import Mood


@pytest.mark.parametrize("glyphs", SETS.values(), ids=SETS.keys())
@pytest.mark.parametrize("fraction", [-1.0, 0.0, 0.333, 0.5, 0.999, 1.0, 7.0])
def test_a_bar_fills_its_cells_whatever_the_fraction(glyphs: Glyphs, fraction: float) -> None:
    assert len("".join(chart.bar(fraction, 13, glyphs))) == 13


def test_a_bar_tells_half_a_cell() -> None:
    assert chart.bar(0.5, 4, BLOCK) == ("━━", "──")
    assert chart.bar(0.625, 4, BLOCK) == ("━━╸", "─")
    assert chart.bar(0.5, 4, ASCII) == ("##", "..")


def test_a_history_has_a_fixed_range_so_that_a_steady_value_is_flat() -> None:
    assert chart.history([97.0, 98.0, 97.5, 98.2], 4, BLOCK) == "████"
    assert chart.history([2.0, 3.0, 2.5, 3.1], 4, BLOCK) == "▁▁▁▁"


def test_a_history_is_blank_where_nothing_was_read() -> None:
    assert chart.history([None, 0.0, None, 100.0], 6, BLOCK) == "   ▁ █"
    assert chart.history([], 3, BLOCK) == "   "


def test_the_newest_readings_stay_when_there_are_more_than_cells() -> None:
    assert chart.history([0.0] * 50 + [100.0], 3, BLOCK) == "▁▁█"


def test_braille_puts_two_readings_into_a_cell() -> None:
    assert chart.history([0.0, 100.0, 100.0, 100.0], 2, BRAILLE) == "⣸⣿"
    assert chart.history([100.0], 2, BRAILLE) == " ⢸"


def test_plain_glyphs_are_ascii_and_each_mood_has_its_own() -> None:
    moods = "".join(ASCII.moods.values())
    assert (
        ASCII.full + ASCII.track + ASCII.levels + ASCII.ellipsis + ASCII.more + ASCII.dot + moods
    ).isascii()
    for glyphs in SETS.values():
        assert len(set(glyphs.moods.values())) == len(Mood)
