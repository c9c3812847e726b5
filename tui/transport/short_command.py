"""A command that should end soon, in a session of its own; killed with all it started where it does not."""

import asyncio
from dataclasses import dataclass

from tui.transport.child import kill_group, reaped

_KILLED_S = 2.0


@dataclass(frozen=True, slots=True)
class Finished:
    """How a command ended, and what it wrote."""

    status: int | None
    output: bytes
    errors: bytes


async def finished(program: str, arguments: list[str], limit_s: float) -> Finished:
    """Run a program to its end. Raises TimeoutError after ``limit_s``, and OSError where it cannot start."""
    null, pipe = asyncio.subprocess.DEVNULL, asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        program, *arguments, stdin=null, stdout=pipe, stderr=pipe, start_new_session=True
    )
    try:
        async with asyncio.timeout(limit_s):
            output, errors = await process.communicate()
    finally:
        if process.returncode is None:
            kill_group(process.pid)
            await reaped(lambda: process.returncode, _KILLED_S)
    return Finished(process.returncode, output, errors)
