"""What the H200 recorder's streams become: GPUs, processes, the log, answers of the port."""

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from h200_files import CUT, Line, events_of, health, launch, started, written

from tui.events import AnyEvent, Exit, Gap, GpuDetails, GpuProcesses, Gpus, Log, Probe, Processes
from tui.journal.h200 import H200Recording
from tui.journal.h200_gpus import DRIVER_RESERVE_MIB, PcieReceived
from tui.replay.headless import play
from tui.replay.opening import open_tape

GIB = 1024.0 * 1024.0 * 1024.0


@pytest.fixture(scope="module")
def cut() -> list[AnyEvent]:
    return list(H200Recording(CUT / "recording.jsonl.gz").events())


# GPUs.


def test_the_drivers_reserve_is_no_memory_in_use(cut: list[AnyEvent]) -> None:
    first = next(event for event in cut if isinstance(event, Gpus))

    assert [gpu.memory_used_mib for gpu in first.gpus] == [0.0, 0.0]
    assert {gpu.memory_reserved_mib for gpu in first.gpus} == {DRIVER_RESERVE_MIB}
    assert {gpu.memory_total_mib for gpu in first.gpus} == {143771.0}


def test_five_readings_a_second_become_one(cut: list[AnyEvent]) -> None:
    times = [event.mono_s for event in cut if isinstance(event, Gpus) and 37 < event.mono_s < 49]

    assert 11 <= len(times) <= 13


def test_what_came_over_pcie_grows_through_the_wraps_of_its_counter(cut: list[AnyEvent]) -> None:
    """2 x 16.0 GB of shards: 17.0 to 17.2 GB came to each GPU, and 2 ** 32 bytes are 4.3 GB."""
    first, *_, last = [event for event in cut if isinstance(event, GpuDetails) and 37 < event.mono_s < 47]

    for before, after in zip(first.gpus, last.gpus, strict=True):
        came = (after.pcie_received_mib or 0.0) - (before.pcie_received_mib or 0.0)
        assert 16_200 <= came <= 16_450


def test_a_counter_that_wraps_twice_between_readings_goes_by_the_measured_rate() -> None:
    received = PcieReceived()
    received.take(1.0 * GIB, 0.0, 10.0)

    received.take(2.0 * GIB, 9 * 1024.0, 11.0)

    assert received.total_mib == 9 * 1024.0


def test_a_reading_that_failed_is_bridged_by_the_next() -> None:
    received = PcieReceived()
    received.take(3.5 * GIB, None, 10.0)
    received.take(None, None, 10.2)

    received.take(0.5 * GIB, None, 10.4)

    assert received.total_mib == 1024.0


def test_processes_on_gpus_are_told_when_they_change(cut: list[AnyEvent]) -> None:
    held = [event.processes for event in cut if isinstance(event, GpuProcesses)]
    at_weights = next(each for each in held if all((one.memory_mib or 0) > 13_000 for one in each))

    assert [(one.index, one.pid) for one in at_weights] == [(0, 1781), (1, 1782)]


# Processes.


def test_the_launched_process_is_the_server_and_its_ranks_are_below(cut: list[AnyEvent]) -> None:
    lists = [event for event in cut if isinstance(event, Processes)]
    ranks = {one.title: one for one in lists[-3].processes}

    assert [(one.pid, one.matched, one.started_s) for one in lists[0].processes] == [(1685, "sglang", 0.0)]
    assert (lists[0].processes[0].argv or [])[-1] == "--disable-piecewise-cuda-graph"
    assert ranks["sglang::scheduler_TP1"].ppid == 1685
    assert ranks["sglang::scheduler_TP1"].matched is None
    assert (ranks["sglang::scheduler_TP1"].argv or [""])[0] == "python3"


def test_a_stopped_rank_is_told_at_once(cut: list[AnyEvent]) -> None:
    stopped = next(
        event
        for event in cut
        if isinstance(event, Processes) and "T" in {one.state for one in event.processes}
    )

    assert stopped.mono_s == pytest.approx(47.8, abs=0.5)
    assert [one.title for one in stopped.processes if one.state == "T"] == ["sglang::scheduler_TP1"]


