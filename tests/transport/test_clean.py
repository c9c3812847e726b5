"""Remote text is hostile: what comes out of the edge is printable, whole, and the same however it arrived."""

import re
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.agent import wire
from tui.agent.mask import mask_text
from tui.transport.clean import TAIL_LIMIT, LineCleaner, LineSplitter, clean

ESC = "\x1b"
# Visible although Unicode files them under "format": signs that stand before Arabic and Syriac numbers.
VISIBLE_FORMATS = "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
HOSTILE = st.text(
    st.one_of(
        st.sampled_from("\x1b\x9b\x9d\x90\x9c\x07[]P^_X\\;0m\r\n\t \u202e\u200b\ufeff\ud800ab"),
        st.characters(),
        st.characters(categories=["Cs", "Cf", "Cc", "Zl", "Zp"]),
    ),
    max_size=200,
)
CHUNKS = st.lists(
    st.one_of(
        st.binary(max_size=12),
        st.sampled_from(
            [
                b"\r",
                b"\n",
                b"\r\n",
                b"\xe2\x96\x88",
                b"\x1b[31m",
                b"\x1b]0;title\x07",
                b"\x1b",
                b"line",
                b"\x9b",
            ]
        ),
    ),
    max_size=30,
)


def lines_of(chunks: list[bytes]) -> tuple[list[str], list[int], str]:
    """Feed chunks one by one and return all lines, the indexes of returns, and the last tail."""
    splitter = LineSplitter()
    lines: list[str] = []
    returns: list[int] = []
    tail = ""
    for chunk in chunks:
        split = splitter.feed(chunk)
        returns += [len(lines) + index for index in split.returns]
        lines += split.lines
        tail = split.tail
    return lines, returns, tail


@given(HOSTILE)
def test_cleaned_text_has_no_control_and_no_hiding_character(text: str) -> None:
    for character in clean(text):
        unwanted = unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"}
        assert not unwanted or character in VISIBLE_FORMATS


def test_every_character_that_only_hides_or_moves_text_is_dropped() -> None:
    for code in range(0x110000):
        character = chr(code)
        if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"} and character != "\t":
            assert clean(character) == ("" if character not in VISIBLE_FORMATS else character), hex(code)


@given(HOSTILE)
def test_cleaning_twice_changes_nothing_more(text: str) -> None:
    assert clean(clean(text)) == clean(text)


@given(st.text(st.characters(exclude_categories=["Cc", "Cf", "Cn", "Cs", "Zl", "Zp", "Mn"]), max_size=200))
def test_printable_text_is_kept(text: str) -> None:
    assert clean(text) == text


@pytest.mark.parametrize(
    ("dirty", "cleaned"),
    [
        (f"{ESC}[0;36m(APIServer pid=1){ESC}[0;0m INFO", "(APIServer pid=1) INFO"),
        (f"{ESC}[38:2::10:20:30mcolour{ESC}[K", "colour"),
        (f"{ESC}]0;title\x07text", "text"),
        (f"{ESC}]8;;http://x{ESC}\\link{ESC}]8;;{ESC}\\!", "link!"),
        (f"{ESC}P1$r0m{ESC}\\a{ESC}_app{ESC}\\b{ESC}^pm{ESC}\\c{ESC}Xsos{ESC}\\d", "abcd"),
        ("\x9b31mred\x9d0;title\x9cend", "redend"),
        (f"{ESC}(Bplain{ESC}7{ESC}c", "plain"),
        ("a\tb", "a   b"),
        ("\u202eevil\u202c \u2066x\u2069 \u200fa\u200b\ufeffb", "evil x ab"),
        ("bell\x07 back\x08 nul\x00 del\x7f", "bell back nul del"),
        ("lone \ud800 surrogate", "lone  surrogate"),
        ("two\u2028lines\x85here", "twolineshere"),
        (f"cut {ESC}[3", "cut "),
        (f"never ended {ESC}]0;why it died", "never ended 0;why it died"),
        (f"{ESC}[{ESC}[31mnested", "nested"),
    ],
)
def test_escape_sequences_and_controls_are_dropped(dirty: str, cleaned: str) -> None:
    assert clean(dirty) == cleaned


