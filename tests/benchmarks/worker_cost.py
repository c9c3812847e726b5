"""Measure what the log worker and the probe worker cost on the host, and how soon ready is noticed.

    python tests/benchmarks/worker_cost.py [--seconds 20] [--rounds 40] [--python PATH]

Each worker runs in a process of its own over its real channel. Costs are CPU seconds a minute and memory
(PSS, the whole interpreter included). A round of "ready" starts a listening server at a random moment while
the worker knocks, and takes the time until the message with the generated token was made.
"""

import argparse
import json
import os
import random
import select
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "plugins"))

from probed_server import Engine, ProbedServer, http  # noqa: E402  # found through the line above

from tui.requests import AnyRequest, FollowRequest, ProbePlan  # noqa: E402  # as above

SERVE = (
    "import importlib, sys; from tui.agent import worker;"
    "importlib.import_module('tui.agent.' + sys.argv[1]).serve(worker.Channel(0, 1))"
)


class Worker:
    """One worker, asked and heard."""

    def __init__(self, name: str, python: str) -> None:
        self.process = subprocess.Popen(
            [python, "-ISsuc", f"import sys; sys.path.insert(0, {str(ROOT)!r}); {SERVE}", name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._rest = b""

    def send(self, request: AnyRequest) -> None:
        """Ask."""
        assert self.process.stdin is not None
        self.process.stdin.write(msgspec.json.encode(request) + b"\n")
        self.process.stdin.flush()

    def messages(self, seconds: float) -> list[dict[str, Any]]:
        """Return what comes within that time; at once when anything came."""
        assert self.process.stdout is not None
        if not select.select([self.process.stdout], [], [], seconds)[0]:
            return []
        *lines, self._rest = (self._rest + os.read(self.process.stdout.fileno(), 1 << 20)).split(b"\n")
        return [json.loads(line) for line in lines]

    def cost(self, seconds: float) -> str:
        """Run for a while; return CPU and memory in words."""
        self.drain(1.0)
        before = self._cpu_s()
        self.drain(seconds)
        cpu = (self._cpu_s() - before) / seconds
        return f"{cpu * 60:6.2f} CPU s/min ({cpu * 100:.2f} % of a core), {self._pss_mib():.1f} MiB PSS"

    def drain(self, seconds: float) -> None:
        """Pass over all messages for so long."""
        end_s = time.monotonic() + seconds
        while (left_s := end_s - time.monotonic()) > 0:
            self.messages(left_s)

    def close(self) -> None:
        """End it."""
        self.process.communicate()

    def _cpu_s(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _pss_mib(self) -> float:
        text = Path(f"/proc/{self.process.pid}/smaps_rollup").read_text()
        return next(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:")) / 1024


def tail_costs(python: str, seconds: float, folder: Path) -> list[str]:
    """Measure the log worker over a silent log and over one of 2,000 lines/s."""
    log = folder / "server.log"
    log.write_bytes(b"line\n")
    worker = Worker("tail", python)
    worker.send(FollowRequest(pid=None, log_path=str(log)))
    rows = [f"log, silent            {worker.cost(seconds)}"]
    script = (
        "import sys, time\nwith open(sys.argv[1], 'ab', 0) as file:\n while True:\n"
        "  file.write((b'0123456789' * 9 + b'\\n') * 20)\n  time.sleep(0.01)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script, str(log)]) as writer:
        rows.append(f"log, 2,000 lines/s     {worker.cost(seconds)}")
        writer.kill()
    worker.close()
    return rows


def probe_costs(python: str, seconds: float) -> list[str]:
    """Measure the probe worker at a closed port, before a loading and before a ready server."""
    engine = Engine(health=(http(b"", "503 Service Unavailable"),))
    server = ProbedServer(engine)
    worker = Worker("probe", python)
    worker.send(FollowRequest(pid=1, probe=ProbePlan(url=f"http://127.0.0.1:{server.port}")))
    rows = [f"port refused, 4 Hz     {worker.cost(seconds)}"]
    server.start()
    rows.append(f"health 503, 4 Hz       {worker.cost(seconds)}")
    engine.health = (http(),)
    rows.append(f"ready, each 5 s        {worker.cost(seconds)}")
    worker.close()
    server.close()
    return rows


def ready_lags(python: str, rounds: int) -> str:
    """Measure how long after a server began to listen its token was there."""
    worker, lags = Worker("probe", python), list[float]()
    for number in range(rounds):
        server = ProbedServer(Engine())
        worker.send(FollowRequest(pid=number + 1, probe=ProbePlan(url=f"http://127.0.0.1:{server.port}")))
        worker.drain(0.3 + random.random() * 0.25)
        began_s = time.monotonic()
        server.start()
        lags.append((_token_s(worker) - began_s) * 1000)
        server.close()
    worker.close()
    p95 = statistics.quantiles(lags, n=20, method="inclusive")[18]
    return f"ready noticed after    p50 {statistics.median(lags):.0f} ms, p95 {p95:.0f} ms ({rounds} rounds)"


def _token_s(worker: Worker) -> float:
    while True:
        for message in worker.messages(10):
            if (message.get("rung"), message.get("outcome")) == ("token", "ok"):
                return float(message["mono_s"])


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--python", default=sys.executable)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = tail_costs(options.python, options.seconds, Path(folder))
    rows += probe_costs(options.python, options.seconds)
    rows.append(ready_lags(options.python, options.rounds))
    sys.stdout.write("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
