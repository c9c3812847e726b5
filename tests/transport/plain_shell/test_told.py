"""What is said of a host without Python, each through a real shell there: nvidia-smi's ends and the log."""

import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from bare_host import BareHost, gpu
from watching import Watching

from tui.events import Gap, GpuDriver, Hello, LogSource, Notice
from tui.requests import FollowRequest, WatchRequest
from tui.transport.agent_source import AgentSource
from tui.transport.local import local_opener
from tui.transport.plain_shell.backlog import BACKLOG_BYTES
from tui.transport.plain_shell.hello import ShellHello

Begin = Callable[..., Watching]


@pytest.fixture
async def begin(bare_host: BareHost) -> AsyncIterator[Begin]:
    """Watch this machine as one without Python, perhaps with a log; closed with the test."""
    bare_host.smi(gpu(0))
    started: list[Watching] = []

    def start(log: str | None = None) -> Watching:
        opener = local_opener({**os.environ, "PATH": bare_host.path})
        request = WatchRequest(matchers=[], interval_s=0.2)
        source = AgentSource(opener, request, reconnect=False, plain_shell=True)
        source.send(FollowRequest(pid=None, log_path=log))
        started.append(Watching(source))
        return started[-1]

    yield start
    for watching in started:
        await watching.close()


@pytest.mark.parametrize(
    ("code", "state", "words", "step"),
    [
        (2, "failed", "none of the questions put to it", "the driver may be very old"),
        (3, "failed", "what was asked is not available", "on these GPUs"),
        (4, "failed", "this user may not ask", "who may open /dev/nvidiactl"),
        (6, "absent", "it shows no GPU", "docker run --gpus all"),
        (8, "failed", "external power cables", "not attached"),
        (9, "failed", "the NVIDIA driver is not loaded", "run modprobe nvidia"),
        (10, "failed", "an interrupt problem", "see dmesg for NVRM"),
        (12, "failed", "libnvidia-ml.so.1 is missing", "must be started with its GPUs"),
        (13, "failed", "older than nvidia-smi", "install both from one driver"),
        (14, "failed", "infoROM is corrupted", "ask for its replacement"),
        (15, "failed", "fallen off the bus", "dmesg names the Xid"),
        (77, "failed", "exit status 77", "without a word on why"),
        (126, "failed", "exit status 126", "this user may not run it"),
        (255, "failed", "exit status 255", "an error of its own"),
        (137, "failed", "was ended by signal 9", "It said: words of its own"),
    ],
)
async def test_each_end_of_nvidia_smi_is_told_with_its_own_words(
    code: int, state: str, words: str, step: str, bare_host: BareHost, begin: Begin
) -> None:
    bare_host.smi(code=code, words=["words of its own"])
    driver = await begin().find(GpuDriver)

    assert (driver.state, driver.code) == (state, code)
    assert driver.sentence.startswith("nvidia-smi ")
    assert words in driver.sentence
    assert step in driver.sentence
    assert driver.sentence.endswith(". It said: words of its own")


async def test_where_it_could_be_left_behind_it_is_not_started(
    begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ShellHello, "leads", False)
    driver = await begin().find(GpuDriver)

    assert driver.state == "failed"
    assert driver.sentence.startswith("nvidia-smi is not started there")
    assert "setsid is missing" in driver.sentence


async def test_a_log_that_is_not_there_is_waited_for(begin: Begin, tmp_path: Path) -> None:
    source = await begin(str(tmp_path / "server.log")).find(LogSource)

    assert (source.state, source.sentence) == (
        "missing",
        f"{tmp_path / 'server.log'} does not exist yet; waiting for it",
    )


async def test_a_folder_is_no_log(begin: Begin, tmp_path: Path) -> None:
    source = await begin(str(tmp_path)).find(LogSource)

    assert source.state == "not_a_file"
    assert source.sentence == f"{tmp_path} is no file; name the file that the server writes to"


async def test_a_path_that_no_line_can_hold_is_refused(begin: Begin) -> None:
    watching = begin("/srv/a\nb.log")
    await watching.find(Hello)
    notice = await watching.find(Notice, lambda notice: notice.about == "log")

    assert notice.sentence == "a log whose path holds control characters cannot be read without python3"


async def test_how_much_of_a_long_log_is_left_out_is_told(begin: Begin, tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.write_bytes((b"x" * 99 + b"\n") * (BACKLOG_BYTES // 100 + 1000))
    gap = await begin(str(log)).find(Gap)

    assert gap.why == "backlog"
    assert gap.sentence == f"the first {gap.lost_bytes} bytes of {log} were not read"
