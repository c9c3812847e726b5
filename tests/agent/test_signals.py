"""The signals reader against real processes: what moves in them, what may not be read, what was compiled."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from agent_process import StartAgent, children_of, until
from watched_signals import Follow, Launch, compiled, of, tell, told

from tui import events
from tui.agent import wire
from tui.requests import FollowRequest
from tui.signals import HostSignals

HANGING = """
import tui.agent.wire as w, tui.agent.loop as l, tui.agent.signals.worker as s, time
w.BLOCKING_DEADLINE_S, l._TICK_S = 0.3, 0.1
s.host_signals = lambda: time.sleep(100)
"""
NOBODY = "import os, tui.agent.main, tui.agent.signals.worker; os.setgid(65534); os.setuid(65534)"
REST = "import sys; print('here', flush=True); sys.stdin.read()"
BURN = "print('here', flush=True)\nwhile True: pass"
DOZE = "import time; print('here', flush=True)\nwhile True: time.sleep(0.005)"
FAULT = "import mmap; print('here', flush=True)\nwhile True: mmap.mmap(-1, 1 << 20).write(bytes(1 << 20))"
# A process with a child, whose command is in the arguments; lets go of it when its input ends.
ABOVE = """
import subprocess, sys
child = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
print(child.stdout.readline().decode(), end="", flush=True)
sys.stdin.readline()
child.kill()
child.wait()
sys.stdin.read()
"""
# Starts its child when told to.
LATER = """
import subprocess, sys
print("here", flush=True)
sys.stdin.readline()
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
sys.stdin.readline()
child.kill()
child.wait()
sys.stdin.read()
"""
# Maps a file, then the next one, and touches all of its pages, whenever told to.
MAP = """
import mmap, sys
print("here", flush=True)
for path in sys.stdin:
    with open(path.strip(), "rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    sum(mapped[::4096])
"""


def anything(_: object) -> bool:
    return True


def renamed(folder: Path, name: str) -> str:
    """Return a program of that name which is a Python."""
    program = folder / name
    shutil.copy(os.path.realpath(sys.executable), program)
    return str(program)


def test_a_process_that_works_uses_cpu_time_and_one_that_dozes_wakes_up(
    follow: Follow, launch: Launch
) -> None:
    process = launch(BURN)
    agent = follow(process)
    first = of(agent, process.pid, anything)
    later = of(agent, process.pid, lambda each: each.cpu_s >= first.cpu_s + 0.1)
    assert (later.state, later.wchan) == ("R", "0")

    process = launch(DOZE)
    agent.send(FollowRequest(pid=process.pid))
    first = of(agent, process.pid, lambda each: each.wakeups is not None)
    assert first.wakeups is not None
    dozing = of(agent, process.pid, lambda each: (each.wakeups or 0) >= (first.wakeups or 0) + 10)
    assert dozing.cpu_s < first.cpu_s + 0.5


def test_faults_and_memory_move_with_a_process_that_touches_it(follow: Follow, launch: Launch) -> None:
    process = launch(FAULT)
    agent = follow(process)
    first = of(agent, process.pid, anything)
    assert first.minor_faults > 0
    assert (first.rss_anon_mib or 0) > 1
    of(agent, process.pid, lambda each: each.minor_faults > first.minor_faults + 500)


def test_the_mapped_weight_file_is_named_and_its_pages_are_counted(
    follow: Follow, launch: Launch, tmp_path: Path
) -> None:
    names = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"]
    for name in names:
        (tmp_path / name).write_bytes(bytes(16 << 20))
    process = launch(MAP)
    agent = follow(process)
    before = of(agent, process.pid, lambda each: each.shard == "")
    assert before.rss_file_mib is not None
    for name in names:
        tell(process, str(tmp_path / name))
        of(agent, process.pid, lambda each, name=name: each.shard == name)
    least = 0 if _in_memory(tmp_path) else before.rss_file_mib + 8
    of(agent, process.pid, lambda each: (each.rss_file_mib or 0) >= least)


def _in_memory(folder: Path) -> bool:
    """Return whether a folder lies in a tmpfs, whose mapped pages count as shared memory."""
    found = subprocess.run(["stat", "-fc", "%T", folder], stdout=subprocess.PIPE, text=True, check=True)
    return found.stdout.strip() == "tmpfs"


def test_a_stopped_process_is_told_as_stopped_and_goes_on(follow: Follow, launch: Launch) -> None:
    process = launch(BURN)
    agent = follow(process)
    process.send_signal(signal.SIGSTOP)
    stopped = of(agent, process.pid, lambda each: each.state == "T")
    assert of(agent, process.pid, anything).cpu_s == stopped.cpu_s
    process.send_signal(signal.SIGCONT)
    of(agent, process.pid, lambda each: each.state == "R")


def test_a_rank_that_ends_is_a_zombie_then_gone_and_nothing_is_said_of_it(
    follow: Follow, launch: Launch
) -> None:
    process = launch(ABOVE, sys.executable, "-c", REST)
    (rank,) = children_of(process.pid)
    agent = follow(process)
    of(agent, rank, anything)
    tell(process)
    last = told(agent, lambda event: rank not in [each.pid for each in event.processes])
    assert [each.pid for each in last.processes] == [process.pid]
    assert [message for message in agent.unread if message["kind"] == wire.NOTICE] == []


def test_what_is_below_the_server_stays_when_the_server_is_killed(follow: Follow, launch: Launch) -> None:
    process = launch(ABOVE, sys.executable, "-c", DOZE)
    (rank,) = children_of(process.pid)
    agent = follow(process)
    of(agent, rank, anything)
    process.kill()
    process.wait()
    told(agent, lambda event: [each.pid for each in event.processes] == [rank])
    os.kill(rank, signal.SIGKILL)
    told(agent, lambda event: all(each.state == "Z" for each in event.processes))


def test_the_end_of_the_last_process_is_told_once(follow: Follow, launch: Launch) -> None:
    process = launch(DOZE)
    agent = follow(process)
    of(agent, process.pid, anything)
    process.kill()
    process.wait()
    told(agent, lambda event: event.processes == [])
    assert agent.receive_within(wire.SIGNALS, 0.3) is None


def test_helpers_that_do_no_work_of_their_own_are_left_out(follow: Follow, launch: Launch) -> None:
    helpers = (
        [sys.executable, "-c", REST, "multiprocessing.resource_tracker"],
        [sys.executable, "-c", REST, "torch/_inductor/compile_worker"],
        ["sh", "-c", "echo here; read line; true"],
    )
    processes = [launch(ABOVE, *helper) for helper in helpers]
    for process in processes:
        agent = follow(process)
        assert len(children_of(process.pid)) == 1
        looks = [told(agent, anything) for _ in range(6)]
        assert {each.pid for look in looks for each in look.processes} == {process.pid}
        assert all(look.compilers == [] for look in looks)


def test_a_compiler_is_counted_under_its_rank_also_after_its_end(
    follow: Follow, launch: Launch, tmp_path: Path
) -> None:
    process = launch(LATER, renamed(tmp_path, "cicc"), "-c", BURN)
    agent = follow(process)
    assert told(agent, lambda event: event.processes).compilers == []
    tell(process)
    first = compiled(agent, process.pid, anything)
    assert (first.names, first.running, first.started) == (["cicc"], 1, 1)
    later = compiled(agent, process.pid, lambda each: each.cpu_s >= first.cpu_s + 0.1)
    tell(process)
    ended = compiled(agent, process.pid, lambda each: each.running == 0)
    assert (ended.names, ended.started) == ([], 1)
    assert ended.cpu_s >= later.cpu_s
    assert [each.pid for each in told(agent, anything).processes] == [process.pid]


def test_a_compiler_that_ran_before_the_watch_counts_from_its_beginning(
    follow: Follow, launch: Launch, tmp_path: Path
) -> None:
    process = launch(ABOVE, renamed(tmp_path, "ptxas"), "-c", BURN)
    (compiler,) = children_of(process.pid)
    until(lambda: _cpu_s(compiler) > 0.2)
    agent = follow(process)
    first = compiled(agent, process.pid, anything)
    assert (first.running, first.started) == (1, 0)
    assert first.cpu_s < 0.2


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_compile_worker_runs_only_while_it_uses_a_core(follow: Follow, launch: Launch) -> None:
    turns = "import sys; print('here', flush=True); sys.stdin.readline()\nwhile True: pass"
    process = launch(ABOVE, sys.executable, "-c", turns, "compile_worker")
    agent = follow(process)
    assert told(agent, lambda event: event.processes).compilers == []
    (worker,) = children_of(process.pid)
    with open(f"/proc/{worker}/fd/0", "w") as line:
        line.write("\n")
    busy = compiled(agent, process.pid, lambda each: each.cpu_s > 0.1)
    assert (busy.names, busy.running, busy.started) == (["compile_worker"], 1, 0)


def test_another_users_process_gives_only_what_all_may_read(follow: Follow, launch: Launch) -> None:
    if os.getuid() != 0:
        pytest.skip("needs root, to run as another user")
    process = launch(DOZE)
    agent = follow(process, NOBODY)
    found = of(agent, process.pid, anything)
    assert (found.read_chars_bytes, found.read_bytes, found.write_bytes) == (None, None, None)
    assert (found.wchan, found.shard) == (None, None)
    assert found.wakeups is not None
    assert found.rss_anon_mib is not None


def test_letting_go_ends_the_readings_and_another_server_begins_anew(follow: Follow, launch: Launch) -> None:
    one, other = launch(DOZE), launch(DOZE)
    agent = follow(one)
    of(agent, one.pid, anything)
    agent.send(FollowRequest(pid=other.pid))
    told(agent, lambda event: [each.pid for each in event.processes] == [other.pid])
    agent.send(FollowRequest(pid=None))
    until(lambda: agent.receive_within(wire.SIGNALS, 0.3) is None)


def test_a_pid_that_another_process_has_by_now_is_not_read(follow: Follow, launch: Launch) -> None:
    process = launch(DOZE)
    agent = follow(process)
    of(agent, process.pid, anything)
    agent.send(FollowRequest(pid=process.pid, started_s=1.0))
    told(agent, lambda event: event.processes == [])


def test_the_host_is_told_of_with_what_its_kernel_counts(follow: Follow, launch: Launch) -> None:
    agent = follow(launch(DOZE))
    for _ in range(2):
        event = events.convert(agent.receive(wire.HOST_SIGNALS))
        assert isinstance(event, HostSignals)
        assert (event.oom_kills is None) == (b"\noom_kill " not in Path("/proc/vmstat").read_bytes())
        pressure = Path("/proc/pressure/memory")
        assert pressure.exists() or event.memory_full_pct is None
        assert event.memory_full_pct is None or 0 <= event.memory_full_pct <= 100


def test_a_read_that_hangs_is_told_and_stalls_nothing_else(agent: StartAgent, launch: Launch) -> None:
    one = agent(prelude=HANGING, real=["signals"])
    one.send(FollowRequest(pid=launch(DOZE).pid))
    told_of = one.receive(wire.NOTICE)
    assert (told_of["level"], told_of["about"]) == ("warning", "signals")
    assert told_of["sentence"].startswith("the signals reader has not answered for ")
