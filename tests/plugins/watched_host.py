"""A host told of by events alone, for tests of what events mean: each method is one thing that happens."""

from collections.abc import Callable
from typing import Literal, TypedDict

import pytest

from tui.benchmark import BenchProgress, BenchResult, BenchSpec, Percentiles
from tui.events import (
    AnyEvent,
    Exit,
    Gap,
    GpuDetail,
    GpuDetails,
    GpuDriver,
    GpuFact,
    GpuFacts,
    Gpus,
    GpuSample,
    Hello,
    Link,
    Log,
    LogSource,
    Notice,
    Outcome,
    Probe,
    Process,
    Processes,
)
from tui.watch.options import WatchOptions
from tui.watch.state import WatchState

BOOTED_S = 1000.0
"""How far the host's monotonic clock is ahead of the client's."""
SGLANG = "python3 -m sglang.launch_server --model-path /models/qwen --served-model-name qwen --tp 2"


class Clocks(TypedDict):
    """The three times that every event carries."""

    mono_s: float
    wall_s: float
    client_s: float


def process(
    pid: int,
    argv: str,
    *,
    matched: str | None,
    ppid: int = 1,
    started_s: float = 0.0,
    title: str | None = None,
    state: str = "S",
    cwd: str | None = "/srv",
    stdout: str | None = "/srv/server.log",
    stderr: str | None = "/srv/server.log",
    container: str | None = None,
    environment: dict[str, str] | None = None,
    api_key_in_argv: bool = False,
    inner_pid: int | None = None,
) -> Process:
    """Return a process with the given command line."""
    return Process(
        pid=pid,
        ppid=ppid,
        started_s=started_s,
        uid=1000,
        user="ann",
        state=state,
        title=argv if title is None else title,
        argv=argv.split(" "),
        matched=matched,
        cwd=cwd,
        stdout=stdout,
        stderr=stderr,
        container=container,
        environment=environment,
        api_key_in_argv=api_key_in_argv,
        inner_pid=inner_pid,
    )


