"""The pipe to a process on this machine."""

import asyncio
import os
import sys

import pytest
from agent_process import alive

from tui.transport import local
from tui.transport.local import LocalPipe, local_opener
from tui.transport.pipe import LinkFault


async def opened(code: str) -> LocalPipe:
    pipe = await local_opener()([sys.executable, "-c", code])
    assert isinstance(pipe, LocalPipe)
    return pipe


async def drains(pipe: LocalPipe) -> bool:
    try:
        await pipe.drain()
    except LinkFault:
        return False
    return True


async def test_bytes_go_in_and_come_out_until_the_end() -> None:
    pipe = await opened("import sys; sys.stdout.write(sys.stdin.readline().upper())")
    pipe.write(b"hello\n")
    await pipe.drain()

    assert await pipe.read(100) == b"HELLO\n"
    assert await pipe.read(100) == b""
    assert await pipe.close() == 0
    assert await pipe.close() == 0


async def test_errors_are_kept_and_the_status_is_told() -> None:
    pipe = await opened("import sys; sys.exit('no such luck')")
    assert await pipe.read(100) == b""

    assert await pipe.close() == 1
    assert pipe.errors() == b"no such luck\n"


async def test_a_command_that_is_not_there_is_told() -> None:
    with pytest.raises(LinkFault) as caught:
        await local_opener()(["/no/such/python"])

    assert caught.value.fault == "no_python"
    assert "/no/such/python" in caught.value.sentence


async def test_it_runs_in_a_process_group_of_its_own() -> None:
    pipe = await opened("import sys; sys.stdin.read()")

    assert os.getpgid(pipe.pid) == os.getsid(pipe.pid) == pipe.pid
    await pipe.close()


async def test_a_process_that_does_not_end_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "_END_S", 0.1)
    pipe = await opened("import time; print(1, flush=True); time.sleep(100)")
    await pipe.read(100)

    assert await pipe.close() == -9
    assert not alive(pipe.pid)


async def test_a_flood_stops_where_nobody_reads_and_loses_nothing() -> None:
    total = 4 * 1024
    pipe = await opened(f"import os\nfor n in range({total}): os.write(1, b'%01023d\\n' % n)")
    await asyncio.sleep(0.05)
    received = b""
    while data := await pipe.read(65536):
        received += data

    assert received == b"".join(b"%01023d\n" % number for number in range(total))
    assert await pipe.close() == 0


async def test_a_flood_that_nobody_reads_is_no_hindrance_to_closing() -> None:
    flood = "while sys.stdin.buffer.read(1) is None: os.write(1, bytes(65536))"
    pipe = await opened(f"import os, sys\nos.set_blocking(0, False)\n{flood}")
    await pipe.read(10)

    assert await pipe.close() == 0
    assert not alive(pipe.pid)


async def test_writing_to_a_process_that_ended_is_void_and_told_by_drain() -> None:
    pipe = await opened("pass")
    assert await pipe.read(10) == b""
    while await drains(pipe):
        pipe.write(b"x" * 65536)
        await asyncio.sleep(0)
    with pytest.raises(LinkFault, match="the process on this machine has ended") as caught:
        await pipe.drain()

    assert (caught.value.fault, caught.value.retry) == ("lost", True)
    await pipe.close()
    pipe.write(b"x")


async def test_reading_ends_when_it_is_closed_meanwhile() -> None:
    pipe = await opened("import sys; sys.stdin.read()")
    reading = asyncio.create_task(pipe.read(10))
    await asyncio.sleep(0)
    await pipe.close()

    assert await reading == b""


async def test_the_environment_can_be_replaced() -> None:
    pipe = await local_opener({"ONLY": "this"})(
        [sys.executable, "-c", "import os; print(os.environ['ONLY'])"]
    )
    assert await pipe.read(100) == b"this\n"
    await pipe.close()
    assert "ONLY" not in os.environ
