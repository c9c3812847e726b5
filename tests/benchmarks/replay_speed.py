"""Measures the replay of an hour of 8 GPUs at 1 Hz with 200,000 lines of log.

    python tests/benchmarks/replay_speed.py [--minutes 60] [--lines 200000] [--keep FILE] [--skip-player]

Makes the recording, plays it with ``replay FILE --json`` in a process of its own (three times, the best
counts) and prints its time and the most memory that it held; the goals are 10 s and 250 MB. Then the player
of the screen looks through the same recording, jumps to its end and back: the longest piece of work between
two turns of the event loop is how long the screen would stand still. Half of the hour is SGLang, half vLLM,
each from its launch.
"""

import argparse
import asyncio
import itertools
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypedDict

from tui.events import (
    AnyEvent,
    Exit,
    GpuDetail,
    GpuDetails,
    GpuFact,
    GpuFacts,
    Gpus,
    GpuSample,
    Hello,
    Link,
    Log,
    LogSource,
    Outcome,
    Pong,
    Probe,
    Process,
    Processes,
    Rung,
    Tick,
)
from tui.journal.writer import open_journal
from tui.replay.opening import open_tape
from tui.replay.player import Player

GOAL_S, GOAL_MB, GOAL_PIECE_MS = 10.0, 250.0, 50.0
GPUS = 8
LOG_EVENTS_PER_S = 4
LOAD_S = 240
CLIENT_S, MONO_S, WALL_S = 5_000.0, 900_000.0, 1_800_000_000.0
CHANCE = random.Random(7)

SGLANG = (
    "/venv/bin/python3", "-m", "sglang.launch_server", "--model-path", "/models/qwen",
    "--served-model-name", "qwen", "--tp", "8",
)  # fmt: skip
VLLM = ("/venv/bin/python3", "/venv/bin/vllm", "serve", "/models/qwen", "--served-model-name", "qwen")
SGLANG_LOADING = (
    "server_args=ServerArgs(model_path='/models/qwen', tp_size=8)",
    "Init torch distributed begin.",
    "Init torch distributed ends. mem usage=0.5 GB",
    "Load weight begin. avail mem=139.00 GB",
    "Load weight end. elapsed=17.62 s, type=Qwen3ForCausalLM, avail mem=80.36 GB, mem usage=58.77 GB.",
    "KV Cache is allocated. #tokens: 278880, K size: 34.00 GB, V size: 34.00 GB",
    "Memory pool end. avail mem=9.12 GB",
    "Capture cuda graph begin. This can take up to several minutes. avail mem=9.00 GB",
    "Capture cuda graph end. Time elapsed: 29.60 s. mem usage=1.87 GB. avail mem=7.13 GB.",
    "The server is fired up and ready to roll!",
)
VLLM_LOADING = (
    "[api_utils.py:273] non-default args: {'model_tag': '/models/qwen', 'host': '127.0.0.1'}",
    "[core.py:114] Initializing a V1 LLM engine (v0.24.0) with config: model='/models/qwen'",
    "[model_runner.py:281] Loading model from scratch...",
    "[default_loader.py:430] Loading weights took 33.07 seconds",
    "[model_runner.py:302] Model loading took 58.76 GiB and 34.846494 seconds",
    "[backends.py:1148] Dynamo bytecode transform time: 14.83 s",
    "[monitor.py:53] torch.compile took 42.26 s in total",
    "[gpu_worker.py:508] Available KV cache memory: 68.09 GiB",
    "[kv_cache_utils.py:2146] GPU KV cache size: 278,880 tokens",
    "[model_runner.py:726] Graph capturing finished in 8 secs, took 1.87 GiB",
    "[api_server.py:581] Starting vLLM server on http://127.0.0.1:8000",
    "Application startup complete.",
)


