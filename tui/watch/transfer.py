"""How much of a model's weights the GPUs have received over PCIe: the weights phase in bytes. Pure.

Every measured load of SGLang and vLLM (one GPU and two, memory and disk) received 1.07 to 1.08 times its
share of the checkpoint, so a fraction, a rate and a time left follow without a line of the log.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal

from tui.engines.base import ServerArguments

OVERHEAD = 1.075
"""Bytes received for a byte of weights: what PCIe and its driver add."""
EXCESS = 1.3
"""More than this times what was expected means that the expectation is wrong: then nothing is known."""
UNFINISHED = 0.99
"""The most that a fraction says before the phase has ended."""
RATE_S = 10.0
"""A rate is the mean over this time: two readings of the slow tier."""
STALE_S = 12.0
"""A reading older than this gives no rate any more: two have not come."""
KEPT = 2048
"""Readings kept for each GPU: 2.8 hours of the slow tier."""
_MIB = 1024.0 * 1024.0
_SHORTEST_S = 1.0

Basis = Literal["past_load", "checkpoint", "printed"]


@dataclass(slots=True)
class Readings:
    """What one GPU received, as it was told: times of the host's monotonic clock, oldest first, with MiB.

    A total that falls comes from a reader that began anew: what was before it is no longer comparable.
    """

    times: list[float] = field(default_factory=list[float])
    totals: list[float] = field(default_factory=list[float])

    def take(self, at_s: float, total_mib: float | None) -> None:
        """Note a reading; one without a figure says nothing."""
        if total_mib is None:
            return
        if self.totals and (total_mib < self.totals[-1] or at_s <= self.times[-1]):
            self.times.clear()
            self.totals.clear()
        self.times.append(at_s)
        self.totals.append(total_mib)
        if len(self.times) > KEPT:
            del self.times[:1], self.totals[:1]

    def before(self, at_s: float) -> int | None:
        """Return the place of the last reading at or before a time, None without one."""
        place = bisect_right(self.times, at_s) - 1
        return place if place >= 0 else None

    def after(self, at_s: float) -> int:
        """Return the place of the first reading at or after a time, else of the last one."""
        return min(bisect_left(self.times, at_s), len(self.times) - 1)


@dataclass(frozen=True, slots=True)
class Expected:
    """What each GPU is expected to receive in all, and by which figure."""

    mib: float
    basis: Basis


@dataclass(frozen=True, slots=True)
class GpuTransfer:
    """What one GPU received since the phase began. None is not known.

    ``fraction`` is 0 to 1, ``left_s`` the time left at the present rate.
    """

    index: int
    received_mib: float
    fraction: float | None
    rate_mib_s: float | None
    left_s: float | None


@dataclass(frozen=True, slots=True)
class Transfer:
    """The weights on their way to a server's GPUs, by the newest readings (``at_s``).

    ``fraction`` is over all GPUs together, ``left_s`` that of the slowest. ``expected_mib`` is for one GPU.
    """

    gpus: tuple[GpuTransfer, ...]
    at_s: float
    received_mib: float
    fraction: float | None
    rate_mib_s: float | None
    left_s: float | None
    expected_mib: float | None
    basis: Basis | None

    @property
    def mean_received_mib(self) -> float:
        """What one GPU received, the mean over all: as a past load keeps it."""
        return self.received_mib / len(self.gpus)

    def left_at(self, now_s: float) -> float | None:
        """Return the time left as of now, None where it is not known or over: the next reading tells."""
        left_s = None if self.left_s is None else self.left_s - max(0.0, now_s - self.at_s)
        return left_s if left_s is not None and left_s > 0 else None


def expectation(
    shards: int | None,
    *,
    past_load_mib: float | None = None,
    checkpoint_bytes: int | None = None,
    printed_gib: float | None = None,
) -> Expected | None:
    """Return what each GPU is to receive, by the best of these figures; None without one.

    A past load of the same key measured it. The sizes of the weight files, or the engine's own word for them,
    are shared out among so many GPUs.
    """
    if past_load_mib:
        return Expected(past_load_mib, "past_load")
    if shards is None:
        return None
    if checkpoint_bytes:
        return Expected(checkpoint_bytes / _MIB * OVERHEAD / shards, "checkpoint")
    return Expected(printed_gib * 1024.0 * OVERHEAD / shards, "printed") if printed_gib else None


def shards_of(arguments: ServerArguments, held: int) -> int | None:
    """Return into how many parts the weights are split among GPUs, None where that cannot be said.

    Assumed: tensor and pipeline parallel ranks share the weights evenly, experts included, and data-parallel
    replicas get all of them, each. Where data-parallel ranks share experts (and repeat the rest) the shares
    are not known from sizes. Where no kind of parallelism is named an engine spreads the weights over the
    ``held`` GPUs that it holds, unless a configuration file, which is not read, may say otherwise.
    """
    replicas = arguments.data_parallel or 1
    if replicas > 1 and arguments.expert_parallel:
        return None
    named = (arguments.tensor_parallel, arguments.pipeline_parallel, arguments.data_parallel)
    if any(each is not None for each in named):
        return (arguments.tensor_parallel or 1) * (arguments.pipeline_parallel or 1)
    return None if held == 0 or (held > 1 and arguments.config_path is not None) else held


def gpus_of(arguments: ServerArguments, held: Collection[int], present: Collection[int]) -> set[int]:
    """Return the GPUs of a server: those that its processes hold.

    Where the driver names none of them (in a container it may number processes differently) all that are
    ``present``, if the server's shape needs exactly that many, else none.
    """
    replicas = arguments.data_parallel or 1
    needed = replicas * (arguments.tensor_parallel or 1) * (arguments.pipeline_parallel or 1)
    return set(held) or (set(present) if needed == len(present) else set())


def transfer(
    readings: Mapping[int, Readings],
    gpus: Collection[int],
    expected: Expected | None,
    *,
    began_s: float,
    ended_s: float | None,
    now_s: float,
) -> Transfer | None:
    """Return what these GPUs received from the phase's beginning to its end (or now).

    None when one of them did not tell, or was not read before the phase began: then there is nothing to count
    from. ``ended_s`` is None while the phase lasts. Where loaders quantise on the host less arrives than is
    expected, and the fraction stays behind; where more than 1.3 times as much arrives it is None.
    """
    each: list[GpuTransfer] = []
    times: list[float] = []
    for index in sorted(gpus):
        known = readings.get(index)
        base = known.before(began_s) if known is not None else None
        if known is None or base is None:
            return None
        last = len(known.times) - 1 if ended_s is None else known.after(ended_s)
        received = known.totals[last] - known.totals[base]
        rate = _rate(known, base, last, began_s)
        rate = None if ended_s is not None or now_s - known.times[last] > STALE_S else rate
        each.append(_gpu(index, received, rate, expected, ended_s is not None))
        times.append(known.times[last])
    return _together(each, min(times), expected, ended_s is not None) if each else None


def _rate(known: Readings, base: int, last: int, began_s: float) -> float | None:
    """Return MiB/s over the last two readings, from the phase's beginning at the earliest."""
    since = max(base, known.before(known.times[last] - RATE_S + 0.5) or 0)
    if since == last:
        return None
    seconds = known.times[last] - max(known.times[since], began_s)
    return (known.totals[last] - known.totals[since]) / seconds if seconds >= _SHORTEST_S else None


