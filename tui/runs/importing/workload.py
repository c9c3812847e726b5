"""The workload of an outside run in the words of tui/bench/workload.py, and as a spec.

Where a client tells a workload exactly the words are those of our own runs, so that the two can be compared.
What it tells inexactly, or not, has words that no exact workload has.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tui.benchmark import BenchSpec

Count = int | None


@dataclass(frozen=True, slots=True)
class Length:
    """How long prompts or answers are: in words, and in about so many tokens (0: nothing is known)."""

    words: str
    tokens: int


def exact(tokens: int) -> Length:
    """All have this length."""
    return Length(str(tokens), tokens)


def between(low: int, high: int) -> Length:
    """Lengths are drawn evenly from a range."""
    return exact(high) if low == high else Length(f"{low} to {high}", (low + high) // 2)


def about(tokens: float | None) -> Length:
    """Only a mean is known, or nothing."""
    return Length("unknown", 0) if tokens is None else Length(f"about {tokens:.0f}", round(tokens))


def seen(lengths: Sequence[int]) -> Length:
    """Return the length of these, which are all there were."""
    return between(min(lengths), max(lengths)) if lengths else about(None)


@dataclass(frozen=True, slots=True)
class Arrival:
    """How requests come. ``streams`` None: as many as there are requests. ``words`` names odd arrivals."""

    streams: Count
    rate_per_s: float | None = None
    kind: Literal["constant", "poisson"] = "poisson"
    words: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """A whole workload. ``requests`` is how many were sent, at least: ``whole`` says whether that is all."""

    arrival: Arrival
    input: Length
    output: Length
    requests: int
    whole: bool
    data: str = ""
    duration_s: float | None = None
    turns: int = 1
    more: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """What must be the same for two runs to be compared."""
        lengths = (
            [f"data {self.data}"] if self.data else [f"{self.input.words} in", f"{self.output.words} out"]
        )
        words = [self._arrival(), *lengths, f"{self.requests}{'' if self.whole else ' or more'} requests"]
        words += [] if self.duration_s is None else [f"at most {self.duration_s:g} s"]
        words += [f"{self.turns} turns"] if self.turns > 1 else []
        return ", ".join([*words, *self.more])

    def _arrival(self) -> str:
        arrival, count = self.arrival, self._streams()
        streams = "any number of streams" if count is None else f"{count} stream{'' if count == 1 else 's'}"
        rate = "" if arrival.rate_per_s is None else f"{arrival.rate_per_s:g}/s {arrival.kind}"
        if not (arrival.words or rate):
            return "all at once" if count is None else streams
        return f"{arrival.words or rate}, {'' if count is None else 'at most '}{streams}"

    def _streams(self) -> Count:
        if self.arrival.streams is not None:
            return self.arrival.streams
        closed = self.arrival.rate_per_s is None and not self.arrival.words
        return self.requests if closed and self.whole else None

    def spec(self, url: str, model: str | None) -> BenchSpec:
        """Return the nearest spec: lengths that are not exact are means, a number that is not known is 0."""
        arrival = self.arrival
        return BenchSpec(
            url=url,
            model=model,
            concurrency=self._streams() or self.requests,
            requests=self.requests,
            input_tokens=self.input.tokens,
            output_tokens=self.output.tokens,
            arrival="closed" if arrival.rate_per_s is None else arrival.kind,
            rate_per_s=arrival.rate_per_s,
            duration_s=self.duration_s,
            warmup_s=0.0,
            turns=self.turns,
            data=self.data,
        )
