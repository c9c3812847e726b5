"""Times as logs write them, and what their clocks do that nobody wants in a duration."""

import pytest

from tui.engines.clock import LogClock, iso_text


def between(*texts: str) -> list[float | None]:
    """Return the seconds of each time since the first one."""
    clock = LogClock()
    first = clock.read(texts[0])
    assert first is not None
    seconds = [clock.read(text) for text in texts[1:]]
    return [None if each is None else round(each - first, 6) for each in seconds]


@pytest.mark.parametrize(
    ("one", "other", "seconds"),
    [
        ("2026-11-29 13:48:34", "2026-11-29 13:49:35", 61.0),
        ("2026-11-29 13:48:34.250", "2026-11-29 13:48:35.000", 0.75),
        ("2026-11-29 13:48:34,250", "2026-11-29 13:48:35,000", 0.75),
        ("2026-12-31 23:59:59", "2027-01-01 00:00:01", 2.0),
        ("2026-11-29T13:48:34.123456Z", "2026-11-29T13:48:35.123456Z", 1.0),
        ("2026-11-29T13:48:34.5+01:00", "2026-11-29T12:48:35.5Z", 1.0),
        ("2026-11-29T13:48:34-0530", "2026-11-29T19:18:35+0000", 1.0),
        ("11-29 13:48:34", "11-30 13:48:34", 86_400.0),
        ("12/20/2025-04:20:04", "12/20/2025-04:21:04", 60.0),
        ("0.00.026.557", "1.01.026.558", 61.000001),
        ("59.59.999.999", "60.00.000.000", 0.000001),
    ],
)
def test_two_times_are_so_many_seconds_apart(one: str, other: str, seconds: float) -> None:
    assert between(one, other) == [seconds]


def test_a_clock_without_years_goes_on_over_new_year() -> None:
    assert between("12-31 23:59:58", "01-01 00:00:03", "01-02 00:00:03") == [5.0, 86_405.0]


def test_a_late_line_of_the_old_year_does_not_begin_another_year() -> None:
    assert between("12-31 23:59:58", "01-01 00:00:03", "12-31 23:59:59", "01-01 00:00:04") == [5.0, 5.0, 6.0]


def test_february_has_29_days_where_the_log_says_so() -> None:
    assert between("02-28 23:59:59", "03-01 00:00:00") == [1.0]
    assert between("02-28 23:59:59", "02-29 00:00:00", "03-01 00:00:00") == [1.0, 86_401.0]


def test_a_clock_that_steps_back_gives_no_negative_time() -> None:
    assert between("2026-11-29 13:48:34", "2026-11-29 13:48:30", "2026-11-29 13:48:36") == [0.0, 2.0]


@pytest.mark.parametrize(
    "text",
    ["", "yesterday", "2026-02-30 00:00:00", "13-01 00:00:00", "11-31 00:00:00", "11-29 25:00:00", "1.2.3.4"],
)
def test_what_is_no_time_is_none(text: str) -> None:
    clock = LogClock()

    assert clock.read(text) is None
    assert clock.kind is None


def test_times_of_another_kind_are_not_compared() -> None:
    assert between("2026-11-29 13:48:34", "0.00.026.557", "11-29 13:48:35") == [None, None]


def test_a_line_without_a_time_says_nothing_and_changes_nothing() -> None:
    clock = LogClock()
    first = clock.read("11-29 13:48:34")

    assert clock.read(None) is None
    assert clock.read("11-29 13:48:34") == first


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("2026-11-29 13:48:34.250", "2026-11-29T13:48:34"),
        ("2026-11-29T13:48:34.5+01:00", "2026-11-29T13:48:34"),
        ("12/20/2025-04:20:04", "2025-12-20T04:20:04"),
        ("11-29 13:48:34", "11-29T13:48:34"),
        ("0.00.026.557", None),
        ("", None),
    ],
)
def test_a_time_is_shown_as_its_clock_showed_it(text: str, iso: str | None) -> None:
    assert iso_text(text) == iso
