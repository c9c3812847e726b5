"""Loads over several hosts in ``tminus wait``: told as they change, and decided by all of their nodes."""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from tui.commands.hosts import WatchedHost
from tui.commands.load_records import load_line, load_words, news_of
from tui.commands.report import timed
from tui.commands.wait import Ending
from tui.watch.nodes.load import NodesLoad, loads
from tui.watch.verdict.verdict import Verdict

ATTENDS = "a node of a load that another host answers for"


class Waited(Protocol):
    """The wait for one host."""

    ended: Ending | None

    @property
    def attends(self) -> bool:
        """Whether its server answers nobody."""
        ...

    def end(self, found: Ending) -> None:
        """Tell how it ended."""
        ...


class Joint:
    """The loads over several of the hosts of one command. ``write`` prints lines."""

    def __init__(
        self, hosts: Sequence[WatchedHost], write: Callable[[Iterable[str]], None], began_s: float
    ) -> None:
        self._hosts = hosts
        self._write = write
        self._began_s = began_s
        self._choices = hosts[0].choices
        self._told: dict[object, tuple[object, ...]] = {}
        self._found: tuple[NodesLoad, ...] = ()

    def _look(self) -> tuple[NodesLoad, ...]:
        hosts = [(host.name, host.session.state) for host in self._hosts]
        return loads(hosts, time.monotonic())

    def _tell(self) -> None:
        """Print what has changed of the loads."""
        t = round(time.monotonic() - self._began_s, 3)
        for load in self._found:
            if self._told.get(load.key) != news_of(load):
                self._told[load.key] = news_of(load)
                self._write([self._line(load, t)])

    def _line(self, load: NodesLoad, t: float) -> str:
        return load_line(load, t) if self._choices.json else timed(t, load_words(load))

    def verdict(self, index: int) -> Verdict | None:
        """Return the verdict for a host where other nodes of its load make it another one, as of now."""
        told = (load.told(index) for load in self._look() if index in load.members)
        return next(told, None)

    def settle(self, waits: Sequence[Waited]) -> None:
        """Look at all hosts, tell what is new, and end the waits that another node of the load decides."""
        self._found = self._look()
        self._tell()
        for load in self._found:
            decided_by(load, waits)
        end_unfound(self._found, waits)

    def answered_for(self, index: int) -> bool:
        """Whether the node that answers for a host's load is watched too, so that it alone decides."""
        return any(index in load.members and load.nodes[0].at is not None for load in self._found)


def decided_by(load: NodesLoad, waits: Sequence[Waited]) -> None:
    """End the waits for the nodes of a load: as failed where one has, as ready with the first."""
    of = {node.rank: waits[node.at] for node in load.nodes if node.at is not None}
    still = [each for each in of.values() if each.ended is None]
    failed = _failure(load, waits)
    if failed is not None:
        _end(still, failed)
        return
    head = of[0].ended if 0 in of else None
    if head is not None and head.outcome == "ready":
        _end((each for each in still if each.attends), Ending("ready", None, ATTENDS, elsewhere=True))


def end_unfound(found: Sequence[NodesLoad], waits: Sequence[Waited]) -> None:
    """End the waits for hosts on which nothing started of a load that has failed since: none can come.

    Not where a node of another load, which still goes on, may yet start there.
    """
    lacking = [load for load in found if load.may_hold]
    failures = [_failure(load, waits) for load in lacking]
    if None in failures:
        return
    for load, failed in zip(lacking, failures, strict=True):
        if failed is not None:
            _end((waits[at] for at in load.may_hold if waits[at].ended is None), failed)


def _failure(load: NodesLoad, waits: Sequence[Waited]) -> Ending | None:
    """Return how a load fails the waits for its other nodes, None where the wait for none has failed."""
    for node in load.nodes:
        ended = None if node.at is None else waits[node.at].ended
        if ended is not None and ended.outcome == "failed":
            told = load.sentence if load.outcome == "failed" else f"{node.words}: {ended.reason}"
            return Ending("failed", ended.fault, told, elsewhere=True)
    return None


def _end(waits: Iterable[Waited], ended: Ending) -> None:
    for each in list(waits):
        each.end(ended)
