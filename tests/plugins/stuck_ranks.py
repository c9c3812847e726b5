"""The processes of a stuck server: a launcher and its ranks, real ones, each stuck as its case says.

Runs as ``python -m sglang.launch_server ...`` (see stuck_server.py), with the standard library alone. Ranks
read until they are told to go on, so that the server is seen to load; then each does what its case says, for
ever. They end with whoever started them: their lifeline is a pipe, and most die with their parent besides.
"""

import ctypes
import errno
import fcntl
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import simulated_ranks

PR_SET_PDEATHSIG = 1
STEP_S = 0.25
STEP_BYTES = 512 * 1024
POLL_S = 0.1
"""As often as torch's FileBaton looks whether its lock file is still there."""

_LIBC = ctypes.CDLL(None, use_errno=True)
# Names that a process has only by the file it was started from: links to this very Python.
_NVCC = """
import os, sys
pid = os.fork()
if not pid:
    os.execv(sys.argv[1] + "/cicc", ["cicc", "-ISc", sys.argv[2], str(os.getppid())])
os.write(int(sys.argv[3]), b"cicc %d\\n" % pid)
sys.exit(os.waitpid(pid, 0)[1] != 0)
"""
_CICC = """
import ctypes, os, sys, time
ctypes.CDLL(None).prctl(1, 9, 0, 0, 0)
while os.getppid() == int(sys.argv[1]):
    until = time.process_time() + 0.03
    while time.process_time() < until:
        pass
    time.sleep(0.06)
"""

# What SGLang's ranks print, in the order of a load. The last one that a case reaches is where it stands.
PLACES = {
    "distributed": ("Init torch distributed begin.",),
    "weights": (
        "Init torch distributed ends. elapsed=1.87 s, mem usage=0.97 GB",
        "Load weight begin. avail mem=138.31 GB",
    ),
    "kv_cache": (
        "Load weight end. elapsed=8.75 s, type=Qwen3ForCausalLM, avail mem=123.42 GB, mem usage=14.89 GB.",
        "KV Cache is allocated. dtype: torch.bfloat16, #tokens: 1809038, K size: 55.21 GB, V size: 55.21 GB",
    ),
    "capture": (
        "Memory pool end. avail mem=12.28 GB",
        "Capture cuda graph begin. This can take up to several minutes. avail mem=12.28 GB",
    ),
}


class World:
    """What a rank has to do with: its folder, its pipes, its number."""

    def __init__(self, folder: Path, *, life: int, go: int, tell: int) -> None:
        self.folder = folder
        self.cache = folder / "torch_extensions" / "py311_cu128" / "fused_moe"
        self.life = life
        self.number = 0
        self._go = go
        self._tell = tell

    def told_to_go(self) -> bool:
        """Whether the other end of the pipe was closed."""
        os.set_blocking(self._go, False)
        try:
            return os.read(self._go, 1) == b""
        except BlockingIOError:
            return False

    def tell(self, name: str, pid: int) -> None:
        """Say that a process is there."""
        os.write(self._tell, f"{name} {pid}\n".encode())

    def say(self, text: str) -> None:
        """Write a line of the log as SGLang's ranks do."""
        now = time.strftime("%Y-%m-%d %H:%M:%S")
        os.write(1, f"[{now} TP{self.number}] {text}\n".encode())

    def begin_compiling(self) -> int:
        """Start ``nvcc``, which starts ``cicc``, which keeps a third of a core busy; return its pid."""
        pid = os.fork()
        if pid == 0:
            die_with(os.getppid())
            os.set_inheritable(self._tell, True)
            words = ["nvcc", "-ISc", _NVCC, str(self.folder), _CICC, str(self._tell)]
            os.execv(self.folder / "nvcc", words)
        return pid


def die_with(parent: int) -> None:
    """Be killed when the parent ends, also while stopped."""
    _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def sleep_on_a_lock() -> NoReturn:
    """Wait for a mutex that nobody releases: no wake-up ever, in futex."""
    lock = threading.Lock()
    while True:
        lock.acquire()


# What one rank does once it is told to go on.


def _nothing(world: World) -> None:
    """Every rank waits for something that does not come."""
    sleep_on_a_lock()


def _deadlock(world: World) -> None:
    """Two threads of TP1 take two mutexes in opposite order; the other ranks wait for it."""
    if world.number != 1:
        sleep_on_a_lock()
    first, second, both = threading.Lock(), threading.Lock(), threading.Barrier(2)

    def take(one: threading.Lock, other: threading.Lock) -> None:
        with one:
            both.wait()
            other.acquire()

    threading.Thread(target=take, args=(second, first), daemon=True).start()
    take(first, second)


def _flock(world: World) -> None:
    """TP1 has locked a file and does nothing with it; TP0 wants the lock, the others wait for TP0."""
    with (world.cache / "build.lock").open("w") as file:
        if world.number == 1:
            fcntl.flock(file, fcntl.LOCK_EX)
            (world.folder / "locked").touch()
        elif world.number == 0:
            _await(world.folder / "locked")
            fcntl.flock(file, fcntl.LOCK_EX)
        sleep_on_a_lock()


