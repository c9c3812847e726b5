"""The table of sentences."""

import string

import pytest

from tui.transport.faults import TABLE, fault

CLASSES = {"usage", "dns", "refused", "auth", "host_key", "timeout", "no_python", "agent", "lost"}


@pytest.mark.parametrize("row", sorted(TABLE))
def test_every_row_makes_one_clean_sentence_with_a_known_class(row: str) -> None:
    entry = TABLE[row]
    places = {name for _, name, _, _ in string.Formatter().parse(entry.text) if name}
    made = fault(row, **dict.fromkeys(places, "va\nl\x1b[31mue"))
    assert made.fault == entry.fault
    assert entry.fault in CLASSES
    assert made.sentence.isprintable()
    assert not made.sentence.endswith(".")
    assert made.sentence.count("value") >= len(places)


def test_only_what_may_pass_by_itself_is_tried_again() -> None:
    for entry in TABLE.values():
        assert not entry.retry or entry.fault in {"refused", "timeout", "lost"}, entry


def test_a_long_value_is_cut() -> None:
    made = fault("lost", where="gpu7", why="x" * 5000)
    assert len(made.sentence) < 1000
