"""What the H200 recorder read in /proc and by GPM, as the signals of a watch."""

import gzip
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest
from h200_files import CUT, events_of
from h200_signals import compilers, details, of, signals

from tui.events import AnyEvent, HostSignals, Processes
from tui.journal.h200 import H200Recording
from tui.replay.opening import open_tape
from tui.signals import CompilerSignals, ProcessSignals

SHARED = Path(__file__).parents[3] / "shared" / "recordings"
STILL = (
    "cpu_s", "minor_faults", "major_faults", "read_chars_bytes", "read_bytes", "write_bytes", "rss_file_mib",
    "rss_anon_mib",
)  # fmt: skip


@cache
def recorded(name: str) -> list[AnyEvent]:
    folder = SHARED / name
    if not folder.is_dir():
        pytest.skip(f"no recording {name}")
    return list(H200Recording(folder / "recording.jsonl.gz").events())


def pid_of(events: Sequence[AnyEvent], title: str) -> int:
    """Return the process with a title of its own."""
    lists = (each.processes for each in events if isinstance(each, Processes))
    return next(each.pid for processes in lists for each in processes if each.title == title)


def gained(found: Sequence[ProcessSignals]) -> float:
    return found[-1].cpu_s - found[0].cpu_s


# Whole recordings.


def test_a_stopped_rank_is_in_state_t_and_not_one_of_its_figures_moves() -> None:
    events = recorded("x1-sglang-tp1-stopped-then-killed-in-weights")
    rank = pid_of(events, "sglang::scheduler")

    before, stopped = of(signals(events, 37.0, 39.0), rank), of(signals(events, 39.9, 63.1), rank)

    assert len(stopped) >= 22
    assert {each.state for each in stopped} == {"T"}
    assert {each.wchan for each in stopped} == {"do_signal_stop"}
    for name in STILL:
        assert len({getattr(each, name) for each in stopped}) == 1, name
    assert before[-1].minor_faults > before[0].minor_faults
    assert gained(of(signals(events, 63.6, 66.0), rank)) > 1.0


def test_a_killed_ranks_row_ends() -> None:
    events = recorded("x1-sglang-tp1-stopped-then-killed-in-weights")
    rank = pid_of(events, "sglang::scheduler")

    after = [each.state for each in of(signals(events, 66.6), rank)]

    assert set(after) <= {"Z"}
    assert len(after) < len(signals(events, 66.6))


def test_who_waits_for_a_stopped_rank_burns_a_core_and_its_gpu_spins_without_work() -> None:
    events = recorded("x2-sglang-tp2-nccl-hang-capture-and-serving")
    waits, stopped = (pid_of(events, f"sglang::scheduler_TP{rank}") for rank in (0, 1))
    between = signals(events, 50.0, 91.0)

    spinning = of(between, waits)

    assert gained(spinning) / (between[-1].mono_s - between[0].mono_s) >= 0.9
    assert {(each.state, each.wchan) for each in spinning} == {("R", "0")}
    assert len({(each.read_bytes, each.write_bytes, each.rss_file_mib) for each in spinning}) <= 2
    for name in STILL:
        assert len({getattr(each, name) for each in of(between, stopped)}) == 1, name
    for waiting, resting in details(events, 50.0, 91.0):
        assert waiting.sm_pct == pytest.approx(17.4, abs=0.1)
        assert (waiting.tensor_pct, waiting.dram_pct, waiting.nvlink_received_mib_s) == (0.0, 0.0, 0.0)
        assert resting.sm_pct == 0.0


def test_one_who_waits_while_serving_sleeps() -> None:
    events = recorded("x2-sglang-tp2-nccl-hang-capture-and-serving")
    waits = of(signals(events, 140.0, 166.0), pid_of(events, "sglang::scheduler_TP0"))

    assert {(each.state, each.wchan) for each in waits} == {("S", "futex_do_wait")}
    assert gained(waits) < 1.0


