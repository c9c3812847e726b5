"""What is decided about a terminal before the screen starts, and what is sent to it besides the picture."""

import base64
from dataclasses import replace

import pytest

from tui import terminal
from tui.terminal import Facts

GOOD = Facts(
    input_is_tty=True, output_is_tty=True, term="xterm-256color", encoding="utf-8", columns=80, rows=24
)


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        (replace(GOOD, input_is_tty=False), "standard input is no terminal"),
        (replace(GOOD, output_is_tty=False), "the output is no terminal"),
        (replace(GOOD, term="dumb"), "TERM=dumb"),
        (replace(GOOD, term=""), "TERM is not set"),
        (replace(GOOD, columns=39), "the terminal is 39x24, and the screen needs 40x8"),
        (replace(GOOD, rows=7), "the terminal is 80x7"),
    ],
)
def test_a_terminal_that_will_not_do_is_refused_in_one_line_with_a_way_out(facts: Facts, words: str) -> None:
    sentence = terminal.refusal(facts)
    assert sentence is not None
    assert words in sentence
    assert "tminus wait" in sentence
    assert "\n" not in sentence


def test_an_ordinary_terminal_is_taken_also_with_another_encoding() -> None:
    assert terminal.refusal(GOOD) is None
    assert terminal.refusal(replace(GOOD, encoding="iso8859-1")) is None


def test_without_utf8_the_glyphs_are_ascii_and_that_is_said_once() -> None:
    assert terminal.glyph_choice(None, GOOD) == ("block", "")
    assert terminal.glyph_choice("braille", GOOD) == ("braille", "")
    latin = replace(GOOD, encoding="ISO-8859-1")
    assert terminal.glyph_choice("braille", latin)[0] == "ascii"
    assert "ISO-8859-1" in terminal.glyph_choice(None, latin)[1]
    assert terminal.glyph_choice("ascii", latin) == ("ascii", "")


@pytest.mark.parametrize(
    ("environ", "asked", "name"),
    [
        ({"TERM": "xterm-256color"}, None, "tminus-dark"),
        ({"TERM": "xterm-256color", "COLORFGBG": "0;15"}, None, "tminus-light"),
        ({"TERM": "xterm"}, None, "tminus-ansi-dark"),
        ({"TERM": "xterm", "COLORTERM": "truecolor"}, None, "tminus-dark"),
        ({"TERM": "linux", "COLORFGBG": "0;default;15"}, None, "tminus-ansi-light"),
        ({"TERM": "xterm"}, "tminus-light", "tminus-light"),
        ({"TERM": "xterm-256color", "NO_COLOR": ""}, "tminus-light", "tminus-ansi-dark"),
        ({"TERM": "xterm-256color", "TEXTUAL_COLOR_SYSTEM": "standard"}, None, "tminus-ansi-dark"),
    ],
)
def test_the_theme_fits_the_colours_there_are(environ: dict[str, str], asked: str | None, name: str) -> None:
    assert terminal.theme_choice(asked, environ) == name


def test_a_copied_text_is_sent_whole_and_called_sent() -> None:
    sequence, sentence = terminal.copy_sequence("line\nzwei ü", {})
    assert sequence.startswith("\x1b]52;c;")
    assert base64.b64decode(sequence[7:-1]).decode() == "line\nzwei ü"
    assert sentence == "sent to terminal (11 characters, OSC 52)"


def test_too_long_a_text_is_not_sent() -> None:
    sequence, sentence = terminal.copy_sequence("x" * 60_000, {})
    assert sequence == ""
    assert sentence.startswith("not sent: 60000 characters")


def test_multiplexers_are_named_with_what_they_need() -> None:
    assert "set-clipboard on" in terminal.copy_sequence("x", {"TMUX": "/tmp/tmux,1,0"})[1]
    assert "GNU screen does not" in terminal.copy_sequence("x", {"STY": "1.pts"})[1]


def test_a_title_cannot_carry_a_sequence_of_its_own() -> None:
    assert terminal.title_sequence("gpu01\x07\x1b]0;evil\x9c") == "\x1b]2;gpu01]0;evil\x07"


def test_a_closed_descriptor_is_a_lost_terminal() -> None:
    assert terminal.is_lost(-1)
