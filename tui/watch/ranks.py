"""The ranks of a server: which of its processes work on its GPUs, and which processes belong to each."""

from collections.abc import Iterable, Mapping

from tui.watch.target import Member, Server
from tui.watch.verdict.situation import Rank


def ranks_of(server: Server) -> tuple[Rank, ...]:
    """Return the ranks with their own helpers, by name as the engine writes it.

    Where no process is called a rank, the engine cores are (vLLM on one GPU works in them), else the main
    process itself (llama.cpp).
    """
    members = server.members
    found = [member for member in members if member.role.kind == "rank"]
    found = found or [member for member in members if member.role.kind == "engine_core"]
    if not found:
        helpers = frozenset(member.pid for member in members if member.pid != server.pid)
        return (Rank(server.engine.title, server.pid, helpers),)
    owned = _owners({member.pid for member in found}, members)
    ranks = [Rank(name_of(member), member.pid, frozenset(owned.get(member.pid, ()))) for member in found]
    return tuple(sorted(ranks, key=lambda rank: rank.place))


def launcher_of(server: Server, ranks: Iterable[Rank]) -> Rank | None:
    """Return the main process, None where it is a rank itself."""
    return None if any(rank.pid == server.pid for rank in ranks) else Rank("launcher", server.pid)


def name_of(member: Member) -> str:
    """Return a part of a server as it is shown: a rank by the name that the engine writes."""
    return (member.role.rank or member.role.words).replace("_", " ")


def _owners(ranks: set[int], members: Iterable[Member]) -> Mapping[int, list[int]]:
    """Return the processes under each rank, the nearest rank above each counting."""
    parents = {member.pid: member.ppid for member in members}
    owned: dict[int, list[int]] = {}
    for pid in parents:
        above, seen = parents[pid], {pid}
        while above in parents and above not in ranks and above not in seen:
            seen.add(above)
            above = parents[above]
        if pid not in ranks and above in ranks:
            owned.setdefault(above, []).append(pid)
    return owned
