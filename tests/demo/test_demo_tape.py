"""A scenario as events: the same each time, in order, complete, and plainly simulated."""

from collections import deque
from collections.abc import Iterator
from itertools import pairwise, takewhile
from typing import TypeVar

import pytest

from tui.demo.clock import BEGAN_CLIENT_S
from tui.demo.scenario import names, scenario
from tui.demo.script import cues
from tui.demo.tape import simulation
from tui.events import (
    AnyEvent,
    Checkpoint,
    Exit,
    GpuDetails,
    GpuDriver,
    GpuFacts,
    GpuProcesses,
    Gpus,
    Hello,
    Link,
    Log,
    Notice,
    Probe,
    Processes,
    Tick,
    decode,
    encode,
)

E = TypeVar("E", bound=AnyEvent)


def events(name: str, until_s: float = 130.0) -> list[AnyEvent]:
    """Return the events of a scenario's first seconds."""
    return list(takewhile(lambda event: at_s(event) < until_s, simulation(scenario(name)).events()))


def of(kind: type[E], whole: list[AnyEvent]) -> Iterator[E]:
    """Iterate over the events of a kind."""
    return (event for event in whole if isinstance(event, kind))


def at_s(event: AnyEvent) -> float:
    """Return the second of the scenario."""
    return event.client_s - BEGAN_CLIENT_S


@pytest.mark.parametrize("name", names())
def test_it_is_the_same_each_time_and_in_order(name: str) -> None:
    whole = events(name)

    assert whole == events(name)
    assert [event.client_s for event in whole] == sorted(event.client_s for event in whole)
    assert [decode(encode(event)) for event in whole] == whole


@pytest.mark.parametrize("name", names())
def test_a_tick_stands_in_every_second(name: str) -> None:
    ticks = [at_s(tick) for tick in of(Tick, events(name))]

    assert ticks == [float(second) for second in range(1, 130)]


@pytest.mark.parametrize("name", names())
def test_it_says_that_it_is_simulated(name: str) -> None:
    whole = events(name, 1.0)

    assert all(hello.host == "SIMULATED" for hello in of(Hello, whole))
    assert any("SIMULATED" in notice.sentence for notice in of(Notice, whole))
    assert all("SIMULATED" in driver.sentence for driver in of(GpuDriver, whole))
    assert all("SIMULATED" in (gpu.name or "") for facts in of(GpuFacts, whole) for gpu in facts.gpus)


def test_it_goes_on_for_an_hour_after_its_story() -> None:
    simulated = simulation(scenario("ready"))
    last = deque(simulated.events(), maxlen=1)[0]

    assert at_s(last) == pytest.approx(simulated.told_s + 3600, abs=2)


def test_the_log_comes_whole_with_its_bars_unfinished() -> None:
    logs = list(of(Log, events("ready")))

    printed = "".join(cue.text for cue in cues()).count("\n")
    assert sum(len(log.lines) - len(log.returns) for log in logs) == printed
    assert any(log.tail.startswith("Multi-thread loading shards:  44%") for log in logs)
    assert all(before.offset < after.offset for before, after in pairwise(logs))
    assert not any("\r" in line or "\n" in line for log in logs for line in [*log.lines, log.tail])


def test_every_rank_receives_its_weights_over_pcie() -> None:
    whole = events("ready")
    checkpoint = next(of(Checkpoint, whole))
    details = list(of(GpuDetails, whole))
    share_mib = (checkpoint.weight_bytes or 0) / 8 / 1024**2

    for index in range(8):
        received = [each.gpus[index].pcie_received_mib or 0.0 for each in details]
        assert received == sorted(received)
        assert received[5] - received[1] == pytest.approx(1.07 * share_mib, rel=0.01)


def test_ranks_are_processes_that_hold_their_gpus() -> None:
    whole = events("ready", 60.0)
    processes = list(of(Processes, whole))[-1].processes
    ranks = [each.pid for each in processes if each.title.startswith("sglang::scheduler_TP")]
    held = list(of(GpuProcesses, whole))[-1].processes

    assert len(processes) == 10
    assert [(each.index, each.pid) for each in held] == list(enumerate(ranks))
    assert processes[0].argv is not None
    assert "--tp" in processes[0].argv
    assert "NCCL_CUMEM_ENABLE" in (processes[0].environment or {})


def test_the_port_is_climbed_in_the_order_of_the_ladder() -> None:
    probes = list(of(Probe, events("ready")))
    first: dict[tuple[str, str], float] = {}
    for probe in probes:
        first.setdefault((probe.rung, probe.outcome), at_s(probe))

    assert list(first) == [
        ("port", "refused"),
        ("port", "ok"),
        ("health", "status"),
        ("models", "ok"),
        ("health", "ok"),
        ("token", "ok"),
    ]


def test_another_port_stands_in_arguments_log_and_probes() -> None:
    simulated = simulation(scenario("ready"), port=41234)
    whole = list(takewhile(lambda event: at_s(event) < 60, simulated.events()))

    assert "41234" in (next(of(Processes, whole)).processes[0].argv or [])
    assert any("http://127.0.0.1:41234" in line for log in of(Log, whole) for line in log.lines)
    assert {probe.url.split("/")[2] for probe in of(Probe, whole)} == {"127.0.0.1:41234"}


def test_gpus_work_while_the_live_server_generates() -> None:
    simulated = simulation(scenario("ready"), busy=lambda: True)
    samples = list(of(Gpus, list(takewhile(lambda event: at_s(event) < 60, simulated.events()))))

    assert all((gpu.utilisation_pct or 0) > 90 for gpu in samples[-1].gpus)
    assert all((gpu.utilisation_pct or 0) < 10 for gpu in samples[0].gpus)


@pytest.mark.parametrize(("name", "state"), [("capture-hang", "S"), ("capture-suspended", "T")])
def test_a_frozen_rank_keeps_its_state_and_the_others_spin(name: str, state: str) -> None:
    whole = events(name)
    ranks = [each for each in list(of(Processes, whole))[-1].processes if "_TP" in each.title]
    samples = [(gpu.utilisation_pct, gpu.power_w or 0.0) for gpu in list(of(Gpus, whole))[-1].gpus]

    assert [each.state for each in ranks] == ["S"] * 5 + [state] + ["S"] * 2
    assert [percent for percent, _ in samples] == [100.0] * 5 + [0.0] + [100.0] * 2
    assert all(power_w - samples[5][1] < 10 for _, power_w in samples)
    assert not list(of(Exit, whole))
    assert at_s(list(of(Log, whole))[-1]) < 33


def test_nothing_of_the_host_is_heard_while_the_link_is_cut() -> None:
    whole = events("link-cut")
    lost = next(at_s(link) for link in of(Link, whole) if link.state == "lost")
    back = list(of(Hello, whole))[1]
    between = [event for event in whole if lost < at_s(event) < at_s(back)]

    assert at_s(back) - lost == pytest.approx(8.0)
    assert {type(event) for event in between} == {Link, Tick}
    assert [len(list(of(Hello, whole))), len(list(of(Processes, whole)))] == [2, 3]


def test_the_log_of_a_cut_comes_afterwards_in_one_piece() -> None:
    cut, ready = events("link-cut"), events("ready")
    lines = [[line for log in of(Log, whole) for line in log.lines] for whole in (cut, ready)]

    assert lines[0] == lines[1]
    assert max(len(log.lines) for log in of(Log, cut)) > 50
