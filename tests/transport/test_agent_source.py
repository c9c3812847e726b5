"""The source over a real agent and over scripted ones: alive, taken up again, ended cleanly."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import IO, Any

import pytest
from agent_process import alive, children_of
from watching import Watching, scripted

from tui.agent import wire
from tui.events import AnyEvent, Goodbye, GpuDriver, Hello, Link, Log, Notice, Pong, Processes
from tui.requests import BenchCancelRequest, FollowRequest, PingRequest, WatchRequest
from tui.transport import agent_source
from tui.transport.agent_source import AgentSource
from tui.transport.local import local_opener
from tui.transport.pipe import LinkFault, Opener, Pipe

WATCH = WatchRequest(matchers=[])
Start = Callable[..., Watching]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_source, "BACKOFF_S", (0.02, 0.04))
    monkeypatch.setattr(wire, "PING_INTERVAL_S", 0.1)


@pytest.fixture
async def watch() -> AsyncIterator[Start]:
    """Watch over an opener (the local one by default); closed with the test."""
    started: list[Watching] = []

    def start(opener: Opener | None = None, request: WatchRequest = WATCH, **options: Any) -> Watching:
        options = {"reconnect": False, "python": sys.executable, **options}
        started.append(Watching(AgentSource(opener or local_opener(), request, **options)))
        return started[-1]

    yield start
    for watching in started:
        await watching.close()


def states(events: list[AnyEvent]) -> list[str]:
    return [event.state for event in events if isinstance(event, Link)]


async def test_the_link_comes_up_and_the_host_says_hello(watch: Start) -> None:
    watching = watch()
    hello = await watching.find(Hello)
    await watching.find(Pong)

    assert states(watching.events) == ["connecting", "up"]
    assert watching.events[2] == hello
    assert hello.host == os.uname().nodename
    assert 0 <= hello.client_s - hello.mono_s < 5  # here the host's clock is ours


async def test_every_worker_of_the_real_agent_is_decoded_strictly(watch: Start, tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.write_text("hello\n")
    watching = watch()
    watching.source.send(FollowRequest(pid=os.getpid(), log_path=str(log)))
    await watching.find(GpuDriver)
    await watching.find(Processes, lambda event: any(each.pid == os.getpid() for each in event.processes))
    lines = await watching.find(Log, lambda event: event.lines)

    assert lines.lines == ["hello"]
    assert not [event for event in watching.events if isinstance(event, Notice) and event.level == "error"]


async def test_pings_go_out_and_come_back(watch: Start) -> None:
    watching = watch()
    for _ in range(3):
        pong = await watching.find(Pong, after=len(watching.events))
        assert pong.sent_s <= pong.mono_s <= time.monotonic()


async def test_closing_ends_the_agent_with_its_workers(watch: Start) -> None:
    watching = watch()
    hello = await watching.find(Hello)
    await watching.find(Processes)
    workers = children_of(hello.pid)
    await watching.source.close()
    await watching.source.close()
    last = await watching.ended()

    assert isinstance(last, Link)
    assert last.state == "closed"
    assert workers
    assert not alive(hello.pid)
    assert not any(map(alive, workers))


async def test_closing_before_and_during_the_start_ends_at_once(watch: Start) -> None:
    async def hangs(_: list[str]) -> Pipe:
        await asyncio.sleep(1000)
        raise AssertionError

    unread = AgentSource(local_opener(), WATCH, reconnect=True)
    await unread.close()
    assert [event.state async for event in unread if isinstance(event, Link)] == ["closed"]

    watching = watch(hangs, reconnect=True)
    await watching.find(Link)
    await watching.close()
    assert states(watching.events) == ["connecting", "closed"]


async def test_a_killed_agent_is_started_again_and_asked_again(watch: Start) -> None:
    watching = watch(reconnect=True)
    first = await watching.find(Hello)
    await watching.find(Processes)
    os.kill(first.pid, signal.SIGKILL)
    second = await watching.find(Hello, lambda hello: hello.pid != first.pid)
    await watching.find(Processes, after=watching.events.index(second))

    assert states(watching.events) == ["connecting", "up", "lost", "connecting", "up"]
    lost = await watching.find(Link, lambda link: link.state == "lost")
    assert lost.sentence == "the agent ended by signal 9"
    assert lost.retry_in_s is not None
    assert 0.02 <= lost.retry_in_s <= 0.024


async def test_a_killed_agent_is_a_failure_without_reconnect(watch: Start) -> None:
    watching = watch()
    os.kill((await watching.find(Hello)).pid, signal.SIGKILL)
    last = await watching.ended()

    assert isinstance(last, Link)
    assert (last.state, last.fault) == ("failed", "agent")


def writer(code: str, file: IO[str]) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, "-c", code], stdout=file)


async def test_no_log_line_is_lost_or_repeated_over_lost_links(watch: Start, tmp_path: Path) -> None:
    log, count = tmp_path / "server.log", 3000
    code = (
        "import os, sys, time\n"
        f"for number in range({count}):\n"
        # A third for each link, so that each has lines to tell.
        f"    gate = {str(log)!r} + str(number)\n"
        f"    while not number % {count // 3} and not os.path.exists(gate): time.sleep(0.01)\n"
        "    sys.stdout.write('line %d\\n' % number if number % 3 else 'li')\n"
        "    if not number % 3: sys.stdout.flush(); sys.stdout.write('ne %d\\n' % number)\n"
        "    if not number % 10: sys.stdout.flush(); time.sleep(0.002)\n"
    )
    watching = watch(reconnect=True, request=WatchRequest(matchers=[], gpus=False, discover=False))
    watching.source.send(FollowRequest(pid=None, log_path=str(log)))
    with log.open("w") as file, writer(code, file):
        seen = 0
        for first in range(0, count, count // 3):
            hello = await watching.find(Hello, after=seen)
            log.with_name(f"{log.name}{first}").touch()
            seen = watching.events.index(hello) + 1
            await watching.find(Log, lambda event: event.lines, after=seen)
            os.kill(hello.pid, signal.SIGKILL)
        await watching.find(Log, lambda event: f"line {count - 1}" in event.lines)
    lines = [line for event in watching.events if isinstance(event, Log) for line in event.lines]

    assert lines == [f"line {number}" for number in range(count)]


@pytest.mark.parametrize("fault", ["usage", "auth", "host_key", "no_python"])
async def test_what_needs_a_person_is_not_tried_again(watch: Start, fault: str) -> None:
    async def refuses(_: list[str]) -> Pipe:
        raise LinkFault(fault, "ask someone", retry=False)

    watching = watch(refuses, reconnect=True)
    last = await watching.ended()

    assert isinstance(last, Link)
    assert (last.state, last.fault, last.sentence) == ("failed", fault, "ask someone")
    assert states(watching.events) == ["connecting", "failed"]


async def test_a_link_that_stays_rests_until_somebody_wants_another_try(watch: Start) -> None:
    faults = ["auth", "host_key"]

    async def refuses_at_first(command: list[str]) -> Pipe:
        if faults:
            raise LinkFault(faults.pop(0), "ask someone", retry=False)
        return await local_opener()(command)

    watching = watch(refuses_at_first, reconnect=True, stays=True)
    for fault in ("auth", "host_key"):
        failed = await watching.find(Link, lambda link, fault=fault: link.fault == fault)
        assert watching.source.rests
        assert watching.events[-1] == failed
        watching.source.try_again()
    await watching.find(Hello)

    assert not watching.source.rests
    assert states(watching.events) == ["connecting", "failed"] * 2 + ["connecting", "up"]


async def test_a_link_that_rests_ends_when_it_is_closed(watch: Start) -> None:
    async def refuses(_: list[str]) -> Pipe:
        raise LinkFault("auth", "ask someone", retry=False)

    watching = watch(refuses, reconnect=True, stays=True)
    await watching.find(Link, lambda link: link.state == "failed")
    await watching.close()

    assert states(watching.events) == ["connecting", "failed"]
    assert not watching.source.rests


async def test_a_host_that_was_never_reached_is_tried_only_while_that_may_help(watch: Start) -> None:
    tries: list[bool] = []

    async def away(_: list[str]) -> Pipe:
        tries.append(len(tries) < 3)
        raise LinkFault("refused" if tries[-1] else "dns", "away", retry=tries[-1])

    watching = watch(away, reconnect=True)
    await watching.ended()

    assert states(watching.events) == ["connecting", "lost"] * 3 + ["connecting", "failed"]
    delays = [
        event.retry_in_s or 0.0 for event in watching.events if isinstance(event, Link) and event.retry_in_s
    ]
    assert all(low <= delay <= low * 1.2 for low, delay in zip((0.02, 0.04, 0.04), delays, strict=True))


async def test_a_network_that_went_away_is_waited_for(watch: Start) -> None:
    tries = 0

    async def flaky(command: list[str]) -> Pipe:
        nonlocal tries
        tries += 1
        if 1 < tries < 5:
            raise LinkFault("dns", "no such name", retry=False)
        return await local_opener()(command)

    watching = watch(flaky, reconnect=True)
    first = await watching.find(Hello)
    os.kill(first.pid, signal.SIGKILL)
    await watching.find(Hello, lambda hello: hello.pid != first.pid)

    assert tries == 5


async def test_an_agent_that_fails_at_its_start_is_told_with_its_error(watch: Start) -> None:
    watching = watch(scripted("say(HELLO); sys.exit('Traceback: no such luck')"), reconnect=True)
    last = await watching.ended()

    assert isinstance(last, Link)
    assert (last.state, last.fault) == ("failed", "agent")
    assert last.sentence == "the agent ended with status 1 (it said: Traceback: no such luck)"


async def test_an_agent_that_fails_after_a_while_is_tried_again(
    watch: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui.transport.connection._EARLY_S", 0.0)
    watching = watch(scripted("say(HELLO); sys.exit('out of luck')"), reconnect=True)
    lost = await watching.find(Link, lambda link: link.state == "lost")

    assert lost.sentence == "the agent ended with status 1 (it said: out of luck)"


async def test_an_agent_that_says_nothing_is_given_up(watch: Start) -> None:
    watching = watch(scripted("time.sleep(100)"), timeout_s=0.3)
    last = await watching.ended()

    assert isinstance(last, Link)
    assert (last.state, last.fault) == ("failed", "timeout")
    assert "said nothing within 0.3 s" in last.sentence


async def test_the_agents_own_reason_is_told(watch: Start) -> None:
    goodbye = {"kind": wire.GOODBYE, "mono_s": 1.0, "wall_s": 2.0, "sentence": "no ping for 15 s"}
    watching = watch(scripted(f"say(HELLO); say({goodbye!r})"))
    last = await watching.ended()

    await watching.find(Goodbye)
    assert isinstance(last, Link)
    assert (last.fault, last.sentence) == ("lost", "the agent ended: no ping for 15 s")


async def test_an_invalid_message_ends_the_watch_loudly(watch: Start) -> None:
    watching = watch(
        scripted("say(HELLO); say({'kind': 'pong', 'odd': 1}); sys.stdin.read()"), reconnect=True
    )
    last = await watching.ended()

    assert isinstance(last, Link)
    assert (last.state, last.fault) == ("failed", "agent")
    assert '"odd": 1' in last.sentence


async def test_messages_of_a_newer_agent_are_told_once_and_passed_over(watch: Start) -> None:
    newer = "{'kind': 'hologram', 'mono_s': 1.0, 'wall_s': 2.0}"
    pong = "{'kind': 'pong', 'mono_s': 1.0, 'wall_s': 2.0, 'sent_s': 7.0}"
    watching = watch(scripted(f"say(HELLO); say({newer}); say({newer}); say({pong}); sys.stdin.read()"))
    await watching.find(Pong)

    notices = [event for event in watching.events if isinstance(event, Notice)]
    assert len(notices) == 1
    assert "hologram" in notices[0].sentence


async def test_what_the_client_says_of_a_lost_link_is_on_the_hosts_clock(watch: Start) -> None:
    watching = watch(scripted("HELLO['mono_s'] = 5_000_000.0; say(HELLO)"))
    last = await watching.ended()

    assert 0 <= last.mono_s - 5_000_000.0 < 10


def written_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/io").read_text().partition("wchar: ")[2].split()[0])


async def test_a_consumer_that_does_not_read_stops_the_reading() -> None:
    flood = "say(HELLO)\nwhile True: say({'kind': 'pong', 'mono_s': 1.0, 'wall_s': 2.0, 'sent_s': 7.0})"
    pids: list[int] = []

    async def opener(command: list[str]) -> Pipe:
        pipe: Any = await scripted(flood)(command)
        pids.append(pipe.pid)
        return pipe

    source = AgentSource(opener, WATCH, reconnect=False)
    events = aiter(source)
    while not isinstance(await anext(events), Hello):
        pass
    await asyncio.sleep(0.3)

    assert written_bytes(pids[0]) < 1024 * 1024
    assert isinstance(await anext(events), Pong)
    await source.close()


async def test_what_is_asked_while_the_link_is_away_is_asked_when_it_is_up(watch: Start) -> None:
    echo = (
        "NOTICE = dict(kind='notice', mono_s=1.0, wall_s=2.0, level='info', about='echo')\n"
        "say(HELLO)\n"
        "for line in sys.stdin.buffer.raw:\n"
        "    if b'bench_cancel' in line or b'follow' in line:\n"
        "        NOTICE['sentence'] = line[-200:].decode().strip()\n"
        "        say(NOTICE)\n"
    )
    watching = watch(scripted(echo))
    watching.source.send(BenchCancelRequest(run="r1"))
    watching.source.send(PingRequest(sent_s=0.0))
    watching.source.send(FollowRequest(pid=1))
    watching.source.send(FollowRequest(pid=2))
    await watching.find(Notice, lambda notice: "bench_cancel" in notice.sentence)
    notices = [event.sentence for event in watching.events if isinstance(event, Notice)]

    assert sum('"pid":2' in sentence for sentence in notices) == 1
    assert not any('"pid":1' in sentence for sentence in notices)


async def test_raw_lines_can_be_watched(watch: Start) -> None:
    lines: list[bytes] = []
    watching = watch(wire_log=lines.append)
    await watching.find(Hello)

    assert lines[0].startswith(b'{"kind":"hello"')


async def test_what_the_way_to_the_host_says_comes_as_a_notice_once(watch: Start) -> None:
    watching = watch()
    watching.source.note("added the host key of lab to known_hosts")
    await watching.find(Pong)
    notices = [event.sentence for event in watching.events if isinstance(event, Notice)]
    assert notices.count("added the host key of lab to known_hosts") == 1
