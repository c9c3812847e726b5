"""Values as a person types them: what is taken, and what is refused with which words."""

import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui import parse
from tui.settings import READERS


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("90s", 90),
        ("20m", 1200),
        ("1h", 3600),
        ("1h30m", 5400),
        ("1.5m", 90),
        (20, 20),
        (0.5, 0.5),
    ],
)
def test_durations(text: object, seconds: float) -> None:
    assert parse.duration_s(text) == seconds


@pytest.mark.parametrize("text", ["0", "-5", "abc", "", "5d", "8d", "nan", "1e9", True, None, "9" * 400])
def test_what_is_no_duration(text: object) -> None:
    with pytest.raises(parse.Wrong):
        parse.duration_s(text)


@pytest.mark.parametrize(
    ("given_url", "wanted"),
    [
        ("http://h:8000", "http://h:8000"),
        ("http://h:8000/", "http://h:8000"),
        ("http://h:8000/v1", "http://h:8000"),
        ("http://h:8000/v1/", "http://h:8000"),
        ("https://h/a/b/v1", "https://h/a/b"),
        ("https://[::1]:8000/x", "https://[::1]:8000/x"),
    ],
)
def test_urls_lose_their_slash_and_their_v1(given_url: str, wanted: str) -> None:
    assert parse.url(given_url) == wanted


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("localhost:8000", "write http://localhost:8000 or https://localhost:8000"),
        ("ftp://h", "must begin with http:// or https://"),
        ("http://", "names no host"),
        ("http://h:99999", "must be a port from 1 to 65535"),
        ("http://h:0", "must be a port"),
        ("http://h:80a", "must be a whole number"),
        ("http://u:p@h", "--api-key-env"),
        ("http://h/?a=b", "must end with the path"),
        ("http://h/v1/models", "without the endpoint"),
        ("http://h:8000/health", "without the endpoint"),
        ("http://::1:80", "brackets"),
        ("http://[::1", "cannot be read"),
        ("http://a b", "names no host"),
        ("", "must not be empty"),
        ("http://h\x1b[2J", "control character"),
    ],
)
def test_what_is_no_url(text: str, said: str) -> None:
    with pytest.raises(parse.Wrong, match=re.escape(said)):
        parse.url(text)


@pytest.mark.parametrize("text", ["-oProxyCommand=x", "--", "a b", "", "a\nb"])
def test_what_is_no_host(text: str) -> None:
    with pytest.raises(parse.Wrong):
        parse.host(text)


def test_a_key_given_in_place_of_its_variable_is_not_repeated() -> None:
    with pytest.raises(parse.Wrong) as caught:
        parse.variable("sk-very-secret")

    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("number", ["0", "-1", "65536", "8000.5", "1_000", "٣", "", "0x10"])
def test_what_is_no_port(number: str) -> None:
    with pytest.raises(parse.Wrong):
        parse.port(number)


def test_a_misspelt_word_is_answered_with_the_nearest() -> None:
    with pytest.raises(
        parse.Wrong, match=r"must be token, model or health, not 'tokn'; did you mean token\?"
    ):
        parse.one_of("token", "model", "health")("tokn")


@given(st.sampled_from(sorted(READERS)), st.text() | st.integers() | st.floats() | st.booleans() | st.none())
def test_no_value_whatever_gets_more_than_a_sentence(name: str, value: object) -> None:
    with suppress(parse.Wrong):
        READERS[name](value)
