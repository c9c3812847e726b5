"""One start of SGLang, line by line, as far as its capture."""

from tui.engines.registry import engine_named
from tui.watch.phases import LogPhases

LINE_SGLANG = "[2026-11-29 10:00:00{rank}] {text}"
TRACEBACK = "Traceback (most recent call last):"


def make_phases(engine: str = "sglang") -> LogPhases:
    found = engine_named(engine)
    assert found is not None
    return LogPhases(found)


def read(phases: LogPhases, *lines: str, first: int = 1) -> LogPhases:
    for number, line in enumerate(lines, first):
        phases.read(line, number)
    return phases


def record(text: str, rank: str = "") -> str:
    return LINE_SGLANG.format(rank=f" {rank}" if rank else "", text=text)


def to_capture(phases: LogPhases, rank: str = "") -> LogPhases:
    texts = (
        "Init torch distributed begin.",
        "Init torch distributed ends. mem usage=0.5 GB",
        "Load weight begin. avail mem=100.00 GB",
        "Load weight end. type=LlamaForCausalLM, avail mem=40.00 GB, mem usage=60.00 GB.",
        "KV Cache is allocated. #tokens: 1000, K size: 1.00 GB, V size: 1.00 GB",
        "Memory pool end. avail mem=20.00 GB",
        "Capture cuda graph begin. This can take up to several minutes. avail mem=19.00 GB",
    )
    return read(phases, *(record(text, rank) for text in texts))