@pytest.mark.parametrize(
    "unit",
    [ESC, f"{ESC}]", f"{ESC}[", "\x9d", f"{ESC}P\x90", f"{ESC}]a{ESC}", "\r", "\t", f"{ESC}(", "\x9b0;"],
)
def test_cleaning_takes_time_linear_in_the_text(unit: str) -> None:
    # Quadratic time would be minutes for the long one.
    begin_s = time.process_time()
    clean(unit * 500_000)
    assert time.process_time() - begin_s < 10
    begin_s = time.process_time()
    LineSplitter().feed((unit * 500_000 + "x\r\r\n").encode())
    assert time.process_time() - begin_s < 20


@given(CHUNKS)
def test_lines_do_not_depend_on_how_the_bytes_arrived(chunks: list[bytes]) -> None:
    whole = b"".join(chunks)
    assert lines_of(chunks) == lines_of([whole])
    assert lines_of([whole[index : index + 1] for index in range(len(whole))]) == lines_of([whole])


@given(st.lists(st.text("abc \r\u2588", max_size=8)))
def test_lines_end_in_newline_or_return(texts: list[str]) -> None:
    whole = "\n".join(texts)
    expected: list[tuple[str, bool]] = []
    for line in re.split(r"\r*\n", whole)[:-1]:
        *redrawn, last = line.split("\r")
        expected += [(part, True) for part in redrawn if part]
        expected.append((last, False))
    *redrawn, rest = re.split(r"\r*\n", whole)[-1].rstrip("\r").split("\r")
    expected += [(part, True) for part in redrawn if part]
    lines, returns, tail = lines_of([whole.encode()])
    assert lines == [text for text, _ in expected]
    assert returns == [index for index, (_, is_return) in enumerate(expected) if is_return]
    assert tail == rest


SECRETS = st.sampled_from(
    ["api_key='abcdef1'", "--token abc", "token", "2026-11-29", "hf_" + "aB3" * 8, " --", "plain"]
)


@given(
    st.lists(
        st.lists(st.one_of(HOSTILE, SECRETS), max_size=3).map(lambda parts: "".join(parts).replace("\n", ""))
    )
)
def test_many_lines_are_cleaned_and_masked_as_each_of_them_is(lines: list[str]) -> None:
    cleaner = LineCleaner()
    for _ in range(2):
        assert cleaner.lines(lines) == [mask_text(clean(line)) for line in lines]


@pytest.mark.parametrize(
    "odd",
    ["\t", "\x1b[31m", "\x1b\x1b[1m[1m", "\x1b]0;t", "\x1b", "\x1b[", "é", "\u200b", "\x7f", "█", "\t█\u200b",
     "\t\x1b[31m", "\r"],
)  # fmt: skip
def test_one_odd_line_changes_no_other(odd: str) -> None:
    lines = ["plain", f"a{odd}b", "", f"{odd}", "plain"]
    assert LineCleaner().lines(lines) == [clean(line) for line in lines]


def test_a_progress_bar_comes_as_lines_that_ended_in_a_return() -> None:
    bar = b"\rCapturing:  25%| 1/4\rCapturing:  50%| 2/4\rCapturing: 100%| 4/4\ndone\n"
    split = LineSplitter().feed(bar)
    assert split.lines == ["Capturing:  25%| 1/4", "Capturing:  50%| 2/4", "Capturing: 100%| 4/4", "done"]
    assert split.returns == [0, 1]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r\r\n"])
def test_each_line_ending_is_one_end_also_across_chunks(end: bytes) -> None:
    for cut in range(len(end) + 1):
        assert lines_of([b"one" + end[:cut], end[cut:] + b"two" + end]) == (["one", "two"], [], "")


def test_the_unfinished_line_is_the_tail_and_becomes_a_line_later() -> None:
    splitter = LineSplitter()
    assert splitter.feed(b"Loading ..") == ([], [], "Loading ..", [])
    assert splitter.feed(b"..") == ([], [], "Loading ....", [])
    assert splitter.feed(b" done\n") == (["Loading .... done"], [], "", [])


def test_a_return_at_the_end_keeps_the_line_as_tail_until_more_comes() -> None:
    splitter = LineSplitter()
    assert splitter.feed(b" 12%\r") == ([], [], " 12%", [])
    assert splitter.feed(b" 13%\r") == ([" 12%"], [0], " 13%", [])


def test_an_escape_sequence_split_over_chunks_never_shows() -> None:
    splitter = LineSplitter()
    for chunk in (b"a\x1b", b"[3", b"1", b"mb", b"\x1b]0;ti", b"tle\x1b", b"\\c"):
        tail = splitter.feed(chunk).tail
        assert tail in {"a", "ab", "abc"}
    assert splitter.feed(b"\n").lines == ["abc"]


