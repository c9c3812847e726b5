"""The quick look at a line misses nothing that the patterns find."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tui.engines.base import Engine
from tui.engines.lines import troubling
from tui.engines.registry import ENGINES

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
SAMPLES = (
    "torch.OutOfMemoryError: CUDA out of memory.",
    "cudaMalloc failed: out of memory",
    "CUDA driver error: out of memory",
    "OSError: [Errno 98] x",
    "[Errno 98]",
    "Address already in use",
    "E couldn't bind HTTP server socket",
    "an illegal memory access",
    "unspecified launch failure",
    "device-side assert",
    "NCCL error",
    "Watchdog caught collective operation",
    "no kernel image is available",
    "driver version is insufficient",
    "Error 803:",
    "Not enough memory",
    "No model weights found in /x",
    "warmup error",
    "watchdog timeout (",
    "Rank 0 scheduler is dead",
    "Rank 0 scheduler died",
    "Subprocess scheduler_0 (pid=1) crashed",
    "KeyError: 'x'",
    "KeyboardInterrupt",
    "SystemExit: 1",
    "Scheduler hit an exception",
    "Received sigquit from a child proces",
    "SIGQUIT received",
    "SIGTERM received.",
    "Gracefully exiting...",
    "INFO:     Shutting down",
    "Capture cuda graph failed: ",
    "] ERROR x",
    "WARNING x",
    "UserWarning: x",
    "NCCL WARN x",
    "'--x' is deprecated",
    "Free memory on device (1 GiB) is less than desired",
    "No available memory for the cache blocks",
    "warming up sampler with 8 dummy requests",
    "To serve at least one request with the model",
    "larger than the maximum number of tokens that can be stored",
    "RPC call to execute_model timed out",
    "Timed out waiting for engine",
    "SafetensorError",
    "Worker proc died unexpectedly",
    "Worker pid 1 died, exit code: -9",
    "EngineCore failed to start",
    "EngineCore encountered a fatal error",
    "WorkerProc hit an",
    "Engine core initialization failed",
    "EngineDeadError",
    "Engine process failed to start",
    "[shutdown] API server: shutdown triggered",
    "received signal=SIGINT",
    "CRITICAL 01-01 x",
    "Failed: Cuda error x",
    "No available shared memory broadcast block found",
    "insufficient memory (x",
    "failed to open GGUF file",
    "error loading model: x",
    "GGML_ASSERT(x)",
    "CUDA error",
    "unable to allocate CUDA0 buffer",
    "failed to create context",
    "invalid argument: x",
    "exiting due to x",
    "cleaning up before exit",
    "Received second interrupt",
    "0.00.000.001 E x",
    "0.00.000.001 W x",
    "warning: x",
)


def patterns(engine: Engine) -> Iterator[re.Pattern[str]]:
    yield from (*engine.fatal, engine.shutdown, engine.error, engine.warning)


@pytest.mark.parametrize("line", SAMPLES)
def test_a_line_that_a_pattern_finds_is_looked_at(line: str) -> None:
    assert any(pattern.search(line) for engine in ENGINES for pattern in patterns(engine))
    assert troubling(line)


def test_no_line_of_real_logs_is_overlooked() -> None:
    if not CORPUS.exists():
        pytest.skip("needs the corpus of start-up logs beside the checkout")
    names = json.loads((CORPUS / "expect.json").read_text())
    lines = {
        line for name in names for line in re.split(r"[\r\n]", (CORPUS / name).read_text(errors="replace"))
    }
    every = [pattern for engine in ENGINES for pattern in patterns(engine)]
    overlooked = [
        line for line in lines if not troubling(line) and any(pattern.search(line) for pattern in every)
    ]
    assert overlooked == []


def test_an_ordinary_line_is_passed_over() -> None:
    assert not troubling("[2026-11-29 14:37:07] Decode batch, #running-req: 16, gen throughput (token/s): 8")
