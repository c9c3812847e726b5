"""A machine with docker, podman, kubectl and srun, as far as the stand-ins of stand_in_tools.py go."""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import stand_in_logs
import stand_in_tools

from tui.transport.wrapper import KINDS


class WrappedHost:
    """A folder with the four programs, whose behaviour is set by ``behave`` and holds until changed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clients = folder / "clients"
        self.log = folder / "container.log"
        self.log_clients = folder / "log_clients"
        self._state = folder / "state.json"
        self.behave()
        for kind in KINDS:
            program = folder / kind
            tool, logs = (
                shlex.join([sys.executable, "-ISs", str(module.__file__), str(self._state), kind])
                for module in (stand_in_tools, stand_in_logs)
            )
            chosen = f'for word; do case $word in exec) break;; logs) exec {logs} "$@";; esac; done'
            program.write_text(f'#!/bin/sh\n{chosen}\nexec {tool} "$@"\n')
            program.chmod(0o755)

    def behave(self, **state: Any) -> None:
        """Set what happens from now on; without arguments everything works."""
        usual = {"client": str(self.clients), "log": str(self.log), "log_clients": str(self.log_clients)}
        fresh = self._state.with_suffix(".new")
        fresh.write_text(json.dumps({**usual, **state}))
        fresh.replace(self._state)

    def without(self, kind: str) -> None:
        """Take one of the programs away."""
        (self.folder / kind).unlink()

    def log_runs(self) -> list[tuple[int, str]]:
        """Return the pid of each ``logs`` that was started, and from which moment on it was asked."""
        lines = self.log_clients.read_text().splitlines() if self.log_clients.exists() else []
        return [(int(pid), since) for pid, since in (line.split() for line in lines)]

    def client(self) -> int:
        """Return the pid of the program that was started last."""
        return int(self.clients.read_text().split()[-1])

    @property
    def path(self) -> str:
        """PATH with the programs before everything else."""
        return f"{self.folder}:{os.environ.get('PATH', '')}"


@pytest.fixture
def wrapped_host(tmp_path_factory: pytest.TempPathFactory) -> WrappedHost:
    """Make the programs, and nothing that finds them."""
    return WrappedHost(tmp_path_factory.mktemp("wrapped"))


@pytest.fixture
def wrapped_here(wrapped_host: WrappedHost, monkeypatch: pytest.MonkeyPatch) -> WrappedHost:
    """Make the programs and put them into the PATH of this process."""
    monkeypatch.setenv("PATH", wrapped_host.path)
    return wrapped_host


@pytest.fixture
def container(needs: Callable[[str], str]) -> Iterator[int]:
    """Start a process in a pid namespace with a /proc of its own; give its pid. Skips where refused."""
    needs("nsenter")
    script = "echo started; exec sleep 600"
    command = [needs("unshare"), "-p", "-f", "--mount-proc", "--kill-child", "sh", "-c", script]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        if process.stdout.readline() != "started\n":
            pytest.skip("this machine lets nobody make a pid namespace")
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
        yield int(children.split()[0])
        process.kill()