def test_a_kernel_build_shows_as_compilers_under_the_scheduler_that_burn_cpu() -> None:
    events = recorded("x1-sglang-tp1-first-launch")
    rank = pid_of(events, "sglang::scheduler")
    between = signals(events, 59.0, 113.0)

    found = compilers(between, rank)

    assert gained(of(between, rank)) < 2.0
    assert found[-1].cpu_s - found[0].cpu_s > 40.0
    assert found[-1].started > 50
    assert {"nvcc", "cicc", "cc1plus", "ninja"} <= {name for each in found for name in each.names}
    assert sum(each.running > 0 for each in found) > 0.9 * len(found)
    thirds = [found[: len(found) // 3], found[len(found) // 3 : -len(found) // 3], found[-len(found) // 3 :]]
    assert all(each[-1].cpu_s - each[0].cpu_s > 10.0 for each in thirds)


def test_with_two_ranks_only_the_one_that_builds_has_compilers() -> None:
    events = recorded("x2-sglang-tp2-first-launch-jit")
    ranks = [pid_of(events, f"sglang::scheduler_TP{rank}") for rank in (0, 1)]
    last = signals(events, 60.0, 118.0)

    builds = [sum("nvcc" in each.names for each in compilers(last, rank)) for rank in ranks]

    assert sorted(builds)[0] == 0
    assert sorted(builds)[1] > 30


def test_weights_from_a_disk_are_read_bytes_and_those_from_memory_are_faults() -> None:
    disk = recorded("x1-sglang-tp1-cold-disk-weights")
    memory = recorded("x2-sglang-tp2-nccl-hang-capture-and-serving")

    cold = of(signals(disk, 37.0, 46.0), pid_of(disk, "sglang::scheduler"))
    warm = of(signals(memory, 38.0, 45.0), pid_of(memory, "sglang::scheduler_TP1"))

    assert (cold[-1].read_bytes or 0) - (cold[0].read_bytes or 0) > 10e9
    assert {each.state for each in cold} == {"R", "D"}
    assert "folio_wait_bit_common" in {each.wchan for each in cold}
    assert {each.read_bytes for each in warm} == {0}
    assert len({each.rss_file_mib for each in warm}) == len(warm)
    assert warm[-1].minor_faults - warm[0].minor_faults > 1_000_000


@pytest.mark.parametrize(
    "name", sorted(each.name for each in SHARED.glob("x*") if each.is_dir()) or ["none at hand"]
)
def test_counters_only_rise_and_a_reading_comes_each_second(name: str) -> None:
    found = signals(recorded(name))
    last: dict[int, ProcessSignals] = {}
    compiled: dict[int, CompilerSignals] = {}

    for one in found:
        for each in one.processes:
            before = last.get(each.pid, each)
            assert (each.cpu_s, each.minor_faults) >= (before.cpu_s, before.minor_faults)
            last[each.pid] = each
        for group in one.compilers:
            was = compiled.get(group.pid, group)
            assert group.cpu_s >= was.cpu_s
            assert group.started >= was.started
            assert group.started >= group.running >= len(group.names)
            compiled[group.pid] = group
    if found:
        assert len(found) == pytest.approx(found[-1].mono_s, rel=0.05, abs=3.0)


# The piece beside the tests.


def test_of_the_recorders_own_events_no_signal_needs_one(tmp_path: Path) -> None:
    kept = ("launch", "tcp", "listen", "environ", "server_exit")
    whole = gzip.decompress((CUT / "recording.jsonl.gz").read_bytes()).splitlines()
    fewer = [line for line in map(json.loads, whole) if line["k"] != "events" or line["ev"] in kept]

    assert len(fewer) < len(whole)
    assert signals(events_of(tmp_path, fewer)) == signals(list(open_tape(CUT).read()))


def test_what_the_recorder_did_not_read_is_unknown() -> None:
    events = list(H200Recording(CUT / "recording.jsonl.gz").events())

    found = signals(events)

    assert len(found) >= 10
    assert {each.wakeups for one in found for each in one.processes} == {None}
    assert {each.shard for one in found for each in one.processes} == {None}
    assert not [each for each in events if isinstance(each, HostSignals)]
