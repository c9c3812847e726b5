"""What the H200 recorder read in /proc and by GPM, as the signals of a watch."""

import gzip
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from h200_files import CUT, Line, events_of, launch, written

from tui.commands.replay import reported
from tui.events import AnyEvent, GpuDetail, GpuDetails, HostSignals, Processes, Signals
from tui.journal.h200 import H200Recording
from tui.replay.headless import play
from tui.replay.opening import open_tape
from tui.signals import CompilerSignals, ProcessSignals

SHARED = Path(__file__).parents[3] / "shared" / "recordings"
STILL = (
    "cpu_s", "minor_faults", "major_faults", "read_chars_bytes", "read_bytes", "write_bytes", "rss_file_mib",
    "rss_anon_mib",
)  # fmt: skip
COMPILE_WORKER = "python3 site-packages/torch/_inductor/compile_worker/__main__.py --workers=32"
TRACKER = "python3 -B -c from multiprocessing.resource_tracker import main;main(36)"
SPAWNED = "python3 -B -c from multiprocessing.spawn import spawn_main; --multiprocessing-fork"
Row = list[Any]


@cache
def recorded(name: str) -> list[AnyEvent]:
    folder = SHARED / name
    if not folder.is_dir():
        pytest.skip(f"no recording {name}")
    return list(H200Recording(folder / "recording.jsonl.gz").events())


def signals(events: Sequence[AnyEvent], after_s: float = 0.0, until_s: float = 1e9) -> list[Signals]:
    return [each for each in events if isinstance(each, Signals) and after_s <= each.mono_s <= until_s]


def of(found: Sequence[Signals], pid: int) -> list[ProcessSignals]:
    """Return the readings of one process."""
    return [each for one in found for each in one.processes if each.pid == pid]


def compilers(found: Sequence[Signals], pid: int) -> list[CompilerSignals]:
    return [each for one in found for each in one.compilers if each.pid == pid]


def details(events: Sequence[AnyEvent], after_s: float, until_s: float) -> list[list[GpuDetail]]:
    between = (each for each in events if after_s <= each.mono_s <= until_s)
    return [each.gpus for each in between if isinstance(each, GpuDetails)]


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


# Made records.


def proc(t: float, rows: dict[str, Row]) -> Line:
    return {"k": "proc", "t": t, "p": rows}


def new(pid: int, ppid: int, command: str, t: float = 0.01) -> Line:
    return {"k": "proc", "t": t, "new": pid, "ppid": ppid, "comm": command[:15], "cmd": command}


def row(state: str = "S", user: int = 0, wchan: str = "0") -> Row:
    return [state, user, 5, 1, 300, 100, 7, 8, 9, 1000, 2, wchan]


def test_a_row_becomes_a_reading_in_the_units_of_a_watch(tmp_path: Path) -> None:
    lines = [launch(), new(7, 1, "python3 -m sglang.launch_server"), proc(0.5, {"7": row("D", 95, "wait")})]

    (found,) = signals(events_of(tmp_path, lines))

    assert found.processes == [
        ProcessSignals(
            pid=7,
            state="D",
            cpu_s=1.0,
            minor_faults=1000,
            major_faults=2,
            rss_file_mib=100.0,
            rss_anon_mib=200.0,
            read_chars_bytes=7 * 1024,
            read_bytes=8 * 1024,
            write_bytes=9 * 1024,
            wchan="wait",
        )
    ]


def test_only_the_servers_own_processes_are_told_of(tmp_path: Path) -> None:
    others = (TRACKER, COMPILE_WORKER, "ninja -v", "/bin/sh -c nvcc", "/usr/bin/file -b x")
    lines = [
        launch(),
        new(7, 1, "python3 -m sglang.launch_server"),
        new(8, 7, SPAWNED),
        new(9, 7, "sglang::detokenizer"),
        *(new(20 + place, 7, command) for place, command in enumerate(others)),
        proc(0.5, {str(pid): row() for pid in (7, 8, 9, 20, 21, 22, 23, 24)}),
    ]

    (found,) = signals(events_of(tmp_path, lines))

    assert [each.pid for each in found.processes] == [7, 8, 9]


def test_compilers_count_for_the_nearest_process_of_the_server_and_after_their_end(tmp_path: Path) -> None:
    lines = [
        launch(),
        new(7, 1, "python3 -m sglang.launch_server"),
        new(8, 7, "sglang::scheduler_TP0"),
        new(20, 8, "ninja -v"),
        new(21, 20, "/bin/sh -c nvcc"),
        new(22, 21, "/opt/bin/nvcc x.cu"),
        new(24, 7, "gcc-real x.c"),
        proc(0.5, {"8": row(), "20": row(user=5), "22": row(user=95), "24": row()}),
        {"k": "proc", "t": 0.9, "gone": 22},
        proc(1.5, {"20": row(user=15)}),
    ]

    first, last = signals(events_of(tmp_path, lines))

    assert compilers([first], 8) == [
        CompilerSignals(pid=8, names=["ninja", "nvcc"], running=2, started=2, cpu_s=1.1)
    ]
    assert compilers([last], 8) == [CompilerSignals(pid=8, names=["ninja"], running=1, started=2, cpu_s=1.2)]
    assert [each.names for each in compilers([last], 7)] == [["gcc"]]


