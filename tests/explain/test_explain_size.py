"""A large log costs time, not memory."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

MIB = 1 << 20
MEMORY_LIMIT_MIB = 100

MEASURED = """
import re, sys
from tui import cli
code = cli.run(["explain", sys.argv[1], "--json"])
sys.stderr.write(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read()).group(1))
sys.exit(code)
"""


def measured(path: Path) -> tuple[dict[str, Any], int]:
    """Explain a log in a process of its own; return the report and the peak of its memory in MiB."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, str(path)], capture_output=True, text=True, check=True, timeout=250
    )
    report: dict[str, Any] = json.loads(done.stdout)
    return report, int(done.stderr) // 1024


def serving(minute: int) -> str:
    """Return what a server writes in a minute, of 500 lines."""
    clock = f"2026-12-{minute // 1440 % 28 + 1:02} {minute // 60 % 24:02}:{minute % 60:02}"
    request = f'[{clock}:01] INFO:     127.0.0.1:4242 - "POST /v1/chat/completions HTTP/1.1" 200 OK\n'
    batch = (
        f"[{clock}:02 TP0] Decode batch. #running-req: 16, #token: 4242, token usage: 0.12, "
        "cuda graph: True, gen throughput (token/s): 999.2, #queue-req: 3, \n"
    )
    prose = "text that somebody's own code prints into the log of the server, without any header\n" * 48
    return (request + batch + prose) * 10


def test_a_log_of_60_mb_is_explained_in_bounded_memory(
    tmp_path: Path, ready: str, write: Callable[..., str]
) -> None:
    path = Path(write(ready))
    with path.open("a") as file:
        minute = 0
        while file.tell() < 60 * MIB:
            file.write(serving(minute))
            minute += 1
    report, peak_mib = measured(path)

    assert (report["outcome"], report["phase"]) == ("ready", "ready")
    assert report["lines"] == 24 + 500 * minute
    assert report["steady"]["queued"] == 3
    assert peak_mib < MEMORY_LIMIT_MIB


def test_a_line_of_64_mb_is_one_line_in_bounded_memory(failed: str, write: Callable[..., str]) -> None:
    path = Path(write("no newline here, "))
    with path.open("a") as file:
        for _ in range(64):
            file.write("0123456789abcde " * (MIB // 16))
        file.write("\n" + failed)
    report, peak_mib = measured(path)

    assert (report["outcome"], report["fault"]["line_number"], report["lines"]) == ("failed", 21, 21)
    assert peak_mib < MEMORY_LIMIT_MIB


def test_many_starts_and_ever_new_ranks_grow_no_memory(load: str, write: Callable[..., str]) -> None:
    path = Path(write(""))
    ranks = "".join(
        f"[2026-11-29 10:00:10 TP{rank}] Load weight begin. avail mem=1.00 GB\n" for rank in range(9000)
    )
    with path.open("a") as file:
        for _ in range(1200):
            file.write(load)
        file.write(ranks)
    report, peak_mib = measured(path)

    assert report["earlier_count"] == 1199
    assert len(report["earlier"]) == 1000
    assert peak_mib < MEMORY_LIMIT_MIB


def test_a_log_that_nothing_is_recognised_in_is_bounded_too(write: Callable[..., str]) -> None:
    path = Path(write(("nothing that anybody knows " * 40 + "\n") * 6_000))
    report, peak_mib = measured(path)

    assert (report["engine"], report["outcome"], report["lines"]) == (None, "unfinished", 6_000)
    assert peak_mib < MEMORY_LIMIT_MIB
