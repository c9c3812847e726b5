"""One look at a host as data: what ``--once --json`` prints. ``null`` is not known, never 0."""

import msgspec

from tui.commands.records import verdict_of
from tui.watch.gpus import Gpu
from tui.watch.state import WatchState
from tui.watch.target import Server


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the snapshot."""


class HostPart(Part, frozen=True, kw_only=True):
    """The host, and the state of its NVIDIA driver in words."""

    name: str | None
    kernel: str | None
    cpu_count: int | None
    memory_total_mib: int | None
    driver: str | None
    driver_version: str | None


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


class Snapshot(Part, frozen=True, kw_only=True):
    """Everything known at one moment."""

    host: HostPart
    gpus: list[GpuPart]
    servers: list[ServerPart]
    ladder: list[RungPart]
    ready: bool
    phase: str | None
    verdict: str | None
    model: str | None
    reason: str


def complete(state: WatchState) -> bool:
    """Say whether every part has been heard once: GPUs (or why none), servers, one round of questions."""
    if state.hello is None:
        return False
    if state.hello.protocol == 0:  # a URL alone has no agent: readiness is all there is
        return _asked(state)
    gpus = any(gpu.sample is not None for gpu in state.gpus.by_index.values())
    no_gpus = state.driver is not None and state.driver.state != "ok"
    found = state.target is not None or state.choice.sentence != ""
    return (gpus or no_gpus) and found and (state.wanted is None or _asked(state))


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
        verdict=verdict_of(state),
        model=state.model,
        reason=state.reason,
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


def _host(state: WatchState) -> HostPart:
    hello, driver = state.hello, state.driver
    return HostPart(
        name=hello.host if hello else None,
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
