"""The log of a container by the stand-ins of docker, podman and kubectl: all, once, dated, or a reason."""

import asyncio
import os
import signal
import time
from functools import partial

import pytest
from agent_process import alive, children_of
from container_logs import LogWatch, keep, log_watch, record, rotate
from ssh_server import until
from stand_in_logs import TEXTS
from wrapped_host import WrappedHost

from tui.events import Link, Log, LogSource, Notice, Processes
from tui.requests import FollowRequest
from tui.transport.container_log import command, reader
from tui.transport.local import local_opener
from tui.transport.pipe import Pipe
from tui.transport.wrapper import Kind

KINDS: list[Kind] = ["docker", "podman", "kubectl"]
COMMANDS = {
    "docker": "docker logs vllm",
    "podman": "podman logs vllm",
    "kubectl": "kubectl logs -n prod llm-0",
}


@pytest.mark.parametrize("kind", KINDS)
async def test_both_streams_of_this_start_come_without_stamps(kind: Kind, wrapped_here: WrappedHost) -> None:
    now_ns = time.time_ns()
    keep(
        wrapped_here.log,
        record("of an earlier start\n", now_ns - 100 * 10**9),
        record("one\n", now_ns - 50 * 10**9),
        record("two\n", now_ns - 40 * 10**9, "stderr"),
        record("\n", now_ns - 30 * 10**9),
    )
    async with log_watch(kind) as watch:
        await watch.until(lambda: len(watch.lines) == 3)
        keep(wrapped_here.log, record("three\n"))
        await watch.until(lambda: len(watch.lines) == 4)

    assert watch.lines == ["one", "two", "", "three"]
    assert watch.sources == [("open", f"reading the container's log by `{COMMANDS[kind]}`")]
    assert watch.gaps == []


@pytest.mark.parametrize(("kind", "size"), [("docker", 16384), ("podman", 5000), ("kubectl", 16384)])
async def test_a_long_line_that_the_runtime_kept_in_pieces_is_one_again(
    kind: Kind, size: int, wrapped_here: WrappedHost
) -> None:
    pieces = [letter * size for letter in "ab"]
    keep(wrapped_here.log, *map(record, pieces), record("c\n"), record("next\n"))
    async with log_watch(kind) as watch:
        await watch.until(lambda: len(watch.lines) == 2)

    assert watch.lines == ["".join([*pieces, "c"]), "next"]


async def test_lines_are_dated_by_their_stamps_on_the_hosts_clock(wrapped_here: WrappedHost) -> None:
    now_ns, now_s = time.time_ns(), time.monotonic()
    for age_s in (50, 40, 30):
        keep(wrapped_here.log, record(f"{age_s}\n", now_ns - age_s * 10**9))
    async with log_watch("docker") as watch:
        await watch.until(lambda: len(watch.lines) == 3)
    logs = [event for event in watch.events if isinstance(event, Log) and event.lines]

    assert [round(now_s - log.mono_s, 1) for log in logs] == [50.0, 40.0, 30.0]
    assert [round(now_ns / 1e9 - log.wall_s, 1) for log in logs] == [50.0, 40.0, 30.0]


async def test_secrets_and_escape_sequences_are_hidden_before_anything_is_told(
    wrapped_here: WrappedHost,
) -> None:
    keep(wrapped_here.log, record("\x1b[31mapi_key='sk-0123456789abcdef01'\x1b]0;x\x07\n"), record("b\rc"))
    async with log_watch("docker") as watch:
        await watch.until(lambda: watch.tail)

    assert watch.lines == ["api_key='***'"]
    assert "sk-0123" not in repr(watch.events)


async def test_a_bar_is_seen_while_it_is_drawn(wrapped_here: WrappedHost) -> None:
    async with log_watch("podman") as watch:
        for percent in (10, 20):
            keep(wrapped_here.log, record(f"\rLoading: {percent}%"))
            await watch.until(partial(_tail_is, watch, f"Loading: {percent}%"))
        keep(wrapped_here.log, record("\rLoading: 30%"), record("\n"))
        await watch.until(lambda: watch.lines)
    last = watch.events[-1]

    assert watch.lines == ["Loading: 10%", "Loading: 20%", "Loading: 30%"]
    assert isinstance(last, Log)
    assert (last.returns, last.tail) == ([0, 1], "")


def _tail_is(watch: LogWatch, text: str) -> bool:
    return watch.tail == text


