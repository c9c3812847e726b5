"""The process worker: finds servers by command line and title, and tells of their trees when they change."""

from __future__ import annotations

import os
import re
import time

from tui.agent import wire
from tui.agent.processes import forest, procfs
from tui.agent.processes.scanner import Pattern, Scanner

TYPE_CHECKING = False  # as in channel.py
if TYPE_CHECKING:
    from typing import Any

    from tui.agent.processes.sighting import Sighting
    from tui.agent.worker import Channel

LOOK_S = 1.0
# What a shell or a compiler starts and ends within this time is not told of.
SETTLED_S = 2.0
# Helpers (compile workers, compilers) come and go by the dozen: their changes alone are told this often.
_HELPERS_S = 3.0
_MAIN_DEPTH = 1
# Launcher, controllers, ranks, and the resource trackers that keep what a rank's new title has overwritten.
_ENVIRONMENT_DEPTH = 2
_ENVIRONMENTS = 32
_OUTPUT_S = 10.0
_HIDDEN = (
    "this host hides the processes of other users (hidepid): only servers that run as this user can be found;"
    " root sees all"
)


def serve(channel: Channel) -> None:
    """Look once a second until the agent is gone."""
    watch = Watch(channel)
    wait_s: float | None = None
    while True:
        request = channel.receive(wait_s)
        if request is not None:
            watch.take(request)
        wait_s = watch.step(time.monotonic())


