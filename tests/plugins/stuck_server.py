"""Servers that are stuck, each in a way of its own: real processes without a GPU, to be watched.

    python tests/plugins/stuck_server.py                # lists the cases
    python tests/plugins/stuck_server.py deadlock       # starts one and says how to watch it

The server reads until Enter is pressed: then it gets stuck. End of input (Ctrl-D) or Ctrl-C ends it. This
process keeps all others: whatever happens to it or to them, none outlives it.
"""

import ctypes
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
import stuck_ranks

PR_SET_CHILD_SUBREAPER = 36
GROUP_LIMIT_MIB = 160
GROUPS = Path("/sys/fs/cgroup")
SETTLE_S = 1.0
STALE_S = 3600.0


@dataclass(frozen=True, slots=True)
class Case:
    """One way to be stuck: where in the load, with how many ranks, what is done to a process from outside.

    ``harm`` is a signal and the name of who gets it, as the tree tells it (launcher, TP0, cicc).
    """

    place: str
    ranks: int = 4
    harm: tuple[signal.Signals, str] | None = None
    more: str = ""

    def words(self, name: str) -> str:
        """Return what happens."""
        told = (stuck_ranks.RANKS[name].__doc__ or "").splitlines()[0]
        return told if self.harm is None else f"{told} {self.harm[1]} gets {self.harm[0].name}."


CASES = {
    "suspended": Case("weights", harm=(signal.SIGSTOP, "TP2")),
    "killed": Case("weights", harm=(signal.SIGKILL, "TP1")),
    "zombie": Case("weights", harm=(signal.SIGKILL, "TP1"), ranks=2),
    "orphaned": Case("capture", harm=(signal.SIGKILL, "launcher")),
    "deadlock": Case("kv_cache"),
    "flock": Case("capture"),
    "stale-lock": Case("capture"),
    "held-lock": Case("capture"),
    "live-lock": Case("capture"),
    "cpu-work": Case("kv_cache"),
    "compiling": Case("capture"),
    "compiler-killed": Case("capture", harm=(signal.SIGKILL, "cicc")),
    "refused-peer": Case(
        "distributed", ranks=2, more="--nnodes 2 --node-rank 0 --dist-init-addr 10.0.0.1:5000"
    ),
    "memory": Case("weights", ranks=2),
}


class Told(msgspec.Struct, frozen=True):
    """What the keeper tells a test: processes by name, when they got stuck, or why that cannot be shown."""

    folder: str = ""
    pids: dict[str, int] = {}
    stuck_s: float = 0.0
    impossible: str = ""


class CannotBeShown(Exception):
    """This machine does not allow a case; the message says why."""


# The side that starts it.


class StuckServer:
    """A stuck server as a process of its own, for a test. ``pids`` are its processes by name."""

    def __init__(self, case: str) -> None:
        self.case = case
        command = [sys.executable, str(Path(__file__)), case, "--told"]
        self._keeper = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        told = self._told()
        if told.impossible:
            self.close()
            raise CannotBeShown(told.impossible)
        self.folder = Path(told.folder)
        self.pids = told.pids
        self.stuck_s = 0.0

    @property
    def keeper(self) -> int:
        """The pid of the process that keeps the others."""
        return self._keeper.pid

    def get_stuck(self) -> None:
        """Let it get stuck; returns when the harm is done. ``stuck_s`` is when, on the monotonic clock."""
        assert self._keeper.stdin is not None
        self._keeper.stdin.write("\n")
        self._keeper.stdin.flush()
        told = self._told()
        self.pids, self.stuck_s = told.pids, told.stuck_s

    def close(self) -> None:
        """End all of it; closing twice is allowed."""
        assert self._keeper.stdin is not None
        assert self._keeper.stdout is not None
        if not self._keeper.stdin.closed:
            self._keeper.stdin.close()
        self._keeper.wait()
        self._keeper.stdout.close()

    def left(self) -> list[str]:
        """Return what is still there of it: processes, folder."""
        pids = [f"{name} {pid}" for name, pid in self.pids.items() if _is_ours(pid, self.folder)]
        return pids + ([str(self.folder)] if self.folder.exists() else [])

    def _told(self) -> Told:
        assert self._keeper.stdout is not None
        line = self._keeper.stdout.readline()
        assert line, f"the keeper of {self.case} has ended"
        return msgspec.json.decode(line, type=Told)


def _is_ours(pid: int, folder: Path) -> bool:
    """Whether a pid is (still) a process of this tree: its number may have been given to another."""
    try:
        return str(folder).encode() in Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False


# The keeper.


