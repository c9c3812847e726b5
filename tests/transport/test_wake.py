"""A machine that slept: it is noticed by the clocks, the old link is tested at once, and a dead one left."""

import os
import signal
from collections.abc import Callable
from typing import Any

import pytest
from watching import Watching, scripted

from tui.agent import wire
from tui.events import Hello, Link, Pong
from tui.requests import WatchRequest
from tui.transport import agent_source, connection, wake
from tui.transport.agent_source import AgentSource
from tui.transport.local import local_opener
from tui.transport.pipe import LinkFault, Pipe
from tui.transport.wake import Wake

NIGHT_S = 30_000.0
WATCH = WatchRequest(matchers=[], gpus=False, discover=False)
SILENT = "say(HELLO); sys.stdin.read()"
ANSWERS = (
    "say(HELLO)\n"
    "for line in sys.stdin.buffer.raw:\n"
    "    if b'\"ping\"' in line: say({'kind': 'pong', 'mono_s': 1.0, 'wall_s': 2.0, 'sent_s': 7.0})\n"
)


class Clocks:
    """Both clocks of a machine that a test lets sleep."""

    def __init__(self) -> None:
        self.mono_s, self.wall_s = 100.0, 1.8e9

    def go_on(self, mono_s: float, wall_s: float | None = None) -> None:
        """Let time pass, on the wall clock more than on the other one where the machine sleeps."""
        self.mono_s += mono_s
        self.wall_s += mono_s if wall_s is None else wall_s

    def wake(self) -> Wake:
        """Return who looks at them."""
        return Wake(lambda: self.mono_s, lambda: self.wall_s)


@pytest.mark.parametrize(
    ("mono_s", "wall_s", "slept"),
    [
        (1.0, 1.0, False),
        (1.0, 4.0, False),
        (1.0, 61.0, True),
        (1.0, -3600.0, False),
        (3.0, 3.0, False),
        (60.0, 60.0, True),
    ],
)
def test_a_sleep_is_told_from_a_clock_that_was_set_a_little(
    mono_s: float, wall_s: float, slept: bool
) -> None:
    clocks = Clocks()
    looks = clocks.wake()
    clocks.go_on(mono_s, wall_s)
    assert looks.look() is slept
    assert looks.look() is False
    assert looks.taken() is slept
    assert looks.taken() is False


def test_what_was_before_somebody_looked_does_not_count() -> None:
    clocks = Clocks()
    looks = clocks.wake()
    clocks.go_on(600.0)
    looks.begin()
    assert not looks.look()


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_source, "BACKOFF_S", (100.0,))
    monkeypatch.setattr(agent_source, "LOOK_S", 0.05)
    monkeypatch.setattr(wire, "PING_INTERVAL_S", 0.05)
    monkeypatch.setattr(connection, "ANSWER_S", 0.3)


async def woken(code: str, clocks: Clocks, holds: Callable[[Watching], Any]) -> Watching:
    """Watch a stand-in for an agent, let this machine sleep, and wait for what comes of it."""
    watching = Watching(AgentSource(scripted(code), WATCH, reconnect=True, wake=clocks.wake()))
    await watching.find(Hello)
    clocks.go_on(1.0, NIGHT_S)
    await holds(watching)
    await watching.close()
    return watching


async def test_a_link_that_died_in_the_sleep_is_left_and_made_anew_at_once() -> None:
    async def again(watching: Watching) -> None:
        lost = await watching.find(Link, lambda link: link.state == "lost")
        assert lost.retry_in_s == 0.0
        assert lost.sentence == "this machine slept, and nothing on the host has answered within 0.3 s since"
        await watching.find(Hello, after=watching.events.index(lost))

    await woken(SILENT, Clocks(), again)


async def test_a_link_that_outlived_the_sleep_is_kept() -> None:
    async def answers(watching: Watching) -> None:
        for _ in range(12):  # twice as long as it may take to answer
            await watching.find(Pong, after=len(watching.events))

    watching = await woken(ANSWERS, Clocks(), answers)
    assert [event.state for event in watching.events if isinstance(event, Link)] == [
        "connecting",
        "up",
        "closed",
    ]


async def test_who_wakes_while_the_host_is_away_tries_again_at_once() -> None:
    clocks, tries = Clocks(), 0

    async def away_at_first(command: list[str]) -> Pipe:
        nonlocal tries
        tries += 1
        if tries == 2:
            raise LinkFault("dns", "no such name", retry=False)
        return await local_opener()(command)

    watching = Watching(AgentSource(away_at_first, WATCH, reconnect=True, wake=clocks.wake()))
    hello = await watching.find(Hello)
    os.kill(hello.pid, signal.SIGKILL)
    first = await watching.find(Link, lambda link: link.state == "lost")
    clocks.go_on(1.0, NIGHT_S)
    second = await watching.find(
        Link, lambda link: link.state == "lost", after=watching.events.index(first) + 1
    )
    assert second.sentence == "no such name"
    clocks.go_on(1.0, NIGHT_S)
    await watching.find(Hello, lambda again: again.pid != hello.pid)
    await watching.close()


def test_the_host_has_two_seconds() -> None:
    assert (wake.ANSWER_S, wake.LOOK_S) == (2.0, 1.0)
