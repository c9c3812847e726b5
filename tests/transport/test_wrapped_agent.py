"""The agent inside containers, pods and jobs of stand-ins: on this machine and over a real sshd."""

import os
import signal
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from agent_process import alive, children_of
from ssh_server import StartSshServer, until
from watching import Watching
from wrapped_host import WrappedHost

from tui.agent.pids import numbers
from tui.events import Hello, Link, Log, Processes
from tui.requests import FollowRequest, WatchRequest
from tui.transport import agent_source, bootstrap
from tui.transport.agent_source import AgentSource
from tui.transport.bootstrap import start
from tui.transport.local import local_opener
from tui.transport.pipe import LinkFault, Opener
from tui.transport.ssh.opener import SshOptions, ssh_opener
from tui.transport.wrapper import Kind, wrapper
from tui.transport.wrapper_pipe import wrapped_opener

NAMES: dict[Kind, str] = {"docker": "vllm", "podman": "vllm", "kubectl": "prod/llm-0", "srun": "42/n1"}
Start = Callable[..., Watching]


@pytest.fixture
async def watch(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Start]:
    """Watch through a wrapper; closed with the test."""
    monkeypatch.setattr(agent_source, "BACKOFF_S", (0.05,))
    started: list[Watching] = []

    def begin(kind: Kind, opener: Opener, host: str | None = None, **options: Any) -> Watching:
        inside = wrapper(kind, NAMES[kind])
        request = WatchRequest(matchers=[], gpus=False, **options)
        opener = wrapped_opener(opener, inside, host)
        started.append(Watching(AgentSource(opener, request, reconnect=True, place=inside.place(host))))
        return started[-1]

    yield begin
    for watching in started:
        await watching.close()


async def gone(pids: list[int]) -> None:
    """Wait until none of these processes is left."""
    await until(lambda: not any(map(alive, pids)))


@pytest.mark.parametrize("kind", list(NAMES))
async def test_the_agent_says_hello_from_inside_and_follows_a_log_there(
    kind: Kind, wrapped_here: WrappedHost, watch: Start, tmp_path: Path
) -> None:
    log = tmp_path / "server.log"
    log.write_text("one\ntwo\n")
    watching = watch(kind, local_opener())
    watching.source.send(FollowRequest(pid=None, log_path=str(log)))
    hello = await watching.find(Hello)
    link = await watching.find(Link, lambda link: link.state == "up")
    lines = await watching.find(Log, lambda log: log.lines)

    assert hello.place == f"{kind}:{NAMES[kind]}"
    assert link.sentence == f"connected to {kind}:{NAMES[kind]}"
    assert lines.lines == ["one", "two"]


@pytest.mark.ssh
@pytest.mark.parametrize("kind", list(NAMES))
async def test_the_agent_says_hello_from_inside_over_ssh(
    kind: Kind, wrapped_host: WrappedHost, start_ssh_server: StartSshServer, watch: Start
) -> None:
    server = start_ssh_server(environment={"PATH": wrapped_host.path})
    opener = ssh_opener(server.host, options=SshOptions(config_file=server.config_file))
    watching = watch(kind, opener, server.host)
    hello = await watching.find(Hello)
    await watching.close()

    assert hello.place == f"{kind}:{NAMES[kind]} on {server.host}"
    await gone([hello.pid])


@pytest.mark.ssh
@pytest.mark.parametrize("shell", ["dash", "fish", "csh"])
async def test_the_login_shell_has_no_say_in_what_runs_inside(
    shell: str,
    as_login_shell: Callable[[str], str],
    wrapped_host: WrappedHost,
    start_ssh_server: StartSshServer,
    watch: Start,
) -> None:
    server = start_ssh_server(as_login_shell(shell), environment={"PATH": wrapped_host.path})
    opener = ssh_opener(server.host, options=SshOptions(config_file=server.config_file))
    hello = await watch("kubectl", opener, server.host).find(Hello)

    assert hello.place == f"kubectl:prod/llm-0 on {server.host}"


@pytest.mark.ssh
async def test_what_fails_behind_ssh_is_said_with_the_hosts_name(
    wrapped_host: WrappedHost, start_ssh_server: StartSshServer, watch: Start
) -> None:
    wrapped_host.behave(fails="stopped")
    server = start_ssh_server(environment={"PATH": wrapped_host.path})
    opener = ssh_opener(server.host, options=SshOptions(config_file=server.config_file))
    link = await watch("docker", opener, server.host).ended()

    assert isinstance(link, Link)
    assert (link.state, link.fault) == ("failed", "refused")
    assert link.sentence.startswith("the container vllm on lab is not running")


@pytest.mark.ssh
async def test_a_program_that_the_host_lacks_is_named(
    wrapped_host: WrappedHost, start_ssh_server: StartSshServer, watch: Start
) -> None:
    wrapped_host.without("srun")
    server = start_ssh_server(environment={"PATH": wrapped_host.path})
    opener = ssh_opener(server.host, options=SshOptions(config_file=server.config_file))
    link = await watch("srun", opener, server.host).ended()

    assert isinstance(link, Link)
    assert link.sentence.startswith("srun was not found on lab")


