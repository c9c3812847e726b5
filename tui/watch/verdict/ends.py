"""R0 to R2: a process or the driver is gone, and a rank that is stopped from outside."""

from collections.abc import Sequence
from dataclasses import replace

from tui.watch.verdict.movement import Movement, RankMoves
from tui.watch.verdict.process_moves import HELD, SUSPENDED_S
from tui.watch.verdict.scene import Check, Finding, Scene
from tui.watch.verdict.situation import GpuFault, Rank, Situation
from tui.watch.verdict.verdict import RuleResult
from tui.watch.verdict.words import (
    DIED,
    DRIVER_SILENT,
    GPU_LOST,
    KILLED_FOR_MEMORY,
    ORPHANED,
    SHUT_DOWN,
    STOPPED,
    TRACED,
    XID,
    Cause,
    filled,
    names,
)
from tui.watch.words import clock_text

ENDED = ("Z", "X", "x")
TOGETHER_S = 0.5
"""Who goes less than this after another may have gone first: processes are listed once a second."""
DRIVER_SILENT_S = 10.0
"""Two deadlines of 5 s (stalls research, R1)."""
FATAL_XIDS = frozenset({48, 62, 74, 79, 95, 119, 120, *range(144, 151), 154})
"""Memory, NVLink, bus and firmware, and a recovery that is asked for; not the application's own (2.4).

Nor 61, a warning that the vendor's catalogue of Xids lists as not used from A100 on, nor 64, which tells of
memory that is to be mended by the next reset.
"""
OUTLIVED_S = 10.0
"""Who moves so long after a fatal Xid got over it; what was under way moves a little longer."""


def dead(scene: Scene) -> Check:
    """R0: the load ended, a rank is gone or a zombie, the launcher is gone.

    The counter of out-of-memory kills alone ends nothing: it may have been a compiler, or, on the host's
    counter, another's process. It tells the cause of an end.
    """
    situation, movement = scene.situation, scene.movement
    killed = _killed_for_memory(movement)
    numbers = _kills_words(movement)
    cause = KILLED_FOR_MEMORY if killed else situation.failure or DIED
    end = situation.end
    if end is not None:
        cause = SHUT_DOWN if end.shut_down else ORPHANED if situation.parent_gone else cause
        since_s = scene.now_s if end.at_s is None else end.at_s
        found = Finding("dead", since_s, end.sentence, cause, "proof", None, end.rank, end.pid)
        return Check(RuleResult("R0 dead", "yes", end.sentence), found)
    gone = [each for each in scene.ranks if _is_gone(each, situation)]
    if gone:
        return _gone(scene, gone, cause)
    if situation.parent_gone:
        found = Finding("dead", scene.now_s, situation.parent_gone, ORPHANED, "proof")
        return Check(RuleResult("R0 dead", "yes", situation.parent_gone), found)
    nearly = "nearly" if movement.cgroup_oom_kills else "no"
    return Check(RuleResult("R0 dead", nearly, f"{len(scene.ranks)} ranks alive, {numbers}"))


def _is_gone(each: RankMoves, situation: Situation) -> bool:
    """Whether a rank has ended by itself. In a shutdown that the log told of it ends as it should."""
    return bool(each.rank.gone) or (each.state in ENDED and not situation.shutting_down)


def _killed_for_memory(movement: Movement) -> bool:
    """Whether the kernel killed one of the server's: its group's count tells, where there is one.

    The host's counter also rises when a process of somebody else is killed.
    """
    counted = movement.host is not None and movement.host.cgroup_oom_kills is not None
    return (movement.cgroup_oom_kills if counted else movement.oom_kills) > 0


def _kills_words(movement: Movement) -> str:
    host = movement.host
    counts = (
        ("on the host", movement.oom_kills, None if host is None else host.oom_kills),
        ("in its group", movement.cgroup_oom_kills, None if host is None else host.cgroup_oom_kills),
    )
    told = [f"{rose} {where}" for where, rose, read in counts if read is not None]
    return f"out-of-memory kills: {', '.join(told) or 'not known'}"


def _gone(scene: Scene, gone: list[RankMoves], cause: Cause) -> Check:
    """Name who went first; whom the log blames did, though it may not be seen to be gone yet."""
    since_s = {each.rank.pid: _went_s(scene, each) for each in gone}
    blamed = next((each for each in scene.ranks if each.rank.blamed), None)
    first = first_of([replace(each.rank, gone_s=since_s[each.rank.pid]) for each in gone])
    culprit = blamed or next(
        (each for each in gone if first is not None and each.rank.pid == first.pid), None
    )
    if culprit is None:
        how = f"{names([each.rank.words for each in gone])} are gone"
    else:
        is_seen = culprit.rank.gone or ("is a zombie" if culprit.state in ENDED else "")
        how = f"{culprit.rank.words} {is_seen or 'has died, as the log says'}"
    waiting = tuple(each.rank.name for each in scene.ranks if each not in gone and each is not culprit)
    sentence = f"dead: {how}{scene.place}"
    found = Finding("dead", min(since_s.values()), sentence, cause, "proof", culprit, waiting=waiting)
    return Check(RuleResult("R0 dead", "yes", how), found)


def _went_s(scene: Scene, each: RankMoves) -> float:
    return scene.now_s - each.state_s if each.rank.gone_s is None else each.rank.gone_s


