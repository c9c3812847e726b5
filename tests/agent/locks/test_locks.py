"""The lock reader against real processes: real locks of files that wait, are held, are left behind."""

import os
import signal
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from agent_process import PATIENCE_S, Agent, StartAgent
from watched_signals import Launch, Process, tell

from tui import events
from tui.agent import wire
from tui.requests import FollowRequest, PingRequest
from tui.signals import LockFile, Locks

QUICK = """
import tui.agent.locks.worker as w, tui.agent.locks.existence as e
w.LOOK_S, w.WALK_S, e.AGE_S, e._AGAIN_S = 0.05, 0.1, 0.3, 0.1
"""
NOBODY = "import os, pwd, tui.agent.main, tui.agent.locks.worker; os.setgid(65534); os.setuid(65534)"
REST = "import sys; print('here', flush=True); sys.stdin.read()"
# Makes a lock as torch's FileBaton does, and lets go of it when told to.
BATON = """
import os, sys
held = os.open(sys.argv[1], os.O_CREAT | os.O_EXCL)
print("here", flush=True)
sys.stdin.readline()
os.close(held)
os.remove(sys.argv[1])
sys.stdin.read()
"""
# Takes a lock of the kernel and keeps it.
HOLD = """
import fcntl, sys
file = open(sys.argv[1], "a")
fcntl.flock(file, fcntl.LOCK_EX)
print("here", flush=True)
sys.stdin.read()
"""
# Waits for a lock of the kernel.
WAIT = """
import fcntl, sys
file = open(sys.argv[1], "a")
print("here", flush=True)
fcntl.flock(file, fcntl.LOCK_EX)
print("got it", flush=True)
sys.stdin.read()
"""
# Takes a lock, hands it to a child, and ends.
HAND_ON = """
import fcntl, os, subprocess, sys
file = open(sys.argv[1], "a")
fcntl.flock(file, fcntl.LOCK_EX)
print("here", flush=True)
sys.stdin.readline()
os.set_inheritable(file.fileno(), True)
quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
child = subprocess.Popen(["sleep", "1000"], close_fds=False, **quiet)
print(child.pid, flush=True)
"""

Serve = Callable[..., Process]
Watch = Callable[..., Agent]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def serve(home: Path, monkeypatch: pytest.MonkeyPatch, launch: Launch) -> Serve:
    """Start a process whose home (and whose caches) are the test's own."""
    for name in ("TORCH_EXTENSIONS_DIR", "XDG_CACHE_HOME", "HF_HOME", "HF_HUB_CACHE", "AITER_JIT_DIR"):
        monkeypatch.delenv(name, raising=False)

    def start(code: str = REST, *arguments: str | Path) -> Process:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("HOME", str(home))
            return launch(code, *map(str, arguments))

    return start


@pytest.fixture
def watch(agent: StartAgent) -> Watch:
    """Let an agent look for the locks of a process, twenty times a second."""

    def start(process: Process, prelude: str = "") -> Agent:
        one = agent(prelude=QUICK + prelude, real=["locks"])
        one.send(FollowRequest(pid=process.pid))
        return one

    return start


def locks(agent: Agent, holds: Callable[[list[LockFile]], object]) -> list[LockFile]:
    """Return the first locks told for which that holds."""
    end_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < end_s:
        agent.send(PingRequest(sent_s=0.0))
        message = agent.receive_within(wire.LOCKS, 1.0)
        event = None if message is None else events.convert(message)
        if isinstance(event, Locks) and holds(event.locks):
            return event.locks
    pytest.fail("no such locks in time")


def extension(home: Path, name: str = "my_ops") -> Path:
    """Return the build folder of an extension of torch."""
    folder = home / ".cache" / "torch_extensions" / "py311_cu128" / name
    folder.mkdir(parents=True)
    return folder


def make_baton(path: Path) -> Path:
    os.close(os.open(path, os.O_CREAT | os.O_EXCL))
    return path


def test_a_lock_that_nobody_has_open_is_stale_and_its_end_is_told_once(
    home: Path, serve: Serve, watch: Watch
) -> None:
    lock = make_baton(extension(home) / "lock")
    agent = watch(serve())
    (found,) = locks(agent, bool)
    assert (found.path, found.kind, found.open, found.holder) == (str(lock), "existence", False, None)
    assert found.age_s is not None
    assert found.age_s >= 0.3
    lock.unlink()
    assert locks(agent, lambda told: not told) == []
    assert agent.receive_within(wire.LOCKS, 0.3) is None


def test_a_lock_whose_maker_lives_is_held_by_it_and_stale_after_its_death(
    home: Path, serve: Serve, watch: Watch
) -> None:
    lock = extension(home) / "lock"
    process = serve(BATON, lock)
    agent = watch(process)
    (found,) = locks(agent, bool)
    assert (found.open, found.holder) == (True, process.pid)
    process.kill()
    process.wait()
    (found,) = locks(agent, lambda told: told and told[0].open is False)
    assert found.holder is None


def test_a_lock_that_is_let_go_and_taken_again_is_another(home: Path, serve: Serve, watch: Watch) -> None:
    lock = extension(home) / "lock"
    first = serve(BATON, lock)
    agent = watch(serve())
    locks(agent, lambda told: told and told[0].holder == first.pid)
    tell(first)
    locks(agent, lambda told: not told)
    second = serve(BATON, lock)
    locks(agent, lambda told: told and told[0].holder == second.pid)


