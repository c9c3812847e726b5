"""What the self-test makes of a run against a server whose figures are known."""

from collections.abc import Callable
from typing import Any

import pytest

from tui.bench import self_test
from tui.bench.self_test import Added, added, sentence, table, trusted
from tui.benchmark import BenchResult, Counter, Percentiles

MakeResult = Callable[..., BenchResult]


def mean(value: float) -> Percentiles:
    """Return samples of that mean."""
    return Percentiles(mean=value, p50=value, p90=value, p99=value, samples=192)


def of_16(make_result: MakeResult, **fields: Any) -> BenchResult:
    """Return a good run of 16 streams; the server's own TTFT was 21 ms and its TPOT 5 ms."""
    spec = next(each for each in self_test.specs() if each.concurrency == 16)
    rises = {"mock:requests_total": 100, "mock:ttft_seconds_total": 2.1, "mock:tpot_seconds_total": 0.5}
    good: dict[str, Any] = {
        "spec": spec,
        "completed": spec.requests,
        "ttft_ms": mean(22.0),
        "tpot_ms": mean(5.01),
        "achieved_concurrency": 15.9,
        "client_cpu_fraction": 0.2,
        "counters": tuple(Counter(name=name, before=5.0, after=5.0 + rise) for name, rise in rises.items()),
    }
    return make_result(**{**good, **fields})


def test_what_the_server_really_did_is_not_the_generators_doing(make_result: MakeResult) -> None:
    found = added(of_16(make_result))

    assert found.ttft_ms == pytest.approx(1.0)
    assert found.tpot == pytest.approx(0.002)
    assert found.doubt == ""


def test_without_the_servers_account_its_schedule_counts(make_result: MakeResult) -> None:
    assert added(of_16(make_result, counters=())).ttft_ms == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("fields", "doubt"),
    [
        ({"ttft_ms": mean(26.1)}, "5.1 ms are added to TTFT"),
        ({"tpot_ms": mean(4.89)}, "TPOT is off by -2.2%"),
        ({"achieved_concurrency": 15.0}, "only 94% of them were in flight"),
        ({"client_cpu_fraction": 0.71}, "the generator uses 71% of a core"),
        ({"client_cpu_fraction": None}, "not all could be measured"),
        ({"completed": 191, "sentence": "191 of 192 requests answered"}, "191 of 192"),
    ],
    ids=["ttft", "tpot", "concurrency", "cpu", "unknown", "failed"],
)
def test_each_figure_can_cost_the_trust(make_result: MakeResult, fields: dict[str, Any], doubt: str) -> None:
    assert doubt in added(of_16(make_result, **fields)).doubt


def level(streams: int, doubt: str = "") -> Added:
    """Return a level."""
    return Added(streams, 1.0, 0.001, 0.99, 0.1, None, doubt)


def test_the_figures_are_trusted_up_to_the_first_doubt() -> None:
    levels = [level(1), level(16, "it is slow"), level(64)]

    assert trusted(levels) == 1
    assert sentence(levels, "h") == "figures taken on h can be trusted up to one stream; at 16 it is slow"
    assert sentence([level(1, "it is slow")], "h") == "figures taken on h cannot be trusted; at 1 it is slow"
    assert sentence([level(1), level(16)], "h").endswith("up to 16 streams, the most that was tried")


def test_the_table_has_a_line_a_level_and_fits_80_columns() -> None:
    lines = table([level(1), level(16)])

    assert len(lines) == 3
    assert max(map(len, lines)) <= 80
    assert "+0.10%" in lines[1]