def first_of(gone: Sequence[Rank]) -> Rank | None:
    """Return who failed first: whom the log blames, else who went before the others; None where none did.

    Measured on H200s: SGLang ends all of its processes within a second of the death of one.
    """
    blamed = next((rank for rank in gone if rank.blamed), None)
    if blamed is not None or len(gone) == 1:
        return blamed or gone[0]
    one, other = sorted(gone, key=lambda rank: rank.gone_s or 0.0)[:2]
    return one if (other.gone_s or 0.0) - (one.gone_s or 0.0) >= TOGETHER_S else None


def driver(scene: Scene) -> Check:
    """R1: a GPU is lost, the driver reported a fatal Xid, or it did not answer twice over."""
    faults = (*scene.situation.faults, *_lost(scene))
    if not faults:
        seen = any(each.gpus for each in (*scene.ranks, scene.rest))
        numbers = "the driver answers, no GPU is lost, no fatal Xid" if seen else "no GPU of the load is seen"
        return Check(RuleResult("R1 driver or GPU", "no", numbers))
    worst = max(faults, key=lambda fault: (is_fatal(fault) and not _outlived(scene, fault), is_fatal(fault)))
    if not is_fatal(worst):
        return Check(RuleResult("R1 driver or GPU", "nearly", worst.sentence))
    if _outlived(scene, worst):
        numbers = f"{worst.sentence} The load has moved since, so it counts once nothing does."
        return Check(RuleResult("R1 driver or GPU", "nearly", numbers))
    culprit = next((each for each in scene.ranks if worst.gpu in [gpu.index for gpu in each.gpus]), None)
    cause = {"lost": GPU_LOST, "xid": XID, "silent": DRIVER_SILENT}[worst.kind]
    found = Finding(
        "hung",
        _hung_since_s(scene, worst),
        f"hung{scene.place}: {worst.sentence}",
        cause,
        "proof",
        culprit,
        waiting=scene.others(culprit) if culprit is not None else (),
    )
    return Check(RuleResult("R1 driver or GPU", "yes", worst.sentence), found)


def _hung_since_s(scene: Scene, fault: GpuFault) -> float:
    if fault.began_s is None:
        return scene.now_s - (fault.silent_s or 0.0)
    # Not since when all was quiet: a time in which nothing was heard ends no hang.
    seen = (reading.moved_s for each in (*scene.ranks, scene.rest) for reading in each.readings)
    moved_s = max((at_s for at_s in seen if at_s is not None), default=fault.began_s)
    return moved_s if fault.kind == "xid" and moved_s - fault.began_s > OUTLIVED_S else fault.began_s


def _outlived(scene: Scene, fault: GpuFault) -> bool:
    """Whether the load moves in spite of an Xid, and not only by what was under way when it came.

    Or while a driver has yet to answer for the first time: on a host of 8 GPUs that nothing holds open (no
    persistence mode) that takes 10 s and more.
    """
    if fault.kind == "silent":
        answered = any(gpu.sample is not None for each in scene.ranks for gpu in each.gpus)
        return not answered and any(each.moved for each in (*scene.ranks, scene.rest))
    if fault.kind != "xid" or fault.began_s is None:
        return False
    moved = (reading.moved_s for each in (*scene.ranks, scene.rest) for reading in each.moved)
    newest_s = max((moved_s for moved_s in moved if moved_s is not None), default=None)
    return newest_s is not None and newest_s - fault.began_s > OUTLIVED_S


def _lost(scene: Scene) -> list[GpuFault]:
    gpus = [gpu for each in scene.ranks for gpu in each.gpus]
    return [
        GpuFault(
            "lost", gpu.sample.sentence or f"GPU {gpu.index} is lost", gpu.index, began_s=gpu.lost_since_s
        )
        for gpu in gpus
        if gpu.sample is not None and gpu.sample.state == "lost"
    ]


def is_fatal(fault: GpuFault) -> bool:
    """Whether no load gets over it; a driver that is silent for long counts as such."""
    if fault.kind == "xid":
        return fault.xid in FATAL_XIDS
    return fault.kind == "lost" or (fault.silent_s or 0.0) >= DRIVER_SILENT_S


def suspended(scene: Scene) -> Check:
    """R2: a rank (or the launcher) stands in state T or t for 3 s, whatever the phase."""
    everyone = scene.ranks if scene.launcher is None else (*scene.ranks, scene.launcher)
    stopped = [each for each in everyone if each.state in HELD]
    if not stopped:
        return Check(RuleResult("R2 suspended", "no", "no process in state T"))
    longest = max(stopped, key=lambda each: each.state_s)
    listed = [each.rank.words for each in stopped]
    numbers = f"{names(listed)} in state {longest.state} for {clock_text(longest.state_s)}"
    if longest.state_s < SUSPENDED_S:
        until_s = scene.now_s - longest.state_s + SUSPENDED_S
        return Check(RuleResult("R2 suspended", "nearly", f"{numbers}, counts from 3 s"), until_s=until_s)
    waiting = tuple(each.rank.name for each in scene.ranks if each not in stopped)
    cause = TRACED if longest.state == "t" else STOPPED
    wait = (
        f"; {names(waiting)} cannot go on without {'it' if len(stopped) == 1 else 'them'}" if waiting else ""
    )
    verb = "is" if len(stopped) == 1 else "are"
    found = Finding(
        "suspended",
        scene.now_s - longest.state_s,
        f"suspended{scene.place}: {names(listed)} {verb} stopped{wait}",
        filled(cause, rank=longest.rank.name, pid=longest.rank.pid),
        "proof",
        longest,
        waiting=waiting,
    )
    return Check(RuleResult("R2 suspended", "yes", numbers), found)
