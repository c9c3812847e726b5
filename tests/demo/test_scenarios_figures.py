"""The figures of the scenarios against those measured on H200s, so that a verdict may be tested on them."""

from collections.abc import Iterator
from functools import cache

import pytest
from scenario_truth import TRUTH

from tui.demo.scenario import scenario
from tui.demo.tape import simulation
from tui.events import GpuDetails, GpuProcesses, Gpus, GpuSample

IDLE_W = 120.0
"""The least that a GPU with a context takes; the eight are set up to 11 W apart, one from the other."""
APART_W = 11.0
SHARE_MIB = 14.89 * 1024
WEIGHTS_S = {name: dict((after, t) for t, after in truth.phases)["weights"] for name, truth in TRUTH.items()}
EVERY = pytest.mark.parametrize("name", sorted(TRUTH))
HANGS = pytest.mark.parametrize("name", ["capture-hang", "capture-suspended"])


@cache
def readings(name: str) -> list[tuple[float, Gpus | GpuDetails | GpuProcesses]]:
    """Return what is read of the GPUs, each with its second, until the scenario is over."""
    return list(_readings(name))


def _readings(name: str) -> Iterator[tuple[float, Gpus | GpuDetails | GpuProcesses]]:
    began_s: float | None = None
    for event in simulation(scenario(name)).events():
        began_s = event.client_s if began_s is None else began_s
        if event.client_s - began_s > TRUTH[name].ends_s + 5.0:
            return
        if isinstance(event, Gpus | GpuDetails | GpuProcesses):
            yield event.client_s - began_s, event


def samples(name: str, after_s: float, until_s: float) -> list[list[GpuSample]]:
    """Return the readings of all GPUs in a stretch."""
    return [each.gpus for t, each in readings(name) if isinstance(each, Gpus) and after_s <= t <= until_s]


def received(name: str, index: int) -> list[tuple[float, float]]:
    """Return what one GPU has received at each reading of the slow tier."""
    details = [(t, each.gpus[index]) for t, each in readings(name) if isinstance(each, GpuDetails)]
    return [(t, each.pcie_received_mib or 0.0) for t, each in details]


def used(row: list[GpuSample]) -> list[float]:
    return [each.memory_used_mib or 0.0 for each in row]


@EVERY
def test_the_parameters_take_their_memory_within_two_seconds_and_then_no_more(name: str) -> None:
    began_s = WEIGHTS_S[name]
    rows = samples(name, began_s + 2.0, 15.0)

    assert rows
    assert all(SHARE_MIB < mib < SHARE_MIB + 2048.0 for row in rows for mib in used(row))
    assert max(max(used(row)) - min(used(row)) for row in rows) < 64.0


@EVERY
def test_loading_weights_shows_on_no_gpu_as_work(name: str) -> None:
    rows = samples(name, WEIGHTS_S[name] + 1.0, 15.0)

    assert all((each.utilisation_pct or 0.0) <= 15.0 for row in rows for each in row)
    assert all((each.memory_utilisation_pct or 0.0) == 0.0 for row in rows for each in row)
    assert all(IDLE_W <= (each.power_w or 0.0) <= IDLE_W + APART_W + 10.0 for row in rows for each in row)


@pytest.mark.parametrize("name", ["ready", "slow-storage", "capture-hang"])
def test_each_rank_receives_7_percent_more_than_its_weights(name: str) -> None:
    for index in range(8):
        found = dict(received(name, index))
        before, after = found[10.0], found[max(found)]
        assert (after - before) / SHARE_MIB == pytest.approx(1.07, abs=0.015)


def test_slow_weights_come_at_the_pace_of_the_recorded_disk_and_three_times_slower_than_others() -> None:
    def rate(name: str, until_s: float) -> float:
        gained = [
            dict(received(name, index))[until_s] - dict(received(name, index))[15.0] for index in range(8)
        ]
        return sum(gained) / (until_s - 15.0) * 1.048576 / 1000.0

    slow, usual = rate("slow-storage", 95.0), rate("ready", 20.0)

    assert slow == pytest.approx(1.41 * 1.07, rel=0.1)  # GB/s
    assert slow < usual / 3.0


def test_slow_weights_move_each_rank_by_more_than_50_mib_in_any_30_seconds() -> None:
    for index in range(8):
        found = [each for each in received("slow-storage", index) if 15.0 <= each[0] <= 100.0]
        assert all(later[1] - now[1] > 50.0 for now, later in zip(found, found[6:], strict=False))


@HANGS
def test_those_that_wait_for_a_frozen_rank_spin_at_idle_power_and_its_own_gpu_rests(name: str) -> None:
    idle = [min(each[index].power_w or 0.0 for each in samples(name, 12.0, 20.0)) for index in range(8)]
    rows = samples(name, 33.0, 92.0)

    assert len(rows) == 60
    for row in rows:
        for each in row:
            assert each.utilisation_pct == (0.0 if each.index == 5 else 100.0)
            assert each.memory_utilisation_pct == 0.0
            assert (each.power_w or 0.0) < idle[each.index] + 10.0
    assert all(used(row) == used(rows[0]) for row in rows)


@HANGS
def test_nothing_more_is_received_while_a_rank_is_frozen(name: str) -> None:
    for index in range(8):
        found = dict(received(name, index))
        assert found[90.0] - found[35.0] < 50.0


def test_memory_is_full_when_it_runs_out_and_only_the_other_process_keeps_its_own() -> None:
    full, after = samples("oom-capture", 27.0, 34.5), samples("oom-capture", 36.0, 40.0)

    assert all(each > 142_800.0 for row in full for each in used(row))
    assert all(12_000.0 < each < 13_000.0 for row in after for each in used(row))


def test_the_gpu_of_a_killed_rank_is_empty_at_once_and_receives_no_more() -> None:
    rows = samples("rank-killed", 16.0, 18.0)

    assert all(row[5].memory_used_mib == 0.0 for row in rows)
    assert all((row[4].memory_used_mib or 0.0) > SHARE_MIB for row in rows)
    found = dict(received("rank-killed", 5))
    assert 100.0 < found[15.0] < found[20.0] < SHARE_MIB / 2
    assert dict(received("rank-killed", 4))[20.0] > found[20.0] * 1.2


def test_after_a_death_no_gpu_is_held_any_more() -> None:
    last = [each for _, each in readings("rank-killed") if isinstance(each, GpuProcesses)][-1]

    assert last.processes == []
    assert all(used(row) == [0.0] * 8 for row in samples("rank-killed", 21.0, 25.0))
