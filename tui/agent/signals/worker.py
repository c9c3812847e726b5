"""The signals worker: once a second what moves in the followed server's processes, each 5 s in its host.

It attaches to nothing, opens no file but those of /proc and of the control group, never the costliest of them
(smaps), and the threads only of processes under suspicion. A read that hangs holds up this process alone.
"""

from __future__ import annotations

import os
import time

from tui.agent import wire
from tui.agent.signals import roles, storage
from tui.agent.signals.family import Family, Member
from tui.agent.signals.host import ControlGroup, host_signals
from tui.agent.signals.reading import TICKS_PER_S, reading
from tui.agent.signals.shards import Shards
from tui.agent.signals.threads import Suspects

TYPE_CHECKING = False  # as in channel.py
if TYPE_CHECKING:
    from typing import Any

    from tui.agent.worker import Channel

LOOK_S = 1.0
HOST_S = 5.0
_PROCESSES = 64
_NAMES = 8


def serve(channel: Channel) -> None:
    """Read and report while a server is followed, until the agent is gone."""
    watch: Watch | None = None
    wait_s: float | None = None
    while True:
        request = channel.receive(wait_s)
        if request is not None and request["kind"] == wire.FOLLOW:
            watch = _watch_for(request, watch, channel)
        wait_s = None if watch is None else watch.step(time.monotonic())


def _watch_for(request: dict[str, Any], watch: Watch | None, channel: Channel) -> Watch | None:
    """Return the watch over the process that is asked for: the same one, when it is watched already."""
    pid, started_s = request.get("pid"), request.get("started_s")
    if pid is None:
        return None
    if watch is None or watch.of != (pid, started_s):
        watch = Watch(channel, pid, started_s)
    watch.loads(request.get("checkpoint"))
    return watch


class Watch:
    """One server that is followed; ``of`` says which."""

    def __init__(self, channel: Channel, pid: int, started_s: float | None) -> None:
        self.of = (pid, started_s)
        self._channel = channel
        self._family = Family(pid, started_s, {os.getpid(), os.getppid()})
        self._group = ControlGroup(pid)
        self._shards = Shards()
        self._suspects = Suspects()
        self._next_s = 0.0
        self._host_s = 0.0
        self._empty = False
        self._storage: str | None = None

    def loads(self, plan: dict[str, Any] | None) -> None:
        """Learn which model is loaded, and by the list of mounts on what kind of file system it lies."""
        self._storage = storage.file_system(self.of[0], storage.model_places(self.of[0], plan))

    def step(self, now_s: float) -> float:
        """Read what is due; return the seconds until the next time."""
        if now_s >= self._next_s:
            lost = self._family.lost
            if not self._empty:
                self._processes(now_s)
            # Whether the kernel killed it is asked at once.
            if now_s >= self._host_s or self._family.lost != lost:
                self._host_s = now_s + HOST_S
                self._host()
            self._next_s = max(self._next_s + LOOK_S, now_s)
        return max(0.0, self._next_s - now_s)

    def _processes(self, now_s: float) -> None:
        began_s = time.process_time()
        self._family.look()
        members = self._told()
        processes = [reading(member.pid, member.stat) for member in members]
        self._map(now_s, processes)
        self._suspects.read(now_s, processes)
        self._empty = not self._family.members
        self._channel.send(
            wire.stamped(
                wire.SIGNALS,
                processes=processes,
                compilers=self._compilers(),
                cost_ms=round((time.process_time() - began_s) * 1000, 3),
            )
        )

    def _told(self) -> list[Member]:
        """Return the server's own processes, the main one first, the others in the order of their start."""
        found = [
            member
            for member in self._family.members.values()
            if member.role == roles.SERVER and (member.settled or member.parent is None)
        ]
        found.sort(key=lambda each: (each.parent is not None, each.stat.started_ticks, each.pid))
        return found[:_PROCESSES]

    def _map(self, now_s: float, processes: list[dict[str, Any]]) -> None:
        """Add the weight files that are mapped."""
        self._shards.read(
            now_s, {each["pid"]: (each["rss_file_mib"], each["minor_faults"]) for each in processes}
        )
        for each in processes:
            each["shard"] = self._shards.of(each["pid"])

    def _compilers(self) -> list[dict[str, object]]:
        told: list[dict[str, object]] = []
        for pid, group in sorted(self._family.compilers.items()):
            at_work = group.at_work()
            used_ticks = group.used_ticks
            if at_work or group.started or used_ticks:
                names = sorted({_name(member) for member in at_work})[:_NAMES]
                told.append(
                    {
                        "pid": pid,
                        "names": names,
                        "running": len(at_work),
                        "started": group.started,
                        "cpu_s": round(used_ticks / TICKS_PER_S, 2),
                    }
                )
        return told

    def _host(self) -> None:
        fields = dict(host_signals(), cgroup_oom_kills=self._group.oom_kills())
        self._channel.send(wire.stamped(wire.HOST_SIGNALS, model_file_system=self._storage, **fields))


def _name(member: Member) -> str:
    return member.stat.comm if member.role == roles.COMPILER else roles.COMPILE_WORKER
