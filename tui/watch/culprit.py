"""Which rank a failure came from, as far as log and processes tell."""

from dataclasses import dataclass

from tui.engines.marks import Speaker
from tui.watch.meaning import Meaning
from tui.watch.target import Member


@dataclass(frozen=True, slots=True)
class Culprit:
    """``rank`` as the engine names it ("TP0", "DP1 TP3"), ``pid`` on the host; None is not known."""

    rank: str | None = None
    pid: int | None = None


def culprit(state: Meaning) -> Culprit:
    """Return who failed first: a rank that went before its server, else who wrote the failure's line.

    A server that was shut down has none.
    """
    if state.fault == "shut_down":
        return Culprit()
    members = state.shown.members if state.shown is not None else ()
    lost = state.lost
    if lost is not None:
        return Culprit(_spaced(lost.role.rank), lost.pid)
    cause = state.log_failure
    if cause is None and state.outcome == "failed" and state.last_end is not None:
        cause = state.last_end.cause
    if cause is None:
        return Culprit()
    accused = _named(cause.accused, members)
    return accused if accused.pid is not None else _named(cause.speaker, members)


def _named(speaker: Speaker, members: tuple[Member, ...]) -> Culprit:
    """Return a speaker with what the list of processes adds: the pid to a rank, or the rank to a pid.

    The log of a server in a container tells the container's pids, which mean others on the host.
    """
    rank, pid = speaker.rank, speaker.pid
    if pid is not None and any(member.inner_pid is not None for member in members):
        pid = next((member.pid for member in members if member.logged_pid == pid), None)
    for member in members:
        named = _spaced(member.role.rank)
        if rank is not None and pid is None and named == rank:
            return Culprit(rank, member.pid)
        if rank is None and pid is not None and member.pid == pid:
            return Culprit(named, pid)
    return Culprit(rank, pid)


def _spaced(rank: str | None) -> str | None:
    return None if rank is None else rank.replace("_", " ")
