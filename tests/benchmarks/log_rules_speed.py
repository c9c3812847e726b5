"""Measure how fast logs are read: lines per second through split, clean and one engine's rules.

    python tests/benchmarks/log_rules_speed.py [ENGINE:FILE ...]

CPU time of this process on one core, in chunks as the agent sends them; the best of five rounds, each with a
splitter and a reader that know nothing yet. A file is read again and again until there are 3 MB. Without
files mixes of made lines are read. The shares are those of LineSplitter, LineReader and LogPhases; the rate
is that of the first two.
"""

import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tui.agent import wire
from tui.engines.base import Engine
from tui.engines.reader import LineReader
from tui.engines.registry import engine_named
from tui.transport.clean import LineSplitter
from tui.watch.phases import LogPhases

BYTES = 3_000_000
ROUNDS = 5
_SGLANG = "[2026-11-29 13:48:34{rank}] "
_VLLM = "(EngineCore pid={pid}) INFO 11-29 17:20:17 [core.py:{n}] "
_ERROR = "\x1b[0;36m(EngineCore pid={pid})\x1b[0;0m ERROR 11-29 17:20:17 [core.py:{n}] "
MIXES: dict[str, tuple[str, tuple[str, ...]]] = {
    "decode lines": ("sglang", (
        _SGLANG + "Decode batch. #running-req: {few}, #token: {n}, token usage: 0.{few}, cuda graph: True, "
        "gen throughput (token/s): {n}.2, #queue-req: 0",
    )),
    "access lines": ("sglang", (
        '[2026-11-29 13:48:34] INFO:     127.0.0.1:{n} - "GET /health HTTP/1.1" 200 OK',
        '[2026-11-29 13:48:34] INFO:     127.0.0.1:{n} - "POST /v1/chat/completions HTTP/1.1" 200 OK',
    )),
    "SGLang, start": ("sglang", (
        _SGLANG + "Init torch distributed begin.",
        _SGLANG + "Load weight begin. avail mem={few}.43 GB",
        _SGLANG + "Using default HuggingFace chat template with detected content format: string",
        "Multi-thread loading shards:  {few}% Completed | {few}/99 [00:06<00:00,  1.13it/s]",
        _SGLANG + "Load weight end. elapsed={few}.1 s, type=Qwen3, avail mem=7.6 GB, mem usage={few}.8 GB.",
        _SGLANG + "KV Cache is allocated. #tokens: {n}, K size: {few}.5 GB, V size: {few}.5 GB",
        "Capturing batches (bs={few} avail_mem=7.67 GB):  25%|██▌       | 1/4 [00:03<00:10,  3.62s/it]",
        "/usr/lib/python3.12/site-packages/x.py:{n}: UserWarning: torch_dtype is deprecated",
        "",
    )),
    "vLLM, start": ("vllm", (
        _VLLM + "Initializing a V1 LLM engine (v0.32.0) with config: model='m', seed={n}",
        _VLLM + "world_size={few} rank=0 local_rank=0 backend=nccl port={n}",
        _VLLM + "Loading weights took {few}.12 seconds",
        _VLLM + "Available KV cache memory: {few}.1 GiB",
        "Loading safetensors checkpoint shards:  50% Completed | 1/2 [07:06<07:06, {n}.74s/it]",
        "Capturing CUDA graphs (decode, FULL): 100%|██████████| 5/5 [00:01<00:00,  3.87it/s]",
        "(APIServer pid={pid}) INFO:     Started server process [{n}]",
    )),
    "vLLM, serving": ("vllm", (
        _VLLM + "Engine 000: Avg prompt throughput: {n}.0 tokens/s, "
        "Avg generation throughput: {few}.5 tokens/s, Running: {few} reqs, Waiting: 0 reqs, "
        "GPU KV cache usage: 0.4%, Prefix cache hit rate: 0.0%",
        '(APIServer pid={pid}) INFO:     127.0.0.1:{n} - "POST /v1/completions HTTP/1.1" 200 OK',
    )),
    "coloured traceback": ("vllm", (
        _ERROR + '  File "/usr/lib/python3.12/site-packages/vllm/engine/core.py", line {n}, in run',
        _ERROR + "    engine_core = EngineCoreProc(*args, engine_index=dp_rank, **kwargs)",
        _ERROR + "ValueError: {n} blocks are not enough",
    )),
    "llama.cpp, start": ("llamacpp", (
        "0.09.791.1{few} I llama_model_loader: - kv  {few}:     general.name str              = Model {n}",
        "0.09.791.1{few} I print_info: n_embd                = {n}",
        "0.20.197.1{few} I slot   operator(): id  1 | task {n} | restored checkpoint (pos_min = {n})",
        "0.21.162.1{few} I srv main: server is listening on http://0.0.0.0:{n}",
    )),
}  # fmt: skip


