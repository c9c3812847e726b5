"""The pipe over a real sshd: bytes both ways, ends told from cuts, and nothing left behind."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable

import psutil
import pytest
from ssh_server import SshServer

from tui.transport.pipe import LinkFault, Pipe
from tui.transport.ssh.limits import Limits
from tui.transport.ssh.opener import SshOptions

pytestmark = pytest.mark.ssh

OpenOver = Callable[..., Awaitable[Pipe]]
ReadAll = Callable[[Pipe], Awaitable[bytes]]


async def test_bytes_go_there_and_come_back_unchanged(ssh_server: SshServer, open_over: OpenOver) -> None:
    pipe = await open_over(ssh_server, ["cat"])
    sent = bytes(range(256)) * 2000
    pipe.write(sent)
    await pipe.drain()
    received = b""
    while len(received) < len(sent):
        received += await pipe.read(65536)
    assert received == sent


async def test_an_ended_process_gives_its_output_its_errors_and_its_status(
    ssh_server: SshServer, open_over: OpenOver, read_all: ReadAll
) -> None:
    pipe = await open_over(ssh_server, ["sh", "-c", "echo out; echo err >&2; exit 3"])
    assert await read_all(pipe) == b"out\n"
    assert await pipe.close() == 3
    assert pipe.errors() == b"err\n"


async def test_the_error_stream_is_kept_to_its_last_64_kib(
    ssh_server: SshServer, open_over: OpenOver, read_all: ReadAll
) -> None:
    pipe = await open_over(ssh_server, ["sh", "-c", "yes 2>/dev/null | head -c 300000 >&2; echo last >&2"])
    await read_all(pipe)
    await pipe.close()
    assert len(pipe.errors()) == 64 * 1024
    assert pipe.errors().endswith(b"last\n")


async def test_a_reader_that_stops_holds_the_process_up_and_loses_nothing(
    ssh_server: SshServer, open_over: OpenOver
) -> None:
    lines = 200_000
    pipe = await open_over(ssh_server, ["seq", "-w", str(lines)])
    received = await pipe.read(1)
    await asyncio.sleep(0.05)
    while data := await pipe.read(7000):
        received += data
    assert received.split() == [b"%06d" % number for number in range(1, lines + 1)]


async def test_closing_ends_a_process_that_reads_its_input(
    ssh_server: SshServer, open_over: OpenOver
) -> None:
    pipe = await open_over(ssh_server, ["sh", "-c", "echo $$; cat"])
    pid = int(await pipe.read(100))
    assert await pipe.close() == 0
    assert not psutil.pid_exists(pid)
    assert await pipe.read(100) == b""
    assert await pipe.close() == 0


async def test_closing_does_not_wait_for_a_process_that_floods(
    ssh_server: SshServer, open_over: OpenOver
) -> None:
    pipe = await open_over(ssh_server, ["yes"])
    await pipe.read(10)
    began = time.monotonic()
    await pipe.close()
    assert time.monotonic() - began < 5


async def test_a_killed_session_is_told_as_a_lost_link(ssh_server: SshServer, open_over: OpenOver) -> None:
    pipe = await open_over(ssh_server, ["sh", "-c", "echo here; cat"])
    assert await pipe.read(100) == b"here\n"
    ssh_server.cut()
    with pytest.raises(LinkFault) as seen:
        await pipe.read(100)
    assert (seen.value.fault, seen.value.retry) == ("lost", True)
    assert f"port {ssh_server.port}" in seen.value.sentence
    pipe.write(b"into the void")
    with pytest.raises(LinkFault):
        await pipe.drain()


async def test_a_killed_process_is_no_lost_link(ssh_server: SshServer, open_over: OpenOver) -> None:
    pipe = await open_over(ssh_server, ["sh", "-c", "echo $$; exec sleep 60"])
    os.kill(int(await pipe.read(100)), 9)
    assert await pipe.read(100) == b""
    assert await pipe.close() == -9


async def test_a_silent_link_is_given_up_after_the_keepalives(
    ssh_server: SshServer, open_over: OpenOver
) -> None:
    limits = Limits(keepalive_s=0.1, keepalive_count=2)
    options = SshOptions(config_file=ssh_server.config_file, limits=limits)
    pipe = await open_over(ssh_server, ["sh", "-c", "echo here; cat"], options=options)
    assert await pipe.read(100) == b"here\n"
    stopped = ssh_server.sessions()
    ssh_server.stall()
    try:
        with pytest.raises(LinkFault, match="keepalive"):
            await pipe.read(100)
        began = time.monotonic()
        await pipe.close()
        assert time.monotonic() - began < 5
    finally:
        ssh_server.cut()
    assert stopped


async def test_bytes_that_are_no_text_do_not_end_the_link(
    ssh_server: SshServer, open_over: OpenOver, read_all: ReadAll
) -> None:
    pipe = await open_over(ssh_server, ["printf", "\\377\\376 \\033[31m"])
    assert await read_all(pipe) == b"\xff\xfe \x1b[31m"


async def test_one_connection_and_one_channel_serve_a_pipe(
    ssh_server: SshServer, open_over: OpenOver
) -> None:
    pipe = await open_over(ssh_server, ["sh", "-c", "echo here; cat"])
    await pipe.read(100)
    assert ssh_server.log().count("Starting session: command") == 1
    assert ssh_server.log().count("Accepted publickey") == 1


async def test_the_process_has_no_terminal_and_no_agent(
    ssh_server: SshServer, open_over: OpenOver, read_all: ReadAll
) -> None:
    pipe = await open_over(ssh_server, ["sh", "-c", "tty; echo agent=$SSH_AUTH_SOCK display=$DISPLAY"])
    assert await read_all(pipe) == b"not a tty\nagent= display=\n"
