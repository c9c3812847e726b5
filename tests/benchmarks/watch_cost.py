"""Measures what a local watch costs, with 8 stand-in GPUs at 1 Hz, beside nvitop on the same library.

    python tests/benchmarks/watch_cost.py [--seconds 60] [--nvitop PATH] [--size 120x40]

Prints one JSON object: CPU seconds a minute, PSS and RSS in MiB of the client, the agent and its children,
bytes written to the terminal a tick and in an idle minute, and the time from exec to the first GPU row. The
tools run on a real pseudo-terminal that is drained all the time. CPU time is summed over every process of the
tree, so that nothing hides in a child. Figures of one run are comparable with each other, not with another
machine's.
"""

import argparse
import dataclasses
import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
STUB = HERE.parent / "stubs" / "nvml_stub.c"
SETTLE_S = 5.0
ROW = re.compile(rb"/140\.4|143771|140\.40")


@dataclasses.dataclass(frozen=True, slots=True)
class Cost:
    """What one process, or a sum of several, cost over the measured time."""

    cpu_s: float
    pss_mib: float
    rss_mib: float

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(self.cpu_s + other.cpu_s, self.pss_mib + other.pss_mib, self.rss_mib + other.rss_mib)


NOTHING = Cost(0.0, 0.0, 0.0)


class Terminal:
    """A program on a pseudo-terminal whose output is counted and thrown away."""

    def __init__(self, argv: list[str], environment: dict[str, str], columns: int, rows: int) -> None:
        self.began_s = time.monotonic()
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            os.execvpe(argv[0], argv, environment)
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.written = 0
        self.first_row_s: float | None = None

    def drain(self, seconds: float) -> int:
        """Read for so long; return the bytes written meanwhile."""
        before, end_s = self.written, time.monotonic() + seconds
        while (left_s := end_s - time.monotonic()) > 0:
            if not select.select([self._fd], [], [], left_s)[0]:
                break
            try:
                data = os.read(self._fd, 65536)
            except OSError:  # the program has closed its terminal
                break
            self.written += len(data)
            if self.first_row_s is None and ROW.search(data):
                self.first_row_s = time.monotonic() - self.began_s
        return self.written - before

    def stop(self, key: bytes = b"q") -> None:
        """Quit with its own key, then make sure."""
        os.write(self._fd, key)
        end_s = time.monotonic() + 5
        while os.waitpid(self.pid, os.WNOHANG)[0] == 0:
            if time.monotonic() > end_s:
                os.kill(self.pid, signal.SIGKILL)
            self.drain(0.05)
        os.close(self._fd)


def family(root: int) -> dict[int, str]:
    """Return the process and all its descendants with their command lines."""
    parents: dict[int, int] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                text = Path(f"/proc/{entry}/stat").read_text()
            except OSError:
                continue
            parents[int(entry)] = int(text.rpartition(")")[2].split()[1])
    found = {root}
    while grown := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= grown
    return {pid: Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode() for pid in found}


def cpu_s(pid: int) -> float:
    """Return the time on a core of a process's living threads, in seconds."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


def memory_mib(pid: int) -> tuple[float, float]:
    """Return proportional and resident set size in MiB."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    sizes = {name: int(rest.split()[0]) for name, rest in (line.split(":") for line in lines)}
    return sizes["Pss"] / 1024, sizes["Rss"] / 1024


def measure(terminal: Terminal, seconds: float) -> tuple[dict[str, Cost], int]:
    """Return what each part of the tree cost over so many seconds, and the bytes written."""
    terminal.drain(SETTLE_S)
    before = {pid: cpu_s(pid) for pid in family(terminal.pid)}
    written = terminal.drain(seconds)
    parts: dict[str, Cost] = {}
    for pid, command in family(terminal.pid).items():
        name = "client" if pid == terminal.pid else "agent" if "-ISsu" in command else "other"
        cost = Cost(cpu_s(pid) - before.get(pid, 0.0), *memory_mib(pid))
        parts[name] = parts.get(name, NOTHING) + cost
    return parts, written


def described(
    parts: dict[str, Cost], written: int, seconds: float, first_row_s: float | None
) -> dict[str, object]:
    """Return the figures of one tool."""
    whole = sum(parts.values(), NOTHING)
    rounded = {
        name: {
            "cpu_pct": round(100 * cost.cpu_s / seconds, 3),
            "pss_mib": round(cost.pss_mib, 1),
            "rss_mib": round(cost.rss_mib, 1),
        }
        for name, cost in sorted(parts.items())
    }
    return {
        "cpu_s_per_minute": round(whole.cpu_s * 60 / seconds, 3),
        "pss_mib": round(whole.pss_mib, 1),
        "bytes_per_s": round(written / seconds),
        "first_row_s": None if first_row_s is None else round(first_row_s, 3),
        "parts": rounded,
    }


def built(folder: Path) -> Path:
    """Compile the stand-in library."""
    library = folder / "libnvidia-ml.so.1"
    subprocess.run(
        ["gcc", "-O1", "-shared", "-fPIC", "-Wl,-soname,libnvidia-ml.so.1", "-o", str(library), str(STUB)],
        check=True,
    )
    return folder


def run(
    argv: list[str], environment: dict[str, str], size: tuple[int, int], seconds: float
) -> dict[str, object]:
    """Run one tool and return its figures."""
    terminal = Terminal(argv, environment, *size)
    try:
        parts, written = measure(terminal, seconds)
    finally:
        terminal.stop()
    return described(parts, written, seconds, terminal.first_row_s)


def main() -> None:
    """Measure tminus, tminus without anything to watch, and nvitop where there is one; print JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--nvitop", default=shutil.which("nvitop"))
    parser.add_argument("--size", default="120x40")
    arguments = parser.parse_args()
    columns, rows = (int(part) for part in arguments.size.split("x"))
    with tempfile.TemporaryDirectory() as folder:
        library = built(Path(folder))
        plain = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", "TMINUS_NO_RECORD": "1"}
        busy = {**plain, "LD_LIBRARY_PATH": str(library), "NVML_STUB_GPUS": "8", "NVML_STUB_LOAD_S": "120"}
        tminus = [str(Path(sys.executable).with_name("tminus")), "watch", "local"]
        figures = {"tminus": run(tminus, busy, (columns, rows), arguments.seconds)}
        figures["tminus_idle"] = run(tminus, plain, (columns, rows), arguments.seconds)
        if arguments.nvitop:
            nvitop = [arguments.nvitop, "--interval", "1"]
            figures["nvitop"] = run(nvitop, busy, (columns, rows), arguments.seconds)
    sys.stdout.write(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
