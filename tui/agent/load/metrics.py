"""The metrics of a benchmark and their formulas, from the records of its measured requests.

They are computed on the host, because hundreds of thousands of moments do not belong on the link, and
because the agent carries no other room; what a client adds (text, JSON, ratios) is in tui/bench. For one
request, with t0 the moment before its first byte was written on an open connection (so without connecting),
t1 that of the first chunk with text, tc of the first that is not reasoning, te of the last chunk with text or
finish_reason, n its output tokens:

- TTFT = t1 - t0. A chunk with only a role or empty text is no first token; reasoning text is.
- TTFO = tc - t0, of requests in which there was such a chunk.
- ITL: every gap between two successive chunks with text. It is a chunk gap, what a reader sees: a server that
  sends k tokens a chunk shows k times the time of a token.
- TPOT = (te - t1) / (n - 1), for n > 1.
- E2E = te - t0.
- n is usage.completion_tokens; without it the number of chunks with text, and the whole result says "chunks".

In an open loop t0 is the moment at which the request was due: what it waited for a free stream, for its
connection or for the generator itself is in its TTFT and E2E. ``late_ms`` = first byte written - due.

Over the run, lasting from the first t0 to the end of the last response, failed ones included. Rates count
what the server did in that time, so also its work for requests that the warm-up had sent and that ended well
in it: without it each run's rate would fall by how far those happened to be.

- output tokens/s = (sum of n over successes + those tokens of warm-up requests, and of requests that a
  cancellation dropped, that arrived in the run, each chunk counted for n / chunks of its request) / duration;
- requests/s = (successes + of each warm-up request that part of its time that lies in the run) / duration;
- tokens a chunk = sum of n / ``chunks``, the number of chunks with text, both over successes;
- achieved concurrency = sum over all requests of the time in which they were on their way (first byte written
  to end of response) and in the measurement, also those that the warm-up had sent or that a cancellation
  dropped, / duration;
- steady tokens/s: steady.py;
- ``good`` = successes that kept every given limit (TTFT, TPOT, E2E <= limit; a request with n = 1 has no TPOT
  and keeps that limit); goodput = good / successes * requests/s.

Means and percentiles are over successes. Percentiles interpolate linearly between order statistics (rank
(count - 1) * q); p99 is None under 100 samples, everything is None without a sample.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.agent.load.judge import judge
from tui.agent.load.records import Records
from tui.agent.load.samples import Samples
from tui.agent.load.steady import Steady

if TYPE_CHECKING:
    from tui.agent.load.connections import Exchange
    from tui.agent.load.flight import Flight
    from tui.agent.load.stream import Answer

NO_FAILURE = ("", "")


class Outcomes:
    """How requests ended, successes and classes of failure, and how many failed since the last success."""

    def __init__(self) -> None:
        self.completed = 0
        self.failures: dict[str, int] = {}
        self.failed_in_a_row = 0
        self.last_failure = NO_FAILURE

    @property
    def failed(self) -> int:
        """How many requests failed."""
        return sum(self.failures.values())

    def add(self, flight: Flight, answer: Answer) -> str:
        """Judge one finished request; return its class of failure ("" for a success)."""
        fault, detail = judge(flight.exchange, answer, flight.asked)
        if fault:
            self.failures[fault] = self.failures.get(fault, 0) + 1
            self.failed_in_a_row += 1
            self.last_failure = (fault, detail)
        else:
            self.failed_in_a_row = 0
            self.completed += 1
        return fault


class Limits:
    """What a request must keep to be good, in seconds; None is not limited."""

    def __init__(self, limits: dict[str, float | None] | None) -> None:
        self.given = limits is not None
        found = limits or {}
        self._limits_s = [_seconds(found.get(name)) for name in ("ttft_ms", "tpot_ms", "e2e_ms")]

    def keep(self, ttft_s: float, tpot_s: float | None, e2e_s: float) -> bool:
        """Tell whether a request's times keep them."""
        times_s = (ttft_s, tpot_s, e2e_s)
        pairs = [(times_s[at], limit_s) for at, limit_s in enumerate(self._limits_s) if limit_s is not None]
        return all(time_s is None or time_s <= limit_s + 1e-9 for time_s, limit_s in pairs)


class Passing:
    """A request that is not in the figures; ``tokens`` 0 when it failed, None when it never ended."""

    __slots__ = ("_ended_s", "_sent_s", "_stamps_s", "_tokens")

    def __init__(self, exchange: Exchange, stamps_s: list[float], tokens: int | None) -> None:
        self._sent_s, self._ended_s = exchange.sent_s, exchange.ended_s
        self._stamps_s = stamps_s
        self._tokens = tokens

    def part(self, began_s: float, ended_s: float, each: float) -> tuple[float, float, float]:
        """Return what it adds to a run between two moments: seconds, tokens, requests.

        ``each`` is how many tokens a chunk is worth on average.
        """
        seconds = max(0.0, min(self._ended_s, ended_s) - max(self._sent_s, began_s))
        inside = sum(began_s < stamp_s <= ended_s for stamp_s in self._stamps_s)
        if self._tokens is None:
            return seconds, inside * each, 0.0
        tokens = inside * self._tokens / max(1, len(self._stamps_s))
        requests = seconds / max(1e-9, self._ended_s - self._sent_s) if self._tokens else 0.0
        return seconds, tokens, requests


