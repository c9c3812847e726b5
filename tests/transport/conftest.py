"""What the tests of the transports share: pipes over SSH that are closed at the end of a test."""

import os
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from ssh_server import SshServer

from tui.transport.pipe import Pipe
from tui.transport.ssh.opener import SshOptions, ssh_opener

OpenOver = Callable[..., Awaitable[Pipe]]

# What each shell reads when sshd starts it for one command; dash reads nothing.
_START_UP = {"bash": ".bashrc", "dash": None, "fish": ".config/fish/config.fish", "csh": ".cshrc"}


@pytest.fixture
async def open_over() -> AsyncIterator[OpenOver]:
    """Return a function that starts a command on an SshServer; host and options may differ from the usual."""
    pipes: list[Pipe] = []

    async def start(
        server: SshServer, command: list[str], host: str | None = None, options: SshOptions | None = None
    ) -> Pipe:
        options = options or SshOptions(config_file=server.config_file)
        pipe = await ssh_opener(host or server.host, options=options)(command)
        pipes.append(pipe)
        return pipe

    yield start
    for pipe in pipes:
        await pipe.close()


@pytest.fixture
def read_all() -> Callable[[Pipe], Awaitable[bytes]]:
    """Return a function that reads a pipe to its end."""

    async def read(pipe: Pipe) -> bytes:
        parts: list[bytes] = []
        while data := await pipe.read(65536):
            parts.append(data)
        return b"".join(parts)

    return read


@pytest.fixture
def key_agent(needs: Callable[[str], str], tmp_path: Path) -> Iterator[str]:
    """Start an ssh-agent of the test's own and return its socket."""
    place = str(tmp_path / "agent")
    process = subprocess.Popen([needs("ssh-agent"), "-D", "-a", place], stdout=subprocess.DEVNULL)
    while not os.path.exists(place) and process.poll() is None:
        pass
    yield place
    process.kill()
    process.wait()


@pytest.fixture
def as_login_shell(tmp_path: Path, needs: Callable[[str], str]) -> Callable[[str], str]:
    """Return a function that gives the sshd_config line for another login shell with a noisy start-up file.

    sshd hands the command to the shell as ``SHELL -c COMMAND``; the forced command does the same with the
    shell wanted. bash reads .bashrc when it was started by sshd as its first shell (SHLVL).
    """

    def line(shell: str) -> str:
        file = _START_UP[shell]
        if file is not None:
            path = tmp_path / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text('echo "welcome to the cluster"\nprintf "no newline here"\n')
        start = f"exec env -u SHLVL HOME={tmp_path} {needs(shell)}"
        return f'ForceCommand {start} -c "$SSH_ORIGINAL_COMMAND"'

    return line