def _gpu(
    index: int, received: float, rate: float | None, expected: Expected | None, ended: bool
) -> GpuTransfer:
    fraction = _fraction(received, expected.mib if expected is not None else None, ended)
    left_s: float | None = None
    if expected is not None and fraction is not None and not ended and rate:
        left_s = max(0.0, expected.mib - received) / rate
    return GpuTransfer(index, received, fraction, rate, left_s)


def _together(each: list[GpuTransfer], at_s: float, expected: Expected | None, ended: bool) -> Transfer:
    received = sum(gpu.received_mib for gpu in each)
    rates = [gpu.rate_mib_s for gpu in each if gpu.rate_mib_s is not None]
    lefts = [gpu.left_s for gpu in each if gpu.left_s is not None]
    total = expected.mib * len(each) if expected is not None else None
    fraction = _fraction(received, total, ended)
    return Transfer(
        gpus=tuple(each),
        at_s=at_s,
        received_mib=received,
        fraction=fraction,
        rate_mib_s=sum(rates) if len(rates) == len(each) else None,
        left_s=max(lefts) if fraction is not None and len(lefts) == len(each) else None,
        expected_mib=expected.mib if expected is not None else None,
        basis=expected.basis if expected is not None else None,
    )


def _fraction(received_mib: float, expected_mib: float | None, ended: bool) -> float | None:
    """Return the part that has come, which may be short of all at the end: a pipeline's stages differ."""
    if not expected_mib or received_mib > EXCESS * expected_mib:
        return None
    return min(1.0 if ended else UNFINISHED, max(0.0, received_mib / expected_mib))
