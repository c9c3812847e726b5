"""The server that keeps a schedule, and what it really did in a stretch of requests."""

import json
import subprocess
import urllib.request
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Mock:
    """A running mock."""

    url: str
    pid: int


@dataclass(frozen=True, slots=True)
class Served:
    """One request as the mock saw it, in monotonic seconds."""

    arrived_s: float
    first_s: float
    last_s: float
    tokens: int
    late_s: float

    def seconds_between(self, begin_s: float, end_s: float) -> float:
        """Return how long it was on its way within a window."""
        return max(0.0, min(self.last_s, end_s) - max(self.arrived_s, begin_s))

    def tokens_between(self, begin_s: float, end_s: float) -> int:
        """Return how many of its tokens were written in a window, taken as evenly spaced."""
        gap_s = (self.last_s - self.first_s) / max(1, self.tokens - 1)
        return sum(begin_s < self.first_s + each * gap_s <= end_s for each in range(self.tokens))


@dataclass(frozen=True, slots=True)
class Truth:
    """What the mock did in a stretch of requests; rates and concurrency count all requests of that time."""

    begin_s: float
    end_s: float
    ttft_p50_ms: float
    ttft_p99_ms: float
    tpot_mean_ms: float
    tokens_per_s: float
    concurrency: float
    late_max_ms: float


def build(folder: Path) -> Path:
    """Compile the mock."""
    program = folder / "mock_schedule"
    subprocess.run(["gcc", "-O2", "-o", program, HERE / "mock_schedule.c"], check=True)
    return program


@contextmanager
def mock(program: Path, first_ms: float, interval_ms: float, *, in_steps: bool) -> Generator[Mock]:
    """Run the mock; ``in_steps``, all streams get their tokens at the same moments."""
    command = [program, "0", str(first_ms), str(interval_ms), *(["steps"] if in_steps else [])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port = process.stdout.readline().split()[1]
        try:
            yield Mock(f"http://127.0.0.1:{port}", process.pid)
        finally:
            process.kill()


def served_by(mock: Mock) -> list[Served]:
    """Return all requests in the order of their arrival."""
    with urllib.request.urlopen(f"{mock.url}/requests") as answer:
        rows: list[tuple[float, float, float, int, float]] = json.load(answer)
    return [Served(*row) for row in rows]


def truth(served: Sequence[Served], measured: int) -> Truth:
    """Return the truth of the last ``measured`` requests: a client measures those it starts last."""
    if len(served) < measured:
        raise SystemExit(f"the client claims {measured} requests and the mock saw {len(served)}")
    those = served[-measured:]
    begin_s, end_s = those[0].arrived_s, max(one.last_s for one in those)
    seconds = end_s - begin_s
    ttft_ms = [(one.first_s - one.arrived_s) * 1e3 for one in those]
    tpot_ms = [(one.last_s - one.first_s) / (one.tokens - 1) * 1e3 for one in those]
    return Truth(
        begin_s=begin_s,
        end_s=end_s,
        ttft_p50_ms=quantile(ttft_ms, 0.5),
        ttft_p99_ms=quantile(ttft_ms, 0.99),
        tpot_mean_ms=sum(tpot_ms) / measured,
        tokens_per_s=sum(one.tokens_between(begin_s - 1e-9, end_s) for one in served) / seconds,
        concurrency=sum(one.seconds_between(begin_s, end_s) for one in served) / seconds,
        late_max_ms=max(one.late_s for one in those) * 1e3,
    )


def quantile(values: Sequence[float], fraction: float) -> float:
    """Interpolate linearly between order statistics."""
    ordered = sorted(values)
    rank = (len(ordered) - 1) * fraction
    low = int(rank)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (rank - low)
