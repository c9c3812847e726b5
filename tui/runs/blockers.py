"""Reasons for which two sides can not be compared, or B can not be called better whatever the figures say."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from tui.bench.client_bound import client_bound
from tui.benchmark import BenchResult
from tui.runs.adding import model_of
from tui.runs.entry import RunEntry
from tui.runs.samples import Sample, left_out

LENGTHS_ALIKE = 0.02
"""Answers of lengths that differ by more are other work: of 256 tokens it is 5."""
_PLACES = {
    "server_host": "beside the server",
    "this_machine": "from the watching machine",
    "elsewhere": "by another client",
}


@dataclass(frozen=True, slots=True)
class Blocker:
    """A reason in words. ``only_better``: B can still be called worse, or no different."""

    sentence: str
    only_better: bool = False


@dataclass(frozen=True, slots=True)
class Side:
    """A configuration: all its runs, and the samples that those make which count."""

    name: str
    runs: Sequence[RunEntry]
    samples: Sequence[Sample]

    @property
    def counted(self) -> list[RunEntry]:
        """The runs behind the samples."""
        return [run for sample in self.samples for run in sample.runs]


def blockers(a: Side, b: Side) -> tuple[Blocker, ...]:
    """Return every reason there is, those against any comparison first."""
    found = [*_unlike(a, b), *_unknown(a), *_unknown(b), *_client(a), *_client(b), *_failures(b)]
    return tuple(sorted(found, key=lambda each: each.only_better))


def _unlike(a: Side, b: Side) -> Iterator[Blocker]:
    """Give what must be the same on both sides and is not."""
    yield from _differing(a, b, "the workloads differ", lambda run: run.workload)
    yield from _differing(a, b, "the models differ", model_of)
    yield from _differing(a, b, "the clients differ", lambda run: run.origin)
    yield from _differing(a, b, "measured from different places", lambda run: _PLACES[run.result.measured_on])
    yield from _differing(a, b, "tokens were counted differently", _counted_by)
    limits = {run.result.spec.limits for side in (a, b) for run in side.counted} - {None}
    if len(limits) > 1:
        yield Blocker("goodput was counted against different limits")
    lengths = _answer_length(a), _answer_length(b)
    if lengths[0] and lengths[1] and abs(lengths[1] / lengths[0] - 1) > LENGTHS_ALIKE:
        yield Blocker(f"answers of A had {lengths[0]:.1f} tokens on average, those of B {lengths[1]:.1f}")
    digests = {run.fingerprint.digest for run in (*a.runs, *b.runs)} - {""}
    if len(digests) == 1 and all(run.fingerprint.digest for run in (*a.runs, *b.runs)):
        yield Blocker("A and B are one configuration, so that what differs is noise")


def _differing(a: Side, b: Side, what: str, value: Callable[[RunEntry], str | None]) -> Iterator[Blocker]:
    of_a, of_b = ({value(run) for run in side.counted} for side in (a, b))
    if of_a and of_b and (of_a != of_b or len(of_a) > 1):
        yield Blocker(f"{what}: {_named(of_a)} and {_named(of_b)}")


def _named(values: Iterable[str | None]) -> str:
    return " or ".join(sorted(value or "unknown" for value in values))


def _counted_by(run: RunEntry) -> str | None:
    by = run.result.tokens_counted_by
    return None if by is None else f"by {by}"


def _answer_length(side: Side) -> float | None:
    """Return output tokens a successful request, None where a count is missing."""
    results = [run.result for run in side.counted]
    tokens = [result.output_tokens for result in results if result.output_tokens is not None]
    requests = sum(result.completed for result in results)
    return sum(tokens) / requests if requests and len(tokens) == len(results) else None


def _unknown(side: Side) -> Iterator[Blocker]:
    """Give what is not known of a side and must be."""
    name = side.name
    if not all(model_of(run) for run in side.counted):
        yield Blocker(f"the model of {name} is not known")
    digests = {run.fingerprint.digest for run in side.runs}
    if "" in digests:
        yield Blocker(f"what the server of {name} ran under is not known")
    elif any(run.fingerprint.environment_known == "unknown" for run in side.runs):
        yield Blocker(f"the environment of {name}'s server is not known")
    if len(digests) > 1:
        yield Blocker(f"{name} is {len(digests)} configurations")
    if not all(sample.known for sample in side.samples):
        yield Blocker(f"on which start of the server {name} was measured is not known")


def _client(side: Side) -> Iterator[Blocker]:
    reasons = [reason for run in side.counted if (reason := client_bound(run.result))]
    if reasons:
        yield Blocker(f"{side.name} was client-bound: {reasons[0]}")


def _failures(b: Side) -> Iterator[Blocker]:
    """Give what failed on B's side, by class."""
    counts: dict[str, int] = {}
    for result in (run.result for run in b.runs):
        for fault, count in failures(result).items():
            counts[fault] = counts.get(fault, 0) + count
    if counts:
        named = ", ".join(f"{fault} {count}" for fault, count in sorted(counts.items()))
        yield Blocker(f"requests of B failed: {named}", only_better=True)
    if not all(run.result.failed_known for run in b.runs):
        yield Blocker("whether requests of B failed is not known", only_better=True)


def failures(result: BenchResult) -> dict[str, int]:
    """Return how many requests of a run failed, by class; a run that failed as a whole counts as one."""
    if result.failures or not result.failed:
        whole = result.outcome == "failed" and result.fault not in ("busy", *result.failures)
        return result.failures | ({result.fault or "failed": 1} if whole else {})
    return {"failed": result.failed}


def own_blocker(name: str, run: RunEntry) -> tuple[Blocker, ...]:
    """Return why the very run that is asked about does not count, () when it does."""
    bound = client_bound(run.result)
    reason = left_out(run.result) or (f"client-bound ({bound}): measure again" if bound else "")
    return (Blocker(f"run {run.id} ({name}) was {reason}"),) if reason else ()
