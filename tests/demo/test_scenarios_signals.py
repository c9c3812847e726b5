"""What /proc and GPM would tell in the scenarios, against what was measured on H200s."""

from collections.abc import Iterator
from functools import cache
from itertools import pairwise

import pytest
from msgspec.structs import replace
from scenario_truth import TRUTH

from tui.demo.clock import BEGAN_CLIENT_S
from tui.demo.scenario import ScenarioFault, names, scenario
from tui.demo.tape import simulation
from tui.events import GpuDetails, HostSignals, Processes, Signals
from tui.signals import CompilerSignals, ProcessSignals

Told = Signals | HostSignals | GpuDetails | Processes
MAIN, FROZEN = 4100, 5
HANGS = pytest.mark.parametrize(
    ("name", "state", "wchan"),
    [("capture-hang", "S", "futex_do_wait"), ("capture-suspended", "T", "do_signal_stop")],
)
EVERY = pytest.mark.parametrize("name", names())
MOVES = (
    "cpu_s", "minor_faults", "major_faults", "rss_file_mib", "rss_anon_mib", "read_chars_bytes", "read_bytes",
    "write_bytes", "wakeups",
)  # fmt: skip


def rank_pid(rank: int) -> int:
    return 4200 + rank


@cache
def told(name: str) -> list[tuple[float, Told]]:
    return list(_told(name))


def _told(name: str) -> Iterator[tuple[float, Told]]:
    for event in simulation(scenario(name)).events():
        t = event.client_s - BEGAN_CLIENT_S
        if t > TRUTH[name].ends_s + 5.0:
            return
        if isinstance(event, Told):
            yield t, event


def signals(name: str, after_s: float = 0.0, until_s: float = 1e9) -> list[tuple[float, Signals]]:
    return [(t, each) for t, each in told(name) if isinstance(each, Signals) and after_s <= t <= until_s]


def of(name: str, rank: int, after_s: float, until_s: float = 1e9) -> list[ProcessSignals]:
    """Return the readings of a rank in a stretch."""
    between = (one for _, one in signals(name, after_s, until_s))
    return [each for one in between for each in one.processes if each.pid == rank_pid(rank)]


def compilers(name: str) -> list[tuple[float, CompilerSignals]]:
    return [(t, each) for t, one in signals(name) for each in one.compilers]


def gained(found: list[ProcessSignals]) -> float:
    """Return the cores used between readings that stand a second apart."""
    return (found[-1].cpu_s - found[0].cpu_s) / (len(found) - 1)


@EVERY
def test_a_reading_comes_each_second_of_just_the_processes_that_there_are(name: str) -> None:
    listed: set[int] = set()
    last_s = 0.0

    for t, event in told(name):
        if isinstance(event, Processes):
            listed = {each.pid for each in event.processes}
        elif isinstance(event, Signals):
            assert {each.pid for each in event.processes} == listed
            assert t == last_s + 1.0 or name == "link-cut"
            last_s = t
    full = of(name, 0, 5.0, 15.0)
    assert len(full) == 11


@EVERY
def test_counters_only_rise_and_no_process_uses_more_than_it_can(name: str) -> None:
    last: dict[int, tuple[float, ProcessSignals]] = {}

    for t, one in signals(name):
        for each in one.processes:
            then_s, before = last.get(each.pid, (t, each))
            assert 0.0 <= each.cpu_s - before.cpu_s <= 1.35 * (t - then_s) + 0.02
            for counter in ("minor_faults", "major_faults", "read_chars_bytes", "read_bytes", "write_bytes"):
                assert getattr(each, counter) >= getattr(before, counter)
            last[each.pid] = (t, each)


@pytest.mark.parametrize("name", ["ready", "capture-hang", "rank-killed"])
def test_weights_from_memory_are_faults_and_mapped_files_and_no_reading(name: str) -> None:
    for rank in range(5):
        found = of(name, rank, 12.0, 15.0)
        assert {(each.state, each.wchan) for each in found} == {("R", "0")}
        assert len({each.rss_file_mib for each in found}) == len(found)
        assert found[-1].minor_faults - found[0].minor_faults > 300_000
        assert {each.read_bytes for each in found} == {0}
        assert gained(found) == pytest.approx(1.0, abs=0.05)


def test_who_has_its_weights_sleeps_until_the_last_has() -> None:
    done, last = of("ready", 0, 20.0, 21.9), of("ready", 7, 20.0, 21.9)

    assert {(each.state, each.wchan) for each in done} == {("S", "futex_do_wait")}
    assert gained(done) < 0.05
    assert gained(last) > 0.9


def test_capture_burns_the_cores_of_all_ranks_and_works_the_parts_of_their_gpus() -> None:
    for rank in range(8):
        assert gained(of("ready", rank, 24.0, 35.0)) > 0.9
    details = [each for t, each in told("ready") if isinstance(each, GpuDetails) and 24.0 <= t <= 35.0]

    assert details
    for each in details:
        for gpu in each.gpus:
            assert 0.0 < (gpu.sm_pct or 0.0) < 20.0
            assert (gpu.tensor_pct or 0.0) > 0.0
            assert (gpu.dram_pct or 0.0) > 2.0
            assert (gpu.nvlink_received_mib_s or 0.0) > 100.0


