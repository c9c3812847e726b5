"""When a shell takes the agent's place, and when not; on every way in that starts a command."""

import os
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from bare_host import BareHost, gpu, session_of
from ssh_server import StartSshServer, until
from watching import Watching
from wrapped_host import WrappedHost

from tui.benchmark import BenchResult, BenchSpec
from tui.events import Gpus, Hello, Link, Log
from tui.requests import BenchRequest, FollowRequest, WatchRequest
from tui.transport import agent_source
from tui.transport.agent_source import AgentSource
from tui.transport.local import local_opener
from tui.transport.pipe import LinkFault, Opener, Pipe
from tui.transport.ssh.opener import SshOptions, ssh_opener
from tui.transport.wrapper import Kind, wrapper
from tui.transport.wrapper_pipe import wrapped_opener

NAMES: dict[Kind, str] = {"docker": "vllm", "podman": "vllm", "kubectl": "prod/llm-0", "srun": "42/n1"}
Begin = Callable[..., Watching]


@pytest.fixture
async def begin(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Begin]:
    """Watch over an opener; closed with the test."""
    monkeypatch.setattr(agent_source, "BACKOFF_S", (0.05,))
    started: list[Watching] = []

    def start(opener: Opener, log: Path | None = None, **more: Any) -> Watching:
        request = WatchRequest(matchers=[], interval_s=0.2)
        options: dict[str, Any] = {"reconnect": True, "plain_shell": True, **more}
        source = AgentSource(opener, request, **options)
        if log is not None:
            source.send(FollowRequest(pid=None, log_path=str(log)))
        started.append(Watching(source))
        return started[-1]

    yield start
    for watching in started:
        await watching.close()


@pytest.mark.parametrize("kind", list(NAMES))
async def test_it_is_taken_in_a_container_pod_or_job_without_python(
    kind: Kind,
    wrapped_host: WrappedHost,
    bare_host: BareHost,
    begin: Begin,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bare_host.smi(gpu(0))
    monkeypatch.setenv("PATH", f"{wrapped_host.folder}:{bare_host.path}")
    log = tmp_path / "server.log"
    log.write_text("one\n")
    place = wrapper(kind, NAMES[kind]).place(None)
    watching = begin(wrapped_opener(local_opener(), wrapper(kind, NAMES[kind]), None), log, place=place)
    hello = await watching.find(Hello)
    await watching.find(Gpus)
    lines = await watching.find(Log, lambda event: event.lines)
    await watching.close()

    assert (hello.python, hello.place, lines.lines) == ("", place, ["one"])
    await until(lambda: not session_of(hello.pid))


@pytest.mark.ssh
async def test_it_is_taken_over_the_systems_ssh(
    start_ssh_server: StartSshServer, bare_host: BareHost, begin: Begin
) -> None:
    server = start_ssh_server(environment={"PATH": bare_host.path})
    command = ("ssh", "-F", server.config_file)
    hello = await begin(ssh_opener(server.host, options=SshOptions(ssh_cmd=command))).find(Hello)

    assert hello.python == ""


async def test_a_python_by_another_name_is_preferred(bare_host: BareHost, begin: Begin) -> None:
    (bare_host.folder / "python3.11").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (bare_host.folder / "python3.11").chmod(0o755)
    watching = begin(local_opener({"PATH": bare_host.path}))

    assert (await watching.find(Hello)).python != ""


async def test_a_python_that_is_too_old_is_as_good_as_none(bare_host: BareHost, begin: Begin) -> None:
    (bare_host.folder / "python3").write_text("#!/bin/sh\nexit 97\n")
    (bare_host.folder / "python3").chmod(0o755)
    watching = begin(local_opener({"PATH": bare_host.path}))

    assert (await watching.find(Hello)).python == ""


async def test_it_is_not_taken_where_python_fails_otherwise(bare_host: BareHost, begin: Begin) -> None:
    (bare_host.folder / "python3").write_text("#!/bin/sh\necho out of luck >&2\nexit 3\n")
    (bare_host.folder / "python3").chmod(0o755)
    end = await begin(local_opener({"PATH": bare_host.path})).ended()

    assert isinstance(end, Link)
    assert (end.fault, "out of luck" in end.sentence) == ("agent", True)


async def test_without_a_shell_the_missing_python_is_the_reason(begin: Begin) -> None:
    async def nothing(command: list[str]) -> Pipe:
        raise LinkFault("no_python", f"no {command[0]}", retry=False)

    end = await begin(nothing).ended()

    assert isinstance(end, Link)
    assert (end.state, end.fault, end.sentence) == ("failed", "no_python", "no python3")


async def test_where_nobody_asked_for_it_the_watch_ends(bare_host: BareHost, begin: Begin) -> None:
    end = await begin(local_opener({"PATH": bare_host.path}), plain_shell=False).ended()

    assert isinstance(end, Link)
    assert end.fault == "no_python"


async def test_after_a_lost_link_no_python_is_looked_for(bare_host: BareHost, begin: Begin) -> None:
    opened: list[str] = []
    local = local_opener({**os.environ, "PATH": bare_host.path})

    async def opener(command: list[str]) -> Pipe:
        opened.append(command[0] if "python3.12" not in command[2] else "search")
        return await local(command)

    watching = begin(opener)
    hello = await watching.find(Hello)
    os.kill(hello.pid, 9)
    await watching.find(Hello, lambda event: event.pid != hello.pid)

    assert opened == ["python3", "search", "/bin/sh"]


async def test_a_benchmark_fails_with_the_reason(bare_host: BareHost, begin: Begin) -> None:
    watching = begin(local_opener({"PATH": bare_host.path}))
    await watching.find(Hello)
    spec = BenchSpec(url="http://h:1", model=None, concurrency=1, requests=1, input_tokens=1, output_tokens=1)
    watching.source.send(BenchRequest(run="r1", spec=spec))
    result = await watching.find(BenchResult)

    assert (result.run, result.outcome) == ("r1", "failed")
    assert "without python3" in result.sentence
