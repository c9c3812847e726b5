"""Benchmark, notes, status line, footer and scrolled text."""

import pytest

from widgets import bench_pane
from widgets.bench_pane import BenchPane
from widgets.key_footer import KeyFooter
from widgets.lines import Line, Span, text_of, width_of
from widgets.notes_pane import NotesPane
from widgets.pages import Pages
from widgets.status_bar import StatusBar
from widgets.values import BenchPanel, BenchRow, Mood

DONE = BenchPanel(
    "done: 64 of 64",
    Mood.GOOD,
    columns=("mean", "p50"),
    rows=(BenchRow("TTFT ms", ("182.4", "171.0")), BenchRow("requests/s", ("9.4", ""))),
    notes=("measured on the host",),
)


def bench(panel: BenchPanel) -> BenchPane:
    """Return a pane with this panel."""
    made = BenchPane()
    made.panel = panel
    return made


def test_a_result_is_a_table_with_notes_beneath() -> None:
    assert [text_of(line) for line in bench(DONE).lines(60, 9)] == [
        " 4 Bench  ● done: 64 of 64",
        "               mean    p50",
        "  TTFT ms     182.4  171.0",
        "  requests/s    9.4       ",
        "  measured on the host",
    ]
    assert bench_pane.rows_wanted(DONE, 80) == 5


def test_what_has_no_room_is_said() -> None:
    assert [text_of(line) for line in bench(DONE).lines(60, 3)][2] == "  3 more lines: 4 z"
    assert len(bench(DONE).lines(60, 5)) == 5


def test_progress_is_a_bar_with_its_percentage_also_when_folded() -> None:
    running = BenchPanel("running: 32 of 64", Mood.ACTIVE, progress=0.5)
    assert text_of(bench(running).lines(40, 4)[1]) == "  " + "━" * 16 + "─" * 16 + "  50%"
    assert text_of(bench(running).lines(40, 1)[0]).endswith("running: 32 of 64 50%")
    assert bench_pane.is_open(running)
    assert not bench_pane.is_open(BenchPanel("press b"))


@pytest.mark.parametrize("width", range(8, 120, 11))
def test_benchmark_lines_fit_their_width(width: int) -> None:
    for height in (1, 3, 9):
        assert all(width_of(line) <= width for line in bench(DONE).lines(width, height))


def test_notes_show_the_newest_and_hold_when_scrolled() -> None:
    notes = NotesPane()
    assert "nothing to tell yet" in text_of(notes.lines(40, 3)[1])
    for number in range(10):
        notes.add("T+ 0:01", f"note {number}")
    assert [text_of(line).split()[-1] for line in notes.lines(40, 3)] == ["10", "8", "9"]
    notes.action_move(-100)
    assert text_of(notes.lines(40, 3)[1]) == "  T+ 0:01  note 0"


def test_a_note_is_read_whole_and_aligned_under_every_clock() -> None:
    notes = NotesPane()
    notes.add("", "connecting")
    notes.add("up 2 min", "2 servers, choose one with --port: 30000 or 9000")
    assert [text_of(line) for line in notes.lines(40, 6)][1:] == [
        "            connecting",
        "  up 2 min  2 servers, choose one with",
        "            --port: 30000 or 9000",
    ]
    assert all(width_of(line) <= width for width in (1, 12, 30) for line in notes.lines(width, 6))


def test_an_answer_stands_for_its_paints_and_then_the_watch_speaks_again() -> None:
    bar = StatusBar()
    bar.update_sentence("watching")
    bar.answer("held", 2)
    bar.update_sentence("watching")
    assert text_of(bar.lines(40, 1)[0]) == " held"
    bar.update_sentence("watching")
    assert text_of(bar.lines(40, 1)[0]) == " watching"


def test_the_footer_shows_whole_pairs_only() -> None:
    footer = KeyFooter([("q", "quit"), ("Space", "pause")])
    assert text_of(footer.lines(80, 1)[0]) == " q quit  Space pause "
    assert text_of(footer.lines(12, 1)[0]) == " q quit "


class Poem(Pages):
    """Twenty lines."""

    def body(self, width: int) -> list[Line]:
        return [(Span(f"line {number}"),) for number in range(20)]


def test_text_is_moved_through_and_stops_at_its_ends() -> None:
    poem = Poem()
    poem.action_move(5)
    assert text_of(poem.lines(20, 4)[0]) == "line 5"
    poem.action_move(100)
    assert text_of(poem.lines(20, 4)[-1]) == "line 19"
    poem.action_move(-100)
    assert text_of(poem.lines(20, 4)[0]) == "line 0"


def test_a_comparison_is_wrapped_and_what_differs_stands_beneath() -> None:
    told = (
        "cannot tell: needs 2 more instances of the baseline and 1 more of this configuration to say anything"
    )
    panel = BenchPanel(
        "serve: 1,000 output tokens/s",
        Mood.GOOD,
        compared=told,
        differing=(("environment NCCL_ALGO", "Ring", "unset"),),
    )
    pane = BenchPane()
    pane.update_panel(panel)
    lines = [text_of(line).rstrip() for line in pane.lines(60, 20)]
    assert lines[1:] == [
        "  · cannot tell: needs 2 more instances of the baseline and",
        "    1 more of this configuration to say anything",
        "    environment NCCL_ALGO  Ring → unset",
    ]
    assert bench_pane.rows_wanted(panel, 60) == len(lines)
