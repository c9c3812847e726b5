"""A real OpenSSH server on loopback with throw-away keys, run as the current user, for any test."""

import asyncio
import getpass
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import psutil
import pytest

_PATH = f"{sys.base_prefix}/bin:/usr/local/bin:/usr/bin:/bin"
_START_S = 10.0
_TRIES = 5


class SshServer:
    """One sshd in its own folder, the client's keys, and a client configuration that knows it as ``host``.

    Nothing outside the folder is touched, but for sshd's privilege separation folder when run as root.
    """

    def __init__(
        self,
        program: str,
        folder: Path,
        settings: tuple[str, ...] = (),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.folder = folder
        self.host = "lab"
        self.port = 0
        self.user = getpass.getuser()
        self.config_file = str(folder / "client_config")
        self.known_hosts = folder / "known_hosts"
        self.host_key = folder / "host_ed25519"
        self.client_key = folder / "client_ed25519"
        self._program = program
        self.home = folder / "home"
        self.home.mkdir()
        # A home and a PATH of its own: no start-up file of whoever runs the tests is read, nor slows them.
        variables = {"HOME": str(self.home), "PATH": _PATH, **(environment or {})}
        quoted = " ".join(f'"{name}={value}"' for name, value in variables.items())
        self._settings = (*settings, f"SetEnv {quoted}")
        self._process: subprocess.Popen[bytes] | None = None
        make_key(self.host_key)
        make_key(self.client_key)
        self.authorize(self.client_key)

    @property
    def pid(self) -> int:
        """Return the process id of the listener."""
        if self._process is None:
            raise RuntimeError("this sshd has not been started")
        return self._process.pid

    @property
    def known_name(self) -> str:
        """Return the name under which the server stands in known_hosts."""
        return f"[127.0.0.1]:{self.port}"

    def authorize(self, key: Path, options: str = "") -> None:
        """Let a key in, with the options of an authorized_keys line."""
        with (self.folder / "authorized_keys").open("a") as stream:
            stream.write(f"{options} {public(key)}\n".lstrip())

    def know(self, key: Path | None = None, marker: str = "", name: str | None = None) -> None:
        """Write the known_hosts file: one line, for the server's own key unless another is given."""
        text = f"{marker} {name or self.known_name} {public(key or self.host_key)}\n".lstrip()
        self.known_hosts.write_text(text)

    def configure(self, *lines: str, alias: str | None = None) -> None:
        """Write the client configuration anew; earlier lines win over the defaults below."""
        names = [
            *lines, "HostName 127.0.0.1", f"Port {self.port}", f"User {self.user}",
            f"IdentityFile {self.client_key}", "IdentitiesOnly yes", "IdentityAgent none",
            f"UserKnownHostsFile {self.known_hosts}", "GlobalKnownHostsFile none",
        ]  # fmt: skip
        body = "\n".join(f"  {line}" for line in names)
        Path(self.config_file).write_text(f"Host {alias or self.host}\n{body}\n")

    def start(self) -> None:
        """Start listening; the same port again after a stop."""
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
        for _ in range(_TRIES):
            port = self.port or _free_port()
            if self._listens(port):
                self.port = port
                return
        pytest.fail(f"sshd did not start: {self.log()}")

    def stop(self) -> None:
        """End the listener and every session at once (SIGKILL), as a crash or a reboot does."""
        if self._process is None:
            return
        for pid in self.sessions():
            kill(pid)
        self._process.kill()
        self._process.wait()
        self._process = None

    def sessions(self) -> list[int]:
        """Return the process ids of the server's end of each connection."""
        if self._process is None or self._process.poll() is not None:
            return []
        return [child.pid for child in psutil.Process(self.pid).children(recursive=True) if _is_sshd(child)]

    def cut(self, number: signal.Signals = signal.SIGKILL) -> None:
        """Send a signal to the server's end of every connection."""
        for pid in self.sessions():
            kill(pid, number)

    def stall(self) -> None:
        """Stop the server's end of every connection: the link stays open and says nothing more."""
        self.cut(signal.SIGSTOP)

    def log(self) -> str:
        """Return what sshd has logged so far."""
        path = self.folder / "sshd.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def _listens(self, port: int) -> bool:
        config = self.folder / "sshd_config"
        defaults = [
            f"Port {port}", "ListenAddress 127.0.0.1", f"HostKey {self.host_key}", "PidFile none",
            f"AuthorizedKeysFile {self.folder / 'authorized_keys'}", "StrictModes no", "UsePAM no",
            "PasswordAuthentication no", "KbdInteractiveAuthentication no", "PermitRootLogin yes",
            "MaxStartups 100", "LogLevel VERBOSE", "PrintMotd no",
        ]  # fmt: skip
        # sshd takes the first value of each, but for MaxStartups the last.
        said = {line.split()[0] for line in self._settings}
        defaults = [line for line in defaults if line.split()[0] not in said]
        config.write_text("\n".join([*self._settings, *defaults]) + "\n")
        with (self.folder / "sshd.log").open("ab") as log:
            command = [self._program, "-D", "-e", "-f", str(config)]
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        deadline = time.monotonic() + _START_S
        while time.monotonic() < deadline and self._process.poll() is None:
            if re.search(rf"listening on 127\.0\.0\.1 port {port}\b", self.log()) and _answers(port):
                return True
            time.sleep(0.01)
        return False


StartSshServer = Callable[..., SshServer]


@pytest.fixture
def start_ssh_server(
    needs: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[StartSshServer]:
    """Return a function that starts an sshd whose key the client knows.

    Its arguments are further sshd_config lines; ``environment`` holds variables of the sessions.
    """
    program = needs("sshd")
    needs("ssh-keygen")
    servers: list[SshServer] = []

    def start(*settings: str, environment: Mapping[str, str] | None = None) -> SshServer:
        server = SshServer(program, tmp_path_factory.mktemp("sshd"), settings, environment)
        servers.append(server)
        server.start()
        server.know()
        server.configure()
        return server

    yield start
    for server in servers:
        server.stop()


@pytest.fixture
def ssh_server(start_ssh_server: StartSshServer) -> SshServer:
    """Start one sshd with the usual settings."""
    return start_ssh_server()


def make_key(path: Path, kind: str = "ed25519", passphrase: str = "") -> Path:
    """Make a throw-away key pair."""
    command = ["ssh-keygen", "-q", "-t", kind, "-N", passphrase, "-C", "test", "-f", str(path)]
    subprocess.run([*command, *(["-b", "2048"] if kind == "rsa" else [])], check=True)
    return path


def run(*command: str | Path) -> str:
    """Run a program to its end and return what it printed; fails the test when the program fails."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


async def until(true: Callable[[], bool], deadline_s: float = 20.0) -> None:
    """Wait until something is so; fails with TimeoutError."""
    async with asyncio.timeout(deadline_s):
        while not true():  # noqa: ASYNC110 -- what is waited for are other processes, which set no event
            await asyncio.sleep(0.01)


def public(key: Path) -> str:
    """Return the type and base64 of a key's public half."""
    return " ".join(key.with_name(f"{key.name}.pub").read_text().split()[:2])


def kill(pid: int, number: signal.Signals = signal.SIGKILL) -> None:
    """Send a signal to a process that may be gone already."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def _is_sshd(process: psutil.Process) -> bool:
    try:
        return process.name().startswith("sshd")
    except psutil.NoSuchProcess:
        return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
            return connection.recv(4) == b"SSH-"
    except OSError:
        return False
