"""A shell in an agent's place that ends or says nothing is a fault of the link, told in one sentence."""

import pytest

from tui.transport.bootstrap import Started
from tui.transport.local import local_opener
from tui.transport.pipe import LinkFault
from tui.transport.plain_shell.connection import ShellConnection
from tui.transport.wake import Wake


async def fault_of(command: list[str], timeout_s: float) -> LinkFault:
    """Return what becomes of a connection to that command."""
    pipe = await local_opener()(command)
    connection = ShellConnection(Started(pipe, "", b"", True), timeout_s, Wake(), None, "in docker:vllm")
    try:
        with pytest.raises(LinkFault) as seen:
            async for _ in connection.lines():
                pass
    finally:
        await connection.close()
    return seen.value


async def test_a_shell_that_ends_is_a_lost_link() -> None:
    fault = await fault_of(["/bin/sh", "-c", "echo no room >&2"], 10.0)
    assert (fault.fault, fault.retry) == ("lost", True)
    assert fault.sentence == "the link to the shell in docker:vllm ended (it said: no room)"


async def test_a_shell_that_says_nothing_is_given_up() -> None:
    fault = await fault_of(["cat"], 0.1)
    assert (fault.fault, fault.retry) == ("timeout", True)
    assert fault.sentence == "the shell in docker:vllm said nothing of use within 0.1 s"