class Engine:
    """What the two halves of the recording differ in."""

    def __init__(self, name: str, argv: tuple[str, ...], port: int, loading: tuple[str, ...]) -> None:
        self.name, self.argv, self.port, self.loading = name, argv, port, loading

    def head(self, at_s: int) -> str:
        """Return what stands before a message."""
        clock = f"{at_s // 3600 % 24:02}:{at_s // 60 % 60:02}:{at_s % 60:02}"
        if self.name == "sglang":
            return f"[2026-11-29 {clock} TP{CHANCE.randrange(GPUS)}] "
        return f"(EngineCore pid=3096) INFO 11-29 {clock} "

    def line(self, at_s: int, *, loading: bool) -> tuple[str, bool]:
        """Return one line of the log, and whether it ends in a carriage return."""
        kind, number = CHANCE.random(), CHANCE.randrange(1, 3000)
        if loading and kind < 0.5:
            done = number % 52
            text = f"Loading safetensors checkpoint shards: {done * 100 // 52:3}% Completed | {done}/52"
            return f"{text} [00:{done:02}<00:41,  1.27it/s]", True
        if kind < 0.35 and not loading:
            path = CHANCE.choice(("/v1/completions", "/v1/chat/completions", "/metrics"))
            prefix = self.head(at_s) if self.name == "sglang" else "(APIServer pid=2966) "
            return (
                f'{prefix}INFO:     10.0.0.{number % 250}:{30000 + number} - "POST {path} HTTP/1.1" 200 OK',
                False,
            )
        if kind < 0.65 and not loading:
            return self.head(at_s) + self._figures(number), False
        if kind < 0.9:
            level = "DEBUG" if self.name == "vllm" else "DEBUG:"
            return (
                f"{self.head(at_s)}{level} [scheduler.py:{number}] step {number}: 16 scheduled, 0 preempted",
                False,
            )
        return f"{self.head(at_s)}request cmpl-{number:08x} finished after {number} tokens", False

    def _figures(self, number: int) -> str:
        if self.name == "sglang":
            return (
                f"Decode batch, #running-req: 16, #token: {number}, token usage: 0.01, cuda graph: True, "
                f"gen throughput (token/s): {number / 3:.2f}, #queue-req: 0"
            )
        return (
            f"[loggers.py:271] Engine 000: Avg prompt throughput: {number / 10:.1f} tokens/s, Avg generation "
            f"throughput: {number / 3:.1f} tokens/s, Running: 16 reqs, Waiting: 0 reqs, "
            f"GPU KV cache usage: 0.9%"
        )


ENGINES = (
    Engine("sglang", SGLANG, 30000, SGLANG_LOADING),
    Engine("vllm", VLLM, 8000, VLLM_LOADING),
)


class At(TypedDict):
    """The three clocks of an event."""

    mono_s: float
    wall_s: float
    client_s: float


def when(at_s: float) -> At:
    """Return the three clocks of an event."""
    return {"mono_s": MONO_S + at_s, "wall_s": WALL_S + at_s, "client_s": CLIENT_S + at_s}


