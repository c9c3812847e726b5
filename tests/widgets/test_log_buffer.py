"""The buffer of log lines and its search."""

from widgets.log_buffer import LogBuffer
from widgets.values import LogLine


def lines(first: int, last: int, text: str = "line") -> list[LogLine]:
    """Return lines with these numbers, both included."""
    return [LogLine(number, f"{text} {number}") for number in range(first, last + 1)]


def test_a_jump_in_the_numbers_is_told_by_a_line_of_its_own() -> None:
    buffer = LogBuffer()
    buffer.extend(lines(1, 2))
    added = buffer.extend(lines(10, 10))
    assert added == 2
    assert buffer[2].text == "(7 lines not shown here)"
    assert buffer[3].text == "line 10"


def test_the_first_number_may_be_any() -> None:
    buffer = LogBuffer()
    buffer.extend(lines(500, 500))
    assert buffer.end == 1


def test_positions_stay_true_while_old_lines_fall_out() -> None:
    buffer = LogBuffer(keep=100)
    for number in range(1000):
        buffer.extend([LogLine(number, f"line {number}")])
    assert 100 <= buffer.end - buffer.first <= 110
    assert buffer[buffer.first].text == f"line {buffer.first}"
    assert buffer[999].text == "line 999"


def test_what_could_move_the_cursor_is_not_kept() -> None:
    buffer = LogBuffer()
    buffer.extend([LogLine(1, "a\tb\x1b[2J")])
    assert buffer[0].text == "a       b?[2J"


def test_a_search_finds_lines_that_came_before_and_after_it() -> None:
    buffer = LogBuffer()
    buffer.extend([LogLine(1, "one ERROR"), LogLine(2, "two")])
    buffer.search("error")
    buffer.extend([LogLine(3, "three"), LogLine(4, "Error four")])
    assert buffer.matches == [0, 3]


def test_capitals_count_only_when_asked_for() -> None:
    buffer = LogBuffer()
    buffer.extend([LogLine(1, "one ERROR"), LogLine(2, "an error")])
    buffer.search("ERROR")
    assert buffer.matches == [0]
    buffer.search("[")
    assert buffer.matches == []


def test_matches_go_round_at_both_ends_and_fall_out_with_their_lines() -> None:
    buffer = LogBuffer(keep=10)
    buffer.search("5")
    buffer.extend(lines(0, 9))
    assert buffer.stop_after(5) == 5
    buffer.extend(lines(10, 16))
    assert buffer.matches == [15]
    assert buffer.stop_before(15) == buffer.stop_after(15) == 15
    buffer.search("nowhere")
    assert buffer.stop_after(0) is buffer.stop_before(0) is None


def test_marks_fall_out_with_their_lines() -> None:
    buffer = LogBuffer(10)
    buffer.extend([LogLine(number, "x", mark=number % 2 == 0) for number in range(1, 31)])
    assert buffer.first >= 18
    assert all(buffer[position].mark for position in buffer.marks)
    assert min(buffer.marks) >= buffer.first


def test_a_line_is_found_by_its_number_also_behind_a_jump() -> None:
    buffer = LogBuffer()
    buffer.extend([LogLine(1, "a"), LogLine(2, "b"), LogLine(9, "c")])
    found = [buffer.position_of(number) for number in (1, 2, 9)]
    assert [buffer[position].text for position in found if position is not None] == ["a", "b", "c"]
    assert buffer.position_of(5) is None
