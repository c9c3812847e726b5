"""Small recordings for tests: a load of SGLang as events, on a clock that begins at 1000 s."""

from collections.abc import Iterator
from typing import TypedDict

from tui.events import (
    AnyEvent,
    Exit,
    Gpus,
    GpuSample,
    Hello,
    Link,
    Log,
    LogSource,
    Probe,
    Process,
    Processes,
    Tick,
)
from tui.replay.tape import Tape
from tui.watch.options import WatchOptions

BEGAN_S = 1000.0
HOST_AHEAD_S = 5.0
WALL_AHEAD_S = 1_700_000_000.0
LOG = "/var/log/server.log"


class At(TypedDict):
    """The three clocks of an event."""

    mono_s: float
    wall_s: float
    client_s: float


class Clocks:
    """Makes events of one moment: ``at(t)`` gives the three clocks."""

    def at(self, t: float) -> At:
        """Return the clocks of ``t`` seconds after the beginning."""
        client_s = BEGAN_S + t
        return At(mono_s=client_s + HOST_AHEAD_S, wall_s=client_s + WALL_AHEAD_S, client_s=client_s)


def load(seconds: int = 60, *, ready_at: int | None = 50, dies_at: int | None = None) -> list[AnyEvent]:
    """Return a load: weights from 10 s, capture from 30 s, the port from 45 s, ready or dead as asked."""
    clocks = Clocks()
    events = begun(clocks)
    offset = 0
    for second in range(1, seconds + 1):
        at = clocks.at(float(second))
        events += [Tick(**at), gpus(clocks, float(second), second)]
        lines = [f"[2026-11-29 10:00:{second % 60:02d}] line {second}", *_marks(second)]
        offset += sum(len(line) + 1 for line in lines)
        events.append(Log(**at, lines=lines, tail="", returns=[], path=LOG, device=1, inode=2, offset=offset))
        events += _probes(clocks, second, ready_at)
        if second == dies_at:
            events.append(Exit(**at, pid=10, main=True, title="python3", how="gone", code=1))
    return events


def tape(events: list[AnyEvent], options: WatchOptions | None = None) -> Tape:
    """Return a tape of these events."""

    def read() -> Iterator[AnyEvent]:
        return iter(events)

    return Tape("made.jsonl.gz", options or WatchOptions(), read)


def begun(clocks: Clocks) -> list[AnyEvent]:
    """Return what a watch hears first: the host, and a server that has just started."""
    at = clocks.at(0.0)
    return [
        Hello(
            **at,
            protocol=1,
            host="gpu-box",
            user="someone",
            uid=1000,
            pid=1,
            boot_id="boot",
            python="3.12.3",
            kernel="6.8.0",
            cpu_count=64,
            memory_total_mib=1024,
        ),
        Link(**at, state="up", sentence="connected"),
        Processes(**at, processes=[server(at["mono_s"])]),
        LogSource(**at, path=LOG, state="open", sentence="reading"),
    ]


def server(started_s: float) -> Process:
    """Return the main process of the server."""
    return Process(
        pid=10,
        ppid=1,
        started_s=started_s,
        uid=1000,
        user="someone",
        state="S",
        title="python3",
        argv=[*["python3", "-m", "sglang.launch_server", "--model-path", "models/some", "--port", "30000"]],
        matched="sglang",
        cwd="/srv",
        stdout=LOG,
        stderr=LOG,
        container=None,
        environment={},
    )


def gpus(clocks: Clocks, t: float, figure: float) -> Gpus:
    """Return one reading of two GPUs."""
    samples = [
        GpuSample(
            index=index,
            state="ok",
            memory_used_mib=1000.0 * figure,
            memory_reserved_mib=615.0,
            memory_total_mib=143771.0,
            utilisation_pct=min(100.0, figure),
            memory_utilisation_pct=0.0,
            power_w=120.0,
        )
        for index in range(2)
    ]
    return Gpus(**clocks.at(t), gpus=samples, cost_ms=1.0)


def _marks(second: int) -> list[str]:
    said = {
        10: "TP0] Load weight begin. avail mem=138.31 GB",
        30: "TP0] Capture cuda graph begin. This can take up to several minutes. avail mem=10.00 GB",
    }
    return [f"[2026-11-29 10:00:{second % 60:02d} {said[second]}"] if second in said else []


def _probes(clocks: Clocks, second: int, ready_at: int | None) -> list[AnyEvent]:
    at = clocks.at(float(second))
    url = "http://127.0.0.1:30000"
    if second < 45:
        return [
            Probe(**at, rung="port", outcome="refused", latency_ms=0.2, detail="connection refused", url=url)
        ]
    if ready_at is None or second < ready_at:
        detail = "503 Service Unavailable"
        return [
            Probe(**at, rung="health", outcome="status", latency_ms=1, detail=detail, url=url, status=503)
        ]
    if second > ready_at:
        return []
    ok = "200 OK"
    listed = ["models/some"]
    return [
        Probe(**at, rung="health", outcome="ok", latency_ms=1000.0, detail=ok, url=url, status=200),
        Probe(
            **at, rung="models", outcome="ok", latency_ms=2.0, detail=ok, url=url, status=200, models=listed
        ),
        Probe(
            **at, rung="token", outcome="ok", latency_ms=50.0, detail=ok, url=url, status=200, model=listed[0]
        ),
    ]
