"""What an engine's own counters, read before and after a run, say of it.

Which counter means what is said per engine (tui/engines/counters.py). Every figure is None where a counter it
needs is unknown at either end, or fell in between, as it does when a server restarts; and where requests of
others, or failed ones of ours, were among what the server counted.

- acceptance length = 1 + accepted draft tokens / drafts: tokens a verification step yields on average. Where
  an engine counts verification steps but not what they accepted: generated tokens / steps.
- acceptance rate = accepted draft tokens / draft tokens; without a count of draft tokens,
  (acceptance length - 1) / the number of tokens that a step drafts.
- prefix hit rate = prompt tokens found in the prefix cache / prompt tokens looked up.
- gap = tokens generated / tokens that arrived here in the same time, less 1. Requests that the warm-up had
  sent and that ended in the measurement are on both sides, with the tokens that the engine counted in it.
- generated tokens/s = those / the run's duration, as the client's output tokens/s; of an engine that counts
  a request when it ends, less what it had generated of the warm-up's requests before.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from tui.benchmark import BenchResult, Spilled

GAP_TOLD = 0.02  # llm-bench.md, section 6: a gap between server and client above 2 % is told

Sums = tuple[tuple[str, ...], ...]
"""Ways to have a figure, the newest first: each a sum of counters. The first that is known counts."""


@dataclass(frozen=True, slots=True)
class CounterNames:
    """What the counters of one engine mean.

    ``hits_come_late``: the counter of hits is not on the page before the first hit. ``draft_length`` is no
    counter: how many tokens a step drafts. ``counted_at_end``: the tokens of a request count when it ends.
    """

    prompt: Sums = ()
    generated: Sums = ()
    looked_up: Sums = ()
    hits: Sums = ()
    drafts: Sums = ()
    drafted: Sums = ()
    accepted: Sums = ()
    steps: Sums = ()
    draft_length: str | None = None
    hits_come_late: bool = False
    counted_at_end: bool = False

    @property
    def all(self) -> tuple[str, ...]:
        """Every name, each once."""
        sums = (
            self.prompt, self.generated, self.looked_up, self.hits,
            self.drafts, self.drafted, self.accepted, self.steps,
        )  # fmt: skip
        names = [name for ways in sums for way in ways for name in way]
        return tuple(dict.fromkeys([*names, *([self.draft_length] if self.draft_length else [])]))


@dataclass(frozen=True, slots=True)
class ServerFigures:
    """A run by the server's own counters. ``gap`` is a fraction, above 0 where the server has more."""

    acceptance_length: float | None = None
    acceptance_rate: float | None = None
    prefix_hit_rate: float | None = None
    prompt_tokens: float | None = None
    generated_tokens: float | None = None
    generated_tokens_per_s: float | None = None
    gap: float | None = None

    @property
    def sentence(self) -> str:
        """The gap in words where it is above 2 %, "" otherwise."""
        if self.gap is None or abs(self.gap) <= GAP_TOLD:
            return ""
        more = "more" if self.gap > 0 else "fewer"
        return f"the server's own counters say {abs(self.gap):.1%} {more} output tokens than arrived here"


def server_figures(result: BenchResult, names: CounterNames) -> ServerFigures:
    """Return the figures of a run by the counters that its result holds."""
    if result.others_running:
        return ServerFigures()
    rises = _Rises(result)
    length = _acceptance_length(rises, names)
    generated = rises.of(names.generated)
    return ServerFigures(
        acceptance_length=length,
        acceptance_rate=_acceptance_rate(rises, names, length),
        prefix_hit_rate=_hit_rate(rises, names),
        prompt_tokens=rises.of(names.prompt),
        generated_tokens=generated,
        generated_tokens_per_s=_ratio(_own(result, names, generated), result.duration_s),
        gap=_gap(result, names, generated),
    )


def named(tables: Iterable[CounterNames], result: BenchResult) -> CounterNames:
    """Return the table that most of a result's counters are in; an empty one when none is in any."""
    found = {counter.name for counter in result.counters}
    best = max(tables, key=lambda table: len(found & set(table.all)), default=CounterNames())
    return best if found & set(best.all) else CounterNames()


class _Rises:
    """By how much the counters of a result rose."""

    def __init__(self, result: BenchResult) -> None:
        self._ends = {counter.name: (counter.before, counter.after) for counter in result.counters}

    def of(self, ways: Sums, *, absent_is_0: bool = False) -> float | None:
        """Return the rise of the first way of which all counters are known and none fell."""
        for way in ways:
            rises = [self._one(name, absent_is_0=absent_is_0) for name in way]
            known = [rise for rise in rises if rise is not None]
            if len(known) == len(way):
                return sum(known)
        return None

    def last(self, name: str | None) -> float | None:
        """Return the last value of what is no counter."""
        return self._ends.get(name, (None, None))[1] if name is not None else None

    def _one(self, name: str, *, absent_is_0: bool) -> float | None:
        before, after = self._ends.get(name, (None, None))
        if before is None and absent_is_0:
            before = 0.0
        return after - before if before is not None and after is not None and after >= before else None


def _ratio(part: float | None, whole: float | None) -> float | None:
    return part / whole if part is not None and whole else None


def _acceptance_length(rises: _Rises, names: CounterNames) -> float | None:
    accepted = _ratio(rises.of(names.accepted), rises.of(names.drafts))
    if accepted is not None:
        return 1 + accepted
    return _ratio(rises.of(names.generated), rises.of(names.steps))


def _acceptance_rate(rises: _Rises, names: CounterNames, length: float | None) -> float | None:
    rate = _ratio(rises.of(names.accepted), rises.of(names.drafted))
    if rate is None and length is not None:
        rate = _ratio(max(0.0, length - 1), rises.last(names.draft_length))
    return rate if rate is None or rate <= 1 else None


def _hit_rate(rises: _Rises, names: CounterNames) -> float | None:
    looked_up = rises.of(names.looked_up)
    late = names.hits_come_late and looked_up is not None
    rate = _ratio(rises.of(names.hits, absent_is_0=late), looked_up)
    return rate if rate is None or rate <= 1 else None


def _own(result: BenchResult, names: CounterNames, generated: float | None) -> float | None:
    """Return the tokens that were generated in the measurement, as far as they arrived in it."""
    spilled = result.spilled
    if generated is None or spilled is None:
        return None
    return generated - (spilled.tokens - spilled.arrived if names.counted_at_end else 0)


def _over(spilled: Spilled, names: CounterNames) -> int:
    return spilled.tokens if names.counted_at_end else spilled.arrived


def _gap(result: BenchResult, names: CounterNames, generated: float | None) -> float | None:
    spilled = result.spilled
    whole = result.outcome == "done" and not result.failed and result.tokens_counted_by == "usage"
    if not whole or generated is None or spilled is None or not result.output_tokens:
        return None
    return generated / (result.output_tokens + _over(spilled, names)) - 1
