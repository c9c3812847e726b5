"""The pipe to a process on this machine."""

import asyncio
import platform
import subprocess
import sys
from contextlib import suppress
from typing import cast

from tui.transport.child import Child, kill_group
from tui.transport.faults import fault
from tui.transport.pipe import Opener, Pipe

_END_S = 2.0
_KILLED_S = 2.0
_LAST_WORDS_S = 0.3
_UNREAD_BYTES = 256 * 1024
_ERRORS_BYTES = 64 * 1024
_STDIN, _STDOUT, _STDERR = 0, 1, 2


def local_opener(environment: dict[str, str] | None = None) -> Opener:
    """Return an opener of processes on this machine, each in a session and process group of its own.

    ``environment`` replaces this process's own variables.
    """

    async def open_local(command: list[str]) -> Pipe:
        try:
            return await open_child(command, environment)
        except OSError as error:
            raise fault("cannot_start_here", program=command[0], why=error.strerror or error) from None

    return open_local


def agent_opener() -> Opener:
    """Return an opener for the agent on this machine itself, which refuses where that is no Linux."""

    async def open_agent(command: list[str]) -> Pipe:
        if not sys.platform.startswith("linux"):
            raise fault("agent_needs_linux", system=platform.system() or sys.platform)
        return await local_opener()(command)

    return open_agent


async def open_child(
    command: list[str], environment: dict[str, str] | None = None, *, whole_group: bool = False
) -> "LocalPipe":
    """Start a process in a session of its own. Raises OSError.

    ``whole_group``: where it must be killed, so is all that it started in its group.
    """
    loop = asyncio.get_running_loop()
    transport, streams = await loop.subprocess_exec(
        _Streams, *command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        start_new_session=True, env=environment,
    )  # fmt: skip
    return LocalPipe(transport, streams, whole_group=whole_group)


class _Streams(asyncio.SubprocessProtocol):
    """What arrives of a child process."""

    def __init__(self) -> None:
        self.unread = bytearray()
        self.errors = bytearray()
        self.news = asyncio.Event()
        self.ended = asyncio.Event()
        self.errors_over = asyncio.Event()
        self.writable = asyncio.Event()
        self.writable.set()
        self.output_over = False
        self.discarding = False
        self.closing = False
        self.transport: asyncio.SubprocessTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.SubprocessTransport", transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd != _STDOUT:
            self.errors += data
            del self.errors[:-_ERRORS_BYTES]
        elif not self.discarding:
            self.unread += data
            self.news.set()
            self.flow()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == _STDOUT:
            self.output_over = True
            self.news.set()
        elif fd == _STDIN:
            self.writable.set()
        else:
            self.errors_over.set()

    def process_exited(self) -> None:
        self.ended.set()
        if self.closing and self.transport is not None:
            self.transport.close()

    def pause_writing(self) -> None:
        self.writable.clear()

    def resume_writing(self) -> None:
        self.writable.set()

    def discard(self) -> None:
        """Take nothing more in, so that the child is not held up by its output while it ends."""
        self.discarding = True
        self.unread.clear()
        self.output_over = True
        self.news.set()
        self.flow()

    def flow(self) -> None:
        """Stop reading while much is unread, and go on once it has been taken."""
        output = self.transport.get_pipe_transport(_STDOUT) if self.transport is not None else None
        if not isinstance(output, asyncio.ReadTransport) or output.is_closing():
            return
        full = len(self.unread) >= _UNREAD_BYTES
        if full and output.is_reading():
            output.pause_reading()
        elif not full and not output.is_reading():
            output.resume_reading()


class LocalPipe:
    """The standard streams of a child process."""

    def __init__(
        self, transport: asyncio.SubprocessTransport, streams: _Streams, *, whole_group: bool = False
    ) -> None:
        self._transport = transport
        self._streams = streams
        self._whole_group = whole_group
        self._child = Child(transport.get_pid(), transport.get_returncode)

    @property
    def pid(self) -> int:
        """The pid of the child."""
        return self._child.pid

    async def read(self, size: int) -> bytes:
        """Return up to ``size`` bytes of the child's output, nothing at its end."""
        streams = self._streams
        while not streams.unread and not streams.output_over:
            streams.news.clear()
            await streams.news.wait()
        data = bytes(streams.unread[:size])
        del streams.unread[:size]
        streams.flow()
        return data

    def write(self, data: bytes) -> None:
        """Queue bytes for the child's input; void once it reads no more."""
        stdin = self._input()
        if not stdin.is_closing():
            stdin.write(data)

    async def drain(self) -> None:
        """Wait until little is unwritten. Raises LinkFault when the child reads no more."""
        await self._streams.writable.wait()
        if self._input().is_closing():
            raise fault("ended_here")

    def errors(self) -> bytes:
        """Return the last 64 KiB of the child's error output."""
        return bytes(self._streams.errors)

    async def ended(self, limit_s: float) -> int | None:
        """Wait up to ``limit_s`` for its end; return its exit status, None while it goes on."""
        with suppress(TimeoutError):  # it goes on
            async with asyncio.timeout(limit_s):
                await self._streams.ended.wait()
        return self._transport.get_returncode()

    async def close(self) -> int | None:
        """Close its input, and kill it when it has not ended after 2 s or when this is cancelled.

        Return its exit status, None when it outlives even that: no signal reaches a dead driver call.
        """
        self._streams.discard()
        self._input().close()
        try:
            await self._end()
            with suppress(TimeoutError):  # a process that it started holds its error stream open
                async with asyncio.timeout(_LAST_WORDS_S):
                    await self._streams.errors_over.wait()
        finally:
            self._let_go()
        return self._transport.get_returncode()

    async def _end(self) -> None:
        try:
            await self.ended(_END_S)
        finally:
            if self._whole_group and not self._streams.ended.is_set():
                kill_group(self.pid)
            self._child.kill()
            await self._child.reaped(_KILLED_S)

    def _let_go(self) -> None:
        """Close the transport, or only its streams while the child is not known to have ended."""
        if self._transport.get_returncode() is not None:
            self._transport.close()
            return
        self._streams.closing = True
        for number in _STDIN, _STDOUT, _STDERR:
            if (stream := self._transport.get_pipe_transport(number)) is not None:
                stream.close()

    def _input(self) -> asyncio.WriteTransport:
        return cast("asyncio.WriteTransport", self._transport.get_pipe_transport(_STDIN))
