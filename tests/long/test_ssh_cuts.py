"""Many cuts of the link, of every kind, while the log is written and rotated: no line lost or repeated."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from busy_log import Written, writing
from ssh_relay import Relay, relayed
from ssh_server import SshServer, until
from ssh_watch import Watch, watching

from tui.events import LogSource

pytestmark = [pytest.mark.ssh, pytest.mark.long]

CUTS = 50  # of each test
KINDS = ("kill", "stop", "restart", "reset", "half-open")
DEADLINE_S = 120.0


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction] -- pytest uses it
    """Try again soon, so that a hundred cuts take minutes and not an hour."""
    monkeypatch.setattr("tui.transport.agent_source.BACKOFF_S", (0.1, 0.3))


@pytest.mark.parametrize(
    ("rotations", "by"),
    [
        (("rename", "copytruncate"), None),
        (("truncate", "delete"), None),
        (("rename", "copytruncate"), ("ssh",)),
    ],
)
async def test_no_line_is_lost_or_repeated_over_many_cuts(
    ssh_server: SshServer,
    tmp_path: Path,
    share: Callable[[int], int],
    rotations: tuple[str, ...],
    by: tuple[str, ...] | None,
) -> None:
    log, cuts = tmp_path / "server.log", share(CUTS)
    log.touch()
    async with relayed(ssh_server) as relay, watching(ssh_server, log, ssh_cmd=by) as watch:
        await until(watch.reads_log)
        with writing(log, rotations) as writer:
            for number in range(cuts):
                await _cut(KINDS[number % len(KINDS)], ssh_server, relay, watch)
            written = await writer.finish()
            await until(lambda: watch.read.last == written.lines - 1, DEADLINE_S)
        ssh_server.cut()
    _judge(watch, written)


def _judge(watch: Watch, written: Written) -> None:
    """Nothing twice, nothing in disorder, and nothing missing but what was destroyed, which must be told."""
    read = watch.read
    assert (read.repeated(), read.out_of_order, read.strange) == ([], 0, [])
    destroyed = {line for first, end in written.destroyed for line in range(first, end)}
    assert set(read.lost(written.lines)) <= destroyed
    # What is written and truncated between two looks at the file is seen by nobody: the truncation is told.
    truncations = sum("truncated" in event.sentence for event in watch.events if isinstance(event, LogSource))
    assert len(read.gaps) + truncations >= read.holes(written.lines)
    assert bool(read.gaps) == bool(read.lost(written.lines))


async def _cut(kind: str, server: SshServer, relay: Relay, watch: Watch) -> None:
    """Cut the link in one way, when it is up and lines come, and wait until it is up again."""
    ups, last = watch.links().count("up"), watch.read.last
    await until(lambda: watch.read.last > last, DEADLINE_S)
    await asyncio.sleep(random.uniform(0, 0.3))
    await _WAYS[kind](server, relay)
    await until(lambda: watch.links().count("up") > ups, DEADLINE_S)


async def _kill(server: SshServer, relay: Relay) -> None:
    server.cut()


async def _stop(server: SshServer, relay: Relay) -> None:
    server.stall()


async def _restart(server: SshServer, relay: Relay) -> None:
    server.stop()
    await asyncio.sleep(0.3)
    server.start()


async def _reset(server: SshServer, relay: Relay) -> None:
    relay.reset()


async def _half_open(server: SshServer, relay: Relay) -> None:
    relay.hush()


_WAYS: dict[str, Callable[[SshServer, Relay], Awaitable[None]]] = dict(
    zip(KINDS, (_kill, _stop, _restart, _reset, _half_open), strict=True)
)
