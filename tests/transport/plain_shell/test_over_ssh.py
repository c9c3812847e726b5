"""A host without Python over a real sshd: what is seen of it, and that nothing is left there."""

import os
import signal
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import psutil
import pytest
from bare_host import BareHost, gpu, session_of
from ssh_server import SshServer, StartSshServer, until
from watching import Watching

from tui.events import Gap, GpuDriver, GpuFacts, Gpus, Hello, Link, Log, LogSource, Notice, Pong
from tui.requests import FollowRequest, WatchRequest
from tui.transport import agent_source
from tui.transport.agent_source import AgentSource
from tui.transport.ssh.opener import SshOptions, ssh_opener

pytestmark = pytest.mark.ssh

Start = Callable[..., Watching]


@pytest.fixture
async def watch(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Start]:
    """Watch the host of an SshServer; closed with the test."""
    monkeypatch.setattr(agent_source, "BACKOFF_S", (0.05,))
    started: list[Watching] = []

    def start(server: SshServer, log: Path | None = None, ping_timeout_s: float = 15.0) -> Watching:
        opener = ssh_opener(server.host, options=SshOptions(config_file=server.config_file))
        request = WatchRequest(matchers=[], interval_s=0.2, ping_timeout_s=ping_timeout_s)
        source = AgentSource(opener, request, reconnect=True, plain_shell=True)
        if log is not None:
            source.send(FollowRequest(pid=None, log_path=str(log)))
        started.append(Watching(source))
        return started[-1]

    yield start
    for watching in started:
        await watching.close()


@pytest.fixture
def server(start_ssh_server: StartSshServer, bare_host: BareHost) -> SshServer:
    """An sshd whose sessions find no python3."""
    return start_ssh_server(environment={"PATH": bare_host.path})


async def test_gpus_and_log_are_seen_and_what_is_missing_is_said_once(
    server: SshServer, bare_host: BareHost, watch: Start, tmp_path: Path
) -> None:
    bare_host.smi(gpu(0), gpu(1, memory__used="[N/A]"))
    log = tmp_path / "server.log"
    log.write_text("one\ntwo")
    watching = watch(server, log)
    hello = await watching.find(Hello)
    facts = await watching.find(GpuFacts)
    gpus = await watching.find(Gpus, lambda event: len(event.gpus) == 2)
    lines = await watching.find(Log, lambda event: event.lines)
    await watching.find(Pong)
    told = [event.sentence for event in watching.events if isinstance(event, Notice)]

    assert (hello.python, hello.cpu_count) == ("", os.cpu_count())
    assert [fact.name for fact in facts.gpus] == ["NVIDIA H200"] * 2
    assert [sample.memory_used_mib for sample in gpus.gpus] == [1024.0, None]
    assert (lines.lines, lines.tail) == (["one"], "two")
    assert len([sentence for sentence in told if "no python3 (3.8 or newer)" in sentence]) == 1
    assert [sentence for sentence in told if "memory.used of GPU 1: [N/A]" in sentence]


async def test_times_are_those_of_the_hosts_clocks(server: SshServer, watch: Start) -> None:
    watching = watch(server)
    hello = await watching.find(Hello)

    assert hello.mono_s == pytest.approx(time.time() - psutil.boot_time(), abs=15)
    assert hello.wall_s == pytest.approx(time.time(), abs=15)


async def test_without_nvidia_smi_that_is_said(server: SshServer, watch: Start) -> None:
    driver = await watch(server).find(GpuDriver)

    assert driver.state == "absent"
    assert "No nvidia-smi" in driver.sentence


async def shell_with_all_at_work(watching: Watching) -> list[psutil.Process]:
    """Return the shell's processes once GPUs and the log are read."""
    hello = await watching.find(Hello)
    await watching.find(Gpus)
    await watching.find(LogSource)
    return session_of(hello.pid)


async def test_a_clean_close_leaves_nothing(
    server: SshServer, bare_host: BareHost, watch: Start, tmp_path: Path
) -> None:
    bare_host.smi(gpu(0))
    watching = watch(server, tmp_path / "server.log")
    processes = await shell_with_all_at_work(watching)
    assert any("stand_in_smi" in " ".join(process.cmdline()) for process in processes)
    pid = processes[0].pid
    await watching.close()

    await until(lambda: not session_of(pid))


@pytest.mark.parametrize("way", ["kill", "stop"])
async def test_a_session_that_is_cut_or_silent_leaves_nothing(
    way: str, server: SshServer, bare_host: BareHost, watch: Start, tmp_path: Path
) -> None:
    bare_host.smi(gpu(0))
    watching = watch(server, tmp_path / "server.log", 2.0)
    processes = await shell_with_all_at_work(watching)
    server.cut(signal.SIGKILL if way == "kill" else signal.SIGSTOP)

    await until(
        lambda: not any(process.is_running() and process.status() != "zombie" for process in processes)
    )


async def test_after_a_cut_the_shell_is_taken_up_again_and_the_log_goes_on(
    server: SshServer, watch: Start, tmp_path: Path
) -> None:
    log = tmp_path / "server.log"
    log.write_text("one\n")
    watching = watch(server, log)
    await watching.find(Log, lambda event: event.lines)
    server.cut()
    with log.open("a") as file:
        file.write("two\n")
    await watching.find(Log, lambda event: "two" in event.lines)
    ups = [event for event in watching.events if isinstance(event, Link) and event.state == "up"]
    lines = [line for event in watching.events if isinstance(event, Log) for line in event.lines]

    assert len(ups) == 2
    assert lines == ["one", "two"]


async def test_another_file_after_a_cut_is_read_from_its_beginning_and_the_gap_is_said(
    server: SshServer, watch: Start, tmp_path: Path
) -> None:
    log = tmp_path / "server.log"
    log.write_text("one\n")
    watching = watch(server, log)
    await watching.find(Log, lambda event: event.lines)
    server.cut()
    log.unlink()
    log.write_text("another file\nthat is longer\n")
    await watching.find(Log, lambda event: "that is longer" in event.lines)
    gap = await watching.find(Gap)
    lines = [line for event in watching.events if isinstance(event, Log) for line in event.lines]

    assert (gap.why, gap.lost_bytes) == ("replaced", None)
    assert gap.sentence == f"{log} is another file than before: lines of the one before may be lost"
    assert lines == ["one", "another file", "that is longer"]


async def test_a_flooding_log_holds_up_no_reading_of_the_gpus(
    server: SshServer, bare_host: BareHost, watch: Start, tmp_path: Path
) -> None:
    bare_host.smi(gpu(0))
    log = tmp_path / "server.log"
    log.write_text("x" * 99 + "\n")
    watching = watch(server, log)
    await watching.find(Gpus)
    with log.open("a") as file:
        for _ in range(300):
            file.write(("x" * 99 + "\n") * 1000)
    seen = len(watching.events)
    await watching.find(Log, lambda event: event.behind_bytes == 0, after=seen, timeout_s=60)
    during = [event for event in watching.events[seen:] if isinstance(event, Gpus)]
    count = sum(len(event.lines) for event in watching.events if isinstance(event, Log))

    assert count == 300_001
    assert (
        max(event.client_s - event.mono_s for event in during)
        - min(event.client_s - event.mono_s for event in during)
        < 3.0
    )