def test_a_lock_made_just_now_is_not_told(home: Path, serve: Serve, watch: Watch) -> None:
    make_baton(extension(home) / "lock")
    agent = watch(serve(), "e.AGE_S = 1000.0")
    assert agent.receive_within(wire.LOCKS, 0.5) is None


def test_files_that_locks_of_the_kernel_leave_behind_are_not_told(
    home: Path, serve: Serve, watch: Watch
) -> None:
    (extension(home, "newer_torch") / "lock").touch(mode=0o644)
    hub = home / ".cache/huggingface/hub/.locks/models--a--b"
    hub.mkdir(parents=True)
    (hub / "0123.lock").touch(mode=0o644)
    flashinfer = home / ".cache/flashinfer/0.6/cached_ops/tmp"
    flashinfer.mkdir(parents=True)
    (flashinfer / "a.lock").touch(mode=0o755)
    agent = watch(serve())
    assert agent.receive_within(wire.LOCKS, 0.8) is None
    soft = hub / "4567.lock"
    soft.write_text("4711\nanother host\n")
    assert [each.path for each in locks(agent, bool)] == [str(soft)]


def test_the_caches_are_those_of_the_servers_own_environment(
    home: Path, serve: Serve, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_baton(extension(home, "not_used") / "lock")
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(home / "elsewhere"))
    monkeypatch.setenv("AITER_JIT_DIR", str(home / "aiter"))
    expected: list[str] = []
    for folder, name in (
        ("elsewhere/ops", "lock"),
        ("aiter/build", "lock_module_x"),
        ("aiter/build/x/build", "lock"),
    ):
        (home / folder).mkdir(parents=True)
        expected.append(str(make_baton(home / folder / name)))
    process = serve()
    monkeypatch.delenv("TORCH_EXTENSIONS_DIR")
    monkeypatch.delenv("AITER_JIT_DIR")
    agent = watch(process)
    found = locks(agent, lambda told: len(told) == 3)
    assert sorted(each.path for each in found) == sorted(expected)


def test_a_process_that_waits_for_a_lock_of_the_kernel_is_told_with_its_holder(
    tmp_path: Path, serve: Serve, watch: Watch
) -> None:
    path = tmp_path / "any name"
    holder = serve(HOLD, path)
    waiter = serve(WAIT, path)
    agent = watch(waiter)
    (found,) = locks(agent, bool)
    assert (found.path, found.kind, found.open) == (str(path), "flock", True)
    assert (found.holder, found.waiter) == (holder.pid, waiter.pid)
    locks(agent, lambda told: (told[0].age_s or 0) > 0.2)
    holder.kill()
    holder.wait()
    assert locks(agent, lambda told: not told) == []


def test_a_lock_that_another_server_waits_for_is_not_told(tmp_path: Path, serve: Serve, watch: Watch) -> None:
    path = tmp_path / "any name"
    serve(HOLD, path)
    serve(WAIT, path)
    agent = watch(serve())
    assert agent.receive_within(wire.LOCKS, 0.5) is None


def test_a_lock_held_in_a_known_cache_is_told_although_nobody_waits_in_the_kernel(
    home: Path, serve: Serve, watch: Watch
) -> None:
    folder = home / ".cache/flashinfer/0.6/cached_ops"
    folder.mkdir(parents=True)
    holder = serve(HOLD, folder / "ops.lock")
    agent = watch(serve())
    (found,) = locks(agent, bool)
    assert (found.path, found.kind) == (str(folder / "ops.lock"), "flock")
    assert (found.holder, found.waiter) == (holder.pid, None)


def test_a_lock_whose_taker_has_ended_is_held_by_the_child_that_has_it(
    tmp_path: Path, serve: Serve, watch: Watch
) -> None:
    path = tmp_path / "any name"
    taker = serve(HAND_ON, path)
    waiter = serve(WAIT, path)
    tell(taker)
    assert taker.stdout is not None
    child = int(taker.stdout.readline())
    taker.wait()
    agent = watch(waiter)
    (found,) = locks(agent, bool)
    assert (found.holder, found.waiter, found.open) == (child, waiter.pid, True)
    os.kill(child, signal.SIGKILL)


def test_who_has_anothers_lock_open_cannot_be_told_without_the_right_to_look(
    serve: Serve, watch: Watch
) -> None:
    if os.getuid() != 0:
        pytest.skip("needs root, to run as another user")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        home.chmod(0o755)
        lock = make_baton(extension(home) / "lock")
        # Without the server's environment the caches are those of its user's home.
        agent = watch(serve(), NOBODY + f"; pwd.getpwuid = lambda _: type('', (), {{'pw_dir': {folder!r}}})")
        (found,) = locks(agent, bool)
        assert (found.path, found.open, found.holder) == (str(lock), None, None)


def test_letting_go_of_the_server_ends_it(home: Path, serve: Serve, watch: Watch) -> None:
    make_baton(extension(home) / "lock")
    agent = watch(serve())
    locks(agent, bool)
    agent.send(FollowRequest(pid=None))
    end_s = time.monotonic() + PATIENCE_S
    while agent.receive_within(wire.LOCKS, 0.3) is not None:
        assert time.monotonic() < end_s
