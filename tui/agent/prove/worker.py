"""The worker that reads under what a server runs because a client asked, answers once, and ends.

Each part is read in a thread of its own: of one that hangs what it has found so far is told, and that.
"""

from __future__ import annotations

import os
import time
from concurrent import futures

from tui.agent import wire
from tui.agent.checkpoint import places
from tui.agent.processes import exits, procfs
from tui.agent.prove import environ, libraries, topology

TYPE_CHECKING = False  # as in the agent's worker.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from tui.agent.worker import Channel

_LINGER_S = 10.0
LIMIT_S = wire.BLOCKING_DEADLINE_S - 1.0


def serve(channel: Channel) -> None:
    """Answer prove requests until none came for a while."""
    while True:
        request = channel.receive(_LINGER_S)
        if request is None:
            channel.rest(None)  # a thread that hangs in the kernel holds the process up
            return
        if request["kind"] == wire.PROVE:
            channel.rest(LIMIT_S)
            channel.send(answer(request, LIMIT_S))


def answer(request: dict[str, Any], limit_s: float) -> dict[str, object]:
    """Return the provenance message for a request within that time."""
    pid, started_s = int(request["pid"]), request.get("started_s")
    message = wire.stamped(
        wire.PROVENANCE,
        pid=pid,
        started_s=started_s,
        environments=[],
        libraries=[],
        kernel=os.uname().release,
        sentence="",
    )
    stat = procfs.stat_of(pid)
    begun_s = None if stat is None or stat.state in "ZX" else procfs.started_s(stat.ticks)
    if begun_s is None or (started_s is not None and abs(begun_s - started_s) >= exits.SAME_START_S):
        message["sentence"] = "process %d is gone" % pid
        return message
    late = _read(request, pid, message, time.monotonic() + limit_s)
    if late:
        message["sentence"] = "not read within %g s: %s" % (limit_s, ", ".join(late))
    return message


def _read(request: dict[str, Any], pid: int, message: dict[str, object], end_s: float) -> list[str]:
    """Fill the message; return what was not read in time. What comes later is not told."""
    environments: list[dict[str, object]] = []
    found: list[dict[str, object]] = []
    gpus: dict[str, object] = {}
    revision: list[str] = []
    prefixes = tuple(request["environment"])
    parts: dict[str, Callable[[], None]] = {
        "environment": lambda: environ.of_tree(pid, prefixes, environments),
        "libraries": lambda: libraries.of([each for each, _ in environ.tree(pid)], found),
        "GPUs": lambda: topology.read(gpus),
        "model revision": lambda: _revision(pid, request, revision),
    }
    pool = futures.ThreadPoolExecutor(len(parts))
    running = {name: pool.submit(part) for name, part in parts.items()}
    late: list[str] = []
    for name, part in running.items():
        try:
            part.result(max(0.0, end_s - time.monotonic()))
        except futures.TimeoutError:
            late.append(name)
    pool.shutdown(wait=False)
    message.update(dict(gpus), environments=list(environments), libraries=list(found))
    message["revision"] = revision[0] if revision else None
    return late


def _revision(pid: int, request: dict[str, Any], found: list[str]) -> None:
    """Note the name of the folder in which the hub's client keeps the model's snapshot. May block."""
    model = request.get("hub_model")
    if model is None or not places.is_hub_name(model):
        return
    view = places.View(pid)
    for cache in places.hub_caches(pid, {}, request.get("hub_cache")):
        folder = places.snapshot(view, cache, model, request.get("revision"))
        if folder is not None:
            found.append(folder.rpartition("/")[2])
            return
