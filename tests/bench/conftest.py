"""Results to report on."""

from collections.abc import Callable
from typing import Any

import pytest

from tui.benchmark import BenchResult, BenchSpec, Percentiles

NONE = Percentiles(mean=None, p50=None, p90=None, p99=None, samples=0)
SOME = Percentiles(mean=20.123456, p50=20.0, p90=25.0, p99=None, samples=64)


def result(**fields: Any) -> BenchResult:
    """Return a good run of 64 requests, but for the fields given."""
    good: dict[str, Any] = {
        "mono_s": 1.0,
        "wall_s": 2.0,
        "run": "r",
        "outcome": "done",
        "sentence": "64 of 64 requests answered",
        "spec": BenchSpec(
            url="http://h:1", model=None, concurrency=8, requests=64, input_tokens=256, output_tokens=128
        ),
        "model": "m",
        "completed": 64,
        "failed": 0,
        "failures": {},
        "ttft_ms": SOME,
        "itl_ms": Percentiles(mean=5.0, p50=5.0, p90=5.0, p99=6.0, samples=64 * 127),
        "tpot_ms": SOME,
        "e2e_ms": SOME,
        "output_tokens": 8192,
        "input_tokens": 16384,
        "tokens_counted_by": "usage",
        "duration_s": 4.0,
        "output_tokens_per_s": 2048.0,
        "requests_per_s": 16.0,
        "achieved_concurrency": 7.98765432,
        "client_cpu_fraction": 0.12,
        "measured_on": "server_host",
    }
    return BenchResult(**{**good, **fields})


@pytest.fixture
def make_result() -> Callable[..., BenchResult]:
    """Return a result: a good run, but for the fields given."""
    return result


@pytest.fixture
def nothing_measured() -> BenchResult:
    """Return the result of a run whose preflight failed."""
    names = ["ttft_ms", "itl_ms", "tpot_ms", "e2e_ms"]
    unknown = ["output_tokens", "input_tokens", "tokens_counted_by", "duration_s", "output_tokens_per_s"]
    unknown += ["requests_per_s", "achieved_concurrency", "client_cpu_fraction", "model"]
    fields: dict[str, Any] = {**dict.fromkeys(names, NONE), **dict.fromkeys(unknown)}
    return result(
        outcome="failed",
        sentence="http://h:1 refuses connections",
        completed=0,
        failed=1,
        failures={"refused": 1},
        **fields,
    )
