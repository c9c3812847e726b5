"""What an engine's counters say of a run: each figure by its formula, and unknown where it cannot be told."""

from collections.abc import Callable
from typing import Any

import pytest

from tui.bench.counters import CounterNames, named, server_figures
from tui.benchmark import BenchResult, Counter, Spilled

MakeResult = Callable[..., BenchResult]
NAMES = CounterNames(
    prompt=(("prompt",),),
    generated=(("generated",),),
    looked_up=(("looked_up",), ("old_looked_up",)),
    hits=(("hits",), ("old_hits",)),
    drafts=(("drafts",),),
    drafted=(("drafted",),),
    accepted=(("accepted",),),
)
NOTHING_SPILLED = Spilled(requests=0, tokens=0, arrived=0)
STEPS = CounterNames(
    generated=(("generated",),),
    looked_up=(("prompt",),),
    hits=(("hits",),),
    steps=(("steps",),),
    draft_length="length",
    hits_come_late=True,
)


def counters(**ends: tuple[float | None, float | None]) -> tuple[Counter, ...]:
    return tuple(Counter(name=name, before=before, after=after) for name, (before, after) in ends.items())


def test_acceptance_is_of_the_run_not_of_the_servers_life(make_result: MakeResult) -> None:
    found = server_figures(
        make_result(counters=counters(drafts=(1000, 1100), drafted=(3000, 3300), accepted=(100, 270))), NAMES
    )
    assert found.acceptance_length == pytest.approx(2.7)
    assert found.acceptance_rate == pytest.approx(170 / 300)


def test_acceptance_follows_from_verification_steps_where_accepted_tokens_have_no_counter(
    make_result: MakeResult,
) -> None:
    found = server_figures(
        make_result(counters=counters(generated=(0, 8192), steps=(10, 3210), length=(4, 4))), STEPS
    )
    assert found.acceptance_length == pytest.approx(2.56)
    assert found.acceptance_rate == pytest.approx(0.39)


def test_more_accepted_than_drafted_is_no_rate(make_result: MakeResult) -> None:
    odd = counters(drafts=(0, 100), drafted=(0, 300), accepted=(0, 301), looked_up=(0, 10), hits=(0, 11))
    found = server_figures(make_result(counters=odd), NAMES)
    assert (found.acceptance_rate, found.prefix_hit_rate) == (None, None)


def test_no_speculation_is_no_acceptance(make_result: MakeResult) -> None:
    still = counters(drafts=(5, 5), drafted=(9, 9), accepted=(2, 2), generated=(0, 8192))
    found = server_figures(make_result(counters=still), NAMES)
    assert (found.acceptance_length, found.acceptance_rate) == (None, None)


def test_the_prefix_hit_rate_is_found_over_looked_up(make_result: MakeResult) -> None:
    found = server_figures(make_result(counters=counters(looked_up=(50, 450), hits=(0, 100))), NAMES)
    assert found.prefix_hit_rate == pytest.approx(0.25)


def test_an_older_name_counts_where_the_new_one_is_not_on_the_page(make_result: MakeResult) -> None:
    old = counters(looked_up=(None, None), old_looked_up=(0, 200), old_hits=(0, 20))
    assert server_figures(make_result(counters=old), NAMES).prefix_hit_rate == pytest.approx(0.1)


def test_hits_that_come_late_are_0_before_and_unknown_when_they_never_come(make_result: MakeResult) -> None:
    came = counters(prompt=(100, 500), hits=(None, 40))
    assert server_figures(make_result(counters=came), STEPS).prefix_hit_rate == pytest.approx(0.1)
    never = counters(prompt=(100, 500))
    assert server_figures(make_result(counters=never), STEPS).prefix_hit_rate is None
    no_page_before = counters(prompt=(None, 500), hits=(None, 40))
    assert server_figures(make_result(counters=no_page_before), STEPS).prefix_hit_rate is None


@pytest.mark.parametrize("ends", [(1000.0, 12.0), (None, 12.0), (1000.0, None), (None, None)])
def test_a_counter_that_fell_or_is_missing_makes_its_figures_unknown(
    make_result: MakeResult, ends: tuple[float | None, float | None]
) -> None:
    found = server_figures(
        make_result(
            counters=counters(generated=ends, drafts=ends, accepted=(0, 1), hits=(0, 1), looked_up=ends)
        ),
        NAMES,
    )
    assert found.generated_tokens is found.generated_tokens_per_s is found.gap is None
    assert found.acceptance_length is found.prefix_hit_rate is None


@pytest.mark.parametrize(
    ("generated", "gap", "words"),
    [
        (8192, 0.0, ""),
        (8192 * 1.019, 0.019, ""),
        (8192 * 1.03, 0.03, "the server's own counters say 3.0% more output tokens than arrived here"),
        (8192 * 0.9, -0.1, "the server's own counters say 10.0% fewer output tokens than arrived here"),
    ],
)
def test_a_gap_above_2_percent_is_told(
    make_result: MakeResult, generated: float, gap: float, words: str
) -> None:
    counted = counters(generated=(7, 7 + generated))
    found = server_figures(make_result(counters=counted, spilled=NOTHING_SPILLED), NAMES)
    assert found.gap == pytest.approx(gap)
    assert found.generated_tokens_per_s == pytest.approx(generated / 4.0)
    assert found.sentence == words


@pytest.mark.parametrize(("at_end", "over"), [(True, 640), (False, 300)])
def test_what_spilled_over_from_the_warm_up_counts_as_the_client_counts_it(
    make_result: MakeResult, at_end: bool, over: int
) -> None:
    names = CounterNames(generated=(("generated",),), counted_at_end=at_end)
    result = make_result(
        counters=counters(generated=(0, 8192 + over)), spilled=Spilled(requests=5, tokens=640, arrived=300)
    )
    found = server_figures(result, names)
    assert found.gap == pytest.approx(0.0)
    assert found.generated_tokens_per_s == pytest.approx((8192 + 300) / 4.0)


@pytest.mark.parametrize(
    "fields",
    [
        {"spilled": None},
        {"failed": 1},
        {"outcome": "cancelled"},
        {"tokens_counted_by": "chunks"},
        {"output_tokens": None},
    ],
)
def test_there_is_no_gap_where_the_client_did_not_count_all(
    make_result: MakeResult, fields: dict[str, Any]
) -> None:
    known: dict[str, Any] = {"spilled": NOTHING_SPILLED, **fields}
    result = make_result(counters=counters(generated=(0, 9999)), **known)
    assert server_figures(result, NAMES).gap is None


def test_with_requests_of_others_nothing_is_said_of_the_run(make_result: MakeResult) -> None:
    busy = make_result(
        counters=counters(generated=(0, 8192), looked_up=(0, 9), hits=(0, 3)), others_running=2
    )
    assert server_figures(busy, NAMES) == server_figures(make_result(), CounterNames())


def test_the_table_is_that_of_the_engine_whose_counters_were_found(make_result: MakeResult) -> None:
    result = make_result(counters=counters(generated=(0, 1), steps=(0, 1)))
    assert named([NAMES, STEPS], result) is STEPS
    assert named([NAMES, STEPS], make_result()) == CounterNames()