def test_environments_are_masked_like_those_of_a_watch(tmp_path: Path) -> None:
    environ = {"k": "events", "t": 0.5, "ev": "environ", "pid": 7, "kept": {"HF_TOKEN": "hf_secret"}}
    look = {"k": "proc", "t": 3.0, "p": {"7": ["T"]}}

    events = events_of(tmp_path, [*started(), environ, look])

    told = [event.processes[0].environment for event in events if isinstance(event, Processes)]
    assert told[-1] == {"HF_TOKEN": "***"}


def test_an_exit_waits_for_its_code(tmp_path: Path) -> None:
    ends: list[Line] = [
        {"k": "proc", "t": 5.0, "p": {"7": ["Z"]}},
        {"k": "events", "t": 5.1, "ev": "server_exit", "rc": -9},
        {"k": "proc", "t": 5.4, "gone": 7},
        {"k": "proc", "t": 5.4, "p": {}},
    ]

    exits = [event for event in events_of(tmp_path, started() + ends) if isinstance(event, Exit)]

    assert [(one.mono_s, one.pid, one.main, one.code) for one in exits] == [(5.1, 7, True, -9)]


def test_an_exit_without_a_code_is_told_when_it_is_seen(tmp_path: Path) -> None:
    ends: list[Line] = [{"k": "proc", "t": 5.0, "p": {"7": ["Z"]}}]

    exits = [event for event in events_of(tmp_path, started() + ends) if isinstance(event, Exit)]

    assert [(one.mono_s, one.how, one.code) for one in exits] == [(5.0, "zombie", None)]


def test_what_lives_for_less_than_two_seconds_is_not_told(tmp_path: Path) -> None:
    brief: list[Line] = [
        {"k": "proc", "t": 10.0, "new": 8, "ppid": 7, "comm": "sh", "cmd": "sh -c nvcc"},
        {"k": "proc", "t": 10.0, "p": {"8": ["R"]}},
        {"k": "proc", "t": 10.8, "gone": 8},
        {"k": "proc", "t": 10.8, "p": {}},
    ]

    lists = [event for event in events_of(tmp_path, started() + brief) if isinstance(event, Processes)]

    assert [[one.pid for one in event.processes] for event in lists] == [[7]]


def test_a_shell_is_no_server_but_what_it_becomes_is(tmp_path: Path) -> None:
    shell = launch() | {"cmd": ["bash", "-c", "exec python3 -m sglang.launch_server --port 30000"]}
    lines: list[Line] = [
        shell,
        {"k": "proc", "t": 0.01, "new": 7, "ppid": 1, "comm": "bash", "cmd": " ".join(shell["cmd"])},
        {"k": "proc", "t": 0.02, "p": {"7": ["S"]}},
        {
            "k": "proc",
            "t": 4.0,
            "new": 7,
            "ppid": 1,
            "comm": "python3",
            "cmd": "python3 -m sglang.launch_server",
        },
        {"k": "proc", "t": 4.0, "p": {"7": ["R"]}},
    ]

    lists = [event for event in events_of(tmp_path, lines) if isinstance(event, Processes)]

    assert [event.processes[0].matched for event in lists] == [None, "sglang"]


# The log.


def test_bars_redrawn_in_place_are_split_as_in_a_watch(cut: list[AnyEvent]) -> None:
    logs = [event for event in cut if isinstance(event, Log)]
    returned = [event.lines[place] for event in logs for place in event.returns]

    assert any("Multi-thread loading shards" in line for line in returned)
    assert not any("\r" in line or "\x1b" in line for event in logs for line in event.lines)
    assert all(before.offset < after.offset for before, after in pairwise(logs))


def test_pieces_of_a_line_come_together_and_its_unfinished_end_is_the_tail(tmp_path: Path) -> None:
    pieces: list[Line] = [
        {"k": "log", "t": 1.0, "off": 0, "n": 5, "s": "Load "},
        {"k": "log", "t": 2.0, "off": 5, "n": 6, "s": "weight"},
        {"k": "log", "t": 3.0, "off": 11, "n": 4, "s": " \x1b[1mend\x1b[0m\nx"},
    ]

    logs = [event for event in events_of(tmp_path, [launch(), *pieces]) if isinstance(event, Log)]

    assert [event.tail for event in logs] == ["Load ", "Load weight", "x"]
    assert [event.lines for event in logs] == [[], [], ["Load weight end"]]
    assert [event.offset for event in logs] == [5, 11, 15]


