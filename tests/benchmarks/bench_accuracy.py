"""Measure the load generator against a server whose schedule is known: claims, truth and their difference.

    python tests/benchmarks/bench_accuracy.py [--streams 1,16,64,256] [--first-ms 20] [--interval-ms 5]

Builds mock_schedule.c with gcc, runs the benchmark worker in a process of its own as the agent does, and
prints a line for each number of streams. "true" is what the mock measured of the same requests: the moment it
wrote the first token minus the moment it read the request. ``--python`` names another interpreter for the
generator. All share this machine's cores, so the work of others ("others", in cores) shows up as error.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from tui import events
from tui.agent import wire
from tui.benchmark import BenchResult, BenchSpec
from tui.requests import BenchRequest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SERVE = "from tui.agent import load, worker; load.serve(worker.Channel(0, 1))"
HEADINGS = (
    "streams",
    "TTFT p50",
    "true",
    "error ms",
    "TTFT p99",
    "true ",
    "TPOT",
    "true  ",
    "error %",
    "ITL p50",
    "tok/s",
    "server",
    "in flight",
    "server ",
    "CPU %",
    "us/token",
    "others",
    "mock late ms mean/max",
)


def build(folder: Path) -> Path:
    """Compile the mock."""
    program = folder / "mock_schedule"
    subprocess.run(["gcc", "-O2", "-o", program, HERE / "mock_schedule.c"], check=True)
    return program


@contextmanager
def mock(program: Path, first_ms: float, interval_ms: float) -> Generator[str]:
    """Run the mock and give its URL."""
    command = [program, "0", str(first_ms), str(interval_ms)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port = process.stdout.readline().split()[1]
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()


def measure(python: str, spec: BenchSpec) -> BenchResult:
    """Run one benchmark in a worker process and return its result."""
    with subprocess.Popen(
        [python, "-c", SERVE], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(msgspec.json.encode(BenchRequest(run="accuracy", spec=spec)) + b"\n")
        process.stdin.flush()
        for line in process.stdout:
            message: dict[str, Any] = json.loads(line)
            if message["kind"] == wire.BENCH_RESULT:
                result = events.convert(message)
                assert isinstance(result, BenchResult)
                process.stdin.close()
                return result
    raise SystemExit("the worker ended without a result")


def truth(url: str, requests: int) -> dict[str, float]:
    """Ask the mock what it did in the last so many requests."""
    with urllib.request.urlopen(f"{url}/stats?last={requests}") as answer:
        found: dict[str, float] = json.load(answer)
        return found


class Others:
    """How many cores other processes used since this was made (the mock must have ended)."""

    def __init__(self) -> None:
        self._began_s, self._busy_s, self._own_s = time.monotonic(), _busy_s(), _own_s()

    def cores(self) -> float:
        """Return the mean number of cores."""
        used_s = _busy_s() - self._busy_s - (_own_s() - self._own_s)
        return max(0.0, used_s / (time.monotonic() - self._began_s))


def _busy_s() -> float:
    user, nice, system, _, _, irq, soft, *_ = map(int, Path("/proc/stat").read_text().split()[1:9])
    return (user + nice + system + irq + soft) / os.sysconf("SC_CLK_TCK")


def _own_s() -> float:
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def line(streams: int, result: BenchResult, true: dict[str, float], others: float) -> tuple[str, ...]:
    """Return one row of the table."""
    ttft, tpot = result.ttft_ms, result.tpot_ms
    if ttft.p50 is None or tpot.mean is None or result.output_tokens_per_s is None:
        raise SystemExit(f"{streams} streams: {result.sentence}")
    return (
        str(streams),
        f"{ttft.p50:.2f}",
        f"{true['ttft_ms_p50']:.2f}",
        f"{ttft.p50 - true['ttft_ms_p50']:+.2f}",
        "-" if ttft.p99 is None else f"{ttft.p99:.2f}",
        f"{true['ttft_ms_p99']:.2f}",
        f"{tpot.mean:.3f}",
        f"{true['tpot_ms_mean']:.3f}",
        f"{(tpot.mean / true['tpot_ms_mean'] - 1) * 100:+.2f}",
        f"{result.itl_ms.p50:.3f}",
        f"{result.output_tokens_per_s:.0f}",
        f"{true['output_tokens_per_s']:.0f}",
        f"{result.achieved_concurrency:.2f}",
        f"{true['in_flight_mean']:.2f}",
        f"{(result.client_cpu_fraction or 0) * 100:.0f}",
        f"{(result.client_cpu_fraction or 0) * 1e6 / result.output_tokens_per_s:.1f}",
        f"{others:.2f}",
        f"{true['late_ms_mean']:.2f}/{true['late_ms_max']:.2f}",
    )


def say(cells: tuple[str, ...]) -> None:
    """Print one row."""
    pairs = zip(cells, HEADINGS, strict=True)
    sys.stdout.write("  ".join(cell.rjust(max(7, len(heading))) for cell, heading in pairs) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--streams", default="1,16,64,256")
    parser.add_argument("--first-ms", type=float, default=20.0)
    parser.add_argument("--interval-ms", type=float, default=5.0)
    parser.add_argument("--tokens", type=int, default=256)
    parser.add_argument("--requests-per-stream", type=int, default=4)
    parser.add_argument("--input-tokens", type=int, default=1024)
    parser.add_argument("--python", default=sys.executable)
    options = parser.parse_args()
    sys.stdout.write(f"load average before: {os.getloadavg()[0]:.2f}, cores: {os.cpu_count()}\n")
    say(HEADINGS)
    with tempfile.TemporaryDirectory() as folder:
        program = build(Path(folder))
        for streams in (int(one) for one in options.streams.split(",")):
            other = Others()
            with mock(program, options.first_ms, options.interval_ms) as url:
                spec = BenchSpec(
                    url=url,
                    model=None,
                    concurrency=streams,
                    requests=streams * options.requests_per_stream,
                    input_tokens=options.input_tokens,
                    output_tokens=options.tokens,
                )
                result = measure(options.python, spec)
                true = truth(url, spec.requests)
            say(line(streams, result, true, other.cores()))


if __name__ == "__main__":
    main()
