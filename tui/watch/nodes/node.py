"""One node of a load over several hosts, as the host that it runs on tells of it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from tui.engines.marks import Weight
from tui.engines.phase import Phase
from tui.watch.meaning import Meaning
from tui.watch.verdict.verdict import Verdict

Standing = Literal["missing", "unheard", "loading", "ready", "dead"]
OLDER_S = 1.0
"""A node that ended so much before another one started ended in an earlier start; the clocks of two hosts are
compared by when their events came here, which is some tenths of a second off at most."""

_FOLLOWS = (Weight.CONSEQUENCE, Weight.REPORT, Weight.ECHO)


@dataclass(frozen=True, slots=True)
class Node:
    """One node. Times are on the client's monotonic clock, which all hosts share.

    ``host`` is what the person called its host and ``at`` its place among all of them, None where the node is
    on none that is watched. ``standing``: missing (no server of it was found), unheard (the link to its host
    is lost, for ``unheard_s``: what it does is not known), loading, ready (it answers), dead. ``phase`` and
    ``verdict`` are what was last heard of it, ``since_s`` since when that verdict holds. ``reason`` says why
    it ended, ``cause`` what its log tells of that; ``follows``: only that another one failed. It ended
    between ``ended_from_s`` and ``ended_s``: two times where the link was lost meanwhile. ``left_s`` is
    its own time to ready.
    """

    rank: int
    host: str | None = None
    at: int | None = None
    standing: Standing = "missing"
    phase: Phase | None = None
    verdict: Verdict | None = None
    since_s: float | None = None
    unheard_s: float | None = None
    left_s: float | None = None
    started_s: float | None = None
    ended_s: float | None = None
    ended_from_s: float | None = None
    reason: str = ""
    cause: str = ""
    next_step: str = ""
    fault: str | None = None
    follows: bool = False
    is_ready: bool = False

    @property
    def words(self) -> str:
        """The node as it is shown."""
        return f"node {self.rank}" if self.host is None else f"node {self.rank} ({self.host})"

    @property
    def heard(self) -> bool:
        """Whether what it does now is known."""
        return self.standing in ("loading", "ready", "dead")

    @property
    def moves(self) -> bool:
        """Whether it was seen to move of late."""
        told = self.verdict
        return self.standing == "loading" and told is not None and told.word in ("progressing", "slow")

    @property
    def stands(self) -> bool:
        """Whether it is seen to do nothing, by itself or because it waits."""
        told = self.verdict
        quiet = told is not None and told.word in ("quiet", "stalled", "hung")
        return self.standing == "loading" and quiet

    @property
    def may_wait(self) -> bool:
        """Whether it does nothing and shows no reason of its own for that."""
        return self.stands and self.verdict is not None and self.verdict.elsewhere

    def ended_before(self, other: "Node") -> bool:
        """Whether this one had ended when another one started, so that both are of different starts."""
        if self.standing != "dead" or self.ended_s is None or other.started_s is None:
            return False
        return self.ended_s < other.started_s - OLDER_S


def node_of(state: Meaning, rank: int, host: str, at: int, client_now_s: float) -> Node:
    """Return what a host tells of its node as of the client's monotonic time."""
    now_s = state.source_now(client_now_s)
    end = state.last_end if state.outcome == "failed" else None
    unheard_s, standing = _standing(state, client_now_s)
    estimate = None if now_s is None else state.estimate(now_s)
    is_told = estimate is not None and not estimate.of_phase

    def here(at_s: float | None) -> float | None:
        return None if at_s is None or now_s is None else client_now_s - (now_s - at_s)

    judged = state.judged
    return Node(
        rank=rank,
        host=host,
        at=at,
        standing=standing,
        phase=state.phase,
        verdict=judged if judged is not None and judged.heard else None,
        since_s=None if judged is None else here(judged.since_s),
        unheard_s=unheard_s,
        left_s=estimate.remaining_s if estimate is not None and is_told else None,
        started_s=here(state.started_s),
        ended_s=_ended_s(state, here),
        ended_from_s=None if end is None else here(end.from_s),
        reason=state.reason if end is not None else "" if judged is None else _told(judged),
        cause="" if end is None or end.cause is None else end.cause.cause,
        next_step="" if end is None or end.cause is None else end.cause.next_step,
        fault=None if end is None else end.fault,
        follows=end is not None and end.cause is not None and end.cause.weight in _FOLLOWS,
        is_ready=state.ready,
    )


def _standing(state: Meaning, client_now_s: float) -> tuple[float | None, Standing]:
    if state.outcome == "failed":
        return None, "dead"  # also where the link is lost since: the dead do not come back
    unheard_s = state.link.stale_s(client_now_s)
    if unheard_s is not None:
        return unheard_s, "unheard"
    if state.judged is not None and state.judged.word == "dead":
        return None, "dead"
    return None, "ready" if state.ready else "loading"


def _ended_s(state: Meaning, here: Callable[[float | None], float | None]) -> float | None:
    if state.outcome == "failed":
        return None if state.last_end is None else here(state.last_end.at_s)
    return here(state.judged.since_s) if state.judged is not None and state.judged.word == "dead" else None


def _told(judged: Verdict) -> str:
    return judged.sentence.removeprefix(judged.word).removeprefix(": ")
