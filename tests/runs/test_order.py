"""Which configuration is due next."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.runs.order import Letter, apart, due_next, letters


def test_from_nothing_the_order_is_a_b_b_a_and_then_its_mirror() -> None:
    order: list[Letter] = []
    for _ in range(8):
        due = due_next(order).which
        assert due != ""
        order.append(due)

    assert "".join(order) == "ABBABAAB"


@pytest.mark.parametrize(
    ("order", "due", "why"),
    [
        ("AAA", "B", "it has 0 instances, the other 3"),
        ("AAAB", "B", "it has 1 instance, the other 3"),
        ("AAABBB", "A", "all its instances came first"),
        ("BBBAAA", "B", "all its instances came first"),
        ("AAABBBA", "B", "it has 3 instances, the other 4"),
        ("ABAB", "B", "the order A B B A"),
    ],
)
def test_the_side_with_fewer_is_due_and_among_equals_the_one_that_undoes_a_drift(
    order: str, due: str, why: str
) -> None:
    found = due_next(as_letters(order))

    assert found.which == due
    assert found.why.startswith(why)


def test_what_is_settled_needs_no_more_but_against_a_drift() -> None:
    assert due_next(as_letters("ABBAAB"), settled=True).which == ""
    assert due_next(as_letters("AAABBBB"), settled=True).which == "A"
    assert due_next(as_letters("AAABBBBA"), settled=True).which == ""


@given(st.lists(st.sampled_from("AB"), max_size=7))
def test_whatever_came_the_sides_become_equal_and_alternate(begun: list[str]) -> None:
    order = as_letters("".join(begun))
    for _ in range(10):
        which = due_next(order).which
        assert which != ""
        order.append(which)
    if len(order) % 2:
        last = due_next(order).which
        assert last != ""
        order.append(last)

    assert order.count("A") == order.count("B")
    assert apart(order) is None


def test_the_order_is_that_of_the_starts() -> None:
    assert letters([3.0, 1.0], [2.0]) == ("A", "B", "A")
    assert apart(letters([1.0, 2.0], [3.0])) == "A"
    assert apart(letters([1.0], [])) is None


def as_letters(order: str) -> list[Letter]:
    return ["A" if each == "A" else "B" for each in order]
