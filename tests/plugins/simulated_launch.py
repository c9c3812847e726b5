"""Starts the simulated engine on this machine and ends it without a trace."""

import asyncio
import os
import socket
import sys
import tempfile
from pathlib import Path

from tui.demo.server import MODEL

END_WAIT_S = 3.0
LOOPBACK = "127.0.0.1"
PLUGINS = str(Path(__file__).parent)


class Launch:
    """One running simulated engine. Its port is bound before it starts, so two demos never meet."""

    def __init__(self, process: asyncio.subprocess.Process, port: int, folder: Path) -> None:
        self.pid = process.pid
        self.port = port
        self.url = f"http://{LOOPBACK}:{port}"
        self.log_path = folder / "server.log"
        self._process = process

    async def close(self) -> None:
        """End the engine (it removes its own folder) and wait for it; closing twice is allowed."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            await asyncio.wait_for(self._process.wait(), END_WAIT_S)
        except TimeoutError:
            self._process.kill()
            await self._process.wait()
        _remove(self.log_path.parent)


async def launch(speed: float, port: int = 0) -> Launch:
    """Start an engine whose load takes about 45 s divided by ``speed``; port 0 means any that is free."""
    folder = Path(tempfile.mkdtemp(prefix="tminus-demo-"))
    with socket.socket() as bound, (folder / "server.log").open("wb") as log:
        # A port that was asked for may be a predecessor's; one that is looked for must be shared with nobody.
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, int(port > 0))
        bound.bind((LOOPBACK, port))
        port = bound.getsockname()[1]
        process = await asyncio.create_subprocess_exec(
            *_command(bound.fileno(), speed, folder, port),
            stdin=asyncio.subprocess.PIPE,
            stdout=log,
            stderr=log,
            pass_fds=[bound.fileno()],
            start_new_session=True,
            env=os.environ | {"PYTHONPATH": PLUGINS},
        )
    return Launch(process, port, folder)


def _command(number: int, speed: float, folder: Path, port: int) -> list[str]:
    """Return the command line; from ``-m sglang.launch_server`` on it reads as a real one does."""
    own = [sys.executable, "-m", "simulated_engine", "--fd", str(number), "--speed", str(speed)]
    own += ["--folder", str(folder)]
    shown = f"-m sglang.launch_server --model-path models/{MODEL} --served-model-name {MODEL} --tp 8"
    return [*own, *shown.split(), "--host", LOOPBACK, "--port", str(port)]


def _remove(folder: Path) -> None:
    """Remove what an engine that was killed could not remove itself."""
    (folder / "server.log").unlink(missing_ok=True)
    if folder.exists():
        folder.rmdir()
