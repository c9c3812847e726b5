"""Measure the load generator, and other clients beside it, against a server whose schedule is known.

    python tests/benchmarks/bench_accuracy.py [--streams 1,16,64,256] [--repeats 3] [--in-steps] [--json FILE]
        [--aiperf PYTHON] [--guidellm PYTHON] [--vllm PYTHON]

Builds mock_schedule.c with gcc and prints, for each number of streams, a line a client: what it claims, each
beside what the mock did in the same requests ("true": the moment it wrote the first token minus the moment it
read the request). Ours runs as the agent runs it, with uvloop and orjson where ``--python`` has them, and
without. The plain clients need the dependency group "clients"; published ones are given by the interpreter
of the environment that they are installed in.

All share this machine's cores with each other and with whatever else runs, so the work of others ("others",
in cores, while measuring) shows up as error; of ``--repeats`` runs the one with the least of it is shown.
"CPU %" is of one core, all processes of the client, while it measured. "goals": what ours must keep,
in accuracy_table.py.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))

from accuracy_clients import Client, Job, Ours, Plain, version  # noqa: E402
from accuracy_cpu import Sampler  # noqa: E402
from accuracy_mock import build, mock, served_by, truth  # noqa: E402
from accuracy_published import VLLM, AIPerf, GuideLLM  # noqa: E402
from accuracy_table import Row, headings, line  # noqa: E402

P99_SAMPLES = 100
FEWEST, LEAST_EACH = 12, 4


def clients(options: argparse.Namespace) -> Iterator[Client]:
    """Yield the clients that the command line and the environment allow."""
    if version(options.python, "uvloop") and version(options.python, "orjson"):
        yield Ours(options.python, quick=True)
    else:
        say("(no uvloop and orjson beside --python: the generator is measured without)")
    yield Ours(options.python, quick=False)
    for library in ("uvloop", "aiohttp", "httpx"):
        if version(sys.executable, library):
            yield Plain(library)
        else:
            say(f"({library} is not installed: uv sync --group clients)")
    published = ((options.aiperf, AIPerf), (options.guidellm, GuideLLM), (options.vllm, VLLM))
    yield from (kind(python) for python, kind in published if python is not None)


def requests_of(streams: int) -> int:
    """Return how many requests: enough for a p99, but not for minutes with few streams."""
    each = max(LEAST_EACH, min(FEWEST, -(-P99_SAMPLES // streams)))
    return streams * each


def run_once(client: Client, program: Path, streams: int, options: argparse.Namespace) -> Row:
    """Run a client once against a mock of its own."""
    with (
        tempfile.TemporaryDirectory() as folder,
        mock(program, options.first_ms, options.interval_ms, in_steps=options.in_steps) as server,
    ):
        job = Job(server.url, streams, requests_of(streams), options.tokens, options.words, Path(folder))
        began_s = time.monotonic()
        process = client.start(job)
        sampler = Sampler(process.pid, server.pid)
        sampler.start()
        try:
            claim = client.claim(job, process)
        finally:
            wall_s = time.monotonic() - began_s
            sampler.stop()
        true = truth(served_by(server), claim.requests)
    shares = sampler.shares(true.begin_s, true.end_s)
    quick = client.quick if isinstance(client, Ours) else None
    return Row(client.name, streams, claim, true, shares, wall_s, quick)


def quietest(client: Client, program: Path, streams: int, options: argparse.Namespace) -> Row:
    """Run a client some times and return the run in which others took the least."""
    rows = [run_once(client, program, streams, options) for _ in range(options.repeats)]
    return min(rows, key=lambda row: row.shares.others)


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def parser() -> argparse.ArgumentParser:
    """Return what reads the command line."""
    made = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    made.add_argument("--streams", default="1,16,64,256")
    made.add_argument("--first-ms", type=float, default=20.0)
    made.add_argument("--interval-ms", type=float, default=5.0)
    made.add_argument("--tokens", type=int, default=128)
    made.add_argument("--words", type=int, default=256)
    made.add_argument("--repeats", type=int, default=1)
    made.add_argument("--in-steps", action="store_true", help="all tokens of a step at once, as engines do")
    made.add_argument("--only", default="", help="only clients whose names contain this")
    made.add_argument("--python", default=sys.executable, help="the interpreter of the generator")
    made.add_argument("--json", type=Path, help="write all rows to this file")
    for name in ("aiperf", "guidellm", "vllm"):
        made.add_argument(f"--{name}", metavar="PYTHON", help="the interpreter beside which it is installed")
    return made


def main() -> None:
    """Measure what the command line asks for."""
    options = parser().parse_args()
    say(f"load average before: {os.getloadavg()[0]:.2f}, cores: {os.cpu_count()}")
    measured = [client for client in clients(options) if options.only in client.name]
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        program = build(Path(folder))
        for streams in map(int, options.streams.split(",")):
            say(f"\n{streams} streams, {requests_of(streams)} requests\n{headings()}")
            for client in measured:
                rows.append(quietest(client, program, streams, options))
                say(line(rows[-1].cells()))
    if options.json is not None:
        options.json.write_text(json.dumps([row.fields() for row in rows], indent=1) + "\n")


if __name__ == "__main__":
    main()
