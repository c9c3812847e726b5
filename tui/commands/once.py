"""``tminus --once --json``: one snapshot of a host and its server, and the end."""

import asyncio
import sys
import time
from functools import partial

import msgspec
from msgspec.structs import replace

from tui.commands import start
from tui.commands.ask import terminal_asker
from tui.commands.hosts import WatchedHost, hosts_of, let_all_go
from tui.commands.load_records import LoadPart, load_part
from tui.commands.open_asked import open_asked
from tui.commands.records import of_target
from tui.commands.snapshot import Snapshot, Unreached, complete, snapshot
from tui.commands.turns import Turns
from tui.commands.wait import Updates
from tui.session import Session
from tui.settings import Choices, UsageFault
from tui.transport.asking import Asker
from tui.watch.nodes.load import loads
from tui.watch.state import WatchState

LONGEST_S = 7.0
"""A server of which nothing moves is called quiet after 5 s."""
SHELL_S = 15.0
"""Where nvidia-smi tells of the GPUs its first round may take 8 s, after some seconds to start."""
CONNECT_S = 30.0
LOST = 4
NO_ANSWER = "the host did not answer"


def run(choices: Choices) -> int:
    """Print the snapshot of the host that was chosen; return the exit code."""
    if not choices.json:
        raise UsageFault("--once prints JSON: write --once --json; for words use tminus wait")
    asker = terminal_asker(choices)
    if choices.others:
        return asyncio.run(_once_each(choices, None if asker is None else Turns(asker)))
    return asyncio.run(_once(choices, asker))


async def _once(choices: Choices, asker: Asker | None) -> int:
    session, _ = await open_asked(choices, asker, recorded=False, always=True)
    looking = asyncio.create_task(_look(session.updates, session.state))
    try:
        await asyncio.wait({looking}, timeout=CONNECT_S + SHELL_S)
        if looking.done():
            looking.result()
        return _tell(session, choices)
    finally:
        await start.let_go(looking, session)


async def _once_each(choices: Choices, turns: Turns | None) -> int:
    """Print a line for each host, in the order in which they were named."""
    hosts = hosts_of(choices, turns, recorded=False)
    looking = [
        asyncio.create_task(_look(partial(host.updates, connect=True), host.session.state)) for host in hosts
    ]
    try:
        await asyncio.gather(*(host.opened.wait() for host in hosts))
        await asyncio.wait(looking, timeout=CONNECT_S + SHELL_S)
        for task in looking:
            if task.done():
                task.result()
        now_s = time.monotonic()
        found = loads([(host.name, host.session.state) for host in hosts], now_s)
        parts = {at: load_part(load) for load in found for at in load.members}
        return max([_tell_of(host, parts.get(at)) for at, host in enumerate(hosts)])
    finally:
        await let_all_go(looking, hosts)


def _tell_of(host: WatchedHost, load: LoadPart | None) -> int:
    state = host.session.state
    is_reached = state.hello is not None
    found = replace(snapshot(state, time.monotonic()), load=load) if is_reached else _unreached(host)
    _print(of_target(encoded(found), host.name))
    if not is_reached:
        start.say(host.why_unreached())
    return 0 if is_reached else LOST


def _unreached(host: WatchedHost) -> Unreached:
    fault = host.fault
    return Unreached(fault=fault.fault, reason=fault.sentence or NO_ANSWER)


async def _look(updates: Updates, state: WatchState) -> None:
    """Follow the watch until every part has been heard once, for a bounded time after the host answered."""
    until_s: float | None = None
    async for _ in updates():
        now_s = time.monotonic()
        if state.link.state == "failed":
            return
        if state.hello is not None and until_s is None:
            until_s = now_s + (SHELL_S if state.without_python else LONGEST_S)
        if complete(state) or (until_s is not None and now_s >= until_s):
            return


def _tell(session: Session, choices: Choices) -> int:
    link = session.state.link
    if link.state == "failed" and link.fault == "usage":
        raise UsageFault(link.sentence)
    if session.state.hello is None:
        why = link.sentence or NO_ANSWER
        unreached = Unreached(fault=link.fault or "timeout", reason=why)
        _print(of_target(encoded(unreached), choices.host or start.place_of(choices) or "url"))
        start.say(why + start.host_hint(choices, link.fault))
        return LOST
    _print(encoded(snapshot(session.state, time.monotonic())))
    return 0


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def encoded(found: Snapshot | Unreached) -> str:
    """Return what was found as one JSON line, without the newline."""
    return msgspec.json.encode(found).decode()