def test_bytes_that_are_no_utf8_show_as_replacement_characters() -> None:
    assert lines_of([b"a\xffb\xe2\x96", b"\n\xe2\x96", b"\x88\n"]) == (["a\ufffdb\ufffd", "\u2588"], [], "")


def test_fresh_bytes_end_an_unfinished_line_before_them() -> None:
    splitter = LineSplitter()
    splitter.feed(b"whole\nCUDA error: out of mem\xe2")
    assert splitter.feed(b"", fresh=True) == (["CUDA error: out of mem\ufffd"], [], "", [])
    assert splitter.feed(b"[new] start\n", fresh=True) == (["[new] start"], [], "", [])


def test_a_long_line_comes_in_bounded_pieces_without_loss() -> None:
    text = "".join(f"{number:07d} " for number in range(40_000))
    data = text.encode()
    for size in (1000, 32 * 1024, len(data)):
        chunks = [data[start : start + size] for start in range(0, len(data), size)]
        lines, returns, tail = lines_of([*chunks, b"\nnext\n"])
        assert "".join(lines[:-1]) == text
        assert lines[-1] == "next"
        assert max(map(len, lines)) <= wire.LINE_LIMIT_BYTES
        assert (returns, tail) == ([], "")


@pytest.mark.parametrize("size", [1000, 40_000, 100_000, 10**6])
def test_the_pieces_of_a_long_line_are_told_from_lines_of_their_own(size: int) -> None:
    long = b"x" * (3 * wire.LINE_LIMIT_BYTES + 5)
    whole = b"one\n" + long + b"\n\ntwo\r" + long + b"\rthree\r\nfour\n" + long + b"\nfive\n"
    splitter = LineSplitter()
    lines: list[str] = []
    for start in range(0, len(whole), size):
        split = splitter.feed(whole[start : start + size])
        for index, line in enumerate(split.lines):
            if index in split.continued:
                lines[-1] += line
            else:
                lines.append(line)
    text = long.decode()
    assert lines == ["one", text, "", "two", text, "three", "four", text, "five"]


def test_the_rest_of_a_long_line_before_a_new_file_goes_on_with_it() -> None:
    splitter = LineSplitter()
    assert splitter.feed(b"x" * (wire.LINE_LIMIT_BYTES + 1)).continued == []
    assert splitter.feed(b"new\n", fresh=True) == (["x", "new"], [], "", [0])
    assert splitter.feed(b"more\n").continued == []


def test_a_line_of_exactly_the_limit_is_one_line() -> None:
    line = b"x" * wire.LINE_LIMIT_BYTES
    for chunks in ([line + b"\r\n"], [line, b"\n"], [line + b"\r", b"\n"], [line, b"\r", b"\r\n"]):
        assert lines_of(chunks) == ([line.decode()], [], "")
    assert lines_of([line * 2 + b"\r", b"\n"])[0] == [line.decode()] * 2
    assert lines_of([line * 2 + b"\r", b"more"]) == ([line.decode()] * 2, [1], "more")
    assert lines_of([line * 2 + b"\rmore"]) == ([line.decode()] * 2, [1], "more")


def test_an_endless_line_is_not_waited_for() -> None:
    splitter = LineSplitter()
    given = b"x" * (wire.LINE_LIMIT_BYTES // 2)
    sizes = [sum(map(len, splitter.feed(given).lines)) for _ in range(100)]
    assert 0 <= 100 * len(given) - sum(sizes) <= wire.LINE_LIMIT_BYTES


def test_a_long_line_is_not_cut_inside_an_escape_sequence() -> None:
    before = b"x" * (wire.LINE_LIMIT_BYTES - 3)
    lines, _, _ = lines_of([before + b"\x1b[31;1mred\n"])
    assert lines == [before.decode(), "red"]


def test_the_tail_is_bounded() -> None:
    assert LineSplitter().feed(b"y" * 10_000).tail == "y" * TAIL_LIMIT


def test_secrets_in_lines_and_in_the_tail_are_hidden() -> None:
    split = LineSplitter().feed(
        b"server_args=ServerArgs(api_key='s3cr3t-k3y')\nAuthorization: Bearer abcdef123456"
    )
    assert "s3cr3t-k3y" not in split.lines[0]
    assert "abcdef123456" not in split.tail
