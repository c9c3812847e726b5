"""The trees of processes below the servers: pure arithmetic over parents."""

from __future__ import annotations


class Member:
    """A process's place: the root of its tree, the steps down from it, and the engine that it is told as."""

    __slots__ = ("depth", "engine", "pid", "root")

    def __init__(self, pid: int, root: int, depth: int, engine: str | None) -> None:
        self.pid = pid
        self.root = root
        self.depth = depth
        self.engine = engine


def grow(parents: dict[int, int], engines: dict[int, str], extra: int | None) -> dict[int, Member]:
    """Return every process that matched an engine (or is ``extra``) with all its descendants, by pid.

    A process below a match of the same engine is that one's descendant, even when it matches itself: a fork
    has its parent's command line, a rank its engine's title.
    """
    roots = _roots(parents, engines, extra)
    if not roots:
        return {}
    children: dict[int, list[int]] = {}
    for pid, parent in parents.items():
        children.setdefault(parent, []).append(pid)
    members: dict[int, Member] = {}
    for root in roots:
        _descend(root, children, engines, members)
    return members


def descendants(members: dict[int, Member], pid: int, parents: dict[int, int]) -> list[int]:
    """Return the members below ``pid``."""
    return [each for each in members if each != pid and pid in _line(each, parents)]


def _roots(parents: dict[int, int], engines: dict[int, str], extra: int | None) -> list[int]:
    wanted = set(engines)
    if extra is not None and extra in parents:
        wanted.add(extra)
    return [pid for pid in sorted(wanted) if not any(above in wanted for above in _line(pid, parents)[1:])]


def _line(pid: int, parents: dict[int, int]) -> list[int]:
    """Return a process and those above it, ending before one that is not known (or seen already)."""
    line: list[int] = []
    while pid in parents and pid not in line:
        line.append(pid)
        pid = parents[pid]
    return line


def _descend(
    root: int, children: dict[int, list[int]], engines: dict[int, str], members: dict[int, Member]
) -> None:
    waiting: list[tuple[int, int, str | None]] = [(root, 0, None)]
    while waiting:
        pid, depth, above = waiting.pop()
        if pid in members:
            continue
        own = engines.get(pid)
        members[pid] = Member(pid, root, depth, own if own != above else None)
        waiting += [(child, depth + 1, own or above) for child in children.get(pid, ())]
