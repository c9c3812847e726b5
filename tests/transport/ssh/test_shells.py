"""Login shells over a real sshd: each of four, each with a start-up file that prints."""

from collections.abc import Awaitable, Callable

import pytest
from ssh_server import StartSshServer

from tui.transport.pipe import Pipe

pytestmark = pytest.mark.ssh

OpenOver = Callable[..., Awaitable[Pipe]]
ReadAll = Callable[[Pipe], Awaitable[bytes]]

SHELLS = ["bash", "dash", "fish", "csh"]


@pytest.mark.parametrize("shell", SHELLS)
async def test_a_command_runs_under_a_noisy_shell(
    shell: str,
    as_login_shell: Callable[[str], str],
    start_ssh_server: StartSshServer,
    open_over: OpenOver,
    read_all: ReadAll,
) -> None:
    server = start_ssh_server(as_login_shell(shell))
    program = "import sys; data = sys.stdin.buffer.readline()\nsys.stdout.write('nonce!' + repr(data))"
    pipe = await open_over(server, ["python3", "-ISsu", "-c", program])
    pipe.write(b"it's \\ here!\n")
    said = await read_all(pipe)
    before, nonce, after = said.partition(b"nonce!")
    assert nonce
    assert after == b'b"it\'s \\\\ here!\\n"'
    assert before == (b"welcome to the cluster\nno newline here" if shell != "dash" else b"")
    assert await pipe.close() == 0


async def test_a_missing_program_ends_with_127(
    start_ssh_server: StartSshServer, open_over: OpenOver, read_all: ReadAll
) -> None:
    pipe = await open_over(start_ssh_server(), ["no-such-program"])
    assert await read_all(pipe) == b""
    assert await pipe.close() == 127
    assert b"not found" in pipe.errors()