async def test_an_idle_log_is_said_to_be_read(wrapped_here: WrappedHost) -> None:
    wrapped_here.log.touch()
    async with log_watch("docker") as watch:
        await watch.until(lambda: watch.sources)

    assert watch.sources == [("open", "reading the container's log by `docker logs vllm`")]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_log_command_that_was_killed_goes_on_where_it_stopped(
    kind: Kind, wrapped_here: WrappedHost
) -> None:
    keep(wrapped_here.log, *(record("same\n", time.time_ns() // 10**9 * 10**9) for _ in range(3)))
    async with log_watch(kind) as watch:
        await watch.until(lambda: len(watch.lines) == 3)
        os.kill(wrapped_here.log_runs()[-1][0], signal.SIGKILL)
        keep(wrapped_here.log, *(record("same\n", time.time_ns() // 10**9 * 10**9) for _ in range(2)))
        await watch.until(lambda: len(watch.lines) == 5)
        await until(lambda: len(wrapped_here.log_runs()) == 2)

    assert watch.lines == ["same"] * 5
    assert watch.gaps == []


async def test_while_the_agent_is_away_no_other_servers_output_is_taken_for_this_ones(
    wrapped_here: WrappedHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "BACKOFF_S", (0.005,))
    started: list[list[str]] = []

    async def opener(argv: list[str]) -> Pipe:
        started.append(argv)
        return await local_opener()(argv)

    keep(wrapped_here.log, record("one\n"))
    async with log_watch("docker", opener=opener) as watch:
        await watch.until(lambda: watch.lines)
        watch.is_away()
        keep(wrapped_here.log, record("Traceback\n"))
        wrapped_here.behave(log_over=True)
        await watch.until(lambda: len(watch.lines) == 2)
        await until(lambda: not alive(wrapped_here.log_runs()[-1][0]))
        wrapped_here.behave()
        keep(wrapped_here.log, record("another server\n"))
        await asyncio.sleep(0.05)
        assert len(started) == 1
        watch.is_back()
        await watch.until(lambda: any(isinstance(event, Processes) for event in watch.events))
        again = FollowRequest(pid=1, started_s=time.monotonic() + 1.0, log_to_runtime=True)
        watch.beside.send(again)
        keep(wrapped_here.log, record("its second line\n", time.time_ns() + 2 * 10**9))
        await watch.until(lambda: len(watch.lines) == 3)

    assert watch.lines == ["one", "Traceback", "its second line"]
    assert len(started) == 2


async def test_what_was_rotated_away_meanwhile_is_a_gap(wrapped_here: WrappedHost) -> None:
    keep(wrapped_here.log, record("one\n"))
    async with log_watch("kubectl") as watch:
        await watch.until(lambda: watch.lines)
        wrapped_here.behave(log_fails="collected")
        os.kill(wrapped_here.log_runs()[-1][0], signal.SIGKILL)
        keep(wrapped_here.log, record("never read\n"))
        rotate(wrapped_here)
        keep(wrapped_here.log, record("two\n", time.time_ns() + 10**9))
        wrapped_here.behave()
        await watch.until(lambda: len(watch.lines) == 2)

    assert watch.lines == ["one", "two"]
    (gap,) = watch.gaps
    assert (gap.why, gap.lost_bytes) == ("unknown", None)
    assert "may be missing: `kubectl logs -n prod llm-0` has no longer what came last" in gap.sentence


async def test_of_a_log_that_is_too_long_the_last_lines_are_read_and_that_is_said(
    wrapped_here: WrappedHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (command, reader):
        monkeypatch.setattr(module, "BACKLOG_LINES", 3)
    keep(wrapped_here.log, *(record(f"{number}\n") for number in range(5)))
    async with log_watch("docker") as watch:
        await watch.until(lambda: watch.lines)
        keep(wrapped_here.log, record("new\n"))
        await watch.until(lambda: watch.gaps and len(watch.lines) == 4)

    assert watch.lines == ["2", "3", "4", "new"]
    assert [gap.sentence for gap in watch.gaps] == [
        "only the last 3 lines of `docker logs vllm` are read: it is too long"
    ]


async def test_a_rotation_that_ends_the_command_loses_nothing_that_was_read(
    wrapped_here: WrappedHost,
) -> None:
    keep(wrapped_here.log, record("one\n"))
    async with log_watch("kubectl") as watch:
        await watch.until(lambda: watch.lines)
        rotate(wrapped_here)
        keep(wrapped_here.log, record("two\n"))
        await watch.until(lambda: len(watch.lines) == 2)

    assert watch.lines == ["one", "two"]


# What a text must come to: words of the sentence, the next step among them; None: it is tried again.
TOLD: dict[tuple[Kind, str], tuple[str, str] | None] = {
    ("docker", "driver"): ("the container vllm keeps no log", "name it with --log"),
    ("docker", "missing"): ("no log of the container: there is no container vllm", "docker ps"),
    ("docker", "rights"): ("no log of the container: this user may not use docker", "log in there as"),
    ("docker", "cut"): None,
    ("docker", "odd"): ("`docker logs vllm` ended (exit status 1): Error response", "is out of whack"),
    ("podman", "driver"): ("the container vllm keeps no log", "name it with --log"),
    ("podman", "missing"): ("no log of the container: there is no container vllm", "podman ps"),
    ("kubectl", "forbidden"): ("does not let this user read the log of prod/llm-0", "get pods/log"),
    ("kubectl", "missing"): ("no log of the container: there is no pod", "kubectl get pods"),
    ("kubectl", "starting"): None,
    ("kubectl", "collected"): None,
}
ALL = [(kind, name) for kind, texts in TEXTS.items() for name in texts]


@pytest.mark.parametrize(("kind", "text"), ALL)
async def test_a_refused_log_is_one_sentence_and_one_that_passes_is_tried_again(
    kind: Kind, text: str, wrapped_here: WrappedHost
) -> None:
    keep(wrapped_here.log, record("one\n"))
    wrapped_here.behave(log_fails=text)
    told = TOLD[kind, text]
    async with log_watch(kind) as watch:
        if told is not None:
            await watch.until(lambda: watch.sources)
            ((state, sentence),) = watch.sources
            assert state == "unreadable"
            assert all(word in sentence for word in told), sentence
            assert sentence.isprintable()
            assert not sentence.endswith(".")
        wrapped_here.behave()
        watch.is_away()
        watch.is_back()
        await watch.until(lambda: watch.lines)

    assert [state for state, _ in watch.sources] == (["open"] if told is None else ["unreadable", "open"])
    assert not any(isinstance(event, Notice) for event in watch.events)


async def test_a_log_that_is_refused_after_its_first_lines_is_a_notice_too(wrapped_here: WrappedHost) -> None:
    keep(wrapped_here.log, record("one\n"))
    async with log_watch("docker") as watch:
        await watch.until(lambda: watch.lines)
        wrapped_here.behave(log_fails="missing")
        os.kill(wrapped_here.log_runs()[-1][0], signal.SIGKILL)
        await watch.until(lambda: any(isinstance(event, Notice) for event in watch.events))

    assert [state for state, _ in watch.sources] == ["open", "unreadable"]


async def test_a_missing_program_is_named(wrapped_here: WrappedHost, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    async with log_watch("podman") as watch:
        await watch.until(lambda: watch.sources)

    assert watch.sources[0][1].startswith("no log of the container: podman was not found on this machine")


async def test_a_job_has_no_such_log_and_that_is_said(wrapped_here: WrappedHost) -> None:
    async with log_watch("srun") as watch:
        await watch.until(lambda: watch.sources)

    assert watch.sources[0][0] == "not_a_file"
    assert "StdOut in `scontrol show job 42`" in watch.sources[0][1]
    assert wrapped_here.log_runs() == []


async def test_what_the_agent_says_of_no_file_is_not_told_beside_the_containers_log(
    wrapped_here: WrappedHost,
) -> None:
    keep(wrapped_here.log, record("one\n"))
    none = LogSource(mono_s=0.0, wall_s=0.0, path=None, state="none", sentence="no log file is known")
    async with log_watch("docker") as watch:
        watch.agent_says(none)
        watch.is_away()
        await watch.until(lambda: watch.lines and any(isinstance(event, Link) for event in watch.events))
        assert none not in watch.events
        watch.beside.send(FollowRequest(pid=1, log_path="/srv/a.log", log_to_runtime=True))
        watch.agent_says(none)
        await watch.until(lambda: none in watch.events)

    assert watch.events.count(none) == 1


@pytest.mark.parametrize(
    "other",
    [
        FollowRequest(pid=1, log_path="/srv/a.log", log_to_runtime=True),
        FollowRequest(pid=1),
        FollowRequest(pid=None),
    ],
    ids=["file", "no-pipe", "nothing"],
)
async def test_the_command_ends_when_another_log_or_none_is_followed(
    other: FollowRequest, wrapped_here: WrappedHost
) -> None:
    keep(wrapped_here.log, record("one\n"))
    async with log_watch("docker") as watch:
        await watch.until(lambda: watch.lines)
        watch.beside.send(other)
        await until(lambda: not alive(wrapped_here.log_runs()[-1][0]))


async def test_the_next_server_of_the_container_has_its_own_log(wrapped_here: WrappedHost) -> None:
    keep(wrapped_here.log, record("one\n"))
    async with log_watch("docker") as watch:
        await watch.until(lambda: watch.lines)
        await asyncio.sleep(0.15)  # a server that starts within the slack of the first is none
        watch.beside.send(FollowRequest(pid=1, started_s=time.monotonic(), log_to_runtime=True))
        keep(wrapped_here.log, record("two\n"))
        await watch.until(lambda: len(watch.lines) == 2)

    assert watch.lines == ["one", "two"]
    assert len(wrapped_here.log_runs()) == 2


async def test_nothing_is_left_when_the_watch_ends(wrapped_here: WrappedHost) -> None:
    wrapped_here.log.touch()
    async with log_watch("docker") as watch:
        await watch.until(lambda: watch.sources)
        tools = [wrapped_here.log_runs()[-1][0], *children_of(os.getpid())]
    left = [pid for pid in tools if alive(pid)]

    await until(lambda: not any(map(alive, left)))
