"""What past loads tell of this one: which of them compare, and this one as a past load once it is ready."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Literal

from tui.engines.marks import CACHE_COLD, CACHE_WARM, Mark
from tui.engines.phase import Phase
from tui.events import History
from tui.past_load import PastLoad, PhaseTime
from tui.watch.gpus import GpuBook
from tui.watch.silences import Silences
from tui.watch.target import Server
from tui.watch.timeline import PhaseSpan
from tui.watch.verdict.situation import Past

NEWEST = 20
"""So many of the newest loads tell of the next one: disks, drivers and caches change."""
STAYS = 64
"""A load that goes to and fro more often is kept by the sums of its phases."""

Cache = Literal["cold", "warm"]


@dataclass(frozen=True, slots=True)
class LoadKey:
    """What makes two loads comparable, as far as it is known yet.

    ``engine`` to ``data_parallel`` and ``quantization`` must be the same (None: the arguments do not give
    it); the others decide only where both loads know them.
    """

    engine: str
    model: str
    tensor_parallel: int | None
    pipeline_parallel: int | None
    data_parallel: int | None
    version: str | None = None
    gpus: int | None = None
    gpu_name: str | None = None
    host: str | None = None
    cache: Cache | None = None
    quantization: str | None = None

    def fits(self, load: PastLoad) -> bool:
        """Whether a past load ran the same engine and model in the same shape."""
        shape = (self.tensor_parallel, self.pipeline_parallel, self.data_parallel)
        theirs = (load.tensor_parallel, load.pipeline_parallel, load.data_parallel)
        same = (self.engine, self.model, self.quantization) == (load.engine, load.model, load.quantization)
        return same and shape == theirs and (self.gpus is None or load.gpus is None or self.gpus == load.gpus)


@dataclass(frozen=True, slots=True)
class PastWanted:
    """Which past loads are worth reading now: ``load`` counts the loads of the watch, each is told anew."""

    load: int
    engine: str
    model: str


@dataclass(frozen=True, slots=True)
class Matching:
    """The past loads that compare, newest last, and in words which they are; ``words`` says why none."""

    loads: tuple[PastLoad, ...]
    words: str

    @property
    def received_mib(self) -> float | None:
        """What one GPU received over PCIe in these loads, their median; None where none was measured."""
        told = [load.pcie_received_mib for load in self.loads if load.pcie_received_mib]
        return median(told) if told else None


@dataclass(frozen=True, slots=True)
class Step:
    """How alike past loads must be to compare. The first step that finds any is taken, and named."""

    version: bool
    gpu_name: bool
    words: str


STEPS = (
    Step(True, True, ""),
    Step(False, True, " of other versions"),
    Step(True, False, " on other GPUs"),
    Step(False, False, " of other versions on other GPUs"),
)


@dataclass(slots=True)
class PastLoads:
    """The past loads that are known: those that were read, and those that this watch has seen itself.

    ``sentence`` is what the reading had to say, None before the first event of history.
    """

    sentence: str | None = None
    _read: list[PastLoad] = field(default_factory=list[PastLoad])
    _seen: list[PastLoad] = field(default_factory=list[PastLoad])

    def take(self, event: History) -> None:
        """Note what was read; it takes the place of what was read before."""
        self.sentence = event.sentence
        self._read = event.loads

    def add(self, load: PastLoad) -> None:
        """Note a load that became ready in this watch, whether or not it can be written."""
        self._seen = [*self._seen, load][-NEWEST:]

    @property
    def all(self) -> list[PastLoad]:
        """All of them, newest last."""
        unread = [load for load in self._seen if load not in self._read]
        return sorted([*self._read, *unread], key=lambda load: load.wall_s)

    def matching(self, key: LoadKey) -> Matching:
        """Return the past loads that compare, falling back step by step; never those of another model."""
        fitting = [load for load in self.all if key.fits(load)]
        if not fitting:
            return Matching((), "no past load of this engine, model and parallelism is known")
        if key.cache is not None:
            fitting = [load for load in fitting if load.cache == key.cache]
        if not fitting:
            return Matching((), f"no past load with a {key.cache} compile cache is known")
        for step in STEPS:
            found = [load for load in fitting if _alike(key, load, step)]
            if found:
                return _described(key, _nearest(key, found), step)
        return Matching((), "no past load compares")


def _alike(key: LoadKey, load: PastLoad, step: Step) -> bool:
    if step.version and key.version is not None and load.version != key.version:
        return False
    named = key.gpu_name is not None and load.gpu_name is not None
    return not (step.gpu_name and named and load.gpu_name != key.gpu_name)


def _nearest(key: LoadKey, found: list[PastLoad]) -> list[PastLoad]:
    """Those of the same host where there are any: its disks decide the longest phase."""
    here = [load for load in found if load.host == key.host]
    return (here or found)[-NEWEST:]


def _described(key: LoadKey, found: list[PastLoad], step: Step) -> Matching:
    count = f"{len(found)} past load{'' if len(found) == 1 else 's'}"
    where = "" if key.host in (None, found[0].host) else " from other hosts"
    cache = f", {key.cache} compile cache" if key.cache is not None else ""
    version = ""
    if key.version is None and {load.version for load in found} != {None}:
        version = ", whatever the version (not known yet)"
    return Matching(tuple(found), f"{count}{step.words}{where}{version}{cache}")


def key_of(
    server: Server, *, version: str | None, gpus: GpuBook, host: str | None, cache: Cache | None
) -> LoadKey | None:
    """Return what a server's load is compared by, None where its arguments do not name the model."""
    arguments = server.arguments
    if arguments.model is None:
        return None
    held = held_gpus(server, gpus)
    names = {gpu.fact.name for gpu in gpus.in_order() if gpu.fact and (not held or gpu.index in held)}
    return LoadKey(
        engine=server.engine.name,
        model=arguments.model,
        tensor_parallel=arguments.tensor_parallel,
        pipeline_parallel=arguments.pipeline_parallel,
        data_parallel=arguments.data_parallel,
        version=version,
        gpus=len(held) or None,
        gpu_name=names.pop() if len(names) == 1 else None,
        host=host,
        cache=cache,
        quantization=arguments.quantization,
    )


