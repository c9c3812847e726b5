"""Named workloads: what a table may say, what a wrong one is told, and the runs that come of a profile."""

import tomllib
from typing import Any

import pytest

from tui.bench.profiles import MANY, Profile, WrongProfile, changed, profiles_of, specs_of
from tui.benchmark import BenchSpec, Limits
from tui.profiles_file import our_profiles


def profile(text: str) -> Profile:
    """Return the one profile of a TOML text."""
    return next(iter(profiles_of(tomllib.loads(text), "mine.toml").values()))


def specs(found: Profile, **overrides: Any) -> list[BenchSpec]:
    """Return its runs against some server."""
    return specs_of(found, url="http://h:1", model="m", series="s", **overrides)


def test_ours_say_what_they_are_for_and_end_in_bounded_time() -> None:
    ours = our_profiles()

    assert list(ours) == ["decode", "smoke", "serve", "sweep"]
    for each in ours.values():
        assert each.about
        assert each.duration_s is not None
        assert sum(each.duration_s + each.warmup_s for _ in specs(each)) <= 180


def test_decode_is_one_stream_and_smoke_warms_nothing_up() -> None:
    ours = our_profiles()

    assert ours["decode"].concurrencies == (1,)
    assert (ours["smoke"].warmup_s, ours["smoke"].duration_s) == (0, 5)
    assert (ours["serve"].concurrencies, ours["serve"].input_tokens) == ((16,), 1024)


def test_a_sweep_is_a_run_a_level_of_one_series_with_as_many_requests_a_stream() -> None:
    found = specs(our_profiles()["sweep"])

    assert [each.concurrency for each in found] == [1, 2, 4, 8, 16, 32, 64]
    assert [each.requests for each in found] == [8 * each.concurrency for each in found]
    assert [(each.level, each.levels, each.series) for each in found] == [(n, 7, "s") for n in range(1, 8)]


def test_one_run_is_no_series_and_takes_what_the_caller_adds() -> None:
    (only,) = specs(our_profiles()["decode"], despite_load=True, data="set 1234")

    assert (only.series, only.level, only.levels) == ("", 1, 1)
    assert (only.profile, only.url, only.model) == ("decode", "http://h:1", "m")
    assert (only.despite_load, only.data) == (True, "set 1234")


def test_rates_are_levels_with_as_many_requests_as_the_time_holds() -> None:
    found = specs(profile("[open]\nrate = [0.5, 4]\nduration_s = 15\narrival = 'constant'\nconcurrency = 32"))

    assert [(each.rate_per_s, each.requests, each.concurrency) for each in found] == [
        (0.5, 8, 32),
        (4.0, 60, 32),
    ]
    assert {each.arrival for each in found} == {"constant"}


def test_limits_become_those_of_goodput() -> None:
    (only,) = specs(profile("[p]\nrequests = 4\nttft_limit_ms = 200\ntpot_limit_ms = 12.5"))

    assert only.limits == Limits(ttft_ms=200.0, tpot_ms=12.5)
    assert specs(profile("[p]\nrequests = 4"))[0].limits is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("about = 'x'", "mine.toml: about stands outside of a table"),
        ("['a b']\nrequests = 1", "mine.toml: [a b] is no name"),
        ("[p]\nrequests = 0", "mine.toml: [p] requests must be a whole number from 1 to 1,000,000, not 0"),
        ("[p]\nrequests = true", "[p] requests must be a whole number"),
        ("[p]\nrequests = 1\nconcurrency = []", "[p] concurrency must have 1 to 32 levels, not 0"),
        ("[p]\nrequests = 1\nrate = 'four'", "[p] rate must be a number"),
        ("[p]\nrequests = 1\nflush_cache = 1", "[p] flush_cache must be true or false, not 1"),
        ("[p]\nabout = 'x'", "[p]: nothing ends it"),
        ("[p]\nrequests = 1\nrequests_per_stream = 1", "[p]: give requests or requests_per_stream, not both"),
        ("[p]\nrequests = 1\narrival = 'poisson'", "[p]: arrival poisson needs a rate"),
        ("[p]\nrate = 1\nconcurrency = [1, 2]", "[p]: with a rate, concurrency is one number"),
        ("[p]\nrequests = 1\nprefix_tokens = 256", "[p]: prefix_tokens (256) must be fewer than"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_file_table_and_key(text: str, said: str) -> None:
    with pytest.raises(WrongProfile) as caught:
        profile(text)

    assert said in str(caught.value)


def test_an_unknown_key_or_word_knows_what_it_could_have_been() -> None:
    with pytest.raises(WrongProfile) as key:
        profile("[p]\noutput-token = 3")
    with pytest.raises(WrongProfile) as word:
        profile("[p]\nrate = 1\narrival = 'poison'")

    assert key.value.word == "output_token"
    assert "output_tokens" in key.value.choices
    assert (word.value.word, word.value.choices) == ("poison", ("constant", "poisson"))


def test_what_is_changed_is_no_longer_called_as_it_stands_in_the_file() -> None:
    decode = our_profiles()["decode"]

    assert changed(decode, {}) == decode
    assert changed(decode, {"output_tokens": decode.output_tokens}) == decode
    assert changed(decode, {"output_tokens": 7}).name == "decode (changed)"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"concurrencies": (1, 5000)},
            "decode: concurrency must be a whole number from 1 to 4,096, not 5000",
        ),
        ({"rates": (2e6,)}, "decode: rate must be a number from 0.001 to 1,000,000"),
        ({"output_tokens": 10**7}, "decode: output_tokens must be a whole number from 1 to 1,000,000"),
        ({"concurrencies": tuple(range(1, 40))}, "decode: concurrency must have 1 to 32 levels, not 39"),
    ],
)
def test_a_change_is_held_to_what_a_file_may_say(changes: dict[str, object], words: str) -> None:
    with pytest.raises(WrongProfile, match=words):
        changed(our_profiles()["decode"], changes)


def test_requests_or_a_time_that_is_asked_for_replaces_the_profiles_other_bound() -> None:
    decode = our_profiles()["decode"]

    assert specs(changed(decode, {"requests": 5000}))[0].duration_s is None
    (timed,) = specs(changed(decode, {"duration_s": 10.0}))
    assert (timed.requests, timed.duration_s) == (MANY, 10.0)
    (both,) = specs(changed(decode, {"requests": 7, "duration_s": 10.0}))
    assert (both.requests, both.duration_s) == (7, 10.0)


def test_a_rate_makes_an_open_loop_of_a_closed_one() -> None:
    (only,) = specs(changed(our_profiles()["decode"], {"rates": (4.0,)}))

    assert (only.arrival, only.rate_per_s, only.requests, only.concurrency) == ("poisson", 4.0, 120, 256)


def test_several_concurrencies_make_a_closed_sweep_of_an_open_loop() -> None:
    found = specs(
        changed(profile("[p]\nrate = 4\nrequests = 8\narrival = 'constant'"), {"concurrencies": (1, 2)})
    )

    assert [(each.arrival, each.concurrency) for each in found] == [("closed", 1), ("closed", 2)]


def test_an_arrival_without_a_rate_is_refused() -> None:
    with pytest.raises(WrongProfile, match="decode: arrival constant needs a rate"):
        changed(our_profiles()["decode"], {"arrival": "constant"})
