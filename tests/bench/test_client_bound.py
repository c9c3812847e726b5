"""When figures are the load generator's own."""

import msgspec
import pytest
from run_entries import around, result

from tui.bench.client_bound import client_bound


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, ""),
        ({"client_cpu_fraction": 0.70}, ""),
        ({"client_cpu_fraction": 0.71}, "the load generator used 71% of a core"),
        ({"client_cpu_fraction": None}, ""),
        ({"lag_ms": around(0.9, 500), "itl_ms": around(16.0)}, ""),
        (
            {"lag_ms": around(1.5, 500), "itl_ms": around(16.0)},
            "the load generator was 2.4 ms late at p99, of 16.0 ms between chunks",
        ),
        ({"lag_ms": around(9.0, samples=50), "itl_ms": around(16.0)}, ""),
    ],
)
def test_a_busy_or_late_generator_accuses_itself(changes: dict[str, object], said: str) -> None:
    assert client_bound(msgspec.structs.replace(result(), **changes)) == said
