"""Measure a watch whose log is flooded while the link is slow: real command, terminal, sshd and agent.

    python tests/benchmarks/flood_over_slow_link.py [--seconds 30] [--link-mbit 2] [--no-python]

A process writes 50 MB/s of log into the temporary folder; a relay lets 2 Mbit/s through. Prints one JSON
object: memory of the client and of the agent, how old the newest GPU sample was, how soon a key was answered
on the screen, and how far behind the log was. With --no-python the host has none: a shell takes the agent's
place, and a stand-in that of nvidia-smi.
"""

import argparse
import asyncio
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parent / "plugins")]

from bare_host import BareHost, gpu  # noqa: E402 -- found by the line above
from flooded_watch import flooded  # noqa: E402 -- found by the line above
from ssh_server import SshServer  # noqa: E402

GPUS = 8
STUB = HERE.parent / "stubs" / "nvml_stub.c"


def with_nvml(folder: Path) -> dict[str, str]:
    """Return the environment of sessions that find the stand-in for NVML."""
    flags = ["-O1", "-shared", "-fPIC", "-Wl,-soname,libnvidia-ml.so.1"]
    subprocess.run(["gcc", *flags, "-o", folder / "libnvidia-ml.so.1", STUB], check=True)
    return {"LD_LIBRARY_PATH": str(folder), "NVML_STUB_GPUS": str(GPUS)}


def without_python(folder: Path) -> dict[str, str]:
    """Return the environment of sessions that find no Python, but the stand-in for nvidia-smi."""
    programs = folder / "programs"
    programs.mkdir()
    host = BareHost(programs)
    for name in ("dd", "ls", "tr", "fold", "head", "sleep"):
        program = shutil.which(name)
        if program is not None:
            (programs / name).symlink_to(program)
    host.smi(*(gpu(index) for index in range(GPUS)))
    return {"PATH": host.path}


def started(folder: Path, environment: dict[str, str]) -> SshServer:
    """Start an sshd with this environment for its sessions."""
    program = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:/sbin:/usr/bin")
    if program is None:
        raise SystemExit("needs the system program sshd")
    server = SshServer(program, folder, environment=environment)
    server.start()
    server.know()
    server.configure()
    return server


def main() -> None:
    """Measure, and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--link-mbit", type=float, default=2.0)
    parser.add_argument("--no-python", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        python = not asked.no_python
        environment = (with_nvml if python else without_python)(Path(folder))
        server = started(Path(folder), environment)
        try:
            link_bytes_s = asked.link_mbit * 1e6 / 8
            figures = asyncio.run(
                flooded(server, Path(folder), asked.seconds, link_bytes_s=link_bytes_s, python=python)
            )
        finally:
            server.stop()
    sys.stdout.write(json.dumps(figures.told(), indent=2) + "\n")


if __name__ == "__main__":
    main()
