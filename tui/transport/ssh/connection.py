"""Connecting: the way to the host, the login, and one command on it, each failure in its own sentence.

Imports asyncssh: import this module only where a connection is made.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from socket import socket

import asyncssh

from tui.transport.faults import fault
from tui.transport.pipe import LinkFault
from tui.transport.ssh.config import last_jump
from tui.transport.ssh.host_key import HostKeyGate
from tui.transport.ssh.limits import Limits, Manners
from tui.transport.ssh.login import Login
from tui.transport.ssh.pipe import SshPipe, SshSession
from tui.transport.ssh.proxy import Proxy, has_shell
from tui.transport.ssh.resolved import Resolved
from tui.transport.ssh.tcp import connect_tcp

_WINDOW_BYTES = 256 * 1024
_CLOSE_S = 2.0
# The faults of a jump host that a person's answer may help.
_ASKED = ("auth", "host_key")

OpenPipe = Callable[[Resolved, str, Manners], Awaitable[SshPipe]]


async def open_pipe(resolved: Resolved, command: str, manners: Manners) -> SshPipe:
    """Log in and start ``command``. Raises LinkFault."""
    async with AsyncExitStack() as stack:
        connection = await _Way(manners, stack).log_in(resolved)
        session = await _start(resolved, connection, command, manners.limits)

        async def start(line: str) -> SshSession:
            return await _start(resolved, connection, line, manners.limits)

        return SshPipe(session, stack.pop_all().aclose, resolved.where, start)
    raise AssertionError("an exit stack suppresses nothing here")


@dataclass(frozen=True, slots=True)
class _Way:
    """Makes connections that end when ``stack`` is unwound."""

    manners: Manners
    stack: AsyncExitStack

    async def log_in(self, resolved: Resolved) -> asyncssh.SSHClientConnection:
        """Reach the host and log in; after a yes to its unknown key once more, as the first try is over."""
        async with AsyncExitStack() as own:
            connection = await replace(self, stack=own).log_in_once(resolved)
            if connection is not None:
                self.stack.push_async_callback(own.pop_all().aclose)
                return connection
        again = await self.log_in_once(resolved)
        if again is None:
            raise AssertionError("a key that was agreed to was asked for again")
        return again

    async def log_in_once(self, resolved: Resolved) -> asyncssh.SSHClientConnection | None:
        """Reach the host in the way that its configuration says, and log in.

        None when a person has just agreed to its key.
        """
        agreed = self.manners.answers.host_keys
        gate = await asyncio.to_thread(HostKeyGate, resolved, self.manners.notice, agreed)
        login = Login(resolved, gate, self.manners)
        self.stack.push_async_callback(login.close)
        try:
            return await self._reach(login)
        except LinkFault:
            if gate.unknown is None or not await login.agreed():
                raise
            return None

    async def _reach(self, login: Login) -> asyncssh.SSHClientConnection:
        resolved = login.resolved
        if resolved.proxy_command is not None and has_shell():
            return await self._over_proxy(login, resolved.proxy_command)
        hop = await last_jump(resolved)
        if hop is not None:
            return await self._over(login, tunnel=await self.log_in(hop))
        if resolved.proxy_command is not None:
            raise fault("proxy_needs_shell", where=resolved.where, command=resolved.proxy_command)
        sock = await connect_tcp(resolved, resolved.connect_timeout_s or self.manners.limits.connect_s)
        self.stack.callback(sock.close)
        return await self._over(login, sock=sock)

    async def _over_proxy(self, login: Login, command: str) -> asyncssh.SSHClientConnection:
        """Log in over a proxy command; its own words outrank what the library sees of it: a closed pipe.

        An ssh that fails at the login of a jump host has no terminal to ask on: where a person can be asked,
        or has been, the library goes that way.
        """
        proxy = await Proxy.start(command)
        self.stack.push_async_callback(proxy.close)
        try:
            return await self._over(login, sock=proxy.socket)
        except LinkFault as seen:
            if seen.fault not in ("lost", "refused", "timeout"):
                raise
            waited_s = login.greeting_s if seen.fault == "timeout" else None
            told = await proxy.fault(login.resolved, spoke=login.spoke, waited_s=waited_s)
            hop = await last_jump(login.resolved)
            if hop is None or told is None or told.fault not in _ASKED or not self.manners.may_answer:
                raise told or seen from None
            if hop.left_to_ssh.always:
                raise told from None
        return await self._over(login, tunnel=await self.log_in(hop))

    async def _over(
        self, login: Login, sock: socket | None = None, tunnel: asyncssh.SSHClientConnection | None = None
    ) -> asyncssh.SSHClientConnection:
        connection = await login.connect(sock, tunnel)
        self.stack.push_async_callback(_let_go, connection)
        return connection


async def _start(
    resolved: Resolved, connection: asyncssh.SSHClientConnection, command: str, limits: Limits
) -> SshSession:
    """Start ``command`` on a channel: no pty, no forwarding, no variables but the configuration's."""
    session = SshSession()
    environment = [(os.fsencode(name), os.fsencode(value)) for name, value in resolved.wire.environment]
    try:
        async with asyncio.timeout(limits.login_s):
            await connection.create_session(
                lambda: session, command, encoding=None, window=_WINDOW_BYTES, request_pty=False,
                env=environment, send_env=None, x11_forwarding=False,
            )  # fmt: skip
            return session
    except TimeoutError:
        raise fault("login_timeout", where=resolved.where, seconds=f"{limits.login_s:g}") from None
    except asyncssh.ChannelOpenError as error:
        if connection.is_closed():
            raise fault("lost", where=resolved.where, why=error.reason) from None
        raise fault("no_session", where=resolved.where, user=resolved.user, why=error.reason) from None
    except (asyncssh.Error, OSError) as error:
        raise fault("lost", where=resolved.where, why=str(error) or type(error).__name__) from None


async def _let_go(connection: asyncssh.SSHClientConnection) -> None:
    """Close a connection; one that does not confirm in time is dead, and dropped."""
    connection.close()
    with suppress(TimeoutError):
        async with asyncio.timeout(_CLOSE_S):
            await connection.wait_closed()
    connection.abort()
