"""``tminus demo``: a simulated 8-GPU load on the screen or, with ``--headless``, printed as ``wait`` does."""

import asyncio
import dataclasses
import time

from tui.commands import start
from tui.commands.wait import wait
from tui.commands.watch import check_terminal
from tui.demo.launch import Launch, launch
from tui.demo.source import DemoSource
from tui.session import Session
from tui.settings import Choices
from tui.watch.options import WatchOptions


def run(choices: Choices, *, list_all: bool = False) -> int:
    """Show the demo; return the exit code."""
    if choices.headless or choices.json:
        return asyncio.run(_headless(choices))
    check_terminal()
    from tui.commands.screen import show

    return asyncio.run(show(lambda: open_demo(choices), choices))


async def _headless(choices: Choices) -> int:
    began_s = time.monotonic()
    return await wait(await open_demo(choices), choices, began_s)


async def open_demo(choices: Choices) -> Session:
    """Start the simulated engine and return a session that watches it."""
    speed = choices.speed or 1.0
    engine = await launch(speed)
    options = options_for(engine)
    source = DemoSource(start.local_agent(options, gpus=False), engine, speed)
    return Session(source, options, start.spec_for(dataclasses.replace(choices, url=None)), journal=None)


def options_for(engine: Launch) -> WatchOptions:
    """Return what the demo watches: its own engine and no other server of this machine."""
    return WatchOptions(pid=engine.pid)
