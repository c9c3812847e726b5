"""One look at a host as data: what ``--once --json`` prints. ``null`` is not known, never 0."""

import msgspec

from tui.commands.load_records import LoadPart
from tui.commands.records import JudgementPart, judgement_part
from tui.watch.gpus import Gpu
from tui.watch.state import WatchState
from tui.watch.target import Server


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the snapshot."""


class HostPart(Part, frozen=True, kw_only=True):
    """The host, and the state of its NVIDIA driver in words.

    ``place`` is the container, pod or job that the agent is in ("docker:vllm on gpu-box"), null for none.
    """

    name: str | None
    place: str | None
    kernel: str | None
    cpu_count: int | None
    memory_total_mib: int | None
    driver: str | None
    driver_version: str | None


class Unreached(Part, frozen=True, kw_only=True):
    """The line of a host that was not reached: no host, and why, as in ``wait --json``."""

    host: None = None
    fault: str
    reason: str


class GpuPart(Part, frozen=True, kw_only=True):
    """One GPU; ``state`` is ok, lost or error, null before the first reading."""

    index: int
    name: str | None
    state: str | None
    memory_used_mib: float | None
    memory_total_mib: float | None
    utilisation_pct: float | None
    power_w: float | None
    power_limit_w: float | None
    temperature_c: float | None


class ServerPart(Part, frozen=True, kw_only=True):
    """One server found. ``followed`` marks the one that the ladder and the phase speak of."""

    pid: int
    engine: str
    port: int
    model: str | None
    age_s: float | None
    processes: int
    followed: bool


class RungPart(Part, frozen=True, kw_only=True):
    """One rung of the readiness ladder."""

    rung: str
    state: str
    tries: int
    latency_ms: float | None
    answer: str


class ProgressPart(Part, frozen=True, kw_only=True):
    """What is done of the current phase. ``fraction`` 0 to 1; None is not known."""

    done: float | None
    total: float | None
    unit: str | None
    fraction: float | None


class EstimatePart(Part, frozen=True, kw_only=True):
    """How long until ready; with ``of_phase`` only until the work under way is done. None is not known."""

    remaining_s: float | None
    low_s: float | None
    high_s: float | None
    of_phase: bool
    loads: int
    sentence: str


class Snapshot(Part, frozen=True, kw_only=True, omit_defaults=True):
    """Everything known at one moment; the last five stand there only when something tells of them.

    ``judgement`` is what speaks for the verdict; its times count from this moment, so those past are below 0.
    ``load`` is the load over several of the named hosts that this one is a node of.
    """

    host: HostPart
    gpus: list[GpuPart]
    servers: list[ServerPart]
    ladder: list[RungPart]
    ready: bool
    phase: str | None
    verdict: str | None
    model: str | None
    reason: str
    progress: ProgressPart | None = None
    estimate: EstimatePart | None = None
    lagging_ranks: list[str] = []
    judgement: JudgementPart | None = None
    load: LoadPart | None = None


def complete(state: WatchState) -> bool:
    """Say whether every part has been heard once: GPUs (or why none), servers, one round of questions."""
    if state.hello is None:
        return False
    if state.hello.protocol == 0:  # a URL alone has no agent: readiness is all there is
        return _asked(state)
    gpus = any(gpu.sample is not None for gpu in state.gpus.by_index.values())
    no_gpus = state.driver is not None and state.driver.state != "ok"
    found = state.target is not None or state.choice.sentence != "" or state.without_python
    return (gpus or no_gpus) and found and (state.wanted is None or _asked(state)) and _judged(state)


def snapshot(state: WatchState, client_s: float) -> Snapshot:
    """Return what is known as of a client's time."""
    now_s = state.source_now(client_s)
    return Snapshot(
        host=_host(state),
        gpus=[_gpu(gpu) for _, gpu in sorted(state.gpus.by_index.items())],
        servers=[_server(each, state, now_s) for each in state.servers],
        ladder=[
            RungPart(
                rung=rung.name,
                state=rung.state,
                tries=rung.tries,
                latency_ms=None if rung.latency_ms is None else round(rung.latency_ms, 2),
                answer=rung.answer,
            )
            for rung in state.ladder
        ],
        ready=state.ready,
        phase=None if state.phase is None else state.phase.value,
        progress=None if now_s is None else _progress(state, now_s),
        estimate=None if now_s is None else _estimate(state, now_s),
        lagging_ranks=[lane.name for lane in state.lagging_ranks],
        verdict=state.verdict,
        judgement=judgement_part(state, 0.0, now_s) if state.judged is not None else None,
        model=state.model,
        reason=state.reason,
    )


