"""The top line as text."""

from dataclasses import replace

import pytest

from widgets.header_bar import HeaderBar
from widgets.lines import text_of, width_of
from widgets.values import Header, Mood

HEADER = Header(
    "gpu01", "sglang 0.5.6", "Qwen3-235B-A22B-Instruct-2507-FP8", "T+ 3:12", "LOADING", Mood.ACTIVE
)


def line(header: Header, width: int) -> str:
    """Return the line as text."""
    bar = HeaderBar()
    bar.header = header
    return text_of(bar.lines(width, 1)[0])


def test_all_of_it_stands_in_eighty_cells() -> None:
    text = line(HEADER, 80)
    assert text.startswith(" gpu01 · sglang 0.5.6 · Qwen3-235B-A22B-Instruct-2507-FP8 ")
    assert text.endswith(" T+ 3:12  ► LOADING ")
    assert len(text) == 80


def test_clock_and_phase_stay_when_the_model_has_no_room() -> None:
    assert line(HEADER, 50).startswith(" gpu01 · sglang 0.5.6 · Qwen")
    assert line(HEADER, 44).endswith("T+ 3:12  ► LOADING ")


def test_pause_and_link_are_said_in_words() -> None:
    text = line(replace(HEADER, paused=True, link="stale 7 s"), 100)
    assert "stale 7 s" in text
    assert "PAUSED" in text


def test_what_is_not_known_leaves_no_gap() -> None:
    text = line(Header("gpu01", "", "", "", "CONNECTING", Mood.WAITING), 60)
    assert text.split() == ["gpu01", "◌", "CONNECTING"]


def test_the_hosts_own_name_stands_beside_the_one_that_was_typed_where_there_is_room() -> None:
    header = replace(HEADER, host="gpu7", own="ip-10-0-0-3", model="Qwen3-8B")
    assert line(header, 80).startswith(" gpu7 (ip-10-0-0-3) · sglang 0.5.6 · Qwen3-8B ")
    assert line(header, 56).startswith(" gpu7 · sglang 0.5.6 · Qwen3-8B ")


def test_a_long_name_is_whole_where_nothing_else_needs_the_room() -> None:
    name = "inference-gpu-node-01.lab.example.org"
    assert line(Header(name, "", "", "", "no server", Mood.IDLE), 80).startswith(f" {name} ")
    assert line(replace(HEADER, host=name), 80).startswith(" inference-gpu-node-01.lab.ex")


@pytest.mark.parametrize("width", range(1, 200, 5))
def test_the_line_is_never_wider_than_the_screen_where_phase_and_clock_fit(width: int) -> None:
    bar = HeaderBar()
    bar.header = HEADER
    assert width_of(bar.lines(width, 1)[0]) <= max(width, 20)