def _stale_lock(world: World) -> None:
    """All ranks wait until a lock file is gone that an earlier, killed process has left behind."""
    _baton(world)


def _held_lock(world: World) -> None:
    """TP0 has made a lock file and lives, the others wait until it is gone."""
    if world.number != 0:
        _baton(world)
    take_baton(world.cache)
    sleep_on_a_lock()


def _live_lock(world: World) -> None:
    """TP0 has made a lock file and compiles, the others wait until it is gone."""
    if world.number != 0:
        _baton(world)
    take_baton(world.cache)
    os.waitpid(world.begin_compiling(), 0)


def _cpu(world: World) -> None:
    """TP0 works on one thread, and nothing else of it moves; the others wait for it."""
    if world.number != 0:
        sleep_on_a_lock()
    os.nice(10)
    while True:
        sum(range(100_000))


def _compile(world: World) -> None:
    """TP1 compiles, the others wait for it. When the compiler is killed its rank ends as torch's does."""
    if world.number != 1:
        sleep_on_a_lock()
    if os.waitpid(world.begin_compiling(), 0)[1]:
        os.write(
            1, b"FAILED: [code=137] fused_moe.cuda.o \n/usr/local/cuda/bin/nvcc -c fused_moe.cu\nKilled\n"
        )
        os.write(1, b"ninja: build stopped: subcommand failed.\n")
        world.say("Scheduler hit an exception: Traceback (most recent call last):")
        os.write(1, b"RuntimeError: Error building extension 'fused_moe'\n")
        os._exit(1)


def _refused(world: World) -> None:
    """All ranks ask for a rendezvous on another node, whose port refuses them."""
    port = int(os.environ["STUCK_PEER"])
    while True:
        with socket.socket() as peer:
            if peer.connect_ex(("127.0.0.1", port)) not in (errno.ECONNREFUSED, errno.EINTR):
                raise OSError("somebody listens there")
        time.sleep(1.0)


def _memory(world: World) -> None:
    """TP1 takes memory until the kernel kills it."""
    if world.number != 1:
        sleep_on_a_lock()
    kept: list[bytearray] = []
    while True:
        kept.append(bytearray(b"1") * 1024 * 1024)


def take_baton(folder: Path) -> int:
    """Make a lock file as torch's FileBaton does; return its open descriptor."""
    return os.open(folder / "lock", os.O_CREAT | os.O_EXCL)


def _baton(world: World) -> None:
    _await(world.cache / "lock")
    while (world.cache / "lock").exists():
        time.sleep(POLL_S)


def _await(path: Path) -> None:
    while not path.exists():
        time.sleep(POLL_S)


RANKS: dict[str, Callable[[World], None]] = {
    "suspended": _nothing,
    "killed": _nothing,
    "zombie": _nothing,
    "orphaned": _nothing,
    "deadlock": _deadlock,
    "flock": _flock,
    "stale-lock": _stale_lock,
    "held-lock": _held_lock,
    "live-lock": _live_lock,
    "cpu-work": _cpu,
    "compiling": _compile,
    "compiler-killed": _compile,
    "refused-peer": _refused,
    "memory": _memory,
}


def be_rank(world: World, number: int, case: str, reached: str) -> NoReturn:
    """Be a rank until the end of the lifeline."""
    world.number = number
    simulated_ranks.set_title(f"sglang::scheduler_TP{number}")
    threading.Thread(target=_end_with, args=(world.life,), daemon=True).start()
    for place, lines in PLACES.items():
        for line in lines:
            world.say(line)
        if place == reached:
            break
    world.tell(f"TP{number}", os.getpid())
    with open("/dev/zero", "rb", buffering=0) as weights:
        while not world.told_to_go():
            weights.read(STEP_BYTES)
            time.sleep(STEP_S)
    RANKS[case](world)
    sleep_on_a_lock()


def _end_with(life: int) -> None:
    os.read(life, 1)
    os._exit(0)


def main() -> None:
    """Be the launcher: start the ranks, then wait for their ends (a zombie's case: do not)."""
    told = os.environ
    case = told["STUCK_CASE"]
    pipes = {name: int(told[f"STUCK_{name.upper()}"]) for name in ("life", "go", "tell")}
    world = World(Path(told["STUCK_FOLDER"]), **pipes)
    if case != "orphaned":
        die_with(os.getppid())
    if "STUCK_GROUP" in told:
        (Path(told["STUCK_GROUP"]) / "cgroup.procs").write_text(str(os.getpid()))
    os.write(
        1, f"[{time.strftime('%Y-%m-%d %H:%M:%S')}] server_args=ServerArgs(model_path='qwen3')\n".encode()
    )
    world.tell("launcher", os.getpid())
    launcher = os.getpid()
    for number in range(int(told["STUCK_RANKS"])):
        if os.fork() == 0:
            if case != "orphaned":
                die_with(launcher)
            be_rank(world, number, case, told["STUCK_PLACE"])
    while case != "zombie":
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            break
    os.read(world.life, 1)
    sys.exit(0)
