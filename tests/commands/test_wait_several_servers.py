"""``tminus wait`` where several servers run and none was named: it says how to choose instead of waiting."""

import asyncio
import time
from collections.abc import AsyncIterator

import pytest
from simulated_launch import launch
from tminus_command import Tminus
from watched_host import SGLANG, Watch, WatchedHost, process

from tui.commands.wait import SEVERAL_S, Ending, Printer, decide
from tui.events import AnyEvent, Link, Process
from tui.settings import Choices, UsageFault

FIRST = process(100, SGLANG, matched="sglang")
SECOND = process(200, "vllm serve qwen --port 9000", matched="vllm")


async def decided(host: WatchedHost, *lists: tuple[float, tuple[Process, ...]]) -> Ending:
    """Return how a wait ends that sees these processes, each list so many seconds after the one before."""

    async def updates() -> AsyncIterator[AnyEvent]:
        for after_s, found in lists:
            host.wait(after_s)
            host.processes(*found)
            yield Link(**host.when, state="up", sentence="")

    printer = Printer(json=True, began_s=time.monotonic())
    return await decide(updates, host.state, printer, Choices(restarts=True))


async def test_several_servers_that_stay_end_it_with_how_to_choose(watched: Watch) -> None:
    host = watched()
    host.hello()
    both = (FIRST, SECOND)
    with pytest.raises(UsageFault, match="2 servers, choose one with --pid or --port: pid 100") as fault:
        await decided(host, (0.0, both), (SEVERAL_S / 2, both), (SEVERAL_S / 2, both))
    assert "port 9000" in str(fault.value)
    assert "\n" not in str(fault.value)


async def test_a_server_that_goes_soon_leaves_the_other_to_be_followed(watched: Watch) -> None:
    host = watched()
    host.hello()
    ended = await decided(host, (0.0, (FIRST, SECOND)), (SEVERAL_S * 0.9, (SECOND,)), (SEVERAL_S, (SECOND,)))
    assert ended.outcome == "lost"  # the events ended, the wait would have gone on
    assert host.state.shown is not None
    assert host.state.shown.pid == 200


async def test_two_that_come_after_the_one_that_was_followed_end_nothing(watched: Watch) -> None:
    host = watched()
    host.hello()
    host.starts(50)
    host.exits(50)
    heirs = tuple(process(pid, SGLANG, matched="sglang", started_s=9e3) for pid in (300, 400))
    ended = await decided(host, (0.0, heirs), (SEVERAL_S * 3, heirs))
    assert ended.outcome == "lost"
    assert host.state.choice.kind == "several"


async def test_two_real_servers_are_told_in_one_line_with_exit_code_2(tminus: Tminus) -> None:
    servers = await asyncio.gather(launch(0.5), launch(0.5))
    try:
        done = await tminus.aside("wait", "local", "--timeout", "300s", "--no-record")
    finally:
        await asyncio.gather(*(each.close() for each in servers))
    assert done.code == 2, done
    assert "servers, choose one with --pid or --port: pid " in done.err
    assert done.err.startswith("tminus: ")
    assert done.err.count("\n") == 1
