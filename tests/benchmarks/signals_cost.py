"""Measures what the agent costs beside a server of many processes, and the signals' part in it.

    python tests/benchmarks/signals_cost.py [--seconds 20] [--ranks 8] [--threads 60] [--workers 66]
        [--mappings 3000] [--idle] [--bare]

Starts that many real processes (a main one, ranks with a busy core's share of work, as many mappings as a
process with a GPU has and a mapped weight file, and compile workers that idle), then the signals worker over
its real channel, and prints its share of a core, what a tick costs, and its memory. Then the whole agent with
eight GPUs of the stand-in driver (where gcc can build it), with signals and locks and without, one after the
other on the same machine: a ratio says more than a figure where others use the machine too.

With --idle the ranks stand still after their start, so that all their threads are read; --bare leaves the
whole agent out.
"""

import argparse
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from tui.agent import wire  # noqa: E402  # found through the line above

AGENT = """
import sys
sys.path.insert(0, {root!r})
from tui.agent import crew, wire
if not {signals!r}:
    left = tuple(name for name in crew._ROUTES[wire.FOLLOW] if name not in (crew.SIGNALS, crew.LOCKS))
    crew._ROUTES[wire.FOLLOW] = left
from tui.agent.main import main
main()
"""

SERVE = (
    "import importlib, sys; from tui.agent import worker;"
    "importlib.import_module('tui.agent.signals.worker').serve(worker.Channel(0, 1))"
)
# Two neighbouring mappings of one page that differ in their rights are not joined by the kernel.
RANK = """
import mmap, sys, threading, time
folder, mappings, threads, idle = sys.argv[1], *map(int, sys.argv[2:])
held = [mmap.mmap(-1, 4096, prot=mmap.PROT_READ | (mmap.PROT_WRITE if n % 2 else 0)) for n in range(mappings)]
for _ in range(threads):
    threading.Thread(target=time.sleep, args=(1e6,), daemon=True).start()
file = open(folder + "/model-00001-of-00002.safetensors", "rb")
mapped = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
size = len(mapped)
print("ready", flush=True)
while idle:
    time.sleep(1e6)
while True:
    for place in range(0, size, 4096):
        mapped[place]
        if place % (1 << 22) == 0:
            time.sleep(0.02)
    mapped.close()
    mapped = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
"""
MAIN = """
import subprocess, sys, time
ranks, workers, rank, *given = int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:]
python = [sys.executable, "-c"]
all = [subprocess.Popen([*python, rank, *given], stdout=subprocess.PIPE) for _ in range(ranks)]
for one in all:
    one.stdout.readline()
idle = "import time; print(flush=True); time.sleep(1e6)"
for _ in range(workers):
    all.append(subprocess.Popen([*python, idle, "compile_worker"], stdout=subprocess.PIPE))
for one in all[ranks:]:
    one.stdout.readline()
print("ready", flush=True)
sys.stdin.read()
for one in all:
    one.kill()
"""