@pytest.mark.parametrize("keeps", [False, True], ids=["input-ends", "input-stays-open"])
async def test_no_process_stays_inside_when_the_program_is_killed(
    keeps: bool, wrapped_here: WrappedHost, watch: Start
) -> None:
    wrapped_here.behave(keeps=keeps)
    watching = watch("docker", local_opener(), ping_timeout_s=1.0)
    first = await watching.find(Hello)
    await watching.find(Processes)
    pids = [first.pid, *children_of(first.pid)]
    assert all(map(alive, pids))
    os.kill(wrapped_here.client(), signal.SIGKILL)

    await gone(pids)
    await watching.find(Hello, lambda hello: hello.pid != first.pid)


async def test_a_cut_that_the_program_ends_with_0_is_a_lost_link_and_is_taken_up_again(
    wrapped_here: WrappedHost, watch: Start
) -> None:
    wrapped_here.behave(keeps=True)
    watching = watch("kubectl", local_opener(), ping_timeout_s=1.0)
    first = await watching.find(Hello)
    os.kill(wrapped_here.client(), signal.SIGUSR1)
    lost = await watching.find(Link, lambda link: link.state == "lost")
    await watching.find(Hello, lambda hello: hello.pid != first.pid)

    assert (lost.fault, lost.sentence) == ("lost", "the link to the agent ended")
    await gone([first.pid])


async def test_an_agent_that_was_killed_with_its_container_is_said_to_be_and_is_taken_up_again(
    wrapped_here: WrappedHost, watch: Start
) -> None:
    watching = watch("docker", local_opener())
    first = await watching.find(Hello)
    os.kill(first.pid, signal.SIGKILL)
    lost = await watching.find(Link, lambda link: link.state == "lost")
    await watching.find(Hello, lambda hello: hello.pid != first.pid)

    assert lost.sentence.startswith(
        "the agent in docker:vllm was killed: the container may have been stopped"
    )


async def test_a_stub_that_never_gets_its_sources_ends_by_itself(
    wrapped_here: WrappedHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrapped_here.behave(keeps=True)
    monkeypatch.setattr(bootstrap, "SOURCES_S", 1)
    stub, nonce = bootstrap.stub_and_nonce()
    inner = wrapped_opener(local_opener(), wrapper("docker", "vllm"), None)
    pipe = await inner(["python3", "-ISsu", "-c", f"import os;print(os.getpid());{stub}"])
    said = b""
    while nonce not in said:
        said += await pipe.read(4096)
    pid = int(said.split()[0])
    os.kill(wrapped_here.client(), signal.SIGKILL)
    assert alive(pid)

    await gone([pid])
    await pipe.close()


async def test_a_container_that_comes_back_under_its_name_is_taken_up_again(
    wrapped_here: WrappedHost, watch: Start
) -> None:
    watching = watch("docker", local_opener(), ping_timeout_s=1.0)
    first = await watching.find(Hello)
    wrapped_here.behave(fails="stopped")
    os.kill(first.pid, signal.SIGKILL)
    lost = await watching.find(Link, lambda link: "was killed" in link.sentence)
    away = await watching.find(Link, lambda link: "is not running" in link.sentence)
    wrapped_here.behave()
    await watching.find(Hello, lambda hello: hello.pid != first.pid)

    assert (lost.state, away.state) == ("lost", "lost")


async def test_inside_a_pid_namespace_the_agent_tells_the_containers_own_pids(
    container: int, wrapped_here: WrappedHost, watch: Start
) -> None:
    wrapped_here.behave(inside=container)
    watching = watch("docker", local_opener())
    hello = await watching.find(Hello)
    inside = [pids for pids in every_process() if pids[1:] == [hello.pid]]

    assert len(inside) == 1
    await watching.close()
    await gone([inside[0][0]])


def every_process() -> list[list[int]]:
    """Return the pids of each process."""
    return [numbers_of(process) for process in Path("/proc").glob("[0-9]*")]


def numbers_of(process: Path) -> list[int]:
    """Return the pids of a process, the host's first."""
    try:
        return numbers((process / "status").read_bytes())
    except OSError:
        return []


async def test_an_old_python_inside_is_named_without_the_programs_noise(
    wrapped_here: WrappedHost, tmp_path: Path
) -> None:
    old = tmp_path / "python3"
    old.write_text("#!/bin/sh\necho 'it is Python 3.6.8' >&2\nexit 97\n")
    old.chmod(0o755)
    inner = wrapped_opener(local_opener(), wrapper("kubectl", "prod/llm-0"), None)
    with pytest.raises(bootstrap.LinkFault) as caught:
        await start(inner, python=str(old))

    assert "too old" in caught.value.sentence
    assert caught.value.sentence.endswith("(it said: it is Python 3.6.8)")


async def test_what_does_not_start_inside_is_said_to_be_inside(
    wrapped_here: WrappedHost, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    python = tmp_path / "python3"
    python.write_text("#!/bin/sh\nsleep 20\n")
    python.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{wrapped_here.path}")
    inside = wrapper("docker", "vllm")
    opener = wrapped_opener(local_opener(), inside, None)
    with pytest.raises(LinkFault, match="python3 did not start in docker:vllm within 1 s"):
        await start(opener, None, 1.0, place=f"in {inside.place(None)}")
    for status, told in ((0, "the agent ended before it began"), (3, "with status 3 before it began")):
        python.write_text(f"#!/bin/sh\nexit {status}\n")
        with pytest.raises(LinkFault, match=f"{told} in docker:vllm"):
            await start(opener, None, 5.0, place=f"in {inside.place(None)}")
