"""Which rows of the log stand on the screen."""

from hypothesis import given, settings
from hypothesis import strategies as st

from widgets.log_buffer import LogBuffer
from widgets.log_window import LogWindow
from widgets.values import LogLine


def window(count: int, height: int = 5, *, width: int = 10, keep: int = 1000, long: int = 0) -> LogWindow:
    """Return a window over so many lines; each is its number, repeated to a length of ``long``."""
    buffer = LogBuffer(keep)
    made = LogWindow(buffer)
    made.resize(width, height)
    grow(made, count, long)
    return made


def grow(made: LogWindow, count: int, long: int = 0) -> None:
    """Append lines."""
    start = made.buffer.end
    texts = ((number, str(number)) for number in range(start, start + count))
    made.buffer.extend([LogLine(number, text * max(1, long // len(text))) for number, text in texts])


def seen(made: LogWindow) -> list[int]:
    """Return the positions of the rows."""
    return [row.position for row in made.visible()]


def test_it_follows_the_newest_lines() -> None:
    made = window(3)
    assert seen(made) == [0, 1, 2]
    grow(made, 10)
    assert seen(made) == [8, 9, 10, 11, 12]


def test_a_held_window_stands_still_while_lines_arrive() -> None:
    made = window(20)
    made.hold()
    grow(made, 50)
    assert seen(made) == [15, 16, 17, 18, 19]
    assert made.cursor == 19


def test_the_cursor_pushes_the_window_up_and_down() -> None:
    made = window(20)
    made.move(-1)
    assert (made.cursor, seen(made)[0]) == (18, 15)
    made.move(-5)
    assert (made.cursor, seen(made)) == (13, [13, 14, 15, 16, 17])
    made.move(+5)
    assert (made.cursor, seen(made)) == (18, [14, 15, 16, 17, 18])


def test_going_below_the_newest_line_follows_again() -> None:
    made = window(20)
    made.move(-1)
    made.move(1)
    assert not made.follows
    made.move(1)
    assert made.follows


def test_scrolling_to_the_end_follows_again_and_to_the_start_stops_there() -> None:
    made = window(20)
    made.scroll(-100)
    assert seen(made) == [0, 1, 2, 3, 4]
    made.scroll(3)
    assert (seen(made)[0], made.follows) == (3, False)
    made.scroll(100)
    assert made.follows


def test_a_held_window_moves_on_when_its_lines_fall_out() -> None:
    made = window(20, keep=20)
    made.go_to(0)
    grow(made, 200)
    first = made.buffer.first
    assert first > 100
    assert seen(made) == [first, first + 1, first + 2, first + 3, first + 4]
    assert made.cursor == first


def test_long_lines_take_several_rows_when_wrapped() -> None:
    made = window(10, long=25)
    made.toggle_wrap()
    assert [(row.position, row.start) for row in made.visible()] == [
        (8, 10),
        (8, 20),
        (9, 0),
        (9, 10),
        (9, 20),
    ]


def test_a_line_longer_than_the_screen_is_scrolled_through_row_by_row() -> None:
    made = window(3, long=200)
    made.toggle_wrap()
    made.go_to(1)
    assert [row.start for row in made.visible()] == [0, 10, 20, 30, 40]
    made.scroll(2)
    assert [row.start for row in made.visible()] == [20, 30, 40, 50, 60]
    made.scroll(-1)
    assert [row.start for row in made.visible()] == [10, 20, 30, 40, 50]


def test_sideways_goes_by_half_pages_and_not_beyond_the_start() -> None:
    made = window(1, long=100)
    made.shift(3)
    assert made.visible()[0].start == 15
    made.shift(-9)
    assert made.visible()[0].start == 0


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["move", "scroll", "grow", "wrap", "go", "size"]), st.integers(-30, 30))
    )
)
def test_any_walk_leaves_a_full_window_of_rows_in_order(steps: list[tuple[str, int]]) -> None:
    made = window(30, keep=40, long=25)
    for what, amount in steps:
        if what == "grow":
            grow(made, abs(amount), 25)
        elif what == "wrap":
            made.toggle_wrap()
        elif what == "go":
            made.go_to(abs(amount))
        elif what == "size":
            made.resize(max(2, abs(amount)), made.height)
        else:
            made.move(amount) if what == "move" else made.scroll(amount)
        rows = made.visible()
        assert len(rows) == made.height
        assert rows == sorted(rows)
        if not made.follows and what in ("move", "go"):
            assert made.cursor in seen(made)
