"""A scenario as a recording: every event that a watch of it would have received, made and not measured.

Pure: nothing here looks at a clock or at the machine, so that a scenario is the same each time.
"""

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from tui.agent import wire
from tui.demo import gpus, log
from tui.demo.clock import stamp
from tui.demo.cut import cut
from tui.demo.gpus import SimulatedGpus, never_busy
from tui.demo.port import Port
from tui.demo.processes import UID, USER, Host
from tui.demo.scenario import LinkLost, Scenario
from tui.demo.script import script
from tui.demo.signals import SimulatedSignals
from tui.events import AnyEvent, Checkpoint, Hello, History, Link, Notice, Tick
from tui.past_load import PastLoad

HOST = "SIMULATED"
LENGTH_S = 3600.0
"""So long a scenario goes on after its story has ended."""
HISTORY_S = 0.4
CHECKPOINT_S = 0.55
_GIB = 1024**3


@dataclass(frozen=True, slots=True)
class Simulation:
    """A scenario laid out: ``events`` is read any number of times, and ``told_s`` is when its story ends.

    The story has ended when nothing of the log and nothing that happens is still to come.
    """

    events: Callable[[], Iterator[AnyEvent]]
    told_s: float


def simulation(
    scenario: Scenario,
    *,
    past: Sequence[PastLoad] = (),
    port: int | None = None,
    busy: Callable[[], bool] = never_busy,
) -> Simulation:
    """Lay a scenario out, on another port if one is given. Raises ScenarioFault.

    ``past`` are the loads that were seen before it. ``busy`` says whether a real benchmark is on, so that the
    GPUs of a ready server show it.
    """
    if port is not None:
        scenario = msgspec.structs.replace(
            scenario, server=msgspec.structs.replace(scenario.server, port=port)
        )
    told = script(scenario)
    host = Host(scenario, told)
    cuts = [
        (at_s, each.for_s)
        for at_s, each in zip(told.moments, scenario.happens, strict=True)
        if isinstance(each, LinkLost)
    ]
    changes = [t for t, _ in host.events()]
    ends = [cue.at_s for cue in told.cues[-1:]] + changes + [at_s + (for_s or 0.0) for at_s, for_s in cuts]
    last_s = max([*ends, *told.moments])

    def events() -> Iterator[AnyEvent]:
        until_s = last_s + LENGTH_S
        streams = [
            log.logs(scenario, told.cues),
            host.events(),
            Port(scenario, told, host).probes(),
            _samples(SimulatedGpus(scenario, told, host, busy).events),
            _samples(SimulatedSignals(scenario, told, host).events),
        ]
        merged = heapq.merge(*streams, key=lambda each: each[0])
        began = [(event.client_s - stamp(0.0)["client_s"], event) for event in _beginning(scenario, past)]
        whole = heapq.merge(began, merged, key=lambda each: each[0])
        ticks = ((float(second), Tick(**stamp(float(second)))) for second in range(1, int(until_s)))
        heard = cut(whole, cuts, lambda t: _again(scenario, host, t))
        for t, event in heapq.merge(heard, ticks, key=lambda each: each[0]):
            if t >= until_s:
                return
            yield event

    return Simulation(events, last_s)


def _beginning(scenario: Scenario, past: Sequence[PastLoad]) -> Iterator[AnyEvent]:
    """Yield what an agent tells before anything happens."""
    yield Link(**stamp(0.0), state="connecting", sentence="connecting")
    yield Link(**stamp(0.1), state="up", sentence=f"connected to {HOST}")
    yield from _told_first(scenario, 0.1)
    yield History(**stamp(HISTORY_S), sentence="", loads=list(past))
    yield log.source(log.OPENED_S)
    server = scenario.server
    yield Checkpoint(
        **stamp(CHECKPOINT_S),
        model=server.model,
        weight_bytes=int(server.weights_gib * server.ranks * _GIB),
        files=9,
    )


def _told_first(scenario: Scenario, t: float) -> Iterator[AnyEvent]:
    yield Hello(
        **stamp(t),
        protocol=wire.PROTOCOL,
        host=HOST,
        user=USER,
        uid=UID,
        pid=4000,
        boot_id="simulated",
        python="3.12.3",
        kernel="6.8.0",
        cpu_count=128,
        memory_total_mib=2 * 1024 * 1024,
    )
    sentence = f"SIMULATED, no server and no GPU is behind it: {scenario.title}"
    yield Notice(**stamp(t), level="info", about="demo", sentence=sentence)
    yield gpus.driver(t)
    yield gpus.facts(t, scenario.server.ranks)


def _again(scenario: Scenario, host: Host, t: float) -> Iterator[AnyEvent]:
    """Yield what an agent tells that is found again after a cut."""
    yield from _told_first(scenario, t)
    yield host.processes(t)
    yield log.source(t)


def _samples(read: Callable[[float], Iterator[AnyEvent]]) -> Iterator[tuple[float, AnyEvent]]:
    second = 0
    while True:
        second += 1
        for event in read(float(second)):
            yield event.client_s - stamp(0.0)["client_s"], event
