"""The simulated engine, a real process: prints a recorded SGLang log at speed and serves a real port.

Started as ``python -m simulated_engine --fd N --speed X --folder PATH -m sglang.launch_server ...``: what
follows the folder is there to be found as an engine's command line is. N is a bound socket that refuses until
the recorded server would listen. The process ends when its standard input does, and then it removes the
folder (its log).
"""

import asyncio
import os
import shutil
import socket
import sys
import time

import simulated_ranks as ranks

from tui.demo.script import Cue, cues, filled, line_time
from tui.demo.server import Endpoint

TITLES = [*(f"sglang::scheduler_TP{rank}" for rank in range(8)), "sglang::detokenizer"]
RANKS_AT_S = 4.6
PORT_LINE = "Uvicorn running on"
READY_LINE = "The server is fired up"
THROUGHPUT_EVERY_S = 1.0


class Engine:
    """One simulated launch."""

    def __init__(self, bound: socket.socket, speed: float) -> None:
        self._began_s = time.monotonic()
        self._bound = bound
        self._port: int = bound.getsockname()[1]
        self._speed = speed
        self._endpoint = Endpoint(self.log, speed)
        self._children: ranks.Children | None = None

    def log(self, line: str) -> None:
        """Print one line as the recorded server prefixes it."""
        self._print(f"[@NOW@] {line}\n")

    async def run(self) -> None:
        """Play the script to its end, then serve for as long as standard input is open."""
        script = cues()
        ready_s = line_time(script, READY_LINE)
        assert ready_s is not None
        for cue in script:
            await self._until(cue.at_s)
            if self._children is None and cue.at_s >= RANKS_AT_S:
                self._children = ranks.spawn(TITLES)
            await self._play(cue, ready_s)
        await self._report()

    def end(self) -> None:
        """End the rank processes and wait for them."""
        if self._children:
            self._children.end()

    async def _play(self, cue: Cue, ready_s: float) -> None:
        if PORT_LINE in cue.text:
            await self._endpoint.open(self._bound)
        if cue.at_s >= ready_s:
            self._endpoint.ready = True
        self._print(cue.text)

    async def _report(self) -> None:
        """Print the throughput line of a serving engine, while there is something to report."""
        before = self._endpoint.generated
        while True:
            await asyncio.sleep(THROUGHPUT_EVERY_S)
            made, before = self._endpoint.generated - before, self._endpoint.generated
            if made and self._endpoint.running:
                self._print(
                    f"[@NOW@ TP0] Decode batch, #running-req: {self._endpoint.running}, token usage: 0.00, "
                    f"cuda graph: True, gen throughput (token/s): {made / THROUGHPUT_EVERY_S:.2f}, "
                    "#queue-req: 0\n"
                )

    async def _until(self, at_s: float) -> None:
        left_s = at_s / self._speed - (time.monotonic() - self._began_s)
        if left_s > 0:
            await asyncio.sleep(left_s)

    def _print(self, text: str) -> None:
        sys.stdout.write(filled(text, self._port, os.getpid(), time.time()))
        sys.stdout.flush()


async def _closed(stream: int) -> None:
    """Wait until the other end of a pipe is closed."""
    loop = asyncio.get_running_loop()
    gone = asyncio.Event()

    def look() -> None:
        if not os.read(stream, 4096):
            loop.remove_reader(stream)
            gone.set()

    loop.add_reader(stream, look)
    await gone.wait()


async def _main(bound: socket.socket, speed: float) -> None:
    engine = Engine(bound, speed)
    running = asyncio.create_task(engine.run())
    await _closed(0)
    running.cancel()
    engine.end()


def main(arguments: list[str]) -> None:
    """Run until standard input ends, then remove the folder of the log."""
    given = dict(zip(arguments[::2], arguments[1::2], strict=False))
    try:
        asyncio.run(_main(socket.socket(fileno=int(given["--fd"])), float(given["--speed"])))
    finally:
        shutil.rmtree(given["--folder"], ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1:])
