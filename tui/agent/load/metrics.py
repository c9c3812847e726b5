"""The metrics of a benchmark and their formulas, from the records of its measured requests.

They are computed on the host, because hundreds of thousands of moments do not belong on the link, and
because the agent carries no other room; what a client adds (text, JSON, ratios) is in tui/bench. For one
request, with t0 the moment before its first byte was written on an open connection (so without connecting),
t1 that of the first chunk with text, te of the last chunk with text or finish_reason, n its output tokens:

- TTFT = t1 - t0. A chunk with only a role or empty text is no first token; reasoning text is.
- ITL: every gap between two successive chunks with text. It is a chunk gap, what a reader sees: a server that
  sends k tokens a chunk shows k times the time of a token.
- TPOT = (te - t1) / (n - 1), for n > 1.
- E2E = te - t0.
- n is usage.completion_tokens; without it the number of chunks with text, and the whole result says "chunks".

Over the run, lasting from the first t0 to the end of the last response, failed ones included:

- output tokens/s = sum of n over successes / duration; requests/s = successes / duration;
- achieved concurrency = sum over all requests of (end of response - t0) / duration.

Means and percentiles are over successes. Percentiles interpolate linearly between order statistics (rank
(count - 1) * q); p99 is None under 100 samples, everything is None without a sample.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tui.agent.load.judge import Asked, judge

if TYPE_CHECKING:
    from tui.agent.load.connections import Exchange
    from tui.agent.load.stream import Answer

P99_SAMPLES = 100


class Samples:
    """Milliseconds, counted to the microsecond: exact percentiles in little memory however many there are."""

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}
        self._sum_s = 0.0
        self.count = 0

    def add(self, seconds: float) -> None:
        """Add one duration in seconds."""
        key = round(seconds * 1e6)
        self._counts[key] = self._counts.get(key, 0) + 1
        self._sum_s += seconds
        self.count += 1

    def summary(self) -> dict[str, object]:
        """Return mean, p50, p90, p99 in milliseconds and the count, as in events.Percentiles."""
        known = self.count > 0
        p50, p90, p99 = self._quantiles((0.5, 0.9, 0.99)) if known else (None, None, None)
        return {
            "mean": self._sum_s * 1e3 / self.count if known else None,
            "p50": p50,
            "p90": p90,
            "p99": p99 if self.count >= P99_SAMPLES else None,
            "samples": self.count,
        }

    def _quantiles(self, fractions: tuple[float, float, float]) -> tuple[float, float, float]:
        ordered = sorted(self._counts.items())
        a, b, c = (self._quantile(ordered, fraction) for fraction in fractions)
        return a, b, c

    def _quantile(self, ordered: list[tuple[int, int]], fraction: float) -> float:
        rank = (self.count - 1) * fraction
        low = _at(ordered, math.floor(rank))
        high = _at(ordered, math.ceil(rank))
        return (low + (high - low) * (rank - math.floor(rank))) / 1e3


def _at(ordered: list[tuple[int, int]], rank: int) -> int:
    """Return the value of that rank in a sorted list of (value, how often)."""
    passed = 0
    for value, count in ordered:
        passed += count
        if rank < passed:
            return value
    return ordered[-1][0]


class Tally:
    """The running account of one stage: what succeeded, what failed and how, and the samples of successes."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self.completed = 0
        self.failures: dict[str, int] = {}
        self.failed_in_a_row = 0
        self.last_failure = ("", "")
        self.ended_early = 0
        self.output_tokens = 0
        self.input_tokens: int | None = 0
        self.by_chunks = False
        self.ttft, self.itl, self.tpot, self.e2e = Samples(), Samples(), Samples(), Samples()
        self.began_s: float | None = None
        self.ended_s = 0.0
        self._in_flight_s = 0.0

    @property
    def failed(self) -> int:
        """How many requests failed."""
        return sum(self.failures.values())

    @property
    def duration_s(self) -> float:
        """Seconds from the first request's start to the end of the last response."""
        return self.ended_s - self.began_s if self.began_s is not None else 0.0

    def add(self, exchange: Exchange, answer: Answer) -> None:
        """Count one finished exchange."""
        self._span(exchange)
        fault, detail = judge(exchange, answer, self._asked)
        if fault:
            self.failures[fault] = self.failures.get(fault, 0) + 1
            self.failed_in_a_row += 1
            self.last_failure = (fault, detail)
        else:
            self.failed_in_a_row = 0
            self._succeed(exchange, answer)

    def _span(self, exchange: Exchange) -> None:
        self.began_s = exchange.sent_s if self.began_s is None else min(self.began_s, exchange.sent_s)
        self.ended_s = max(self.ended_s, exchange.ended_s)
        self._in_flight_s += exchange.ended_s - exchange.sent_s

    def _succeed(self, exchange: Exchange, answer: Answer) -> None:
        tokens = answer.usage_output or len(answer.stamps_s)
        first_s = answer.stamps_s[0]
        last_s = answer.last_s if answer.last_s is not None else answer.stamps_s[-1]
        self.completed += 1
        self.by_chunks = self.by_chunks or not answer.usage_output
        self.ended_early += tokens < self._asked.tokens and answer.finish == "stop"
        self.output_tokens += tokens
        self._count_input(answer.usage_input)
        self.ttft.add(first_s - exchange.sent_s)
        self.e2e.add(last_s - exchange.sent_s)
        if tokens > 1:
            self.tpot.add((last_s - first_s) / (tokens - 1))
        before_s = first_s
        for after_s in answer.stamps_s[1:]:
            self.itl.add(after_s - before_s)
            before_s = after_s

    def _count_input(self, tokens: int | None) -> None:
        known = self.input_tokens is not None and tokens is not None
        self.input_tokens = (self.input_tokens or 0) + (tokens or 0) if known else None

    def fields(self) -> dict[str, object]:
        """Return the figures as in events.BenchResult, None for what is not known."""
        some, duration_s = self.completed > 0, self.duration_s
        return {
            "completed": self.completed,
            "failed": self.failed,
            "failures": dict(sorted(self.failures.items())),
            "ttft_ms": self.ttft.summary(),
            "itl_ms": self.itl.summary(),
            "tpot_ms": self.tpot.summary(),
            "e2e_ms": self.e2e.summary(),
            "output_tokens": self.output_tokens if some else None,
            "input_tokens": self.input_tokens if some else None,
            "tokens_counted_by": ("chunks" if self.by_chunks else "usage") if some else None,
            "duration_s": duration_s if duration_s > 0 else None,
            "output_tokens_per_s": self.output_tokens / duration_s if some and duration_s > 0 else None,
            "requests_per_s": self.completed / duration_s if some and duration_s > 0 else None,
            "achieved_concurrency": self._in_flight_s / duration_s if some and duration_s > 0 else None,
        }
