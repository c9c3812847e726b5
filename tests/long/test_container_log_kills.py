"""The ``logs`` command killed again and again while the container writes: no line lost, none twice."""

import asyncio
import os
import signal
import time
from collections import Counter
from collections.abc import Callable

import pytest
from container_logs import keep, log_watch, record
from ssh_server import until
from wrapped_host import WrappedHost

from tui.transport.container_log import reader
from tui.transport.wrapper import Kind

pytestmark = pytest.mark.long

KILLS = 10  # of each tool
BATCH = 25
EVERY_S = 0.05  # 500 lines a second


class Writer:
    """Writes batches of lines that share a stamp, the first two of each batch alike in all."""

    def __init__(self, host: WrappedHost) -> None:
        self.written = Counter[str]()
        self._host = host
        self._over = False
        self._count = 0

    async def run(self) -> None:
        """Write until told to end."""
        due_s = time.monotonic()
        while not self._over:
            now_ns = time.time_ns()
            texts = ["tick", "tick", *(f"line {self._count + number}" for number in range(BATCH - 2))]
            self._count += BATCH
            self.written.update(texts)
            streams = ["stdout", "stderr"]
            keep(self._host.log, *(record(f"{text}\n", now_ns, streams[len(text) % 2]) for text in texts))
            due_s += EVERY_S
            await asyncio.sleep(max(0.0, due_s - time.monotonic()))

    def end(self) -> None:
        """Write no more."""
        self._over = True


@pytest.mark.parametrize("kind", ["docker", "podman", "kubectl"])
async def test_no_line_is_lost_or_repeated_over_many_kills(
    kind: Kind, wrapped_here: WrappedHost, share: Callable[[int], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "BACKOFF_S", (0.1,))
    wrapped_here.log.touch()
    writer = Writer(wrapped_here)
    writing = asyncio.create_task(writer.run())
    async with log_watch(kind) as watch:
        for number in range(share(KILLS)):
            await until(lambda number=number: len(wrapped_here.log_runs()) > number)
            seen = len(watch.lines)
            await watch.until(lambda seen=seen: len(watch.lines) > seen + 4 * BATCH)
            os.kill(wrapped_here.log_runs()[-1][0], signal.SIGKILL)
        seen = len(watch.lines)
        await watch.until(lambda: len(watch.lines) > seen + 4 * BATCH)
        writer.end()
        await writing
        total = writer.written.total()
        await watch.until(lambda: len(watch.lines) >= total)
        await asyncio.sleep(0.05)
        read = Counter(watch.lines)

    assert (writer.written - read, read - writer.written) == (Counter(), Counter())
    assert watch.gaps == []
