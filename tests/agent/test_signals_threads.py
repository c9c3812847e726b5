"""Threads are read on suspicion: real threads that sleep, poll, work, or wait in the kernel beside others."""

import os
import signal
from pathlib import Path

import msgspec
import pytest
from watched_signals import Follow, Launch, of

from tui.agent.signals import threads
from tui.signals import ProcessSignals, ThreadSignals

SUSPICIOUS = """
import tui.agent.signals.threads as t
t._QUIET_S, t._BLOCKED_S, t._EVERY_S, t._SHARE = 0.4, 0.2, 0.1, 1.0
"""
# Four threads and the main one, all in a futex.
ASLEEP = """
import threading
lock = threading.Lock()
lock.acquire()
for _ in range(4):
    threading.Thread(target=lock.acquire, daemon=True).start()
print("here", flush=True)
lock.acquire()
"""
# The main thread waits in a futex for one that polls.
POLLED = """
import threading, time
def poll():
    while True: time.sleep(0.02)
lock = threading.Lock()
lock.acquire()
threading.Thread(target=poll, daemon=True).start()
print("here", flush=True)
lock.acquire()
"""
# A thread whose child shares its memory until it has opened a pipe that nobody writes to: state D.
BLOCKED = """
import os, sys, threading, time
def spawn():
    time.sleep(0.05)  # spawning holds the interpreter, and the main thread is to wait for its lock alone
    opened = [(os.POSIX_SPAWN_OPEN, 0, sys.argv[1], os.O_RDONLY, 0)]
    os.posix_spawn("/bin/true", ["true"], {}, file_actions=opened)
lock = threading.Lock()
lock.acquire()
threading.Thread(target=spawn, daemon=True).start()
print("here", flush=True)
lock.acquire()
"""
BURN = "print('here', flush=True)\nwhile True: pass"


def threads_of(process: ProcessSignals) -> ThreadSignals:
    assert process.threads is not None
    return process.threads


def test_a_process_that_works_is_under_no_suspicion(follow: Follow, launch: Launch) -> None:
    process = launch(BURN)
    agent = follow(process, SUSPICIOUS)
    first = of(agent, process.pid, lambda each: each.threads is None)
    of(agent, process.pid, lambda each: each.threads is None and each.cpu_s > first.cpu_s + 1.0)


def test_threads_that_all_sleep_never_wake_up(follow: Follow, launch: Launch) -> None:
    process = launch(ASLEEP)
    agent = follow(process, SUSPICIOUS)
    first = threads_of(of(agent, process.pid, lambda each: each.threads))
    assert (first.states, first.blocked_in, first.blocked_wakeups) == ({"S": 5}, "", None)
    of(agent, process.pid, lambda each: each.threads and each.threads.age_s > 0)
    again = threads_of(of(agent, process.pid, lambda each: each.threads and each.threads.age_s == 0))
    assert again.wakeups == first.wakeups is not None


def test_a_thread_that_polls_is_seen_although_the_main_thread_never_wakes_up(
    follow: Follow, launch: Launch
) -> None:
    process = launch(POLLED)
    agent = follow(process, SUSPICIOUS.replace("0.4", "0.2"))
    first = of(agent, process.pid, lambda each: each.threads)
    woken = threads_of(first).wakeups
    assert woken is not None
    later = of(agent, process.pid, lambda each: each.threads and (each.threads.wakeups or 0) > woken + 5)
    assert later.wakeups == first.wakeups


def test_a_thread_in_the_kernel_is_seen_behind_a_main_thread_that_sleeps(
    follow: Follow, launch: Launch, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "fifo")
    process = launch(BLOCKED, str(tmp_path / "fifo"))
    agent = follow(process, SUSPICIOUS)
    found = of(agent, process.pid, lambda each: each.threads and "D" in each.threads.states)
    assert found.state == "S"
    assert threads_of(found).states == {"S": 1, "D": 1}
    assert threads_of(found).blocked_in not in (None, "", "0")
    assert threads_of(found).blocked_wakeups is not None
    os.close(os.open(tmp_path / "fifo", os.O_WRONLY))
    of(agent, process.pid, lambda each: each.threads is None or "D" not in each.threads.states)


def test_the_suspicion_ends_when_it_works_again(follow: Follow, launch: Launch) -> None:
    process = launch(BURN)
    agent = follow(process, SUSPICIOUS)
    process.send_signal(signal.SIGSTOP)
    assert threads_of(of(agent, process.pid, lambda each: each.threads)).states == {"T": 1}
    process.send_signal(signal.SIGCONT)
    of(agent, process.pid, lambda each: each.threads is None)


def test_of_too_many_threads_nothing_is_said_together(
    monkeypatch: pytest.MonkeyPatch, launch: Launch
) -> None:
    process = launch(ASLEEP)
    monkeypatch.setattr(threads, "_THREADS", 3)
    found = threads.threads_of(process.pid, may_look=True)
    assert found is not None
    told = msgspec.convert(found, ThreadSignals)
    assert (sum(told.states.values()), told.wakeups) == (3, None)
    assert threads.threads_of(2**22 + 1, may_look=True) is None


def test_reading_is_spread_so_that_it_costs_a_bounded_share(monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[int] = []

    def dear(pid: int, *, may_look: bool) -> dict[str, object]:
        reads.append(pid)
        clock[0] += 0.01
        return {"states": {"S": 1}}

    clock = [0.0]
    monkeypatch.setattr(threads, "threads_of", dear)
    monkeypatch.setattr(threads.time, "process_time", lambda: clock[0])
    suspects = threads.Suspects()
    for second in range(140):
        suspects.read(
            float(second),
            [
                {"pid": pid, "state": "S", "cpu_s": 1.0, "wakeups": 5, "read_chars_bytes": 0}
                for pid in range(8)
            ],
        )
    assert set(reads) == set(range(8))
    assert max(reads.count(pid) for pid in range(8)) - min(reads.count(pid) for pid in range(8)) <= 1
    assert 0.01 * len(reads) <= (120 + 30) * 0.002 + 0.01