class Watch:
    """What is looked for, what was told last, and who is followed."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._scanner: Scanner | None = None
        self._followed: int | None = None
        self._below: dict[int, Sighting] = {}
        self._members: dict[int, forest.Member] = {}
        self._told: dict[int, tuple[object, ...]] | None = None
        self._told_s = 0.0
        self._told_hidden = 0
        self._remarked: set[int] = set()
        self._output_s = 0.0
        self._next_s = 0.0
        self._prefixes: dict[str, tuple[str, ...]] = {}

    def take(self, request: dict[str, Any]) -> None:
        """Take a watch or follow request."""
        if request["kind"] == wire.FOLLOW:
            self._followed = request.get("pid")
            self._below = {}
        elif request["kind"] == wire.WATCH:
            patterns = self._compiled(request["matchers"])
            self._prefixes = {pattern.engine: pattern.environment for pattern in patterns}
            self._scanner = Scanner(patterns, os.getppid())
            self._told = None
            self._next_s = 0.0

    def step(self, now_s: float) -> float | None:
        """Look when it is time; return the seconds until the next look, None before there is a watch."""
        if self._scanner is None:
            return None
        if now_s >= self._next_s:
            self._look(self._scanner, now_s)
            self._next_s = max(self._next_s + LOOK_S, now_s)
        return max(0.0, self._next_s - now_s)

    def _look(self, scanner: Scanner, now_s: float) -> None:
        scanner.look(now_s)
        if self._told is None and scanner.others_are_hidden():
            self._notice("info", _HIDDEN)
        parents = scanner.parents()
        self._members = forest.grow(parents, scanner.engines(), self._followed)
        scanner.members = set(self._members)
        shown = self._shown(scanner, now_s)
        self._describe(scanner, shown, now_s)
        shown = [
            member for member in shown if scanner.seen[member.pid].uid is not None
        ]  # the rest just ended
        self._tell_exits(scanner, parents, shown)
        self._tell(scanner, shown, now_s)

    def _shown(self, scanner: Scanner, now_s: float) -> list[forest.Member]:
        """Return the members worth telling of: roots at once, what is below them when it stays."""
        return [
            member
            for member in self._members.values()
            if member.depth == 0 or scanner.seen[member.pid].age_s(now_s) >= SETTLED_S
        ]

    def _describe(self, scanner: Scanner, shown: list[forest.Member], now_s: float) -> None:
        look_at_output = now_s - self._output_s > _OUTPUT_S
        self._output_s = now_s if look_at_output else self._output_s
        left = _ENVIRONMENTS
        for member in sorted(shown, key=lambda each: (each.depth, each.pid)):
            sighting = scanner.seen[member.pid]
            wanted = member.depth <= _ENVIRONMENT_DEPTH and left > 0
            left -= wanted
            if sighting.argv is None:
                scanner.read(sighting)
            sighting.describe(self._prefixes_of(scanner, member) if wanted else None)
            if look_at_output and member.depth == 0:
                sighting.look_at_output()
            if member.engine is not None:
                self._remark(sighting)

    def _prefixes_of(self, scanner: Scanner, member: forest.Member) -> tuple[str, ...]:
        engine = member.engine or scanner.seen[member.root].engine
        if engine is not None:
            return self._prefixes[engine]
        return tuple(prefix for prefixes in self._prefixes.values() for prefix in prefixes)

    def _remark(self, sighting: Sighting) -> None:
        """Say once which rights are missing for a server of another user."""
        missing = sighting.environment is None and sighting.stdout is None and sighting.cwd is None
        if not missing or sighting.uid is None or sighting.state in "ZX" or sighting.pid in self._remarked:
            return
        if not procfs.guarded(sighting.pid):
            return
        self._remarked.add(sighting.pid)
        name = "process %d (%s)" % (sighting.pid, sighting.engine)
        self._notice("warning", name + _rights(sighting))

    def _tell_exits(self, scanner: Scanner, parents: dict[int, int], shown: list[forest.Member]) -> None:
        """Tell of descendants of the followed process that ended; of itself the agent's loop tells."""
        if self._followed is None:
            return
        for pid, sighting in list(self._below.items()):
            now = scanner.seen.get(pid)
            how = "gone" if now is not sighting else "zombie" if sighting.state in "ZX" else None
            if how is not None:
                del self._below[pid]
                self._tell_exit(sighting, how)
        settled = {member.pid for member in shown}
        for pid in forest.descendants(self._members, self._followed, parents):
            if pid in settled and scanner.seen[pid].state not in "ZX":
                self._below[pid] = scanner.seen[pid]

    def _tell_exit(self, sighting: Sighting, how: str) -> None:
        title = str(sighting.fields(None)["title"])
        end = "has ended and waits to be reaped by its parent" if how == "zombie" else "is gone"
        self._channel.send(
            wire.stamped(
                wire.EXIT,
                pid=sighting.pid,
                main=False,
                title=title,
                how=how,
                code=None,
                sentence="process %d (%s) %s" % (sighting.pid, title, end),
            )
        )

    def _tell(self, scanner: Scanner, shown: list[forest.Member], now_s: float) -> None:
        keys = {member.pid: _key(scanner.seen[member.pid], member) for member in shown}
        hidden = len(scanner.hidden)
        if self._told == keys and self._told_hidden == hidden:
            return
        news = self._told is None or self._told_hidden != hidden or _main(self._told) != _main(keys)
        if not news and now_s - self._told_s < _HELPERS_S:
            return
        self._told, self._told_s, self._told_hidden = keys, now_s, hidden
        processes = [scanner.seen[member.pid].fields(member.engine) for member in shown]
        self._channel.send(wire.stamped(wire.PROCESSES, processes=processes, hidden=hidden))

    def _compiled(self, matchers: list[dict[str, Any]]) -> list[Pattern]:
        patterns: list[Pattern] = []
        for matcher in matchers:
            try:
                patterns.append(Pattern(matcher, matcher["engine"]))
            except re.error as error:
                self._notice("error", "the matcher of %s is no pattern: %s" % (matcher["engine"], error))
        return patterns

    def _notice(self, level: str, sentence: str) -> None:
        self._channel.send(wire.stamped(wire.NOTICE, level=level, about="processes", sentence=sentence))


def _rights(sighting: Sighting) -> str:
    parts = "its environment, working directory and log file can be read only by "
    if sighting.uid == os.geteuid():
        return " is protected: " + parts + "root; name the log with --log"
    whose = " belongs to %s: %s%s or root" % (sighting.user, parts, sighting.user)
    return whose + "; name the log with --log, or watch as that user"


def _key(sighting: Sighting, member: forest.Member) -> tuple[object, ...]:
    """Return what makes a difference worth telling, its depth first."""
    return (
        member.depth, sighting.ticks, sighting.ppid, sighting.condition(), sighting.title, member.engine,
        sighting.stdout, sighting.stderr, tuple(sighting.argv or ()), sighting.environment is None,
    )  # fmt: skip


def _main(keys: dict[int, tuple[object, ...]]) -> dict[int, tuple[object, ...]]:
    return {pid: key for pid, key in keys.items() if key[0] in (0, _MAIN_DEPTH)}
