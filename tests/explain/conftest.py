"""A load's log in a file, and the command that explains it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tui import cli

Write = Callable[..., str]
Explain = Callable[..., dict[str, Any]]
Tminus = Callable[..., subprocess.CompletedProcess[bytes]]

LOAD = """\
[2026-11-29 10:00:00] server_args=ServerArgs(model_path='m', tp_size=2, nnodes=1, node_rank=0)
[2026-11-29 10:00:10 TP0] Init torch distributed begin.
[2026-11-29 10:00:11 TP1] Init torch distributed begin.
[2026-11-29 10:00:20 TP0] Init torch distributed ends. mem usage=1.25 GB
[2026-11-29 10:00:20 TP1] Init torch distributed ends. mem usage=1.25 GB
[2026-11-29 10:00:21 TP0] Load weight begin. avail mem=138.00 GB
[2026-11-29 10:00:21 TP1] Load weight begin. avail mem=138.00 GB
Loading safetensors checkpoint shards:   0% Completed | 0/4 [00:00<?, ?it/s]
Loading safetensors checkpoint shards:  50% Completed | 2/4 [00:20<00:20, 10.0s/it]
Loading safetensors checkpoint shards: 100% Completed | 4/4 [00:30<00:00, 7.5s/it]
[2026-11-29 10:01:00 TP0] Load weight end. type=LlamaForCausalLM, avail mem=68.00 GB, mem usage=70.00 GB.
[2026-11-29 10:01:00 TP1] Load weight end. type=LlamaForCausalLM, avail mem=68.00 GB, mem usage=70.00 GB.
[2026-11-29 10:01:02 TP0] KV Cache is allocated. #tokens: 100000, K size: 20.00 GB, V size: 20.00 GB
[2026-11-29 10:01:02 TP1] KV Cache is allocated. #tokens: 100000, K size: 20.00 GB, V size: 20.00 GB
[2026-11-29 10:01:03 TP0] Memory pool end. avail mem=28.00 GB
[2026-11-29 10:01:03 TP1] Memory pool end. avail mem=28.00 GB
[2026-11-29 10:01:04 TP0] Capture cuda graph begin. This can take up to several minutes. avail mem=27.50 GB
[2026-11-29 10:01:04 TP1] Capture cuda graph begin. This can take up to several minutes. avail mem=27.50 GB
"""
READY = """\
[2026-11-29 10:01:14 TP0] Capture cuda graph end. Time elapsed: 10.00 s. avail mem=26.00 GB
[2026-11-29 10:01:14 TP1] Capture cuda graph end. Time elapsed: 10.00 s. avail mem=26.00 GB
[2026-11-29 10:01:20] INFO:     Started server process [4242]
[2026-11-29 10:01:20] INFO:     Waiting for application startup.
[2026-11-29 10:01:21] INFO:     Uvicorn running on http://127.0.0.1:30000 (Press CTRL+C to quit)
[2026-11-29 10:01:25] The server is fired up and ready to roll!
"""
OUT_OF_MEMORY = """\
[2026-11-29 10:01:34 TP1] Scheduler hit an exception: Traceback (most recent call last):
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.00 GiB. GPU 1 has 1.00 GiB free.
"""


@pytest.fixture(autouse=True)
def no_settings_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Let neither variables nor files of whoever runs the tests have a say."""
    for name in [name for name in os.environ if name.startswith("TMINUS_") and name != "TMINUS_LONG"]:
        monkeypatch.delenv(name)
    (tmp_path / "config.toml").touch()
    monkeypatch.setenv("TMINUS_CONFIG", str(tmp_path / "config.toml"))


@pytest.fixture
def load() -> str:
    """Return the log of a load of two ranks, up to the first graph's capture."""
    return LOAD


@pytest.fixture
def ready(load: str) -> str:
    """Return the log of a load that became ready."""
    return load + READY


@pytest.fixture
def failed(load: str) -> str:
    """Return the log of a load that ran out of memory in capture."""
    return load + OUT_OF_MEMORY


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return a function that writes a log and returns its path."""

    def write(text: str | bytes, name: str = "server.log") -> str:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    return write


@pytest.fixture
def explain(capfd: pytest.CaptureFixture[str]) -> Explain:
    """Return a function that runs ``explain --json`` and returns the object that it printed."""

    def explain(*arguments: str) -> dict[str, Any]:
        code = cli.run(["explain", *arguments, "--json"])
        out, err = capfd.readouterr()
        assert (code, err) == (0, "")
        assert out.count("\n") == 1
        found: dict[str, Any] = json.loads(out)
        return found

    return explain


@pytest.fixture
def tminus() -> Tminus:
    """Return a function that runs the real command with bytes on its standard input."""

    def run(*arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "-m", "tui", "explain", *arguments],
            input=given,
            capture_output=True,
            timeout=120,
            check=False,
        )

    return run