def _progress(state: WatchState, now_s: float) -> ProgressPart | None:
    told, fraction = state.phase_progress, state.phase_fraction(now_s)
    if state.ready or (told is None and fraction is None):
        return None
    return ProgressPart(
        done=None if told is None else told.done,
        total=None if told is None else told.total,
        unit=None if told is None else told.unit,
        fraction=None if fraction is None else round(fraction, 3),
    )


def _estimate(state: WatchState, now_s: float) -> EstimatePart | None:
    found = state.estimate(now_s)
    if found is None:
        return None
    seconds = [
        None if each is None else round(each, 1) for each in (found.remaining_s, found.low_s, found.high_s)
    ]
    return EstimatePart(
        remaining_s=seconds[0],
        low_s=seconds[1],
        high_s=seconds[2],
        of_phase=found.of_phase,
        loads=found.loads,
        sentence=found.sentence,
    )


def _asked(state: WatchState) -> bool:
    """Say whether a round of questions is over: each rung has answered, up to the first that is not ok.

    A health answer alone takes a second where the engine generates a token for it (SGLang), so the rungs
    above it come later than the rest.
    """
    for rung in state.ladder[1:]:
        if rung.tries == 0:
            return False
        if rung.state != "ok" or rung.name == state.options.ready_on:
            return True
    return True


def _judged(state: WatchState) -> bool:
    """Say whether there is a verdict on the server, and not one in which a stop does not count yet."""
    found = state.judged
    if found is None:
        return state.target is None
    return not any(rule.rule.startswith("R2") and rule.matched == "nearly" for rule in found.rules)


def _host(state: WatchState) -> HostPart:
    hello, driver = state.hello, state.driver
    return HostPart(
        name=hello.host if hello else None,
        place=hello.place if hello else None,
        kernel=hello.kernel if hello else None,
        cpu_count=hello.cpu_count if hello else None,
        memory_total_mib=hello.memory_total_mib if hello else None,
        driver=(driver.sentence or driver.state) if driver else None,
        driver_version=driver.version if driver else None,
    )


def _gpu(gpu: Gpu) -> GpuPart:
    fact, sample, detail = gpu.fact, gpu.sample, gpu.detail
    total = sample.memory_total_mib if sample else None
    return GpuPart(
        index=gpu.index,
        name=fact.name if fact else None,
        state=sample.state if sample else None,
        memory_used_mib=sample.memory_used_mib if sample else None,
        memory_total_mib=total if total is not None or fact is None else fact.memory_total_mib,
        utilisation_pct=sample.utilisation_pct if sample else None,
        power_w=sample.power_w if sample else None,
        power_limit_w=fact.power_limit_w if fact else None,
        temperature_c=detail.temperature_c if detail else None,
    )


def _server(server: Server, state: WatchState, now_s: float | None) -> ServerPart:
    target = state.target
    return ServerPart(
        pid=server.pid,
        engine=server.engine.name,
        port=server.port,
        model=server.model,
        age_s=None if now_s is None else round(max(0.0, now_s - server.started_s), 1),
        processes=len(server.members),
        followed=target is not None and target.key == server.key,
    )
