"""``tminus [HOST]``: the screen."""

import asyncio

from tui import terminal
from tui.commands import start
from tui.commands.ask import terminal_asker
from tui.commands.open_asked import open_asked
from tui.session import Session
from tui.settings import Choices, UsageFault
from tui.transport.pipe import LinkFault


def run(choices: Choices) -> int:
    """Watch the host that was chosen on a screen; return the exit code."""
    if choices.json:
        raise UsageFault("--json goes with --once (one snapshot); for a stream of events: tminus wait --json")
    start.options_for(choices)
    check_terminal()
    from tui.commands.ask_on_screen import ScreenAsker
    from tui.commands.screen import show

    terminal_alone, host = terminal_asker(choices), start.place_of(choices)
    asker = None if terminal_alone is None or host is None else ScreenAsker(host, terminal_alone)

    async def opened() -> tuple[Session, LinkFault | None]:
        return await open_asked(choices, asker)

    return asyncio.run(show(opened, choices, asker))


def check_terminal(way: str = terminal.WITHOUT_SCREEN) -> None:
    """Raise UsageFault where no screen can be drawn; ``way`` says what works without one."""
    refused = terminal.refusal(terminal.facts(), way)
    if refused is not None:
        raise UsageFault(refused)
