"""``tminus bench``: find the server, run one benchmark beside it, print the result."""

import asyncio
import json
import math
import sys
import time
import uuid
from collections.abc import AsyncIterator

from msgspec.structs import replace

from tui.bench.report import STAGES, exit_code, json_object, text_lines
from tui.benchmark import BenchProgress, BenchResult
from tui.commands import start
from tui.commands.bench import Listeners, bench, without_figures
from tui.events import AnyEvent, Goodbye, Link
from tui.requests import AnyRequest, BenchRequest, FollowRequest
from tui.settings import Choices
from tui.source import Source
from tui.terminal import exit_signals
from tui.watch.options import WatchOptions
from tui.watch.state import WatchState

FIND_S = 5.0
CLOSE_S = 5.0
LOST = 4
SAY_EVERY_S = 2.0
NO_SERVER = "no SGLang, vLLM or llama.cpp server was found there; give --url where it cannot be found"


class Resumed:
    """A source some of whose events were taken already; the rest comes from here."""

    def __init__(self, source: Source, events: AsyncIterator[AnyEvent]) -> None:
        self._source = source
        self._events = events

    def __aiter__(self) -> AsyncIterator[AnyEvent]:
        return self._events

    def send(self, request: AnyRequest) -> None:
        """Pass a request on."""
        self._source.send(request)

    async def close(self) -> None:
        """End the source."""
        await self._source.close()


class Listener:
    """Hears the link and the progress of a run: says what is worth a line, keeps what ends it."""

    def __init__(self, *, quiet: bool) -> None:
        self.lost = ""
        self.fault: str | None = None
        self._quiet = quiet
        self._said_s = 0.0

    def other(self, event: AnyEvent) -> None:
        """Keep why the host cannot be reached any more."""
        if isinstance(event, Link) and event.state == "failed":
            self.lost, self.fault = event.sentence, event.fault
        elif isinstance(event, Goodbye):
            self.lost = event.sentence

    def progress(self, event: BenchProgress) -> None:
        """Say how far the run is, every two seconds."""
        now_s = time.monotonic()
        if self._quiet or now_s - self._said_s < SAY_EVERY_S:
            return
        self._said_s = now_s
        known = event.output_tokens_per_s is not None and event.output_tokens > 0
        rate = f", {event.output_tokens_per_s:.1f} output tokens/s" if known else ""
        done = event.completed + event.failed
        noun = "request" if event.requests == 1 else "requests"
        stage = STAGES[event.stage]
        start.say(f"{stage}: {done} of {event.requests} {noun}, {event.in_flight} in flight{rate}")


def run(choices: Choices) -> int:
    """Benchmark the server that was chosen; return the exit code."""
    options = start.options_for(choices)
    return asyncio.run(_run(choices, options))


async def _run(choices: Choices, options: WatchOptions) -> int:
    source = start.bench_source(choices, options)
    listener = Listener(quiet=choices.json)
    stop = asyncio.Event()
    codes: list[int] = []

    def leave(code: int) -> None:
        codes.append(code)
        stop.set()

    try:
        with exit_signals(leave):
            result = await _measure(source, choices, options, listener, stop)
    finally:
        await asyncio.wait({asyncio.ensure_future(source.close())}, timeout=CLOSE_S)
    _print(result, json_wanted=choices.json)
    if codes:
        return codes[0]
    if listener.lost:
        start.say(listener.lost + start.host_hint(choices, listener.fault))
        return LOST
    return exit_code(result)


async def _measure(
    source: Source, choices: Choices, options: WatchOptions, listener: Listener, stop: asyncio.Event
) -> BenchResult:
    request = BenchRequest(run=uuid.uuid4().hex[:8], spec=start.spec_for(choices), api_key=options.api_key)
    events = aiter(source)
    if start.host_of(choices) is None:
        request = replace(request, measured_on="this_machine")
    elif options.url is None:
        state = WatchState(options)
        sentence = await _found(events, state, listener, stop)
        if sentence:
            return without_figures(request, "cancelled" if stop.is_set() else "failed", sentence)
        request = _for_server(state, request)
        source.send(FollowRequest(pid=_wanted(state).pid, started_s=_wanted(state).started_s))
    listeners = Listeners(progress=listener.progress, other=listener.other)
    return await bench(Resumed(source, events), request, listeners, cancelled=stop)


async def _found(
    events: AsyncIterator[AnyEvent], state: WatchState, listener: Listener, stop: asyncio.Event
) -> str:
    """Wait until the state knows the server; return why there is none, empty when there is one."""
    finding = asyncio.create_task(_find(events, state, listener))
    ending = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({finding, ending}, return_when=asyncio.FIRST_COMPLETED)
        return finding.result() if finding.done() else "cancelled before a server was found"
    finally:
        finding.cancel()
        ending.cancel()
        await asyncio.gather(finding, ending, return_exceptions=True)


async def _find(events: AsyncIterator[AnyEvent], state: WatchState, listener: Listener) -> str:
    """Take events in until a server is known, for about 5 s from when the host has answered.

    The clock is looked at with each event (the heartbeat brings one a second): cutting off the wait for the
    next one would end the source for the benchmark as well.
    """
    until_s = math.inf
    while time.monotonic() < until_s:
        event = await anext(events, None)
        if event is None:
            return state.link.sentence or "the source ended before a server was found"
        state.apply(event)
        listener.other(event)
        if listener.lost:
            return listener.lost
        if state.choice.kind == "several":
            return state.choice.sentence
        if state.target is not None and _wanted(state).probe is not None:
            return ""
        if state.hello is not None and until_s == math.inf:
            until_s = time.monotonic() + FIND_S
    return "" if _wanted(state).probe is not None else NO_SERVER


def _wanted(state: WatchState) -> FollowRequest:
    return state.wanted or FollowRequest(pid=None)


def _for_server(state: WatchState, request: BenchRequest) -> BenchRequest:
    """Return the request for the server that was found."""
    plan = _wanted(state).probe
    if plan is None:
        return request
    spec = replace(request.spec, url=plan.url, model=plan.expected_model)
    return replace(request, spec=spec, api_key=plan.api_key, key_from_argv=plan.key_from_argv)


def _print(result: BenchResult, *, json_wanted: bool) -> None:
    lines = [json.dumps(json_object(result))] if json_wanted else text_lines(result)
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()
