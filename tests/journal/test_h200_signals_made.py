"""How records of the H200 recorder become signals and GPM figures, one by one."""

from pathlib import Path
from typing import Any

from h200_files import Line, events_of, launch, written
from h200_signals import compilers, details, of, signals

from tui.commands.replay import reported
from tui.replay.headless import play
from tui.replay.opening import open_tape
from tui.signals import CompilerSignals, ProcessSignals

COMPILE_WORKER = "python3 site-packages/torch/_inductor/compile_worker/__main__.py --workers=32"
TRACKER = "python3 -B -c from multiprocessing.resource_tracker import main;main(36)"
SPAWNED = "python3 -B -c from multiprocessing.spawn import spawn_main; --multiprocessing-fork"
Row = list[Any]


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
