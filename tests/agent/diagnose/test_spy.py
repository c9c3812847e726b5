"""Stack dumps of real processes by the real py-spy, and what becomes of a py-spy that fails."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from agent_process import alive, children_of, until
from watched_stacks import DEADLOCK, IDLE, WORK, StartPython, stand_in, stop

from tui.agent.diagnose import spy

TOOL = str(Path(sys.executable).parent / "py-spy")


def leaf(stack: str) -> str:
    return stack.partition(": ")[2].partition(" < ")[0]


def test_the_leaf_of_a_deadlock_stands_first_and_stays(start_python: StartPython) -> None:
    stuck = start_python(DEADLOCK)
    until(lambda: leaf(spy.stacks(TOOL, stuck.pid)[0][0]).startswith("waits_for_ever"))

    dumps = [spy.stacks(TOOL, stuck.pid)[0] for _ in range(3)]

    assert dumps[0] == dumps[1] == dumps[2]
    assert dumps[0] == [f"MainThread {stuck.pid}: waits_for_ever (<string>:7) < <module> (<string>:8)"]


def test_the_leaf_of_work_changes(start_python: StartPython) -> None:
    working = start_python(WORK)
    seen: set[str] = set()

    until(lambda: seen.add(leaf(spy.stacks(TOOL, working.pid)[0][0])) or len(seen) >= 2)


def test_a_stopped_process_is_read_without_waiting_for_it(start_python: StartPython) -> None:
    stopped = start_python(IDLE)
    until(lambda: leaf(spy.stacks(TOOL, stopped.pid)[0][0]).startswith("rests"))
    stop(stopped.pid)

    stacks, _ = spy.stacks(TOOL, stopped.pid)

    assert leaf(stacks[0]) == "rests (<string>:5)"


def test_a_process_that_has_ended_is_said_to(start_python: StartPython) -> None:
    ended = start_python(IDLE)
    ended.kill()
    ended.wait()

    with pytest.raises(spy.NoStack, match="the process has ended"):
        spy.stacks(TOOL, ended.pid)


def test_another_program_is_said_to_be_none_of_python() -> None:
    with subprocess.Popen(["sleep", "60"]) as sleeper:
        try:
            with pytest.raises(spy.NoStack, match="no Python program"):
                spy.stacks(TOOL, sleeper.pid)
        finally:
            sleeper.kill()


def test_a_py_spy_that_hangs_is_killed_with_its_children(tmp_path: Path) -> None:
    tool = stand_in(tmp_path, "sleep 60\n")
    began_s = time.monotonic()

    with pytest.raises(spy.NoStack, match=r"did not end within 0\.3 s and was killed") as no:
        spy.stacks(tool, os.getpid(), 0.3)

    assert no.value.hung
    assert time.monotonic() - began_s < 30
    assert not [
        pid for pid in children_of(os.getpid()) if b"py-spy" in Path(f"/proc/{pid}/cmdline").read_bytes()
    ]


def test_it_has_three_seconds() -> None:
    assert spy.LIMIT_S == 3.0


def test_what_it_left_behind_in_the_background_is_killed_too(tmp_path: Path) -> None:
    tool = stand_in(tmp_path, f"sleep 60 & echo $! > {tmp_path}/child; wait")

    with pytest.raises(spy.NoStack):
        spy.stacks(tool, os.getpid(), 0.5)

    child = int((tmp_path / "child").read_text())
    until(lambda: not alive(child))


def test_a_py_spy_that_cannot_be_run_is_told(tmp_path: Path) -> None:
    broken = tmp_path / "py-spy"
    broken.write_bytes(b"\x7fELF nothing")
    broken.chmod(0o755)

    with pytest.raises(spy.NoStack, match="cannot be run"):
        spy.stacks(str(broken), os.getpid())


@pytest.mark.parametrize("printed", ["", "{}", '[{"thread_name": 3}]', "[[[", '[{"os_thread_id": 1}]'])
def test_an_answer_in_another_form_is_told(tmp_path: Path, printed: str) -> None:
    tool = stand_in(tmp_path, f"printf '%s' '{printed}'")

    with pytest.raises(spy.NoStack, match="is not understood"):
        spy.stacks(tool, os.getpid())


def test_py_spy_that_may_not_look_is_told_with_what_it_takes(tmp_path: Path) -> None:
    tool = stand_in(tmp_path, "echo 'Permission Denied: Try running again with sudo' >&2; exit 1")

    with pytest.raises(spy.NoStack, match="CAP_SYS_PTRACE"):
        spy.stacks(tool, os.getpid())


def test_an_endless_answer_ends_it(tmp_path: Path) -> None:
    tool = stand_in(tmp_path, "yes '[[[[[[[[[[[[[[[[[[[['")

    with pytest.raises(spy.NoStack):
        spy.stacks(tool, os.getpid(), 3.0)


def frame(name: str, place: str = "a.py", line: int = 1) -> dict[str, object]:
    return {"name": name, "short_filename": place, "filename": place, "line": line}


def thread(number: int, name: str, *frames: dict[str, object], active: bool = False) -> dict[str, object]:
    return {"os_thread_id": number, "thread_name": name, "active": active, "frames": list(frames)}


def test_the_main_thread_comes_first_then_those_at_work() -> None:
    threads = [thread(5, "idle", frame("a")), thread(9, "busy", frame("b"), active=True), thread(7, "main")]

    stacks, left_out = spy.read(threads, 7)

    assert [stack.partition(":")[0] for stack in stacks] == ["main 7", "busy 9", "idle 5"]
    assert left_out == 0


def test_remote_text_is_made_printable_and_secrets_are_hidden() -> None:
    odd = thread(7, "a:b\x1b[31m", frame("f\n\udc80", "hf_abcdefghijklmnopqrstuv.py"))

    (stack,), _ = spy.read([odd], 7)

    assert stack == "a.b 7: f (***.py:1)"


def test_very_many_threads_are_cut_and_counted() -> None:
    deep = [frame("recursion" * 20) for _ in range(500)]

    stacks, left_out = spy.read([thread(number, "t", *deep) for number in range(1, 100)], 1)

    assert sum(map(len, stacks)) <= spy.STACKS_BYTES + spy.FRAMES * 260
    assert left_out == 99 - len(stacks)
    assert left_out > 0
