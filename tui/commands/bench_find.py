"""Finding the server that ``tminus bench`` measures, over a source that runs."""

import asyncio
import math
import time
from collections.abc import Callable

from msgspec.structs import replace

from tui.commands.bench import Heard, SourceEnded
from tui.engines.counters import counters_for
from tui.events import AnyEvent
from tui.requests import BenchRequest, FollowRequest
from tui.watch.state import WatchState

FIND_S = 5.0
NO_SERVER = "no SGLang, vLLM or llama.cpp server was found there; give --url where it cannot be found"
CANCELLED = "cancelled before a server was found"


class NoServer(Exception):
    """There is none to measure; the text is the sentence that says why."""


async def find(
    heard: Heard, state: WatchState, take: Callable[[AnyEvent], str], stop: asyncio.Event
) -> FollowRequest:
    """Return how to follow the server, once the state knows it. Raises NoServer.

    Events are taken in for about 5 s from when the host has answered. ``take`` returns why the host is lost.
    """
    stopped = asyncio.create_task(_set(stop))
    try:
        return await _find(heard, state, take, stopped)
    finally:
        stopped.cancel()
        await asyncio.gather(stopped, return_exceptions=True)


async def _find(
    heard: Heard, state: WatchState, take: Callable[[AnyEvent], str], stopped: "asyncio.Task[object]"
) -> FollowRequest:
    until_s = math.inf
    while (left_s := until_s - time.monotonic()) > 0:
        try:
            event = await heard.next(stopped, timeout_s=None if left_s == math.inf else left_s)
        except SourceEnded:
            raise NoServer(state.link.sentence or "the source ended before a server was found") from None
        if stopped.done():
            raise NoServer(CANCELLED)
        if event is None:
            break
        if lost := take(event):
            raise NoServer(lost)
        if state.choice.kind == "several":
            raise NoServer(state.choice.sentence)
        if state.target is not None and wanted(state).probe is not None:
            return wanted(state)
        if state.hello is not None and until_s == math.inf:
            until_s = time.monotonic() + FIND_S
    if wanted(state).probe is None:
        raise NoServer(NO_SERVER)
    return wanted(state)


def wanted(state: WatchState) -> FollowRequest:
    """Return what the state would follow."""
    return state.wanted or FollowRequest(pid=None)


def for_server(state: WatchState, request: BenchRequest) -> BenchRequest:
    """Return the request for the server that was found, with the counters of its engine."""
    target = state.target
    request = replace(request, counters=counters_for(None if target is None else target.engine.name))
    plan = wanted(state).probe
    if plan is None:
        return request
    spec = replace(request.spec, url=plan.url, model=plan.expected_model)
    return replace(request, spec=spec, api_key=plan.api_key, key_from_argv=plan.key_from_argv)


async def _set(event: asyncio.Event) -> object:
    return await event.wait()