class Keeper:
    """Starts the tree, does the harm, ends everything."""

    def __init__(self, name: str) -> None:
        self.name, self.case = name, CASES[name]
        self.folder = Path(tempfile.mkdtemp(prefix="tminus-stuck-"))
        self.pids: dict[str, int] = {}
        self._group: Path | None = None
        self._kept: list[socket.socket] = []
        self._go = self._life = -1
        self._told = b""
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def start(self) -> None:
        """Start launcher and ranks and wait until all are there. Raises CannotBeShown."""
        if self.name == "memory":
            self._group = memory_group(self.folder.name)
        self._furnish()
        life, self._life = os.pipe()
        go, self._go = os.pipe()
        self._tells, tell = os.pipe()
        given = {"LIFE": life, "GO": go, "TELL": tell, "PEER": self._port(), "CASE": self.name}
        given |= {"FOLDER": self.folder, "PLACE": self.case.place, "RANKS": self.case.ranks}
        given |= {} if self._group is None else {"GROUP": self._group}
        path = os.pathsep.join((str(self.folder / "modules"), str(Path(__file__).parent)))
        with (self.folder / "server.log").open("wb") as log:
            subprocess.Popen(
                self._command(),
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(life, go, tell),
                env={
                    **os.environ,
                    "PYTHONPATH": path,
                    "TORCH_EXTENSIONS_DIR": str(self.folder / "torch_extensions"),
                }
                | {f"STUCK_{key}": str(value) for key, value in given.items()},
            )
        for end in (life, go, tell):
            os.close(end)
        self.wait_for("launcher", *(f"TP{number}" for number in range(self.case.ranks)))

    def get_stuck(self) -> float:
        """Tell the ranks to go on, do the harm; return when that was."""
        os.close(self._go)
        if self.case.harm is not None:
            sent, name = self.case.harm
            self.wait_for(name)
            time.sleep(SETTLE_S)
            os.kill(self.pids[name], sent)
        return time.monotonic()

    def wait_for(self, *names: str) -> None:
        """Wait until these processes have told that they are there."""
        while not set(names) <= self.pids.keys():
            data = os.read(self._tells, 4096)
            if not data:
                raise RuntimeError((self.folder / "server.log").read_text())
            self._told += data
            *lines, self._told = self._told.split(b"\n")
            self.pids |= {name: int(pid) for name, pid in (line.decode().split() for line in lines)}

    def close(self) -> None:
        """End every process below this one, however it came there, and remove the folder."""
        while True:
            for pid in descendants(os.getpid()):
                _kill(pid)
            try:
                os.waitpid(-1, 0)
            except ChildProcessError:
                break
        shutil.rmtree(self.folder, ignore_errors=True)
        if self._group is not None:
            self._group.rmdir()

    def _furnish(self) -> None:
        """Lay out the folder: a module of the engine's name, compilers by theirs, a cache with its lock."""
        module = self.folder / "modules" / "sglang"
        module.mkdir(parents=True)
        (module / "__init__.py").touch()
        (module / "launch_server.py").write_text("from stuck_ranks import main\n\nmain()\n")
        for compiler in ("nvcc", "cicc"):
            (self.folder / compiler).symlink_to(os.path.realpath(sys.executable))
        cache = self.folder / "torch_extensions" / "py311_cu128" / "fused_moe"
        cache.mkdir(parents=True)
        if self.name == "stale-lock":
            os.close(stuck_ranks.take_baton(cache))
            old_s = time.time() - STALE_S
            os.utime(cache / "lock", (old_s, old_s))

    def _command(self) -> list[str]:
        words = f"-m sglang.launch_server --model-path models/qwen3 --tp {self.case.ranks} --host 127.0.0.1"
        return [sys.executable, *words.split(), "--port", str(self._port()), *self.case.more.split()]

    def _port(self) -> int:
        """Return a port of our own that refuses: bound, and nobody listens."""
        bound = socket.socket()
        bound.bind(("127.0.0.1", 0))
        self._kept.append(bound)
        port: int = bound.getsockname()[1]
        return port


def descendants(pid: int) -> Iterator[int]:
    """Give the processes below one, parents first."""
    parents: dict[int, int] = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            parents[int(entry)] = int(Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    above = [pid]
    while above:
        parent = above.pop(0)
        found = [child for child, its in parents.items() if its == parent]
        above += found
        yield from found


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def memory_group(name: str) -> Path:
    """Make a control group of its own below ours with little memory. Raises CannotBeShown."""
    mine = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
    for number, controllers, path in mine:
        if "memory" in controllers.split(","):
            return _limited(GROUPS / "memory" / path.lstrip("/") / name, "memory.limit_in_bytes")
        if number == "0" and "memory" in _text(GROUPS / path.lstrip("/") / "cgroup.subtree_control"):
            return _limited(GROUPS / path.lstrip("/") / name, "memory.max")
    raise CannotBeShown("the memory of a control group below this process's own cannot be limited")


def _limited(group: Path, limit: str) -> Path:
    try:
        group.mkdir()
        (group / limit).write_text(str(GROUP_LIMIT_MIB * 1024 * 1024))
    except OSError as error:
        if group.exists():
            group.rmdir()
        raise CannotBeShown(f"no control group of one's own: {error.strerror}") from None
    return group


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def _by_hand(keeper: Keeper, put: Callable[[str], object]) -> None:
    """Say what is there, and wait for a person."""
    put(f"{keeper.name}: {keeper.case.words(keeper.name)}")
    put(f"watch it with: tminus --pid {keeper.pids['launcher']}")
    put("Enter lets it get stuck, Ctrl-D ends it")
    if not sys.stdin.readline():
        return
    keeper.get_stuck()
    put(f"stuck now: {' '.join(f'{name} {pid}' for name, pid in keeper.pids.items())}")
    while sys.stdin.readline():
        pass


def _by_test(keeper: Keeper, put: Callable[[str], object]) -> None:
    """Tell the program that started this, a line a step."""
    put(_line(Told(str(keeper.folder), keeper.pids)))
    if sys.stdin.readline():
        stuck_s = keeper.get_stuck()
        put(_line(Told(pids=keeper.pids, stuck_s=stuck_s)))
        sys.stdin.readline()


def _line(told: Told) -> str:
    return msgspec.json.encode(told).decode()


def main(arguments: list[str]) -> int:
    """Keep one stuck server until the input ends."""

    def put(text: str) -> None:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()

    if not arguments or arguments[0] not in CASES:
        for name, case in CASES.items():
            put(f"{name:18}{case.words(name)}")
        return 2
    keeper = Keeper(arguments[0])
    try:
        keeper.start()
        (_by_test if "--told" in arguments else _by_hand)(keeper, put)
    except CannotBeShown as reason:
        put(_line(Told(impossible=str(reason))) if "--told" in arguments else str(reason))
    except KeyboardInterrupt:
        return 130
    finally:
        keeper.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
