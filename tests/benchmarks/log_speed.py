"""Measure the edge that makes log text safe: lines per second through LineSplitter, and what masking adds.

    python tests/benchmarks/log_speed.py [FILE ...]

CPU time of this process, in chunks as the agent sends them; the best of five rounds. Without files three
kinds of lines are made: plain ones, lines that speak of tokens (each could name a secret), coloured ones.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path

from tui.agent import wire
from tui.agent.mask import mask_text
from tui.transport.clean import LineSplitter, clean

COUNT = 100_000
PLAIN = (
    "[2026-11-29 13:48:34 TP0] Load weight begin. avail mem=%d.43 GB, of a shard with a rather long name\n"
)
TOKENS = (
    "[2026-11-29 13:48:34 TP0] Decode batch. #running-req: 16, #token: %d, gen throughput (token/s): 9.2\n"
)
COLOURED = (
    "\x1b[0;36m(APIServer pid=%d)\x1b[0;0m INFO 11-29 17:20:17 [api_server.py:1843] █▌ a line in colours\r\n"
)


def seconds(act: Callable[[], object]) -> float:
    """Return the CPU seconds of the best of five rounds."""
    best = float("inf")
    for _ in range(5):
        begin_s = time.process_time()
        act()
        best = min(best, time.process_time() - begin_s)
    return best


def split(data: bytes) -> int:
    """Feed all of it in chunks; return the number of lines."""
    splitter = LineSplitter()
    starts = range(0, len(data), wire.LOG_CHUNK_BYTES)
    return sum(len(splitter.feed(data[start : start + wire.LOG_CHUNK_BYTES]).lines) for start in starts)


def measure(name: str, data: bytes) -> str:
    """Return one row of the table."""
    count = split(data)
    lines = [clean(line) for line in data.decode("utf-8", "replace").splitlines()]
    whole_s = seconds(lambda: split(data))
    mask_s = seconds(lambda: [mask_text(line) for line in lines])
    rate, share = count / whole_s, mask_s / whole_s * 100
    return f"{name:24}{count:>10,}{rate:>14,.0f}{len(data) / whole_s / 1e6:>10.1f}{share:>12.0f} %"


def main() -> None:
    """Print the table."""
    sources = {name: Path(name).read_bytes() for name in sys.argv[1:]}
    if not sources:
        patterns = {"plain": PLAIN, "of tokens": TOKENS, "coloured": COLOURED}
        sources = {
            name: "".join(pattern % number for number in range(COUNT)).encode()
            for name, pattern in patterns.items()
        }
    rows = [f"{'lines':24}{'count':>10}{'lines/s':>14}{'MB/s':>10}{'of it masks':>14}"]
    rows += [measure(Path(name).name, data) for name, data in sources.items()]
    sys.stdout.write("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