def cpu_s(pid: int) -> float:
    """Return the time on a core of a process, in seconds."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def read_for(seconds: float, output: int) -> list[dict[str, Any]]:
    """Return the messages that come within that time."""
    data, end_s = b"", time.monotonic() + seconds
    while (left_s := end_s - time.monotonic()) > 0:
        if select.select([output], [], [], left_s)[0]:
            data += os.read(output, 1 << 20)
    return [json.loads(line) for line in data.splitlines()[1:-1]]


def measure(pid: int, seconds: float) -> dict[str, Any]:
    """Follow a process for so long; return the figures."""
    worker = subprocess.Popen(
        [sys.executable, "-ISsuc", f"import sys; sys.path.insert(0, {str(ROOT)!r}); {SERVE}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write(json.dumps({"kind": wire.FOLLOW, "pid": pid}).encode() + b"\n")
    worker.stdin.flush()
    read_for(6.0, worker.stdout.fileno())
    before_s = cpu_s(worker.pid)
    told = [each for each in read_for(seconds, worker.stdout.fileno()) if each["kind"] == wire.SIGNALS]
    used_s = cpu_s(worker.pid) - before_s
    sizes = Path(f"/proc/{worker.pid}/smaps_rollup").read_text().splitlines()
    worker.communicate()
    costs = sorted(float(each["cost_ms"]) for each in told)
    return {
        "cpu_pct": round(100 * used_s / seconds, 3),
        "tick_ms_p50": costs[len(costs) // 2],
        "tick_ms_max": costs[-1],
        "processes": len(told[-1]["processes"]),
        "message_bytes": len(json.dumps(told[-1])),
        "pss_mib": next(int(line.split()[1]) for line in sizes if line.startswith("Pss:")) // 1024,
    }


def whole_s(pid: int) -> float:
    """Return the time on a core of an agent and its workers, in seconds."""
    found = [pid]
    for task in os.listdir(f"/proc/{pid}/task"):
        found += map(int, Path(f"/proc/{pid}/task/{task}/children").read_text().split())
    return sum(cpu_s(each) for each in found)


def measure_agent(pid: int, seconds: float, stub: Path | None, *, signals: bool) -> float:
    """Let the whole agent follow a process for so long; return its share of a core in percent."""
    environment = {**os.environ, **({} if stub is None else {"LD_LIBRARY_PATH": str(stub)})}
    code = AGENT.format(root=str(ROOT), signals=signals)
    agent = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    )
    assert agent.stdin is not None
    assert agent.stdout is not None
    requests: list[dict[str, object]] = [
        {"kind": wire.WATCH, "matchers": [], "discover": True},
        {"kind": wire.FOLLOW, "pid": pid},
    ]
    agent.stdin.write(b"".join(json.dumps(each).encode() + b"\n" for each in requests))
    used_s = [0.0, 0.0]
    for part, length_s in enumerate((6.0, seconds)):
        used_s[part] = whole_s(agent.pid)
        end_s = time.monotonic() + length_s
        while (left_s := end_s - time.monotonic()) > 0:
            agent.stdin.write(json.dumps({"kind": wire.PING, "sent_s": 0.0}).encode() + b"\n")
            agent.stdin.flush()
            read_for(min(left_s, 5.0), agent.stdout.fileno())
    share = 100 * (whole_s(agent.pid) - used_s[1]) / seconds
    agent.stdin.close()
    agent.wait(10)
    return share


def built_stub(folder: Path) -> Path | None:
    """Build the stand-in driver; None where there is no gcc."""
    if shutil.which("gcc") is None:
        return None
    source = ROOT / "tests" / "stubs" / "nvml_stub.c"
    flags = ["-O1", "-shared", "-fPIC", "-Wl,-soname,libnvidia-ml.so.1"]
    subprocess.run(["gcc", *flags, "-o", folder / "libnvidia-ml.so.1", source], check=True)
    return folder


def compared(pid: int, seconds: float, folder: Path) -> dict[str, Any]:
    """Return what the whole agent costs with signals and without."""
    stub = built_stub(folder)
    without = measure_agent(pid, seconds, stub, signals=False)
    whole = measure_agent(pid, seconds, stub, signals=True)
    return {
        "agent_cpu_pct": round(whole, 3),
        "agent_without_signals_cpu_pct": round(without, 3),
        "ratio": round(whole / without, 2),
        "gpus": 0 if stub is None else 8,
    }


def main() -> None:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--workers", type=int, default=66)
    parser.add_argument("--mappings", type=int, default=3000)
    parser.add_argument("--threads", type=int, default=60)
    parser.add_argument("--idle", action="store_true")
    parser.add_argument("--bare", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "model-00001-of-00002.safetensors").write_bytes(bytes(64 << 20))
        given = [folder, str(options.mappings), str(options.threads), str(int(options.idle))]
        arguments = [str(options.ranks), str(options.workers), RANK, *given]
        server = subprocess.Popen(
            [sys.executable, "-c", MAIN, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert server.stdout is not None
        server.stdout.readline()
        figures = measure(server.pid, options.seconds)
        if not options.bare:
            figures.update(compared(server.pid, options.seconds, Path(folder)))
        server.communicate()
    others = sum(name.isdigit() for name in os.listdir("/proc"))
    sys.stdout.write(
        json.dumps({**figures, "processes_on_host": others, "load_average": os.getloadavg()[0]}, indent=1)
        + "\n"
    )


if __name__ == "__main__":
    main()