@HANGS
def test_of_a_frozen_rank_nothing_moves_while_seven_burn_a_core_each(
    name: str, state: str, wchan: str
) -> None:
    frozen = of(name, FROZEN, 33.0, 92.0)

    assert len(frozen) == 60
    assert {(each.state, each.wchan) for each in frozen} == {(state, wchan)}
    for figure in MOVES:
        assert len({getattr(each, figure) for each in frozen}) == 1, figure
    for rank in set(range(8)) - {FROZEN}:
        waits = of(name, rank, 33.0, 92.0)
        assert {(each.state, each.wchan) for each in waits} == {("R", "0")}
        assert gained(waits) == pytest.approx(1.0, abs=0.01)
        for figure in MOVES[1:-1]:
            assert len({getattr(each, figure) for each in waits}) == 1, figure


@HANGS
def test_a_gpu_that_waits_spins_on_a_sixth_of_its_multiprocessors(name: str, state: str, wchan: str) -> None:
    details = [each for t, each in told(name) if isinstance(each, GpuDetails) and 33.0 <= t <= 92.0]

    assert len(details) >= 11, (state, wchan)
    for each in details:
        for gpu in each.gpus:
            rests = gpu.index == FROZEN
            assert gpu.sm_pct == (0.0 if rests else 17.42)
            assert (gpu.tensor_pct, gpu.dram_pct, gpu.nvlink_received_mib_s) == (0.0, 0.0, 0.0)


def test_slow_storage_shows_as_bytes_from_the_disk_in_state_d_and_as_pressure() -> None:
    for rank in range(8):
        found = of("slow-storage", rank, 15.0, 100.0)
        waits = [each.wchan for each in found if each.state == "D"]
        assert len(waits) > len(found) / 2
        assert set(waits) == {"folio_wait_bit_common"}
        rates = [(after.read_bytes or 0) - (before.read_bytes or 0) for before, after in pairwise(found)]
        assert all(rate == pytest.approx(1.4e9 / 8, rel=0.06) for rate in rates)
        assert gained(found) < 0.1


def test_pressure_rises_and_falls_with_the_weights_and_nothing_else_of_the_host_moves() -> None:
    host = {t: each for t, each in told("slow-storage") if isinstance(each, HostSignals)}
    calm = [each for _, each in told("ready") if isinstance(each, HostSignals)]

    assert {(each.oom_kills, each.hung_tasks, each.memory_full_pct) for each in host.values()} == {
        (0, 0, 0.0)
    }
    assert {each.io_some_pct for each in calm} == {0.0}
    assert host[10.0].io_some_pct == 0.0
    assert 0.0 < (host[15.0].io_some_pct or 0.0) < (host[25.0].io_some_pct or 0.0)
    assert host[120.0].io_some_pct == 0.0
    assert [t for t in host if t % 5.0] == []


def test_a_killed_ranks_row_ends_with_it() -> None:
    assert of("rank-killed", 5, 15.0, 15.0)
    assert not of("rank-killed", 5, 15.7)
    assert of("rank-killed", 4, 16.0, 18.0)
    assert not of("rank-killed", 4, 18.5)


def test_no_server_is_no_reading() -> None:
    assert max(t for t, _ in signals("rank-killed")) < 20.7


def test_the_warm_up_compiles_under_the_first_rank_alone() -> None:
    found = compilers("ready")
    at_work = [each for _, each in found if each.running]

    assert {each.pid for _, each in found} == {rank_pid(0)}
    assert found[0][0] > 36.0
    assert 6 <= len(at_work) <= 8
    assert {"nvcc", "ninja", "cicc"} <= {name for each in at_work for name in each.names}
    assert at_work[-1].cpu_s - at_work[0].cpu_s > 4.0
    assert found[-1][1] == CompilerSignals(
        pid=rank_pid(0), names=[], running=0, started=found[-1][1].started, cpu_s=found[-1][1].cpu_s
    )
    assert {each.wchan for each in of("ready", 3, 37.0, 43.0)} == {"hrtimer_nanosleep"}


@HANGS
def test_nobody_compiles_while_a_rank_is_frozen(name: str, state: str, wchan: str) -> None:
    assert compilers(name) == [], (state, wchan)


@EVERY
def test_the_story_says_what_of_the_processes_is_recorded_scaled_and_invented(name: str) -> None:
    story = scenario(name).story

    assert "/proc" in story.recorded
    assert "figures of the processes" in story.scaled
    assert "Counters of the host" in story.invented


def test_figures_that_there_are_not_are_one_line() -> None:
    wrong = replace(scenario("ready"), processes="none.toml")

    with pytest.raises(ScenarioFault, match=r"^the demo has no figures of processes named none\.toml$"):
        list(simulation(wrong).events())