def test_compile_workers_run_while_they_use_cpu_and_wait_otherwise(tmp_path: Path) -> None:
    lines = [
        launch(),
        new(7, 1, "python3 -m sglang.launch_server"),
        new(20, 7, COMPILE_WORKER),
        new(21, 20, COMPILE_WORKER),
        proc(0.5, {"20": row(user=5), "21": row(user=5)}),
        proc(1.5, {"20": row(user=25)}),
        proc(2.5, {"7": row()}),
    ]

    found = compilers(signals(events_of(tmp_path, lines)), 7)

    assert [each.running for each in found] == [2, 1, 0]
    assert [each.started for each in found] == [2, 2, 2]
    assert [each.cpu_s for each in found] == [0.2, 0.4, 0.4]


def test_what_was_compiled_under_a_process_goes_with_it(tmp_path: Path) -> None:
    lines = [
        launch(),
        new(7, 1, "python3 -m sglang.launch_server"),
        new(8, 7, "sglang::scheduler_TP0"),
        new(20, 8, "ninja -v"),
        proc(0.5, {"7": row(), "8": row(), "20": row(user=5)}),
        {"k": "proc", "t": 0.9, "gone": 8},
        {"k": "proc", "t": 1.0, "gone": 20},
        proc(1.5, {"7": row(user=1)}),
    ]

    first, last = signals(events_of(tmp_path, lines))

    assert [each.pid for each in first.compilers] == [8]
    assert last.compilers == []


def test_a_process_keeps_its_compilers_when_it_takes_a_title(tmp_path: Path) -> None:
    lines = [
        launch(),
        new(7, 1, "python3 -m sglang.launch_server"),
        new(8, 7, SPAWNED),
        new(20, 8, "ninja -v"),
        proc(0.5, {"7": row(), "8": row(), "20": row(user=5)}),
        new(8, 7, "sglang::scheduler_TP0", t=1.0),
        proc(1.5, {"7": row(user=1)}),
    ]

    last = signals(events_of(tmp_path, lines))[-1]

    assert [each.pid for each in last.processes] == [7, 8]
    assert [each.started for each in compilers([last], 8)] == [1]


def test_a_compiler_that_takes_another_name_is_still_one(tmp_path: Path) -> None:
    lines = [
        launch(),
        new(7, 1, "python3 -m sglang.launch_server"),
        new(20, 7, "gcc x.c"),
        proc(0.5, {"20": row(user=5)}),
        new(20, 7, "cc1plus x.c", t=0.9),
        proc(1.5, {"20": row(user=15)}),
    ]

    last = signals(events_of(tmp_path, lines))[-1]

    assert last.compilers == [CompilerSignals(pid=7, names=["cc1plus"], running=1, started=1, cpu_s=0.2)]


def test_a_process_keeps_its_last_figures_while_only_others_change(tmp_path: Path) -> None:
    lines = [
        launch(),
        new(7, 1, "python3 -m sglang.launch_server"),
        new(8, 7, "sglang::scheduler_TP0"),
        proc(0.5, {"7": row(), "8": row("T", 45)}),
        *(proc(t, {"7": row(user=int(t))}) for t in (1.5, 2.5)),
        {"k": "proc", "t": 2.9, "gone": 8},
        proc(3.5, {"7": row(user=3)}),
    ]

    found = signals(events_of(tmp_path, lines))

    assert [(each.state, each.cpu_s) for each in of(found, 8)] == [("T", 0.5)] * 3
    assert len(of(found, 7)) == 4


def test_gpm_figures_are_means_since_they_were_last_told_and_unknown_where_refused(tmp_path: Path) -> None:
    def tick(t: float, gpm: Any) -> Line:
        return {"k": "gpu", "t": t, "g": [[615, 0, 0, 80000, 345, 3201, 40, 1, 0, [], gpm]]}

    def figures(sm: float, received: float | None) -> list[float | None]:
        return [0.0, sm, 0.0, 3.0, 0.0, 5.0, 0.0, 0.0, received, 0.0]

    lines = [
        launch(),
        tick(0.1, "Invalid Argument"),
        tick(0.6, figures(10.0, None)),
        tick(1.1, figures(20.0, None)),
        tick(2.1, figures(30.0, 7.0)),
    ]

    rows = [gpus[0] for gpus in details(events_of(tmp_path, lines), 0.0, 9.0)]

    assert [each.sm_pct for each in rows] == [None, 15.0, 30.0]
    assert [each.tensor_pct for each in rows] == [None, 3.0, 3.0]
    assert [each.dram_pct for each in rows] == [None, 5.0, 5.0]
    assert [each.nvlink_received_mib_s for each in rows] == [None, None, 7.0]


def test_figures_change_no_phase_and_no_end(tmp_path: Path) -> None:
    lines = [launch(), new(7, 1, "python3 -m sglang.launch_server"), proc(0.5, {"7": row()})]
    fewer = [launch(), lines[1], proc(0.5, {"7": ["S"]})]
    others = tmp_path / "others"
    others.mkdir()

    assert reported(play(open_tape(written(tmp_path, lines)))) == reported(
        play(open_tape(written(others, fewer)))
    )
