"""``tminus [HOST]``: the screen."""

import asyncio

from tui import terminal
from tui.commands import start
from tui.commands.ask import terminal_asker
from tui.commands.hosts import check_hosts
from tui.commands.open_asked import open_asked
from tui.commands.turns import Turns
from tui.session import Session
from tui.settings import Choices, UsageFault
from tui.transport.pipe import LinkFault


def run(choices: Choices) -> int:
    """Watch the host that was chosen on a screen; return the exit code."""
    if choices.json:
        raise UsageFault("--json goes with --once (one snapshot); for a stream of events: tminus wait --json")
    check_hosts(choices)
    check_terminal()
    from tui.commands.ask_on_screen import ScreenAsker
    from tui.commands.screen import show

    terminal_alone, host = terminal_asker(choices), start.place_of(choices)
    if choices.others:
        from tui.commands.hosts_screen import show_hosts

        return asyncio.run(show_hosts(choices, None if terminal_alone is None else Turns(terminal_alone)))
    asker = None if terminal_alone is None or host is None else ScreenAsker(host, terminal_alone)

    async def opened() -> tuple[Session, LinkFault | None]:
        return await open_asked(choices, asker)

    return asyncio.run(show(opened, choices, asker))


def check_terminal(way: str = terminal.WITHOUT_SCREEN) -> None:
    """Raise UsageFault where no screen can be drawn; ``way`` says what works without one."""
    refused = terminal.refusal(terminal.facts(), way)
    if refused is not None:
        raise UsageFault(refused)
