"""Text measured in cells."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widgets import cells


@pytest.mark.parametrize(
    ("text", "room", "clipped"),
    [
        ("loading", 7, "loading"),
        ("loading", 6, "loadi…"),
        ("日本語", 6, "日本語"),
        ("日本語", 5, "日本…"),
        ("日本語", 4, "日…"),
        ("a", 0, ""),
        ("日", 1, "…"),
        ("", 3, ""),
    ],
)
def test_text_is_cut_to_cells_and_says_so(text: str, room: int, clipped: str) -> None:
    assert cells.clip(text, room) == clipped


@given(st.text(), st.integers(0, 40))
def test_padded_text_takes_exactly_its_cells(text: str, room: int) -> None:
    assert cells.width(cells.left(text, room)) == room
    assert cells.width(cells.right(text, room)) == room


@given(st.text())
def test_plain_text_holds_nothing_that_moves_the_cursor(text: str) -> None:
    assert cells.plain(text).isprintable()


def test_tabs_stop_at_eighth_cells_also_after_wide_characters() -> None:
    assert cells.plain("a\tb\t\tc") == "a       b               c"
    assert cells.plain("日本\tx") == "日本    x"


def test_joiners_are_dropped_and_controls_shown() -> None:
    assert cells.plain("\U0001f469‍\U0001f680 \x1b[2J") == "\U0001f469\U0001f680 ?[2J"


def test_a_long_line_is_cropped_before_it_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[str] = []
    real = cells.get_character_cell_size

    def counting(character: str) -> int:
        measured.append(character)
        return real(character)

    monkeypatch.setattr(cells, "get_character_cell_size", counting)
    assert cells.width(cells.clip("語" * 65_536, 80)) == 79
    assert len(measured) < 1_000


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"])), st.integers(2, 30))
def test_wrapped_rows_fit_and_lose_nothing(text: str, room: int) -> None:
    starts = cells.row_starts(text, room)
    rows = [text[start:end] for start, end in zip(starts, (*starts[1:], len(text)), strict=True)]
    assert "".join(rows) == text
    assert all(cells.width(row) <= room for row in rows)