def held_gpus(server: Server, gpus: GpuBook) -> set[int]:
    """Return the GPUs on which the server holds memory; empty while fewer than its shape needs are seen.

    Ranks come up one after another, and those of other hosts are not seen at all.
    """
    pids = {member.pid for member in server.members}
    held = gpus.held_by(pids)
    arguments = server.arguments
    return (
        held if len(held) >= (arguments.tensor_parallel or 1) * (arguments.pipeline_parallel or 1) else set()
    )


def past_load(
    key: LoadKey,
    spans: Sequence[PhaseSpan],
    ready_s: float,
    wall_s: float,
    pcie_received_mib: float | None = None,
    silences: Silences | None = None,
) -> PastLoad:
    """Return a load that has just become ready as a past one. ``ready_s`` counts from the server's start."""
    return PastLoad(
        engine=key.engine,
        version=key.version,
        model=key.model,
        host=key.host or "",
        gpus=key.gpus,
        gpu_name=key.gpu_name,
        tensor_parallel=key.tensor_parallel,
        pipeline_parallel=key.pipeline_parallel,
        data_parallel=key.data_parallel,
        wall_s=round(wall_s, 3),
        ready_s=round(ready_s, 3),
        phases=_stays(spans, silences or Silences()),
        pcie_received_mib=pcie_received_mib,
        cache=key.cache,
        quantization=key.quantization,
        weights_mib_s=_weights_rate(spans, pcie_received_mib),
    )


def _weights_rate(spans: Sequence[PhaseSpan], received_mib: float | None) -> float | None:
    """Return how fast the weights reached one GPU, over the first stay in their phase."""
    span = next((span for span in spans if span.phase is Phase.WEIGHTS), None)
    seconds = span.seconds(span.ended_s) if span is not None and span.ended_s is not None else None
    return round(received_mib / seconds, 1) if received_mib and seconds else None


def _stays(spans: Sequence[PhaseSpan], silences: Silences) -> list[PhaseTime]:
    ended = [
        (stay, span)
        for stay, span in enumerate(spans)
        if span.phase is not Phase.READY and span.ended_s is not None
    ]
    stays = [
        PhaseTime(
            phase=span.phase.value,
            seconds=_rounded(span.seconds(span.ended_s or 0.0)),
            longest_silence_s=_rounded(span.longest_silence_s),
            joint_silence_s=_rounded(silences.of(stay)),
        )
        for stay, span in ended
    ]
    return stays if len(stays) <= STAYS else _summed(stays)


def _summed(stays: Sequence[PhaseTime]) -> list[PhaseTime]:
    sums: dict[str, PhaseTime] = {}
    for stay in stays:
        old = sums.get(stay.phase)
        sums[stay.phase] = stay if old is None else _sum(old, stay)
    return list(sums.values())


def _sum(one: PhaseTime, other: PhaseTime) -> PhaseTime:
    silences = [each.longest_silence_s for each in (one, other) if each.longest_silence_s is not None]
    joint = [each.joint_silence_s for each in (one, other) if each.joint_silence_s is not None]
    unknown = one.seconds is None or other.seconds is None
    return PhaseTime(
        phase=one.phase,
        seconds=None if unknown else round((one.seconds or 0.0) + (other.seconds or 0.0), 3),
        longest_silence_s=max(silences, default=None),
        joint_silence_s=max(joint, default=None),
    )


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)


def cache_told(before: Cache | None, marks: Sequence[Mark]) -> Cache | None:
    """Return what is known of the compile cache after a line: one graph that had to be made makes it cold."""
    for mark in marks:
        if mark.part == CACHE_COLD:
            return "cold"
        if mark.part == CACHE_WARM and before is None:
            before = "warm"
    return before


def past_of(loads: Sequence[PastLoad], phase: Phase | None) -> Past:
    """Return what past loads took in a phase: times, longest silences of all channels, the best rate.

    A load that came to the phase twice counts by its longest stay.
    """
    stays = [
        [stay for stay in load.phases if phase is not None and stay.phase == phase.value] for load in loads
    ]
    silences = [[stay.joint_silence_s for stay in each if stay.joint_silence_s is not None] for each in stays]
    durations = [[stay.seconds for stay in each if stay.seconds is not None] for each in stays]
    rates = [load.weights_mib_s for load in loads if load.weights_mib_s is not None]
    return Past(
        silences_s=tuple(max(each) for each in silences if each),
        durations_s=tuple(max(each) for each in durations if each),
        best_rate_mib_s=max(rates, default=None),
    )
