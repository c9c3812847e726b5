"""A ProxyCommand or jump: a local command whose standard streams are the way to the host's SSH port."""

import asyncio
import os
import signal
import socket
from contextlib import suppress
from pathlib import Path

from tui.transport.child import KILL, reaped, signal_group
from tui.transport.faults import fault
from tui.transport.pipe import LinkFault
from tui.transport.ssh.command import login_at_jump
from tui.transport.ssh.resolved import Resolved
from tui.transport.ssh.words import hear

_KEPT_BYTES = 16 * 1024
_END_S = 1.0

# The rows of the fault table for what the ssh client of a jump says; of another kind it is "proxy".
_ROWS = {
    "dns": "proxy_dns",
    "auth": "proxy_auth",
    "host_key": "proxy_host_key",
    "host_key_changed": "proxy_host_key",
}


def has_shell() -> bool:
    """Say whether this machine can run a ProxyCommand: Windows has no such shell."""
    return Path(_shell()).exists()


def _shell() -> str:
    """Return the shell that ssh would take."""
    return os.environ.get("SHELL") or "/bin/sh"


class Proxy:
    """One running proxy command. ``socket`` is our end of its standard input and output."""

    def __init__(self, process: asyncio.subprocess.Process, ours: socket.socket, command: str) -> None:
        self.socket = ours
        self._process = process
        self._command = command
        self._said = b""
        self._reader = asyncio.create_task(self._keep_errors())

    @classmethod
    async def start(cls, command: str) -> "Proxy":
        """Start ``command`` by a shell, in a session of its own: it must not ask on the terminal."""
        ours, its = socket.socketpair()
        ours.setblocking(False)
        try:
            process = await asyncio.create_subprocess_exec(
                _shell(), "-c", f"exec {command}",
                stdin=its.fileno(), stdout=its.fileno(), stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
            )  # fmt: skip
        except BaseException:
            ours.close()
            raise
        finally:
            its.close()
        return cls(process, ours, command)

    async def fault(self, resolved: Resolved, *, spoke: bool, waited_s: float | None) -> LinkFault | None:
        """Say why the way failed: in the command's own words, else by how it ended.

        ``spoke``: the server has. ``waited_s``: for how long it was waited for in vain, None where something
        else failed. None when the command said nothing and the failure is not its own.
        """
        with suppress(TimeoutError):  # it may well go on; what it said so far counts
            async with asyncio.timeout(_END_S):
                await asyncio.shield(self._reader)
                await self._process.wait()
        heard = hear(self._said)
        if heard is None:
            return None if spoke else self._wordless(resolved.where, waited_s)
        row = _ROWS.get(heard.kind or "", "proxy")
        by_hand = "by hand"
        if resolved.jump is not None:
            by_hand = f"with: {login_at_jump(resolved.jump, resolved.config_file)}"
        return fault(row, where=resolved.where, command=self._command, why=heard.line, by_hand=by_hand)

    def _wordless(self, where: str, waited_s: float | None) -> LinkFault | None:
        status, command = self._process.returncode, self._command
        if status is None and waited_s is not None:
            return fault("proxy_silent", where=where, command=command, seconds=f"{waited_s:g}")
        if status is None:
            return None
        if status == 0:
            return fault("proxy_closed", where=where, command=command)
        how = f"with status {status}" if status >= 0 else f"by signal {-status}"
        return fault("proxy_ended", where=where, command=command, how=how)

    async def close(self) -> None:
        """End the command with all that it started."""
        self.socket.close()
        try:
            self._signal(signal.SIGTERM)
            with suppress(TimeoutError):  # the next signal is stronger
                async with asyncio.timeout(_END_S):
                    await self._process.wait()
        finally:
            self._signal(KILL)
            self._reader.cancel()
            await reaped(lambda: self._process.returncode, _END_S)
        await asyncio.gather(self._reader, return_exceptions=True)

    def _signal(self, number: signal.Signals) -> None:
        if self._process.returncode is None:
            signal_group(self._process.pid, number)

    async def _keep_errors(self) -> None:
        stream = self._process.stderr
        while stream is not None and (data := await stream.read(4096)):
            self._said = (self._said + data)[-_KEPT_BYTES:]