class Tally:
    """The account of the measurement: what succeeded, what failed and how, and the samples of successes."""

    def __init__(self, limits: dict[str, float | None] | None = None, steady: Steady | None = None) -> None:
        self.outcomes = Outcomes()
        self.steady = steady or Steady(())
        self.records = Records()
        self._limits = Limits(limits)
        self.good = self.ended_early = self.output_tokens = self.chunks = 0
        self.input_tokens: int | None = 0
        self.by_chunks = False
        self.ttft, self.ttfo, self.itl = Samples(), Samples(), Samples()
        self.tpot, self.e2e, self.late = Samples(), Samples(), Samples()
        self.began_s: float | None = None
        self.ended_s = 0.0
        self._in_flight_s = 0.0
        self._passing: list[Passing] = []

    @property
    def completed(self) -> int:
        """How many requests succeeded."""
        return self.outcomes.completed

    @property
    def failed(self) -> int:
        """How many requests failed."""
        return self.outcomes.failed

    @property
    def duration_s(self) -> float:
        """Seconds from the first request's start to the end of the last response."""
        return self.ended_s - self.began_s if self.began_s is not None else 0.0

    def add(self, flight: Flight, answer: Answer) -> str:
        """Count one finished request; return its class of failure ("" for a success)."""
        exchange = flight.exchange
        began_s = flight.began_s
        self.began_s = began_s if self.began_s is None else min(self.began_s, began_s)
        self.ended_s = max(self.ended_s, exchange.ended_s)
        self._in_flight_s += exchange.ended_s - exchange.sent_s
        if flight.due_s is not None:
            self.late.add(max(0.0, exchange.sent_s - flight.due_s))
        fault = self.outcomes.add(flight, answer)
        tokens = answer.usage_output
        if not fault:
            tokens = output_of(answer)
            self._succeed(flight, answer, tokens)
        self.records.add(flight, answer, tokens, fault)
        return fault

    def pass_by(self, flight: Flight, answer: Answer, tokens: int | None) -> None:
        """Count only the presence and the tokens of a request that is not in the figures itself.

        ``tokens`` are 0 when it failed, None when it never ended.
        """
        self._passing.append(Passing(flight.exchange, answer.stamps_s, tokens))
        self.steady.add(answer.stamps_s, tokens)

    def _succeed(self, flight: Flight, answer: Answer, tokens: int) -> None:
        t0, first_s = flight.began_s, answer.stamps_s[0]
        last_s = answer.last_s if answer.last_s is not None else answer.stamps_s[-1]
        tpot_s = (last_s - first_s) / (tokens - 1) if tokens > 1 else None
        self.by_chunks = self.by_chunks or not answer.usage_output
        self.ended_early += tokens < flight.asked.tokens and answer.finish == "stop"
        self.output_tokens += tokens
        self.chunks += len(answer.stamps_s)
        self._count_input(answer.usage_input)
        self.steady.add(answer.stamps_s, tokens)
        self.good += self._limits.keep(first_s - t0, tpot_s, last_s - t0)
        self.ttft.add(first_s - t0)
        self.e2e.add(last_s - t0)
        if answer.first_content_s is not None:
            self.ttfo.add(answer.first_content_s - t0)
        if tpot_s is not None:
            self.tpot.add(tpot_s)
        self.itl.add_gaps(answer.stamps_s)

    def _count_input(self, tokens: int | None) -> None:
        known = self.input_tokens is not None and tokens is not None
        self.input_tokens = (self.input_tokens or 0) + (tokens or 0) if known else None

    def _passed(self) -> tuple[float, float, float]:
        """Return what those that passed by add: seconds on their way, tokens, requests."""
        began_s, ended_s = self.began_s or 0.0, self.ended_s
        each = self.output_tokens / self.chunks if self.chunks else 1.0
        parts = [one.part(began_s, ended_s, each) for one in self._passing]
        seconds, tokens, requests = (sum(part[at] for part in parts) for at in range(3))
        return seconds, tokens, requests

    def fields(self) -> dict[str, object]:
        """Return the figures as in BenchResult of tui/benchmark.py, None for what is not known."""
        some, duration_s = self.completed > 0, self.duration_s
        rated = some and duration_s > 0
        passed_s, passed_tokens, passed = self._passed()
        requests_per_s = (self.completed + passed) / duration_s if rated else None
        limited = some and self._limits.given
        return {
            "completed": self.completed,
            "failed": self.failed,
            "failures": dict(sorted(self.outcomes.failures.items())),
            "ttft_ms": self.ttft.summary(),
            "ttfo_ms": self.ttfo.summary(),
            "itl_ms": self.itl.summary(),
            "tpot_ms": self.tpot.summary(),
            "e2e_ms": self.e2e.summary(),
            "late_ms": self.late.summary(),
            "output_tokens": self.output_tokens if some else None,
            "input_tokens": self.input_tokens if some else None,
            "chunks": self.chunks if some else None,
            "ended_early": self.ended_early,
            "tokens_counted_by": ("chunks" if self.by_chunks else "usage") if some else None,
            "duration_s": duration_s if duration_s > 0 else None,
            "output_tokens_per_s": (self.output_tokens + passed_tokens) / duration_s if rated else None,
            "requests_per_s": requests_per_s,
            "achieved_concurrency": (self._in_flight_s + passed_s) / duration_s if rated else None,
            "steady_s": self.steady.seconds if some else None,
            "steady_tokens_per_s": self.steady.tokens_per_s if some else None,
            "good": self.good if limited else None,
            "goodput_per_s": self.good / self.completed * requests_per_s
            if limited and requests_per_s
            else None,
            "records_dropped": self.records.dropped,
        }


def output_of(answer: Answer) -> int:
    """Return the output tokens of a success: as the server counted, else its chunks with text."""
    return answer.usage_output or len(answer.stamps_s)


def _seconds(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1e3
