"""The real server beside a scenario, a process and a port of its own: it can be benchmarked."""

import asyncio
import socket
import sys
from contextlib import suppress

from tui.transport.child import Child

END_WAIT_S = 3.0
LOOPBACK = "127.0.0.1"


class LiveServer:
    """A process that holds a port: it refuses until ``open``, then serves completions of its model."""

    def __init__(self, process: asyncio.subprocess.Process, port: int) -> None:
        self.pid = process.pid
        self.port = port
        self._process = process
        self._child = Child(process.pid, lambda: process.returncode)
        self._opened = False

    def open(self) -> None:
        """Let it answer from now on; a second time changes nothing."""
        stdin = self._process.stdin
        if stdin is not None and not self._opened and not stdin.is_closing():
            self._opened = True
            stdin.write(b"ready\n")

    async def close(self) -> None:
        """End the process and wait for it; closing twice is allowed."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            with suppress(TimeoutError):  # it is killed
                await asyncio.wait_for(self._process.wait(), END_WAIT_S)
        finally:
            self._child.kill()
            await self._child.reaped(END_WAIT_S)


async def launch(model: str) -> LiveServer:
    """Start the server of a model on a free port of this machine. It ends with this process, however."""
    with socket.socket() as bound:
        bound.bind((LOOPBACK, 0))
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tui.demo.serve",
            str(bound.fileno()),
            model,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            pass_fds=[bound.fileno()],
            start_new_session=True,
        )
        return LiveServer(process, bound.getsockname()[1])
