"""``tminus bench --self-test``: what a host adds to the figures that are taken on it.

The agent runs a server that keeps a known schedule beside its load generator, in a process of its own; both
travel with the agent, so any host can be tested as it will measure.
"""

import asyncio
import dataclasses
import json
import sys
import uuid

from tui.bench import self_test
from tui.bench.report import level_name, wrapped
from tui.bench.self_test import Added
from tui.benchmark import BenchResult
from tui.commands import start
from tui.commands.bench import Heard, Listeners, bench
from tui.events import AnyEvent, Link
from tui.requests import BenchRequest
from tui.settings import Choices
from tui.source import Source
from tui.terminal import exit_signals
from tui.watch.options import WatchOptions

CLOSE_S = 5.0
LOST = 4
UNTRUSTED = 1


def run(choices: Choices) -> int:
    """Test the host that was chosen, or this machine; return the exit code."""
    here = dataclasses.replace(choices, host=start.host_of(choices) or start.LOCAL, url=None)
    return asyncio.run(_run(here))


async def _run(choices: Choices) -> int:
    source = _source(choices)
    links: list[Link] = []
    stop = asyncio.Event()
    codes: list[int] = []

    def leave(code: int) -> None:
        codes.append(code)
        stop.set()

    heard = Heard(source)
    try:
        with exit_signals(leave):
            results = await _levels(source, heard, links, stop, quiet=choices.json)
    finally:
        await heard.close()
        await asyncio.wait({asyncio.ensure_future(source.close())}, timeout=CLOSE_S)
    if codes:
        return codes[0]
    failed = next((link for link in links if link.state == "failed"), None)
    if failed is not None:
        start.say(failed.sentence + start.host_hint(choices, failed.fault))
        return LOST
    return _tell([self_test.added(result) for result in results], choices)


def _source(choices: Choices) -> Source:
    options = WatchOptions(interval_s=choices.interval)
    if choices.host is None or start.is_here(choices):
        return start.local_agent(options, gpus=False)
    return start.remote_agent(choices.host, choices, options, gpus=False)


async def _levels(
    source: Source, heard: Heard, links: list[Link], stop: asyncio.Event, *, quiet: bool
) -> list[BenchResult]:
    """Run the levels; one of which nothing came ends them."""

    def other(event: AnyEvent) -> None:
        if isinstance(event, Link):
            links.append(event)

    results: list[BenchResult] = []
    for spec in self_test.specs():
        if not quiet:
            start.say(f"{level_name(spec)} against a server that keeps a schedule")
        request = BenchRequest(
            run=uuid.uuid4().hex[:8], spec=spec, counters=self_test.COUNTERS, self_test=True
        )
        results.append(await bench(source, request, Listeners(other=other), heard=heard, cancelled=stop))
        if stop.is_set() or not results[-1].completed:
            break
    return results


def _tell(levels: list[Added], choices: Choices) -> int:
    where = "this machine" if start.is_here(choices) else str(start.place_of(choices))
    sentence = self_test.sentence(levels, where)
    if choices.json:
        whole = {
            "trusted_streams": self_test.trusted(levels),
            "sentence": sentence,
            "levels": [dataclasses.asdict(level) for level in levels],
        }
        sys.stdout.write(json.dumps(whole) + "\n")
    else:
        sys.stdout.write("\n".join([*self_test.table(levels), "", *wrapped(sentence)]) + "\n")
    sys.stdout.flush()
    return UNTRUSTED if any(level.doubt for level in levels) else 0
