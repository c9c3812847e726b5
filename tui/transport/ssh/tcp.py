"""The TCP connection below SSH: the name looked up, its addresses tried, each failure in one sentence."""

import asyncio
import errno
import os
import socket
import threading
from typing import cast

from tui.transport.faults import fault
from tui.transport.pipe import LinkFault
from tui.transport.ssh.resolved import Resolved

# RFC 8305 recommends 250 ms before the next address is tried while the first has not answered.
_NEXT_ADDRESS_S = 0.25
# ssh_config(5), ConnectionAttempts: one per second.
_BETWEEN_ATTEMPTS_S = 1.0
_FAMILIES = {"inet": socket.AF_INET, "inet6": socket.AF_INET6}
_UNREACHABLE = {errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EADDRNOTAVAIL, errno.EACCES, errno.EPERM}

Address = tuple[socket.AddressFamily, tuple[str, int]]


async def connect_tcp(resolved: Resolved, timeout_s: float) -> socket.socket:
    """Connect, each attempt within ``timeout_s``. Raises LinkFault: dns, refused, timeout."""
    for _ in range(resolved.wire.attempts - 1):
        try:
            return await _attempt(resolved, timeout_s)
        except LinkFault as seen:
            if not seen.retry:
                raise
        await asyncio.sleep(_BETWEEN_ATTEMPTS_S)
    return await _attempt(resolved, timeout_s)


async def _attempt(resolved: Resolved, timeout_s: float) -> socket.socket:
    try:
        async with asyncio.timeout(timeout_s):
            return await _first_connected(await _look_up(resolved))
    except TimeoutError:
        raise fault("timeout", where=resolved.where, seconds=f"{timeout_s:g}") from None
    except ConnectionRefusedError:
        raise fault("refused", where=resolved.where, port=resolved.port) from None
    except OSError as error:
        raise _os_fault(resolved, error) from None


def _os_fault(resolved: Resolved, error: OSError) -> LinkFault:
    why = os.strerror(error.errno) if error.errno else str(error)
    if error.errno == errno.ETIMEDOUT:
        return fault("timeout", where=resolved.where, seconds="its system's time")
    row = "unreachable" if error.errno in _UNREACHABLE else "closed_early"
    return fault(row, where=resolved.where, why=why)


async def _look_up(resolved: Resolved) -> list[Address]:
    try:
        return await _in_daemon_thread(resolved)
    except UnicodeError:
        raise fault("dns", host=resolved.hostname, why="not a name that DNS can have") from None
    except socket.gaierror as error:
        raise fault("dns", host=resolved.hostname, why=error.strerror or str(error)) from None


async def _in_daemon_thread(resolved: Resolved) -> list[Address]:
    """Look the name up in a thread that nothing waits for: a name server may be silent for 30 s and more."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[list[Address]] = loop.create_future()

    def deliver(addresses: list[Address] | None, error: Exception | None) -> None:
        if answer.done():
            return
        if error is not None:
            answer.set_exception(error)
        else:
            answer.set_result(addresses or [])

    def look_up() -> None:
        addresses, error = None, None
        try:
            addresses = _addresses(resolved)
        except (OSError, UnicodeError) as caught:
            error = caught
        if not loop.is_closed():
            loop.call_soon_threadsafe(deliver, addresses, error)

    threading.Thread(target=look_up, daemon=True, name="name-lookup").start()
    return await answer


def _addresses(resolved: Resolved) -> list[Address]:
    family = _FAMILIES.get(resolved.address_family, socket.AF_UNSPEC)
    found = socket.getaddrinfo(resolved.hostname, resolved.port, family, socket.SOCK_STREAM)
    return [(entry[0], cast(tuple[str, int], entry[4])) for entry in found]


async def _first_connected(addresses: list[Address]) -> socket.socket:
    """Race the addresses, each starting when the one before failed or was silent for a moment."""
    tasks: list[asyncio.Task[socket.socket]] = []
    waiting = list(addresses)
    try:
        while True:
            if waiting:
                tasks.append(asyncio.create_task(_connected(waiting.pop(0))))
            running = [task for task in tasks if not task.done()]
            if not running and not waiting:
                raise _worst(tasks)
            pause = _NEXT_ADDRESS_S if waiting else None
            done, _ = await asyncio.wait(running, timeout=pause, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                if task.exception() is None:
                    return tasks.pop(tasks.index(task)).result()
    finally:
        await _let_go(tasks)


def _worst(tasks: list[asyncio.Task[socket.socket]]) -> BaseException:
    """Return the failure that says most: a refusal comes from the host itself."""
    errors = [error for task in tasks if (error := task.exception()) is not None]
    refusals = [error for error in errors if isinstance(error, ConnectionRefusedError)]
    return (refusals or errors or [OSError("no address")])[0]


async def _let_go(tasks: list[asyncio.Task[socket.socket]]) -> None:
    """Cancel what still tries, and close what was connected a moment too late."""
    for task in tasks:
        task.cancel()
    for result in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(result, socket.socket):
            result.close()


async def _connected(address: Address) -> socket.socket:
    family, place = address
    connection = socket.socket(family, socket.SOCK_STREAM)
    connection.setblocking(False)
    try:
        await asyncio.get_running_loop().sock_connect(connection, place)
    except BaseException:
        connection.close()
        raise
    return connection
