"""Hosts with process trees of their own on this one machine: a pid namespace each, entered through one sshd.

Each name logs in with a key of its own, which the server answers inside of that host's namespace. On it runs
one node of a load: a loading server of loading_server.py with the arguments of a node.
"""

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from agent_process import children_of
from loading_watch import server_environment
from ssh_server import SshServer, make_key

INIT = "echo started; trap : CHLD; while :; do sleep 600 & wait; done"


class NodeHost:
    """One host. ``start`` runs a node of a load there."""

    def __init__(self, name: str, enter: list[str], folder: Path) -> None:
        self.name = name
        self.enter = enter
        self.folder = folder
        self._server: subprocess.Popen[bytes] | None = None

    def start(self, rank: int, phase: str, does: str, more: Sequence[str] = ()) -> None:
        """Start a node whose one rank stands in a phase and does a thing (words of loading_server.py)."""
        self.end()
        shown = (
            f"-m sglang.launch_server --model-path {self.folder}/qwen --tp 2 --port {31000 + rank} --nnodes 2"
        )
        node = ["--node-rank", str(rank), "--dist-init-addr", "127.0.0.1:25000", *more]
        with (self.folder / f"{self.name}.log").open("wb") as log:
            self._server = subprocess.Popen(
                [*self.enter, sys.executable, "-m", "loading_server", *shown.split(), *node],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=server_environment(phase, [does], self.folder),
            )

    def kill(self) -> None:
        """Kill the server's main process, as the kernel does for want of memory; its ranks go with it."""
        if self._server is not None:
            for pid in children_of(self._server.pid):
                os.kill(pid, signal.SIGKILL)

    def end(self) -> None:
        """End the node."""
        while self._server is not None and self._server.poll() is None:
            self.kill()  # again, where it had no child yet
            time.sleep(0.02)
        self._server = None


@contextmanager
def node_hosts(server: SshServer, names: Sequence[str], folder: Path) -> Generator[list[NodeHost]]:
    """Give hosts of these names, known to the server's client configuration. Raises OSError where refused."""
    inits: list[subprocess.Popen[str]] = []
    hosts: list[NodeHost] = []
    parts: list[str] = []
    server.know(name="lab")
    try:
        for name in names:
            init = _namespace()
            inits.append(init)
            enter = ["nsenter", "-t", str(_inside(init)), "-p", "-m", "--"]
            key = server.folder / f"key_{name}"
            make_key(key)
            inner = f'{shlex.join(enter)} sh -c "$SSH_ORIGINAL_COMMAND"'.replace('"', r"\"")
            server.authorize(key, f'command="{inner}"')
            server.configure("HostKeyAlias lab", f"IdentityFile {key}", alias=name)
            text = Path(server.config_file).read_text()
            parts.append(text.replace(f"  IdentityFile {server.client_key}\n", ""))
            hosts.append(NodeHost(name, enter, folder))
        Path(server.config_file).write_text("".join(parts))
        yield hosts
    finally:
        for host in hosts:
            host.end()
        for init in inits:
            init.send_signal(signal.SIGKILL)
            init.wait()
            if init.stdout is not None:
                init.stdout.close()


def _namespace() -> "subprocess.Popen[str]":
    command = ["unshare", "-p", "-f", "--mount-proc", "--kill-child", "sh", "-c", INIT]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    if process.stdout.readline() != "started\n":
        process.kill()
        process.wait()
        raise OSError("this machine lets nobody make a pid namespace")
    return process


def _inside(init: "subprocess.Popen[str]") -> int:
    """Return the first process of a namespace as it is numbered outside."""
    return int(Path(f"/proc/{init.pid}/task/{init.pid}/children").read_text().split()[0])


@pytest.fixture
def two_hosts(
    ssh_server: SshServer, tmp_path: Path, needs: Callable[[str], str]
) -> Generator[list[NodeHost]]:
    """Return two hosts, gpu-a and gpu-b; skips where no pid namespace can be made."""
    needs("nsenter")
    needs("unshare")
    try:
        with node_hosts(ssh_server, ["gpu-a", "gpu-b"], tmp_path) as hosts:
            yield hosts
    except OSError as error:
        pytest.skip(str(error))
