"""``tminus --once --json``: one snapshot of a host and its server, and the end."""

import asyncio
import sys
import time

import msgspec

from tui.commands import start
from tui.commands.ask import terminal_asker
from tui.commands.open_asked import open_asked
from tui.commands.snapshot import Snapshot, complete, snapshot
from tui.session import Session
from tui.settings import Choices, UsageFault

LONGEST_S = 7.0
"""A server of which nothing moves is called quiet after 5 s."""
CONNECT_S = 30.0
LOST = 4


def run(choices: Choices) -> int:
    """Print the snapshot of the host that was chosen; return the exit code."""
    if not choices.json:
        raise UsageFault("--once prints JSON: write --once --json; for words use tminus wait")
    return asyncio.run(_once(choices))


async def _once(choices: Choices) -> int:
    session, _ = await open_asked(choices, terminal_asker(choices), recorded=False, always=True)
    looking = asyncio.create_task(_look(session))
    try:
        await asyncio.wait({looking}, timeout=CONNECT_S + LONGEST_S)
        if looking.done():
            looking.result()
        return _tell(session, choices)
    finally:
        await start.let_go(looking, session)


async def _look(session: Session) -> None:
    """Follow the watch until every part has been heard once, at most 7 s after the host answered."""
    until_s: float | None = None
    async for _ in session.updates():
        now_s = time.monotonic()
        if session.state.link.state == "failed":
            return
        if session.state.hello is not None and until_s is None:
            until_s = now_s + LONGEST_S
        if complete(session.state) or (until_s is not None and now_s >= until_s):
            return


def _tell(session: Session, choices: Choices) -> int:
    link = session.state.link
    if link.state == "failed" and link.fault == "usage":
        raise UsageFault(link.sentence)
    if session.state.hello is None:
        why = link.sentence or "the host did not answer"
        start.say(why + start.host_hint(choices, link.fault))
        return LOST
    sys.stdout.write(encoded(snapshot(session.state, time.monotonic())) + "\n")
    sys.stdout.flush()
    return 0


def encoded(found: Snapshot) -> str:
    """Return a snapshot as one JSON line, without the newline."""
    return msgspec.json.encode(found).decode()
