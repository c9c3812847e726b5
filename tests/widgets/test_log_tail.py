"""The log pane as text."""

from textual.geometry import Offset
from textual.selection import Selection

from widgets.lines import text_of, width_of
from widgets.log_tail import LogTail
from widgets.values import LogLine, LogPanel, Mood


def tail(*texts: str, title: str = "/var/log/x.log", unfinished: str = "") -> LogTail:
    """Return a pane with these lines."""
    made = LogTail()
    made.panel = LogPanel(title, tail=unfinished)
    made.extend([LogLine(number, text) for number, text in enumerate(texts)])
    return made


def texts(made: LogTail, width: int = 40, height: int = 6) -> list[str]:
    """Return the lines as text."""
    return [text_of(line) for line in made.lines(width, height)]


def test_the_newest_lines_and_the_unfinished_one_are_shown() -> None:
    made = tail(*(f"line {number}" for number in range(20)), unfinished="Loading 46%")
    assert texts(made)[1:] == ["line 16", "line 17", "line 18", "line 19", "Loading 46%"]
    assert texts(made)[0] == " 3 Log  /var/log/x.log           follow "


def test_holding_moves_no_line_and_the_unfinished_one_goes_on() -> None:
    made = tail(*(f"line {number}" for number in range(20)), unfinished="Loading 46%")
    before = [text.rstrip() for text in texts(made)[1:]]
    made.toggle_follow()
    made.panel = LogPanel("", tail="Loading 47%")
    after = [text.rstrip() for text in texts(made)[1:]]
    assert after[:4] == before[:4]
    assert after[4] == "Loading 47%"


def test_no_log_says_why() -> None:
    made = LogTail()
    made.panel = LogPanel("", sentence="the server writes to a terminal: there is no file to read")
    assert " ".join(" ".join(texts(made)[1:]).split()) == made.panel.sentence


def test_a_held_pane_counts_what_arrives_meanwhile() -> None:
    made = tail("w", "x", "y", "z", "a", "b")
    assert made.toggle_follow() == "held; f follows again"
    made.extend([LogLine(number, "new") for number in range(6, 18)])
    assert "held, 12 new: f follows" in texts(made, 80)[0]
    assert [text.rstrip() for text in texts(made)[1:]] == ["x", "y", "z", "a", "b"]
    assert made.toggle_follow() == "following the newest lines"
    assert texts(made)[-1] == "new"
    assert "held" not in texts(made)[0]


def test_a_long_line_is_cut_with_a_mark_and_moved_along() -> None:
    made = tail("0123456789" * 10)
    assert texts(made, 20)[1] == "0123456789012345678→"
    made.window.shift(1)
    assert texts(made, 20)[1] == "0123456789012345678→"
    made.window.shift(8)
    assert texts(made, 20)[1] == "0123456789"
    assert "column 91" in texts(made, 60)[0]


def test_wide_characters_never_overrun_the_pane() -> None:
    made = tail("日本語" * 30, "a日本語" * 30)
    for width in range(9, 60):
        for wrap in (False, True):
            made.window.wrap = wrap
            assert all(width_of(line) <= width for line in made.lines(width, 8))


def test_markup_in_a_line_is_just_text() -> None:
    assert (
        texts(tail("[bold]not[/nope] [@click=app.quit]x[/]"), 60)[1]
        == "[bold]not[/nope] [@click=app.quit]x[/]"
    )


def test_matches_stand_out_and_are_counted() -> None:
    made = tail("an error", "fine", "ERROR error")
    assert made.search("error") == ""
    lines = made.lines(60, 6)
    assert "'error' 2 of 2" in text_of(lines[0])
    assert [span.text for span in lines[3] if span.role == "match"] == ["ERROR", "error"]
    assert [span.text for span in lines[1] if span.role == "match"] == ["error"]
    made.step(-1)
    assert "'error' 1 of 2" in texts(made, 60)[0]
    made.step(-1)
    assert made.window.cursor == 2


def test_a_match_across_the_cut_is_marked_as_far_as_it_is_seen() -> None:
    made = tail("x" * 17 + "needle")
    made.search("needle")
    assert [span.text for span in made.lines(20, 3)[1] if span.role == "match"] == ["ne"]


def test_a_search_without_result_says_so_and_stays_following() -> None:
    made = tail("a", "b")
    assert made.search("zzz") == "no line holds 'zzz' so far"
    assert made.window.follows
    assert made.step(1) == "no line holds it so far"
    made.search("")
    assert made.step(1) == "no line began a phase so far; / searches"


def test_lines_that_come_later_are_found() -> None:
    made = tail("a")
    made.search("boom")
    made.extend([LogLine(1, "boom")])
    assert "'boom' in 1 lines" in texts(made, 60)[0]
    made.step(1)
    assert made.window.cursor == 1


def test_the_current_line_is_the_newest_or_the_one_under_the_cursor() -> None:
    made = tail("a", "b", "c")
    assert made.current_text() == "c"
    made.window.move(-1)
    assert made.current_text() == "b"
    assert LogTail().current_text() is None


def test_what_the_mouse_selects_is_taken_by_line_and_character() -> None:
    made = tail("first line", "second line", "third line")
    assert made.get_selection(Selection(Offset(6, 0), Offset(6, 1))) == ("line\nsecond", "\n")
    assert made.get_selection(Selection(Offset(0, 2), Offset(5, 2))) == ("third", "\n")
    assert made.get_selection(Selection(None, None)) == ("first line\nsecond line\nthird line", "\n")
    made.selection_updated(Selection(Offset(6, 0), Offset(6, 1)))
    assert not made.window.follows
    assert [span.text for line in made.lines(40, 5) for span in line if span.role == "selection"] == [
        "line",
        "second",
    ]


def test_an_error_has_its_own_role_and_plain_text_none() -> None:
    made = LogTail()
    made.extend([LogLine(0, "bad", Mood.BAD), LogLine(1, "fine")])
    lines = made.lines(40, 4)
    assert [line[0].role for line in lines[1:]] == ["bad", "text"]


def marked(*marks: int) -> LogTail:
    """Return a pane with ten lines, some of which are marks."""
    made = LogTail()
    made.extend([LogLine(number, f"line {number}", mark=number in marks) for number in range(1, 11)])
    return made


def test_n_goes_through_the_marks_while_nothing_is_searched_for() -> None:
    made = marked(3, 7)
    seen: list[str | None] = []
    for direction in (-1, -1, 1, 1):
        assert made.step(direction) == ""
        seen.append(made.current_text())
    assert seen == ["line 7", "line 3", "line 7", "line 3"]


def test_the_title_says_at_which_mark_one_stands() -> None:
    made = marked(3, 7)
    made.step(-1)
    assert "mark 2 of 2" in texts(made, 60)[0]
    made.search("line")
    assert "mark" not in texts(made, 60)[0]


def test_a_search_takes_the_steps_over_until_it_is_left() -> None:
    made = marked(3, 7)
    made.search("line 5")
    made.step(-1)
    assert made.current_text() == "line 5"
    made.search("")
    made.step(-1)
    assert made.current_text() == "line 3"


def test_the_fault_is_found_by_its_number() -> None:
    made = marked()
    made.panel = LogPanel("", fault_number=4)
    assert made.show_fault() == ""
    assert made.current_text() == "line 4"


def test_without_a_fault_its_key_says_so() -> None:
    assert marked().show_fault() == "no line tells of a failure"
    made = marked()
    made.panel = LogPanel("", fault_number=99)
    assert "not kept" in made.show_fault()
