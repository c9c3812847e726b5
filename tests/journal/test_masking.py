"""What goes into a bundle is cleaned and masked, and no text in it is endless."""

import pytest

from tui.journal.masking import LONGEST, Masking

KEY = "sk-abcdefghijklmnop1234567890"


def test_a_text_up_to_the_limit_stays_whole() -> None:
    text = "x" * LONGEST
    assert Masking().text("sentence", text) == text
    assert Masking().texts("lines", [text, "y"]) == [text, "y"]


@pytest.mark.parametrize("hide", [True, False])
def test_a_longer_one_is_cut_and_says_so(hide: bool) -> None:
    text = "/a" * 1_000_000
    masking = Masking(hide=hide)
    once = masking.text("sentence", text)
    assert once.endswith(" (cut here: 2,000,000 characters)")
    assert len(once) == LONGEST
    assert masking.texts("lines", ["b", text]) == ["b", once]
    assert masking.texts("argv", ["b", text]) == ["b", once]
    assert masking.pairs("environment", {"A": text, "B": "c"}) == {"A": once, "B": "c"}
    assert Masking(hide=hide).text("sentence", once) == once


@pytest.mark.parametrize("before", range(LONGEST - 80, LONGEST + 1, 8))
def test_no_half_of_a_secret_is_left_at_the_cut(before: int) -> None:
    text = "x" * (before - 1) + f" {KEY} " + "y" * LONGEST
    masking = Masking()
    assert "sk-a" not in masking.text("sentence", text)
    assert "sk-a" not in masking.texts("lines", [text])[0]