class Spent(NamedTuple):
    """CPU seconds of one round."""

    split_s: float
    read_s: float
    phases_s: float
    lines: int

    @property
    def both_s(self) -> float:
        """Seconds of splitting and reading."""
        return self.split_s + self.read_s


def made(templates: tuple[str, ...]) -> bytes:
    """Return lines of these forms in turn, with figures that differ."""
    draw = random.Random(1)
    lines: list[str] = []
    size = 0
    while size < BYTES:
        for template in templates:
            few, count = draw.randrange(10, 99), draw.randrange(1000, 60000)
            line = template.format(few=few, n=count, pid=900 + few % 4, rank=f" TP{few % 8}")
            lines.append(line)
            size += len(line) + 1
    return "\n".join(lines).encode() + b"\n"


def repeated(name: str) -> bytes:
    """Return a file's bytes, so often that there are enough."""
    data = Path(name).read_bytes().rstrip(b"\n") + b"\n"
    return data * max(1, BYTES // len(data))


def timed(act: Callable[[], object]) -> float:
    """Return the CPU seconds that it takes."""
    begin_s = time.process_time()
    act()
    return time.process_time() - begin_s


def one_round(engine: Engine, data: bytes) -> Spent:
    """Split, read and follow the phases of all of it, one after another."""
    splitter, reader, phases = LineSplitter(), LineReader(engine), LogPhases(engine)
    starts = range(0, len(data), wire.LOG_CHUNK_BYTES)
    lines: list[str] = []

    def split() -> None:
        for start in starts:
            lines.extend(splitter.feed(data[start : start + wire.LOG_CHUNK_BYTES]).lines)

    def read() -> None:
        for line in lines:
            reader.read(line)

    def follow() -> None:
        for number, line in enumerate(lines):
            phases.read(line, number, number * 1e-3)

    return Spent(timed(split), timed(read), timed(follow), len(lines))


def measure(name: str, engine: Engine, data: bytes) -> str:
    """Return one row of the table."""
    rounds = [one_round(engine, data) for _ in range(ROUNDS)]
    best = min(rounds, key=lambda spent: spent.both_s)
    follow_us = max(min(spent.phases_s - spent.read_s for spent in rounds), 0.0) / best.lines * 1e6
    split_us, read_us = best.split_s / best.lines * 1e6, best.read_s / best.lines * 1e6
    rate, megabytes = best.lines / best.both_s, len(data) / best.both_s / 1e6
    return (
        f"{name[-44:]:46}{best.lines:>9,}{rate:>12,.0f}{megabytes:>8.1f}"
        f"{split_us:>10.2f}{read_us:>10.2f}{follow_us:>10.2f}"
    )


def sources(arguments: list[str]) -> list[tuple[str, str, bytes]]:
    """Return names, engines and bytes of what is to be read."""
    if not arguments:
        return [(name, engine, made(templates)) for name, (engine, templates) in MIXES.items()]
    pairs = [argument.partition(":") for argument in arguments]
    return [(name, engine, repeated(name)) for engine, _, name in pairs]


def main() -> None:
    """Print the table."""
    head = ("lines/s", "MB/s", "split us", "rules us", "phases us")
    sys.stdout.write(
        f"{'lines':46}{'count':>9}{head[0]:>12}{head[1]:>8}{head[2]:>10}{head[3]:>10}{head[4]:>10}\n"
    )
    for name, engine_name, data in sources(sys.argv[1:]):
        engine = engine_named(engine_name)
        if engine is None:
            raise SystemExit(f"no engine of the name {engine_name}: write ENGINE:FILE")
        sys.stdout.write(measure(name, engine, data) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
