"""The end of a child process: told by asyncio's watcher alone, whatever is cancelled meanwhile."""

import asyncio
import logging
import os
import signal
import subprocess
import sys

import pytest
from agent_process import alive

from tui.demo.live import LiveServer
from tui.transport import local
from tui.transport.child import Child, reaped
from tui.transport.local import LocalPipe, local_opener
from tui.transport.ssh.proxy import Proxy

STAYS = "import sys, time; print(1, flush=True); sys.stdin.read(); time.sleep(100)"
ENDS = "import sys; print(1, flush=True); sys.stdin.read()"


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """Log every look of Popen at a child that its watcher has not reported, as asyncio logs its warning."""
    look = subprocess.Popen[bytes].poll

    def poll(self: "subprocess.Popen[bytes]") -> int | None:
        if self.returncode is None:
            logging.getLogger("asyncio").warning("Popen looked at the child itself")
        return look(self)

    caplog.set_level(logging.WARNING, "asyncio")
    monkeypatch.setattr(subprocess.Popen, "poll", poll)


def unheard(pid: int, number: int) -> None:
    """Send a signal that never arrives."""


def no_handle(pid: int) -> None:
    """Give no handle of a process, as where there are none."""


async def opened(code: str) -> LocalPipe:
    pipe = await local_opener()([sys.executable, "-c", code])
    assert isinstance(pipe, LocalPipe)
    await pipe.read(10)
    return pipe


async def cancelled(task: "asyncio.Task[int | None]", times: int) -> None:
    """Cancel a task ``times`` times, with a few turns of the loop before each."""
    for _ in range(times):
        for _ in range(3):
            await asyncio.sleep(0)
        task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("times", [1, 2, 20])
async def test_a_close_that_is_cancelled_kills_and_still_learns_the_status(
    times: int, caplog: pytest.LogCaptureFixture
) -> None:
    pipe = await opened(STAYS)
    await cancelled(asyncio.create_task(pipe.close()), times)

    assert not alive(pipe.pid)
    assert await pipe.close() == -9
    assert not caplog.records


@pytest.mark.parametrize("wait_s", [0.0, 0.001, 0.003, 0.006, 0.01, 0.015, 0.02])
async def test_a_child_that_ends_while_its_close_is_cancelled_is_not_reaped_behind_its_watcher(
    wait_s: float, caplog: pytest.LogCaptureFixture
) -> None:
    pipe = await opened(ENDS)
    closing = asyncio.create_task(pipe.close())
    await asyncio.sleep(wait_s)
    closing.cancel()
    await asyncio.gather(closing, return_exceptions=True)

    assert await pipe.close() in (0, -9)
    assert not caplog.records


async def test_a_child_that_must_be_killed_is_not_reaped_behind_its_watcher(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(local, "_END_S", 0.02)
    pipe = await opened(STAYS)

    assert await pipe.close() == -9
    assert not caplog.records


def test_the_end_of_the_loop_ends_the_child_first(caplog: pytest.LogCaptureFixture) -> None:
    pids: list[int] = []

    async def main() -> None:
        pipe = await opened(STAYS)
        pids.append(pipe.pid)
        asyncio.get_running_loop().call_soon(asyncio.create_task, pipe.close())
        await asyncio.sleep(0.01)

    asyncio.run(main())

    assert not alive(pids[0])
    assert not caplog.records


async def test_a_child_that_no_signal_reaches_holds_nothing_up(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(local, "_END_S", 0.01)
    monkeypatch.setattr(local, "_LAST_WORDS_S", 0.02)
    pipe = await opened(STAYS)
    with monkeypatch.context() as patched:
        patched.setattr(local, "_KILLED_S", 0.02)
        patched.setattr(os, "kill", unheard)
        patched.setattr(signal, "pidfd_send_signal", unheard)
        assert await pipe.close() is None
    assert alive(pipe.pid)

    assert await pipe.close() == -9
    assert not caplog.records


@pytest.mark.parametrize("handles", [True, False])
async def test_a_kill_needs_no_handle_of_the_kernel_and_is_void_after_the_end(
    *, handles: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not handles:
        monkeypatch.setattr("tui.transport.child._handle", no_handle)
    before = len(os.listdir("/proc/self/fd"))
    pipe = await opened(STAYS)
    closing = asyncio.create_task(pipe.close())
    await cancelled(closing, 1)

    assert await pipe.close() == -9
    Child(pipe.pid, lambda: -9).kill()
    assert len(os.listdir("/proc/self/fd")) <= before


async def test_the_wait_for_the_end_has_a_limit() -> None:
    assert not await reaped(lambda: None, 0.02)


async def test_the_live_server_of_the_demo_is_ended_when_its_close_is_cancelled(
    caplog: pytest.LogCaptureFixture,
) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", "import time; time.sleep(100)", stdin=asyncio.subprocess.PIPE
    )
    closing = asyncio.create_task(LiveServer(process, 0).close())
    await asyncio.sleep(0.01)
    closing.cancel()
    await asyncio.gather(closing, return_exceptions=True)

    assert process.returncode == -9
    assert not caplog.records


async def test_a_proxy_command_is_ended_when_its_close_is_cancelled(caplog: pytest.LogCaptureFixture) -> None:
    proxy = await Proxy.start("sh -c 'trap \"\" TERM; echo started >&2; while :; do sleep 1; done'")
    await asyncio.sleep(0.02)
    closing = asyncio.create_task(proxy.close())
    await asyncio.sleep(0.01)
    closing.cancel()
    await asyncio.gather(closing, return_exceptions=True)

    assert proxy._process.returncode in (-9, -15)  # pyright: ignore[reportPrivateUsage]
    assert not caplog.records
