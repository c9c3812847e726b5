"""What a quiet or slow load most likely suffers from: a guess from phase, states and GPUs."""

from collections.abc import Callable

from tui.engines.phase import Phase
from tui.watch.verdict.movement import RankMoves
from tui.watch.verdict.scene import Scene, busy
from tui.watch.verdict.words import (
    CAPTURE_STUCK,
    COMPILING,
    CPU_WORK,
    DOWNLOAD,
    FLOCK,
    LOCK_WAIT,
    OTHER_HOSTS,
    P2P_BROKEN,
    RANK_MISSING,
    RENDEZVOUS,
    STORAGE_DEAD,
    STORAGE_SLOW,
    THRASH,
    UNKNOWN,
    Cause,
    filled,
)

THRASH_PCT = 10.0
"""All tasks at once stand for so much of the last 10 s for want of memory (PSI full; stalls research)."""


def _thrashes(scene: Scene) -> bool:
    host = scene.movement.host
    return host is not None and (host.memory_full_pct or 0.0) > THRASH_PCT


def _cpu(scene: Scene) -> bool:
    return bool(_busy(scene))


def _busy(scene: Scene) -> list[RankMoves]:
    return [each for each in scene.ranks if each.waiting_s is None and busy(each)]


def _in(scene: Scene, wchan: str) -> bool:
    return any((each.rests_in or "").startswith(wchan) for each in scene.ranks)


def _distributed(scene: Scene) -> bool:
    return scene.situation.phase is Phase.DISTRIBUTED


# In the order in which they are tried; each names what it is told by.
_QUIET: tuple[tuple[Callable[[Scene], bool], Cause], ...] = (
    (_thrashes, THRASH),
    (lambda scene: any(each.in_kernel for each in scene.ranks), STORAGE_DEAD),
    (lambda scene: _in(scene, "locks_lock_inode_wait"), FLOCK),
    (lambda scene: scene.situation.nodes > 1 and _distributed(scene), OTHER_HOSTS),
    (lambda scene: scene.situation.downloading, DOWNLOAD),
    (lambda scene: bool(scene.waiting) and len(scene.waiting) == len(scene.ranks), P2P_BROKEN),
    (_cpu, CPU_WORK),
    (lambda scene: bool(scene.waiting) and scene.odd is not None, RANK_MISSING),
    (_distributed, RENDEZVOUS),
    (lambda scene: scene.situation.phase is Phase.CAPTURE and scene.movement.bar.done > 0, CAPTURE_STUCK),
    (lambda scene: _in(scene, "hrtimer_nanosleep"), LOCK_WAIT),
)


def quiet_cause(scene: Scene, culprit: RankMoves | None) -> Cause:
    """Return the first cause whose sign is there, filled with the culprit's name and pid."""
    cause = next((cause for told, cause in _QUIET if told(scene)), UNKNOWN)
    if cause is CPU_WORK:
        culprit = _worker(scene, culprit)
    name = None if culprit is None else culprit.rank.name
    pid = scene.pid_of(culprit)
    lock = next((lock.path for lock in scene.situation.locks), "its file")
    return filled(cause, rank=name, pid=pid, path=lock, bar=scene.movement.bar.words)


def slow_cause(scene: Scene) -> Cause:
    """Return why a load that moves is slow."""
    if _thrashes(scene):
        return THRASH
    if scene.compiling:
        return COMPILING
    if scene.situation.phase is Phase.WEIGHTS:
        return STORAGE_SLOW
    works = _cpu(scene)
    culprit = _worker(scene, scene.odd) if works else scene.odd
    name = None if culprit is None else culprit.rank.name
    pid = scene.pid_of(culprit)
    return filled(CPU_WORK if works else UNKNOWN, rank=name, pid=pid)


def _worker(scene: Scene, culprit: RankMoves | None) -> RankMoves | None:
    """Return the one rank that uses the CPU, or the culprit where it is one of several."""
    found = _busy(scene)
    if len(found) == 1:
        return found[0]
    return culprit if culprit in found else None
