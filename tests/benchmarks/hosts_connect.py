"""Measure how soon several hosts are connected side by side: a real sshd on loopback under eight names.

    python tests/benchmarks/hosts_connect.py [--hosts 8] [--runs 5] [--delay-ms 50]

One of the hosts is behind a relay that passes every byte ``--delay-ms`` later, each way. A run connects that
host alone, then all hosts at once, each up to its agent's hello. Prints one JSON object: medians (and minima)
in milliseconds, the ratio of all at once to the slow one alone, and the memory of this process, which holds a
session and its state for each host. The first connection, which imports asyncssh, is left out.
"""

import argparse
import asyncio
import json
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import psutil

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parent / "plugins")]

from ssh_hosts import delayed, name_hosts  # noqa: E402 -- found by the line above
from ssh_server import SshServer  # noqa: E402

from tui.benchmark import BenchSpec  # noqa: E402
from tui.requests import WatchRequest  # noqa: E402
from tui.session import Session  # noqa: E402
from tui.transport.agent_source import AgentSource  # noqa: E402
from tui.transport.ssh.opener import SshOptions, ssh_opener  # noqa: E402
from tui.watch.options import WatchOptions  # noqa: E402

_BENCH = BenchSpec(url="", model="", concurrency=1, requests=1, input_tokens=1, output_tokens=1)


async def connected(hosts: Sequence[str], config_file: str) -> float:
    """Connect to all of these at once; return after how many seconds the last of them said hello."""
    begun_s = time.perf_counter()
    sessions = [_session(host, config_file) for host in hosts]
    await asyncio.gather(*map(_hello, sessions))
    took_s = time.perf_counter() - begun_s
    await asyncio.gather(*(session.close() for session in sessions))
    return took_s


def _session(host: str, config_file: str) -> Session:
    opener = ssh_opener(host, options=SshOptions(config_file=config_file))
    return Session(AgentSource(opener, WatchRequest(matchers=[]), reconnect=True), WatchOptions(), _BENCH)


async def _hello(session: Session) -> None:
    async for _ in session.updates():
        if session.state.hello is not None:
            return
    raise SystemExit(session.state.link.sentence)


async def measured(server: SshServer, hosts: int, runs: int, delay_s: float) -> dict[str, object]:
    """Connect ``runs`` times each way, in turn."""
    names = [f"host-{number}" for number in range(hosts)]
    async with delayed(server, delay_s) as port:
        name_hosts(server, names, {names[-1]: [f"Port {port}"]})
        await connected(names[:1], server.config_file)
        alone: list[float] = []
        together: list[float] = []
        for _ in range(runs):
            alone.append(await connected(names[-1:], server.config_file))
            together.append(await connected(names, server.config_file))
    ratios = [both / one for one, both in zip(alone, together, strict=True)]
    return {
        "slow host alone": _told(alone),
        f"{hosts} hosts at once": _told(together),
        "ratio": {"median": round(statistics.median(ratios), 2), "min": round(min(ratios), 2)},
        "memory_mib": round(psutil.Process().memory_info().rss / 1024**2, 1),
    }


def _told(seconds: Sequence[float]) -> dict[str, float]:
    return {"median_ms": round(statistics.median(seconds) * 1e3, 1), "min_ms": round(min(seconds) * 1e3, 1)}


def main() -> None:
    """Measure, and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--hosts", type=int, default=8)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--delay-ms", type=float, default=50.0)
    wanted = parser.parse_args()
    program = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:/sbin:/usr/bin")
    if program is None:
        raise SystemExit("needs the system program sshd")
    with tempfile.TemporaryDirectory() as folder:
        server = SshServer(program, Path(folder))
        server.start()
        try:
            found = asyncio.run(measured(server, wanted.hosts, wanted.runs, wanted.delay_ms / 1e3))
        finally:
            server.stop()
    sys.stdout.write(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
