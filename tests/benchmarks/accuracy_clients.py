"""The clients that are measured: how each is started, and what it claims."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import msgspec

from tui import events
from tui.agent import wire
from tui.benchmark import BenchResult, BenchSpec
from tui.requests import BenchRequest

CLIENTS = Path(__file__).parent / "clients"
ROOT = CLIENTS.parents[2]
PUT_ASIDE = "import sys; sys.modules['uvloop'] = sys.modules['orjson'] = None; "
SERVE = "from tui.agent.load.worker import serve; from tui.agent.worker import Channel; serve(Channel(0, 1))"


@dataclass(frozen=True, slots=True)
class Job:
    """What a client is to do: so many requests in a closed loop. ``folder`` is for its files."""

    url: str
    streams: int
    requests: int
    tokens: int
    words: int
    folder: Path


@dataclass(frozen=True, slots=True)
class Claim:
    """What a client says; None where it says nothing. ``cpu`` is in cores, known of ours alone."""

    requests: int
    ttft_p50_ms: float
    ttft_p99_ms: float | None
    tpot_mean_ms: float
    tokens_per_s: float
    concurrency: float | None = None
    cpu: float | None = None


class Client(Protocol):
    """A client: ``start`` it, then wait for its ``claim``."""

    @property
    def name(self) -> str:
        """Its name, with its version or what it runs on."""
        ...

    def start(self, job: Job) -> subprocess.Popen[bytes]:
        """Start it."""
        ...

    def claim(self, job: Job, process: subprocess.Popen[bytes]) -> Claim:
        """Wait for its end and return what it says."""
        ...


@dataclass(frozen=True, slots=True)
class Ours:
    """The worker as the agent runs it; without ``quick`` it does not see uvloop and orjson."""

    python: str
    quick: bool

    @property
    def name(self) -> str:
        """What it runs on."""
        return "tminus, uvloop + orjson" if self.quick else "tminus, asyncio + json"

    def start(self, job: Job) -> subprocess.Popen[bytes]:
        """Start the worker and ask it for the benchmark."""
        spec = BenchSpec(
            url=job.url,
            model=None,
            concurrency=job.streams,
            requests=job.requests,
            input_tokens=job.words,
            output_tokens=job.tokens,
        )
        command = [self.python, "-c", SERVE if self.quick else PUT_ASIDE + SERVE]
        process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process.stdin is not None
        process.stdin.write(msgspec.json.encode(BenchRequest(run="accuracy", spec=spec)) + b"\n")
        process.stdin.flush()
        return process

    def claim(self, job: Job, process: subprocess.Popen[bytes]) -> Claim:
        """Wait for the result."""
        assert process.stdin is not None
        assert process.stdout is not None
        for line in process.stdout:
            message: dict[str, Any] = json.loads(line)
            if message["kind"] == wire.BENCH_RESULT:
                result = events.convert(message)
                assert isinstance(result, BenchResult)
                process.stdin.close()
                process.wait()
                return self._claim(job, result)
        raise SystemExit(f"{self.name}: the worker ended without a result")

    def _claim(self, job: Job, result: BenchResult) -> Claim:
        ttft, tpot, rate = result.ttft_ms, result.tpot_ms, result.output_tokens_per_s
        whole = (result.outcome, result.completed, result.failed) == ("done", job.requests, 0)
        if not whole or ttft.p50 is None or tpot.mean is None or rate is None:
            raise SystemExit(f"{self.name}: {result.sentence}")
        if result.event_loop != ("uvloop" if self.quick else "asyncio"):
            raise SystemExit(f"{self.name}: it ran on {result.event_loop}")
        return Claim(
            requests=result.completed,
            ttft_p50_ms=ttft.p50,
            ttft_p99_ms=ttft.p99,
            tpot_mean_ms=tpot.mean,
            tokens_per_s=rate,
            concurrency=result.achieved_concurrency,
            cpu=result.client_cpu_fraction,
        )


@dataclass(frozen=True, slots=True)
class Plain:
    """One of the plain clients beside this file: that on bare uvloop is the floor."""

    library: str

    @property
    def name(self) -> str:
        """The library and its version."""
        return f"{self.library} {version(sys.executable, self.library)}"

    def start(self, job: Job) -> subprocess.Popen[bytes]:
        """Start it."""
        numbers = (job.streams, job.requests, job.tokens, job.words)
        command = [sys.executable, CLIENTS / f"{self.library}_client.py", job.url, *map(str, numbers)]
        return subprocess.Popen(command, stdout=subprocess.PIPE)

    def claim(self, job: Job, process: subprocess.Popen[bytes]) -> Claim:
        """Read the line it prints."""
        out, _ = process.communicate()
        if process.returncode:
            raise SystemExit(f"{self.library} failed with {job.streams} streams")
        return Claim(**json.loads(out))


def version(python: str, package: str) -> str | None:
    """Return the version of a package of an interpreter, None when it is not there."""
    code = f"import importlib.metadata as m; print(m.version({package!r}))"
    found = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    return found.stdout.strip() if found.returncode == 0 else None
