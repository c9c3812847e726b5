"""``tminus [HOST]``: the screen."""

import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable

from tui import terminal
from tui.commands import start
from tui.session import Session
from tui.settings import Choices, UsageFault


def run(choices: Choices) -> int:
    """Watch the host that was chosen on a screen; return the exit code."""
    if choices.json:
        raise UsageFault("--json goes with --once (one snapshot); for a stream of events: tminus wait --json")
    start.options_for(choices)
    check_terminal()
    return show(lambda: opened(choices), choices)


async def opened(choices: Choices) -> Session:
    """Return the session that the screen shows."""
    return start.open_session(choices)


def check_terminal() -> None:
    """Raise UsageFault where no screen can be drawn."""
    refused = terminal.refusal(terminal.facts())
    if refused is not None:
        raise UsageFault(refused)
