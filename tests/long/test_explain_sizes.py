"""A log of a gigabyte, and a line of one: explained in bounded memory."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.long

Share = Callable[[int], int]
MIB = 1 << 20
MEMORY_LIMIT_MIB = 200

MEASURED = """
import re, sys
from tui import cli
code = cli.run(["explain", sys.argv[1], "--json"])
sys.stderr.write(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read()).group(1))
sys.exit(code)
"""
START = "[2026-11-29 10:00:00] server_args=ServerArgs(model_path='m', tp_size=1, nnodes=1, node_rank=0)\n"
READY = "[2026-11-29 10:01:25] The server is fired up and ready to roll!\n"


def measured(path: Path) -> tuple[dict[str, Any], int]:
    """Explain a log in a process of its own; return the report and the peak of its memory in MiB."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, str(path)], capture_output=True, text=True, check=True, timeout=3000
    )
    report: dict[str, Any] = json.loads(done.stdout)
    return report, int(done.stderr) // 1024


def serving(second: int) -> str:
    """Return what a busy server writes in a second."""
    minutes, left = divmod(second, 60)
    clock = f"2026-12-{minutes // 1440 % 28 + 1:02} {minutes // 60 % 24:02}:{minutes % 60:02}:{left:02}"
    request = f'[{clock}] INFO:     127.0.0.1:4242 - "POST /v1/chat/completions HTTP/1.1" 200 OK\n'
    batch = (
        f"[{clock} TP0] Decode batch. #running-req: 16, #token: 4242, token usage: 0.12, "
        f"cuda graph: True, gen throughput (token/s): 999.2, #queue-req: {second % 7}, \n"
    )
    return request * 20 + batch


def test_a_gigabyte_is_explained_in_200_mib(tmp_path: Path, share: Share) -> None:
    path = tmp_path / "big.log"
    second = 0
    with path.open("w") as file:
        file.write(START + READY)
        while file.tell() < share(1024) * MIB:
            file.writelines(serving(each) for each in range(second, second + 500))
            second += 500
    report, peak_mib = measured(path)

    assert (report["outcome"], report["phase"]) == ("ready", "ready")
    assert report["lines"] == 2 + 21 * second
    assert peak_mib < MEMORY_LIMIT_MIB


def test_a_line_of_a_gigabyte_is_one_line_in_200_mib(tmp_path: Path, share: Share) -> None:
    path = tmp_path / "line.log"
    with path.open("w") as file:
        for _ in range(share(1024)):
            file.write("0123456789abcde " * (MIB // 16))
        file.write("\n" + START + READY)
    report, peak_mib = measured(path)

    assert (report["outcome"], report["lines"]) == ("ready", 3)
    assert peak_mib < MEMORY_LIMIT_MIB