def test_bytes_that_are_not_there_are_a_gap(tmp_path: Path) -> None:
    pieces: list[Line] = [
        {"k": "log", "t": 1.0, "off": 0, "n": 4, "s": "one\n"},
        {"k": "log", "t": 2.0, "off": 10, "n": 4, "s": "two\n"},
    ]

    gaps = [event for event in events_of(tmp_path, [launch(), *pieces]) if isinstance(event, Gap)]

    assert [gap.lost_bytes for gap in gaps] == [6]


# The port.


def probes(folder: Path, lines: Sequence[Line], **of_launch: Any) -> list[Probe]:
    events = events_of(folder, [launch(**of_launch), *lines])
    return [event for event in events if isinstance(event, Probe)]


def test_an_answer_comes_so_long_after_its_question(tmp_path: Path) -> None:
    found = probes(tmp_path, [health(10.0, 200, ms=1002.0), {"k": "gpu", "t": 10.5}, {"k": "gpu", "t": 12.0}])

    assert [(one.rung, one.outcome, one.mono_s) for one in found] == [
        ("health", "ok", pytest.approx(11.002)),
        ("token", "ok", pytest.approx(11.002)),
    ]


def test_another_engines_health_counts_as_ready_and_as_no_token(tmp_path: Path) -> None:
    found = probes(tmp_path, [health(10.0, 200)], engine="vllm")

    assert [(one.rung, one.outcome) for one in found] == [("health", "ok")]
    assert "counts as ready" in found[0].detail
    assert open_tape(tmp_path / "recording.jsonl").options.ready_on == "health"


@pytest.mark.parametrize(
    ("said", "rung", "outcome"),
    [
        ("ConnectionRefusedError", "port", "refused"),
        ("ConnectionResetError", "health", "reset"),
        ("TimeoutError", "health", "timeout"),
        (503, "health", "status"),
        (401, "health", "key_needed"),
        ("SomeNewError", "port", "unreachable"),
    ],
)
def test_answers_are_classed_as_a_watch_classes_them(
    tmp_path: Path, said: int | str, rung: str, outcome: str
) -> None:
    found = probes(tmp_path, [health(10.0, said)])

    assert [(one.rung, one.outcome) for one in found] == [(rung, outcome)]


def test_a_health_answer_that_fails_after_a_token_takes_the_token_back(tmp_path: Path) -> None:
    found = probes(tmp_path, [health(1.0, 200), health(2.0, 200), health(3.0, 503), health(4.0, 200)])

    tokens = [(one.mono_s // 1, one.outcome) for one in found if one.rung == "token"]
    assert tokens == [(1.0, "ok"), (3.0, "status"), (4.0, "ok")]


def models(t: float, *names: str, body: bool = True, size: int | None = None) -> Line:
    text = json.dumps({"object": "list", "data": [{"id": name} for name in names]})
    line: Line = {"k": "http", "t": t, "p": "/v1/models", "st": 200, "ms": 1.0}
    return line | ({"body": text, "len": len(text) if size is None else size} if body else {})


def test_a_list_that_did_not_change_is_the_one_before(tmp_path: Path) -> None:
    found = probes(tmp_path, [models(1.0, "m"), models(2.0, body=False)])

    assert [one.models for one in found] == [["m"], ["m"]]


def test_the_expected_model_is_the_served_name(tmp_path: Path) -> None:
    path = written(tmp_path, [launch(served="large"), models(1.0, "small")])

    played = play(open_tape(path))

    assert H200Recording(path).asked.model == "large"
    assert played.state.fault == "wrong_model"


def test_a_list_that_was_not_kept_whole_is_not_judged(tmp_path: Path) -> None:
    found = probes(tmp_path, [models(1.0, "other", size=5000)])

    assert [(one.outcome, one.models) for one in found] == [("ok", None)]


def test_the_port_itself_opens(tmp_path: Path) -> None:
    found = probes(tmp_path, [{"k": "events", "t": 3.0, "ev": "tcp", "port": 30000, "state": "open"}])

    assert [(one.rung, one.outcome, one.mono_s) for one in found] == [("port", "ok", 3.0)]
    assert found[0].url == "http://127.0.0.1:30000"