def hour(seconds: int, lines: int) -> Iterator[AnyEvent]:
    """Iterate over the events of the recording."""
    yield Link(**when(0), state="up", sentence="up")
    yield Hello(
        **when(0), protocol=1, host="gpu01", user="ann", uid=1000, pid=99, boot_id="b", python="3.12",
        kernel="6.8", cpu_count=128, memory_total_mib=2_000_000,
    )  # fmt: skip
    yield GpuFacts(**when(0), gpus=[_fact(index) for index in range(GPUS)])
    half_s = seconds // len(ENGINES)
    for number, engine in enumerate(ENGINES):
        yield from load(engine, number * half_s, half_s, lines // len(ENGINES))


def load(engine: Engine, from_s: int, seconds: int, lines: int) -> Iterator[AnyEvent]:
    """Iterate over one server, from its launch to its end."""
    pid = 100 + from_s
    offset, written = 0, 0
    shown = iter(engine.loading)
    every_s = max(1, min(LOAD_S, seconds // 2) // len(engine.loading))
    for second in range(seconds):
        at_s = float(from_s + second)
        ready = second > every_s * len(engine.loading)
        if second % 30 == 0:
            yield Processes(**when(at_s), processes=_processes(engine, pid, from_s, "SR"[second // 30 % 2]))
        if second == 0:
            yield LogSource(**when(at_s), path="/srv/server.log", state="open", sentence="reading")
        yield from sampled(at_s, second, ready=ready)
        yield from probed(engine, at_s, second, ready=ready)
        due = lines * (second + 1) // seconds
        for part in range(LOG_EVENTS_PER_S):
            until = written + (due - written) // (LOG_EVENTS_PER_S - part)
            texts = [engine.line(int(at_s), loading=not ready) for _ in range(until - written)]
            if part == 0 and second % every_s == 0:
                text = next(shown, None)
                texts[-1:] = [] if text is None else [(engine.head(int(at_s)) + text, False)]
            written = until
            offset += sum(len(text) + 1 for text, _ in texts)
            yield Log(
                **when(at_s + part / LOG_EVENTS_PER_S), lines=[text for text, _ in texts], tail="",
                returns=[place for place, (_, back) in enumerate(texts) if back],
                path="/srv/server.log", device=1, inode=from_s, offset=offset,
            )  # fmt: skip
        yield Tick(**when(at_s + 0.99))
    end_s = float(from_s + seconds)
    yield Exit(**when(end_s), pid=pid, main=True, title="", how="gone", code=0)
    yield Processes(**when(end_s), processes=[])


def sampled(at_s: float, second: int, *, ready: bool) -> Iterator[AnyEvent]:
    """Iterate over what the GPUs tell in a second."""
    used = 130_000.0 if second > 60 else 2_000.0 * second
    samples = [
        GpuSample(
            index=index, state="ok", memory_used_mib=used + index, memory_reserved_mib=615.0,
            memory_total_mib=143_771.0, utilisation_pct=float(CHANCE.randrange(101)),
            memory_utilisation_pct=float(CHANCE.randrange(101)), power_w=round(CHANCE.uniform(100, 700), 3),
        )
        for index in range(GPUS)
    ]  # fmt: skip
    yield Gpus(**when(at_s), gpus=samples, cost_ms=0.812)
    if second % 5 == 0:
        details = [
            GpuDetail(
                index=index, temperature_c=41.0, sm_clock_mhz=1980.0, memory_clock_mhz=3201.0,
                event_reasons=0, ecc_uncorrected=0, pcie_generation=5, pcie_width=16,
                pcie_received_mib=min(63_000.0, 600.0 * second) if not ready else 63_000.0,
            )
            for index in range(GPUS)
        ]  # fmt: skip
        yield GpuDetails(**when(at_s), gpus=details, cost_ms=2.1)
    if second % 2 == 0:
        yield Pong(**when(at_s), sent_s=CLIENT_S + at_s - 0.01)


def probed(engine: Engine, at_s: float, second: int, *, ready: bool) -> Iterator[AnyEvent]:
    """Iterate over the answers of the port."""
    url = f"http://127.0.0.1:{engine.port}"

    def answer(rung: Rung, outcome: Outcome, detail: str, models: list[str] | None = None) -> Probe:
        named = "qwen" if rung == "token" else None
        return Probe(
            **when(at_s), rung=rung, outcome=outcome, latency_ms=1.2, detail=detail, url=url,
            status=200 if outcome == "ok" and rung != "port" else None, models=models, model=named,
        )  # fmt: skip

    if not ready:
        yield answer("port", "refused", "connection refused")
    elif second % 5 == 0:
        yield answer("port", "ok", "open")
        yield answer("health", "ok", "200 OK")
        yield answer("models", "ok", "lists qwen", ["qwen"])
        yield answer("token", "ok", "1 token")


def _fact(index: int) -> GpuFact:
    return GpuFact(
        index=index, uuid=f"GPU-{index}", name="NVIDIA H200", bus_id=None, memory_total_mib=143_771.0,
        power_limit_w=700.0, pcie_generation_max=5, pcie_width_max=16,
    )  # fmt: skip


def _processes(engine: Engine, pid: int, from_s: int, state: str) -> list[Process]:
    def process(number: int, title: str, matched: str | None) -> Process:
        return Process(
            pid=pid + number, ppid=pid if number else 1, started_s=MONO_S + from_s, uid=1000, user="ann",
            state=state, title=title, argv=list(engine.argv), matched=matched, cwd="/srv",
            stdout="/srv/server.log", stderr="/srv/server.log", container=None,
            environment={"CUDA_VISIBLE_DEVICES": "0,1,2,3,4,5,6,7", "NCCL_DEBUG": "WARN"},
        )  # fmt: skip

    ranks = [process(number, f"sglang::scheduler_TP{number - 1}", None) for number in range(1, GPUS + 1)]
    return [process(0, " ".join(engine.argv), engine.name), *ranks]


def headless(path: Path) -> dict[str, object]:
    """Play it in a process of its own; return seconds, megabytes and what it came to."""
    begin_s = time.monotonic()
    argv = [sys.executable, "-m", "tui", "replay", str(path), "--json"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as playing:
        assert playing.stdout is not None
        told = playing.stdout.read()
        _, status, used = os.wait4(playing.pid, 0)
        playing.returncode = os.waitstatus_to_exitcode(status)
    if playing.returncode != 0:
        raise SystemExit(f"replay ended with {playing.returncode}")
    report = json.loads(told)
    return {
        "seconds": round(time.monotonic() - begin_s, 2),
        "cpu_s": round(used.ru_utime + used.ru_stime, 2),
        "peak_mb": round(used.ru_maxrss * 1024 / 1e6, 1),
        "transitions": len(report["transitions"]),
        "outcome": report["end"]["outcome"],
    }


async def played(path: Path) -> dict[str, object]:
    """Let the screen's player look through it, then jump to the end and back; return the longest pieces."""
    player = Player(open_tape(path))
    player.pause()
    playing = asyncio.create_task(player.run())
    found: dict[str, object] = {}
    found |= await _watched("look_through", lambda: player.moments.complete)
    player.seek(player.moments.length_s)
    found |= await _watched("jump_to_end", lambda: not player.seeking)
    player.seek(player.moments.length_s * 0.9)
    found |= await _watched("jump_back", lambda: not player.seeking)
    playing.cancel()
    await asyncio.gather(playing, return_exceptions=True)
    return found


async def _watched(name: str, over: Callable[[], bool]) -> dict[str, object]:
    longest_s, begin_s = 0.0, time.monotonic()
    for turn in itertools.count():
        before_s = time.process_time()  # what the player takes, not what others on this machine do
        await asyncio.sleep(0)
        longest_s = max(longest_s, time.process_time() - before_s)
        if turn and over():
            break
    return {f"{name}_s": round(time.monotonic() - begin_s, 2), f"{name}_piece_ms": round(longest_s * 1000, 1)}


def main() -> None:
    """Print the figures as one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--minutes", type=int, default=60)
    parser.add_argument("--lines", type=int, default=200_000)
    parser.add_argument(
        "--keep", type=Path, help="keep the recording under this name, or play one that is there"
    )
    parser.add_argument("--skip-player", action="store_true")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        path: Path | None = wanted.keep
        if path is None or not path.exists():
            journal = open_journal(Path(name), "gpu01", "benchmark")
            for event in hour(wanted.minutes * 60, wanted.lines):
                journal.append(event)
            journal.close()
            path = journal.path if path is None else journal.path.rename(path)
        found: dict[str, object] = {"file_mb": round(path.stat().st_size / 1e6, 1)}
        found |= min((headless(path) for _ in range(3)), key=lambda each: float(str(each["seconds"])))
        if not wanted.skip_player:
            found |= asyncio.run(played(path))
            found["player_peak_mb"] = round(
                resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6, 1
            )
    found["goals"] = {"seconds": GOAL_S, "peak_mb": GOAL_MB, "piece_ms": GOAL_PIECE_MS}
    sys.stdout.write(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
