"""A name is found in its other spellings: escaped, or with other signs between its figures."""

import time

import pytest
from awkward_recordings import at
from hypothesis import given
from hypothesis import strategies as st

from tui.events import Notice
from tui.journal.anonymise import Anonymiser
from tui.journal.spelling import decoded
from tui.journal.word_pattern import WordPattern


def notice(sentence: str) -> Notice:
    return Notice(**at(0.0), level="info", about="host", sentence=sentence)


def changed(*texts: str) -> list[str]:
    anonymiser = Anonymiser()
    for text in texts:
        anonymiser.learn(notice(text))
    return [anonymiser.anonymised(notice(text)).sentence for text in texts]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("?path=%2Fhome%2Fjdoe%2Fsecretproj", "?path=%2Fhome%2Fuser-1%2Fdir-1"),
        ("%252fhome%252fjdoe", "%252fhome%252fuser-1"),
        ("path \\u002fhome\\u002fjdoe", "path \\u002fhome\\u002fuser-1"),
        ("\\x2fhome\\x2fjdoe", "\\x2fhome\\x2fuser-1"),
        ('{"p":"\\/home\\/jdoe"}', '{"p":"\\/home\\/user-1"}'),
        ("&#47;home&#47;jdoe &#x2f;home&#x2F;jdoe", "&#47;home&#47;user-1 &#x2f;home&#x2F;user-1"),
        ("C%3A%5CUsers%5Cjdoe", "C%3A%5CUsers%5Cuser-1"),
        ("C:\\Users\\jdoe\\x", "C:\\Users\\user-1\\x"),
        ("/home/jdoe b'\\njdoe said'", "/home/user-1 b'\\nuser-1 said'"),
        ("/home/jdoe jdoe%40", "/home/user-1 user-1%40"),
        ("/home/jörg j%C3%B6rg j\\u00f6rg j&#246;rg", "/home/user-1 user-1 user-1 user-1"),
        ("GET /x?path=/home/jdoe/zed", "GET /x?path=/home/user-1/dir-1"),
    ],
)
def test_a_name_behind_an_escape_is_found(text: str, expected: str) -> None:
    assert changed(text) == [expected]


def test_figures_and_signs_that_are_no_escape_are_none() -> None:
    assert changed("/home/jdoe 50%jdoe 5%abjdoex xjdoe") == ["/home/user-1 50%user-1 5%abjdoex xjdoe"]


@pytest.mark.parametrize(
    "spellings",
    [
        ("aa:bb:cc:dd:ee:ff", "AA-BB-CC-DD-EE-FF", "aabb.ccdd.eeff", "AABBCCDDEEFF"),
        ("fe80::1ff:fe23:4567:890a", "FE80:0:0:0:1FF:FE23:4567:890A"),
        ("123e4567-e89b-12d3-a456-426614174000", "123e4567e89b12d3a456426614174000"),
        ("GPU-123e4567-e89b-12d3-a456-426614174001", "GPU-123e4567e89b12d3a456426614174001"),
        ("10.20.30.40", "010.020.030.040", "10-20-30-40"),
    ],
)
def test_an_address_is_the_same_in_every_spelling(spellings: tuple[str, ...]) -> None:
    after = changed(*(f"at {each} now" for each in spellings))
    assert len(set(after)) == 1
    assert after[0] != f"at {spellings[0]} now"


@pytest.mark.parametrize(
    "text",
    [
        "MIG-123e4567e89b12d3a456426614174001",
        "mac 00-1b-21-3c-9d-f8",
        "mac 001b.213c.9df8",
        "::ffff:10.1.2.3",
    ],
)
def test_each_spelling_is_known_by_itself(text: str) -> None:
    (after,) = changed(text)
    digits = "123e4567 1b-21 213c 10.1.2"
    assert not any(each in after for each in digits.split())


@pytest.mark.parametrize(
    "text", ["1024.2048.4096", "md5 d41d8cd98f00b204e9800998ecf8427e", "2026-11-29-10-00-04"]
)
def test_other_figures_stay(text: str) -> None:
    assert changed(text) == [text]


@given(st.text(max_size=100))
def test_any_text_can_be_decoded(text: str) -> None:
    assert isinstance(decoded(text), str)


@given(st.lists(st.text("abAB-_.1ß", min_size=1, max_size=9), min_size=1, max_size=60))
def test_a_pattern_finds_every_word_and_the_longest(words: list[str]) -> None:
    ordered = sorted(words, key=lambda word: (-len(word), word))
    pattern = WordPattern(ordered)
    for word in words:
        for found in (pattern.plain.search(f"({word})"), pattern.escaped.search(f"%2F{word}%2F")):
            assert found is not None
            assert found[0].casefold() == word.casefold()


@pytest.mark.parametrize(
    "piece", ["/a", "a.", "a-", "%2F", "--host ", "connect to (", "a@a.", "http://", "[a:"]
)
def test_a_long_line_takes_time_in_proportion(piece: str) -> None:
    """Twice the line takes twice the time and some, not four times: a line of 64 KiB would take minutes."""

    def seconds(size: int) -> float:
        began_s = time.process_time()
        changed(piece * (size // len(piece)))
        return time.process_time() - began_s

    assert min(seconds(32_768) for _ in range(2)) < 10 * min(seconds(8_192) for _ in range(2)) + 0.5
