"""The shell's output taken apart, wherever the link cuts it; and its clocks."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.transport.plain_shell.backlog import BACKLOG_BYTES, Backlog
from tui.transport.plain_shell.clock import seconds
from tui.transport.plain_shell.frames import Frames, Said

MARK = b"0123456789abcdef"


def taken_apart(chunks: list[bytes]) -> tuple[list[Said], bytes]:
    frames = Frames(MARK)
    parts = [part for chunk in chunks for part in frames.feed(chunk)]
    said = [part for part in parts if isinstance(part, Said)]
    return said, b"".join(part for part in parts if isinstance(part, bytes))


@given(st.lists(st.integers(0, 200), max_size=12))
def test_wherever_the_output_is_cut_lines_and_log_are_told_apart(cuts: list[int]) -> None:
    row = MARK + b" g 1.0 0, GPU-1\n"
    output = MARK + b" r\nhalf a li" + row + b"ne 0123456789abcde\n" + MARK + b" e 1 2 1 2\nrest"
    places = [0, *sorted(min(cut, len(output)) for cut in cuts), len(output)]
    chunks = [output[begin:end] for begin, end in pairwise(places)]

    said, data = taken_apart(chunks)

    assert said == [Said("r", ""), Said("g", "1.0 0, GPU-1"), Said("e", "1 2 1 2")]
    assert data == b"half a line 0123456789abcde\nrest"


def test_the_marks_first_letters_in_a_log_are_the_logs() -> None:
    assert taken_apart([MARK + b"x\n", MARK[:5] + b"\n"]) == ([], MARK + b"x\n" + MARK[:5] + b"\n")


@pytest.mark.parametrize(
    ("text", "value"),
    [("1796039246.%N", 1796039246.0), ("12.50", 12.5), ("7", 7.0), ("", None), ("-1", None), ("x", None)],
)
def test_a_time_that_is_none_is_not_known(text: str, value: float | None) -> None:
    assert seconds(text) == value


def test_a_log_that_was_never_read_begins_at_the_first_line_of_its_last_start() -> None:
    backlog = Backlog(40, [re.compile(rb"server_args=")])
    backlog.data += b"server_args=1\nold\nserver_args=2\nnew\n"

    assert bytes(backlog.data[backlog.start().offset :]) == b"server_args=2\nnew\n"


def test_of_a_large_log_the_end_is_read_from_a_whole_line_on() -> None:
    backlog = Backlog(BACKLOG_BYTES + 100, [])
    backlog.data += b"half\nwhole\n"

    assert (backlog.begin, backlog.start().offset, backlog.start().skipped_bytes) == (100, 5, 105)
