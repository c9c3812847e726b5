"""The pipe over one channel of an SSH connection: bytes in, bytes out, and a broken link told from an end.

Imports asyncssh: import this module only where a connection is made.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import asyncssh

from tui.transport.faults import fault
from tui.transport.pipe import LinkFault
from tui.transport.remote_shell import command_line

# asyncssh's window bounds what is under way to 256 KiB; this bounds what waits here to be read.
_UNREAD_BYTES = 64 * 1024
_ERRORS_BYTES = 64 * 1024
_END_S = 1.0
_STDERR = 1  # RFC 4254, 5.2: SSH_EXTENDED_DATA_STDERR


class SshSession(asyncssh.SSHClientSession[bytes]):
    """Takes in what one channel delivers; SshPipe hands it on."""

    def __init__(self) -> None:
        self.unread = bytearray()
        self.errors = bytearray()
        self.ended = asyncio.Event()
        self.broken: Exception | None = None
        self._channel: asyncssh.SSHClientChannel[bytes] | None = None
        self._news = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()
        self._output_over = False
        self._paused = False
        self._discard = False

    @property
    def channel(self) -> "asyncssh.SSHClientChannel[bytes]":
        """Return the channel, which is there once the command has been started."""
        if self._channel is None:
            raise RuntimeError("the channel of this session was not opened")
        return self._channel

    def connection_made(self, chan: "asyncssh.SSHClientChannel[bytes]") -> None:
        self._channel = chan

    def connection_lost(self, exc: Exception | None) -> None:
        self.broken = exc
        self._output_over = True
        self.ended.set()
        self._news.set()
        self._writable.set()

    def data_received(self, data: bytes, datatype: int | None) -> None:
        if datatype == _STDERR:
            self.errors += data
            del self.errors[:-_ERRORS_BYTES]
            return
        if self._discard:
            return
        self.unread += data
        self._news.set()
        if len(self.unread) >= _UNREAD_BYTES and self._channel is not None and not self._paused:
            self._paused = True
            self._channel.pause_reading()

    def eof_received(self) -> bool:
        """Note the end of the output; True keeps the channel open for the exit status."""
        self._output_over = True
        self._news.set()
        return True

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    async def take(self, size: int) -> bytes:
        """Return up to ``size`` bytes; nothing at the end, whichever end it was."""
        while not self.unread and not self._output_over:
            self._news.clear()
            await self._news.wait()
        data = bytes(self.unread[:size])
        del self.unread[:size]
        if not self.unread:
            self._go_on()
        return data

    def discard(self) -> None:
        """Take no more output in, so that the process is not held up by it while it ends."""
        self._discard = True
        self.unread.clear()
        self._output_over = True
        self._news.set()
        self._go_on()

    async def writable(self) -> None:
        """Wait until the queue of unwritten input is short, or the channel is gone."""
        await self._writable.wait()

    def _go_on(self) -> None:
        if self._paused and self._channel is not None:
            self._paused = False
            self._channel.resume_reading()


async def _nothing() -> None:
    """Let go of a connection that is another pipe's."""


class SshPipe:
    """The standard streams of one process on an SSH host; closing it closes the connection as well."""

    def __init__(
        self,
        session: SshSession,
        let_go: Callable[[], Awaitable[None]],
        where: str,
        start: Callable[[str], Awaitable[SshSession]],
    ) -> None:
        self._session = session
        self._let_go = let_go
        self._where = where
        self._start = start
        self._closed = False

    async def read(self, size: int) -> bytes:
        """Return up to ``size`` bytes, ``b""`` when the process ended. Raises LinkFault: the link broke."""
        data = await self._session.take(size)
        if not data and not self._closed:
            self._raise_if_broken()
        return data

    def write(self, data: bytes) -> None:
        """Queue bytes for the process's input; void once it has ended."""
        if self._closed or self._session.channel.is_closing():
            return
        with suppress(OSError):  # the channel closed in this moment; read() tells of it
            self._session.channel.write(data)

    async def drain(self) -> None:
        """Wait until the queue of unwritten input is short. Raises LinkFault when the link is gone."""
        await self._session.writable()
        if not self._closed:
            self._raise_if_broken()

    def errors(self) -> bytes:
        """Return the last 64 KiB of the process's error stream."""
        return bytes(self._session.errors)

    async def beside(self, arguments: list[str]) -> "SshPipe":
        """Start another command on the same connection, which ends with this pipe. Raises LinkFault."""
        try:
            session = await self._start(command_line(arguments))
        except LinkFault as seen:
            if seen.fault != "refused":
                raise
            raise fault("no_second_session", where=self._where) from None
        return SshPipe(session, _nothing, self._where, self._start)

    async def close(self) -> int | None:
        """Close the input, give the process a second, then let go of channel and connection."""
        if not self._closed:
            self._closed = True
            await self._close()
        return self._session.channel.get_returncode()

    async def _close(self) -> None:
        try:
            self._session.discard()
            if not self._session.ended.is_set():
                await self._end_process()
            self._session.channel.close()
        finally:
            await self._let_go()

    async def _end_process(self) -> None:
        with suppress(OSError):  # the channel closed in this moment
            self._session.channel.write_eof()
        with suppress(TimeoutError):  # it does not end by itself: the closing channel tells it
            async with asyncio.timeout(_END_S):
                await self._session.ended.wait()

    def _raise_if_broken(self) -> None:
        error = self._session.broken
        if error is not None:
            raise fault("lost", where=self._where, why=str(error) or type(error).__name__)
