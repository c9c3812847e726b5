"""Whose numbers processes have: told inside a pid namespace of the test's own, and outside."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tui.agent import pids
from tui.agent.gpus.users import Users
from tui.events import GpuProcess, GpuProcesses
from tui.watch.gpus import GpuBook
from tui.watch.verdict.holders import Holders

ROOT = Path(__file__).parents[2]
ASK = "import sys; sys.path.insert(0, sys.argv[1]); from tui.agent import pids; print(pids.contained())"


def told(*before: str) -> str:
    command = [*before, sys.executable, "-ISc", ASK, str(ROOT)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_inside_a_container_the_pids_are_its_own(container: int) -> None:
    assert told("nsenter", "-t", str(container), "-p", "-m", "--") == "True"


def test_a_container_that_sees_the_hosts_proc_has_the_hosts_pids(container: int) -> None:
    if os.readlink("/proc/self/ns/pid") != pids.HOSTS_PIDS:
        pytest.skip("these tests run in a container themselves")
    assert told("nsenter", "-t", str(container), "-p", "--") == "False"


def test_the_numbers_of_a_process_come_outermost_first() -> None:
    assert pids.numbers(b"Name:\tpython3\nNStgid:\t900\t7\nNSpid:\t900\t7\nNSpgid:\t900\t7\n") == [900, 7]
    assert pids.numbers(b"Name:\tpython3\n") == []


def listed(
    held: dict[int, float | None], monkeypatch: pytest.MonkeyPatch, *, contained: bool
) -> list[object]:
    """Return which entries of a driver's list are foreign, where only process 7 is seen to use a GPU."""
    monkeypatch.setattr(pids, "contained", lambda: contained)
    monkeypatch.setattr(pids, "uses_gpu", (7).__eq__)
    users = Users()
    users.held = held
    users.look_whose()
    return [entry.get("foreign") for entry in users.fields(0)]


def test_in_a_container_only_a_process_seen_to_use_a_gpu_is_the_containers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert listed({7: 1.0, 8: None}, monkeypatch, contained=True) == [None, True]
    assert listed({7: 1.0, 8: None}, monkeypatch, contained=False) == [None, None]


def test_a_process_with_a_device_of_the_driver_open_uses_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not pids.uses_gpu(os.getpid())
    assert not pids.uses_gpu(2**22 + 1)
    read = os.readlink

    def readlink(path: str) -> str:
        return "/dev/nvidia0" if path.endswith("/0") else read(path)

    monkeypatch.setattr(os, "readlink", readlink)

    assert pids.uses_gpu(os.getpid())


def test_a_foreign_pid_is_never_joined_with_the_process_of_that_number() -> None:
    processes = [
        GpuProcess(index=0, pid=7, memory_mib=5.0),
        GpuProcess(index=1, pid=7, memory_mib=5.0, foreign=True),
    ]
    book, holders = GpuBook(), Holders()
    book.take(GpuProcesses(mono_s=0.0, wall_s=0.0, processes=processes))
    holders.take(processes, (), 0.0)

    assert book.held_by({7}) == {0}
    assert holders.held_by({7}) == {0}
    assert holders.held_by({-7}) == set()
    assert not holders.shared(1, {7})
