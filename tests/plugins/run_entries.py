"""Runs of the ledger, made up: every field that a test does not name has a plausible value."""

from tui.benchmark import BenchResult, BenchSpec, Percentiles
from tui.runs.entry import Fingerprint, Instance, RunEntry, Setting

WALL_S = 1_764_400_000.0


def spec(**changes: object) -> BenchSpec:
    """Return a workload of 16 streams."""
    fields: dict[str, object] = {
        "url": "http://127.0.0.1:8000",
        "model": "qwen",
        "concurrency": 16,
        "requests": 64,
        "input_tokens": 1024,
        "output_tokens": 256,
        "profile": "serve",
    }
    return BenchSpec(**(fields | changes))  # pyright: ignore[reportArgumentType]


def around(mean: float, samples: int = 400) -> Percentiles:
    """Return percentiles of a plausible shape around a mean, in milliseconds."""
    p99 = mean * 1.6 if samples >= 100 else None
    return Percentiles(mean=mean, p50=mean * 0.95, p90=mean * 1.3, p99=p99, samples=samples)


def result(run: str = "aaaa0001", *, speed: float = 1000.0, **changes: object) -> BenchResult:
    """Return a whole run of so many output tokens a second; its latencies follow from that speed."""
    asked = spec()
    fields: dict[str, object] = {
        "mono_s": 100.0,
        "wall_s": WALL_S,
        "run": run,
        "outcome": "done",
        "sentence": "",
        "spec": asked,
        "model": "qwen",
        "completed": 64,
        "failed": 0,
        "failures": {},
        "ttft_ms": around(100_000.0 / speed, 64),
        "itl_ms": around(16_000.0 / speed),
        "tpot_ms": around(16_000.0 / speed, 64),
        "e2e_ms": around(4_096_000.0 / speed, 64),
        "output_tokens": 64 * 256,
        "input_tokens": 64 * 1024,
        "tokens_counted_by": "usage",
        "duration_s": 64 * 256 / speed,
        "output_tokens_per_s": speed,
        "requests_per_s": speed / 256,
        "achieved_concurrency": 15.6,
        "client_cpu_fraction": 0.1,
        "measured_on": "server_host",
        "lag_ms": around(200.0 / speed, 500),
        "steady_s": 60 * 256 / speed,
        "steady_tokens_per_s": speed * 1.02,
    }
    return BenchResult(**(fields | changes))  # pyright: ignore[reportArgumentType]


def fingerprint(digest: str = "conf-a", **settings: str) -> Fingerprint:
    """Return what a server ran under, with environment variables by their names."""
    own = [Setting(name="engine", value="sglang", source="arguments")]
    own += [
        Setting(name=f"environment {name}", value=value, source="main process")
        for name, value in settings.items()
    ]
    return Fingerprint(digest=digest, settings=tuple(own), environment_known="whole")


def instance(number: int = 1, host: str = "gpu-box") -> Instance:
    """Return the start of a server of that number; each starts ten minutes after the one before."""
    return Instance(host=host, pid=1000 + number, started_wall_s=WALL_S + 600.0 * number)


def run_entry(**changes: object) -> RunEntry:
    """Return one run of the ledger."""
    fields: dict[str, object] = {
        "result": result(),
        "workload": "16 streams, 1024 in, 256 out, 64 requests",
        "fingerprint": fingerprint(),
        "instance": instance(),
        "made_wall_s": WALL_S + 660.0,
        "host": "gpu-box",
    }
    return RunEntry(**(fields | changes))  # pyright: ignore[reportArgumentType]


def runs_of(
    digest: str, speeds: list[float], first: int = 1, step: int = 1, **changes: object
) -> list[RunEntry]:
    """Return a run of each speed, each on an instance of its own: numbers first, first + step, …"""
    entries: list[RunEntry] = []
    for place, speed in enumerate(speeds):
        number = first + step * place
        entries.append(
            run_entry(
                result=result(f"{digest[-1]}{number:07x}", speed=speed, **changes),
                fingerprint=fingerprint(digest),
                instance=instance(number),
                made_wall_s=WALL_S + 600.0 * number + 60.0,
            )
        )
    return entries
