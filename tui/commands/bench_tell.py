"""What ``tminus bench`` says while it runs, and what it asks a person."""

import asyncio
import os
import sys
import time

from tui.bench.profiles import MANY
from tui.bench.report import STAGES, level_name
from tui.benchmark import BenchProgress, BenchSpec
from tui.commands import start
from tui.commands.bench import Heard
from tui.transport.clean import clean

SAY_EVERY_S = 2.0
YES = ("y", "yes")
STDIN = 0


class Teller:
    """Says how far a run is, every two seconds; says nothing where the output is for a program."""

    def __init__(self, *, quiet: bool) -> None:
        self.spec: BenchSpec | None = None
        self._quiet = quiet
        self._said_s = 0.0
        self._stage = ""

    def progress(self, event: BenchProgress) -> None:
        """Say how far the run is, when its stage is new or two seconds are over."""
        now_s = time.monotonic()
        new, self._stage = event.stage != self._stage, event.stage
        if self._quiet or (not new and now_s - self._said_s < SAY_EVERY_S):
            return
        self._said_s = now_s
        start.say(progress_words(event, self.spec))


def progress_words(event: BenchProgress, spec: BenchSpec | None) -> str:
    """Return how far a run is in one line."""
    words = [f"{event.in_flight} in flight"]
    if event.output_tokens_per_s is not None and event.output_tokens > 0:
        words.append(f"{event.output_tokens_per_s:.1f} output tokens/s")
    if event.ttft_ms is not None:
        words.append(f"TTFT {event.ttft_ms:.0f} ms")
    if event.itl_ms is not None:
        words.append(f"ITL {event.itl_ms:.1f} ms")
    if event.failed:
        words.append(f"{event.failed} failed")
    done = event.completed + event.failed
    noun = "request" if event.requests == 1 else "requests"
    of = f"{done} {noun}" if event.requests >= MANY else f"{done} of {event.requests} {noun}"
    level = f"{level_name(spec)}, " if spec is not None and spec.levels > 1 else ""
    return f"{level}{STAGES[event.stage]}: {of}, {', '.join(words)}"


def can_ask() -> bool:
    """Tell whether there is a person to ask."""
    return sys.stdin.isatty() and sys.stderr.isatty()


async def agrees(question: str, heard: Heard, stop: asyncio.Event) -> bool:
    """Ask a person; only a yes is one. The source is heard meanwhile, or the host would wait for us."""
    sys.stderr.write(clean(f"tminus: {question} [y/N] "))
    sys.stderr.flush()
    answer = asyncio.create_task(_line())
    stopped = asyncio.create_task(_set(stop))
    try:
        while not answer.done() and not stopped.done():
            await heard.next(answer, stopped)
        return answer.done() and str(answer.result()).strip().lower() in YES
    finally:
        for task in (answer, stopped):
            task.cancel()
        await asyncio.gather(answer, stopped, return_exceptions=True)


async def _line() -> object:
    """Read one line of standard input without a thread, which could not be given up, where that can be."""
    loop = asyncio.get_running_loop()
    said: asyncio.Future[str] = loop.create_future()

    def hear() -> None:
        data = os.read(STDIN, 4096).decode("utf-8", "replace")
        if not said.done():
            said.set_result(data)

    try:
        loop.add_reader(STDIN, hear)
    except NotImplementedError:  # Windows
        return await asyncio.to_thread(sys.stdin.readline)
    try:
        return await said
    finally:
        loop.remove_reader(STDIN)


async def _set(event: asyncio.Event) -> object:
    return await event.wait()