class WatchedHost:
    """The events of one host and the state they make. ``now`` is the client's clock in seconds."""

    def __init__(self, options: WatchOptions) -> None:
        self.state = WatchState(options)
        self.events: list[AnyEvent] = []
        self.now = 0.0

    @property
    def mono(self) -> float:
        """The host's monotonic clock."""
        return BOOTED_S + self.now

    @property
    def when(self) -> Clocks:
        """The three clocks of an event made now."""
        return {"mono_s": self.mono, "wall_s": 1.8e9 + self.now, "client_s": self.now}

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds

    def happen(self, event: AnyEvent) -> None:
        """Take an event in."""
        self.events.append(event)
        self.state.apply(event)

    def hello(self, host: str = "gpu01", boot_id: str = "b1", protocol: int = 1) -> None:
        """The agent reports; protocol 0 is a URL watched without one."""
        self.link("up")
        self.happen(
            Hello(
                **self.when,
                protocol=protocol,
                host=host,
                user="ann",
                uid=1000,
                pid=99,
                boot_id=boot_id,
                python="3.10.12",
                kernel="6.8",
                cpu_count=64,
                memory_total_mib=1_000_000,
            )
        )

    def link(
        self,
        state: Literal["connecting", "up", "lost", "failed", "closed"],
        sentence: str = "",
        fault: str | None = None,
    ) -> None:
        """The link changes; its clock on the host is unknown to the client."""
        self.happen(
            Link(
                mono_s=0.0,
                wall_s=1.8e9 + self.now,
                client_s=self.now,
                state=state,
                sentence=sentence,
                fault=fault,
            )
        )

    def driver(
        self,
        state: Literal["ok", "absent", "failed", "silent"],
        sentence: str = "",
        *,
        silent_s: float | None = None,
    ) -> None:
        """The driver changes its state."""
        version = "580.159.04" if state == "ok" else None
        self.happen(
            GpuDriver(**self.when, state=state, sentence=sentence, version=version, silent_s=silent_s)
        )

    def facts(self, count: int = 2) -> None:
        """Static facts of some H200s, and their temperature."""
        facts = [
            GpuFact(
                index=index,
                uuid=f"GPU-{index}",
                name="NVIDIA H200",
                bus_id=None,
                memory_total_mib=143_771.0,
                power_limit_w=700.0,
                pcie_generation_max=5,
                pcie_width_max=16,
            )
            for index in range(count)
        ]
        details = [
            GpuDetail(
                index=index,
                temperature_c=41.2,
                sm_clock_mhz=1980.0,
                memory_clock_mhz=3201.0,
                event_reasons=0,
                ecc_uncorrected=0,
                pcie_generation=5,
                pcie_width=16,
            )
            for index in range(count)
        ]
        self.happen(GpuFacts(**self.when, gpus=facts))
        self.happen(GpuDetails(**self.when, gpus=details, cost_ms=1.0))

    def gpus(
        self,
        *used_mib: float | None,
        utilisation: float | None = 0.0,
        power: float | None = 129.4,
        state: Literal["ok", "lost", "error"] = "ok",
    ) -> None:
        """One reading of every GPU."""
        samples = [
            GpuSample(
                index=index,
                state=state,
                memory_used_mib=used,
                memory_reserved_mib=615.0,
                memory_total_mib=143_771.0,
                utilisation_pct=utilisation,
                memory_utilisation_pct=0.0,
                power_w=power,
            )
            for index, used in enumerate(used_mib)
        ]
        self.happen(Gpus(**self.when, gpus=samples, cost_ms=0.1))

    def processes(self, *found: Process, hidden: int = 0) -> None:
        """The set of processes changes."""
        self.happen(Processes(**self.when, processes=list(found), hidden=hidden))

    def starts(self, pid: int = 100, argv: str = SGLANG, matched: str = "sglang", **more: object) -> Process:
        """A server starts now and is the only one."""
        found = process(pid, argv, matched=matched, started_s=self.mono, **more)  # pyright: ignore[reportArgumentType] -- passed on as given
        self.processes(found)
        return found

    def exits(self, pid: int = 100, *, main: bool = True, code: int | None = None) -> None:
        """A process is gone."""
        self.happen(Exit(**self.when, pid=pid, main=main, title="", how="gone", code=code))

    def log(
        self,
        *lines: str,
        tail: str = "",
        returns: tuple[int, ...] = (),
        behind_bytes: int = 0,
    ) -> None:
        """The log grows."""
        self.happen(
            Log(
                **self.when,
                lines=list(lines),
                tail=tail,
                returns=list(returns),
                path="/srv/server.log",
                device=1,
                inode=2,
                offset=0,
                behind_bytes=behind_bytes,
            )
        )

    def log_source(
        self,
        state: Literal["open", "missing", "unreadable", "not_a_file", "none"],
        sentence: str = "",
    ) -> None:
        """The log is found, or is not."""
        self.happen(LogSource(**self.when, path="/srv/server.log", state=state, sentence=sentence))

    def gap(self, sentence: str) -> None:
        """Log bytes are lost."""
        self.happen(
            Gap(**self.when, path="/srv/server.log", lost_bytes=None, why="truncated", sentence=sentence)
        )

    def notice(self, sentence: str, level: Literal["info", "warning", "error"] = "info") -> None:
        """Something is to be said."""
        self.happen(Notice(**self.when, level=level, about="test", sentence=sentence))

    def probe(
        self,
        rung: Literal["port", "health", "models", "token"],
        outcome: Outcome = "ok",
        detail: str = "",
        *,
        status: int | None = None,
        models: list[str] | None = None,
        model: str | None = None,
        latency_ms: float = 1.0,
        server: str | None = None,
    ) -> None:
        """The server's port answers a question."""
        self.happen(
            Probe(
                **self.when,
                rung=rung,
                outcome=outcome,
                latency_ms=latency_ms,
                detail=detail or outcome,
                url="http://127.0.0.1:30000",
                status=status,
                models=models,
                model=model,
                server=server,
            )
        )

    def refuses(self) -> None:
        """The port refuses."""
        self.probe("port", "refused", "connection refused")

    def becomes_ready(self, *models: str) -> None:
        """The port opens and every rung is answered well, up to a token."""
        listed = list(models) or ["qwen"]
        self.probe("port")
        self.probe("health", status=200, detail="200 OK")
        self.probe("models", status=200, models=listed, detail=f"lists {', '.join(listed)}")
        self.probe("token", status=200, model=listed[0], detail="1 token")

    def loads_to_capture(self) -> None:
        """A server starts and is heard to capture CUDA graphs, 58 s of its 125 before that."""
        self.starts()
        self.log("server_args=ServerArgs(model_path='qwen')")
        self.refuses()
        self.wait(38)
        self.log("[2026-11-29 13:48:34 TP0] Load weight begin. avail mem=9 GB")
        self.wait(20)
        self.log("[2026-11-29 13:48:34 TP0] Capture cuda graph begin. This can take up to several minutes.")
        self.wait(67)

    def bench_progress(self, done: int, requests: int = 64) -> None:
        """A benchmark gets on."""
        self.happen(
            BenchProgress(
                **self.when,
                run="r1",
                stage="measure",
                completed=done,
                failed=0,
                in_flight=4,
                requests=requests,
                output_tokens=done * 128,
                elapsed_s=3.0,
                output_tokens_per_s=841.3,
            )
        )

    def bench_result(self, outcome: Literal["done", "failed", "cancelled"] = "done", failed: int = 0) -> None:
        """A benchmark ends."""
        values = Percentiles(mean=58.04, p50=57.0, p90=61.2, p99=None, samples=64)
        self.happen(
            BenchResult(
                **self.when,
                run="r1",
                outcome=outcome,
                sentence="" if outcome == "done" else "the server closed the connection",
                spec=BenchSpec(
                    url="http://127.0.0.1:30000",
                    model="qwen",
                    concurrency=16,
                    requests=64,
                    input_tokens=256,
                    output_tokens=128,
                ),
                model="qwen",
                completed=64 - failed,
                failed=failed,
                failures={"timeout": failed} if failed else {},
                ttft_ms=values,
                itl_ms=values,
                tpot_ms=values,
                e2e_ms=values,
                output_tokens=8192,
                input_tokens=16384,
                tokens_counted_by="usage",
                duration_s=9.74,
                output_tokens_per_s=841.3,
                requests_per_s=6.57,
                achieved_concurrency=15.8,
                client_cpu_fraction=0.1,
                measured_on="server_host",
            )
        )


Watch = Callable[..., WatchedHost]


@pytest.fixture
def watched() -> Watch:
    """Return a maker of a watched host: its arguments are those of WatchOptions."""

    def watch(**options: object) -> WatchedHost:
        return WatchedHost(WatchOptions(**options))  # pyright: ignore[reportArgumentType] -- passed on as given

    return watch
