"""Measure how soon a watch over SSH begins: a real sshd on loopback, the real agent, 8 stand-in GPUs.

    python tests/benchmarks/ssh_first_event.py [--runs 10]

Prints one JSON object of medians (and minima) in milliseconds: importing asyncssh in a fresh interpreter,
``ssh -G``, the pipe (TCP, login, command started) from its start, and from there the agent's hello and the
first GPU sample. The first connection of a process, which imports asyncssh, is left out of the medians.
"""

import argparse
import asyncio
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parent / "plugins")]

from ssh_server import SshServer  # noqa: E402 -- found by the line above

from tui.events import Gpus, Hello  # noqa: E402
from tui.requests import WatchRequest  # noqa: E402
from tui.transport.agent_source import AgentSource  # noqa: E402
from tui.transport.pipe import Pipe  # noqa: E402
from tui.transport.ssh.config import resolve  # noqa: E402
from tui.transport.ssh.opener import SshOptions, ssh_opener  # noqa: E402
from tui.transport.ssh.target import parse_target  # noqa: E402

STUB = HERE.parent / "stubs" / "nvml_stub.c"
IMPORT = "import time; begun = time.perf_counter(); import asyncssh; print(time.perf_counter() - begun)"

Figures = dict[str, list[float]]


async def once(config_file: str, figures: Figures) -> None:
    """Connect once, up to the first GPU sample."""
    moments: dict[str, float] = {"begun": time.perf_counter()}
    await resolve(parse_target("lab"), config_file)
    moments["ssh -G"] = time.perf_counter()
    opener = ssh_opener("lab", options=SshOptions(config_file=config_file))

    async def timed(arguments: list[str]) -> Pipe:
        moments["open"] = time.perf_counter()
        pipe = await opener(arguments)
        moments["pipe"] = time.perf_counter()
        return pipe

    source = AgentSource(timed, WatchRequest(matchers=[]), reconnect=False)
    async for event in source:
        if isinstance(event, Hello):
            moments["hello"] = time.perf_counter()
        if isinstance(event, Gpus) and "sample" not in moments:
            moments["sample"] = time.perf_counter()
            await source.close()
    figures.setdefault("ssh -G", []).append(moments["ssh -G"] - moments["begun"])
    figures.setdefault("start to pipe", []).append(moments["pipe"] - moments["open"])
    figures.setdefault("pipe to hello", []).append(moments["hello"] - moments["pipe"])
    figures.setdefault("pipe to first GPU sample", []).append(moments["sample"] - moments["pipe"])
    figures.setdefault("start to first GPU sample", []).append(moments["sample"] - moments["open"])


async def measured(runs: int, server: SshServer) -> Figures:
    """Connect ``runs`` times after one that warms up."""
    await once(server.config_file, {})
    figures: Figures = {}
    for _ in range(runs):
        await once(server.config_file, figures)
    return figures


def started(folder: Path) -> SshServer:
    """Start an sshd whose sessions find the stand-in for NVML."""
    flags = ["-O1", "-shared", "-fPIC", "-Wl,-soname,libnvidia-ml.so.1"]
    subprocess.run(["gcc", *flags, "-o", folder / "libnvidia-ml.so.1", STUB], check=True)
    program = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:/sbin:/usr/bin")
    if program is None:
        raise SystemExit("needs the system program sshd")
    environment = {"LD_LIBRARY_PATH": str(folder), "NVML_STUB_GPUS": "8"}
    server = SshServer(program, folder, environment=environment)
    server.start()
    server.know()
    server.configure()
    return server


def main() -> None:
    """Measure, and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=10)
    runs: int = parser.parse_args().runs
    imports = [
        float(subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, check=True).stdout)
        for _ in range(runs)
    ]
    with tempfile.TemporaryDirectory() as folder:
        server = started(Path(folder))
        try:
            figures = {"import asyncssh": imports, **asyncio.run(measured(runs, server))}
        finally:
            server.stop()
    told = {
        name: {"median_ms": round(statistics.median(values) * 1e3, 1), "min_ms": round(min(values) * 1e3, 1)}
        for name, values in figures.items()
    }
    sys.stdout.write(json.dumps(told, indent=2) + "\n")


if __name__ == "__main__":
    main()
