"""R4: what proves, or shows by a known pattern, that a quiet load hangs."""

from collections.abc import Callable, Iterator

from tui.watch.verdict.channels import Channel
from tui.watch.verdict.movement import RankMoves
from tui.watch.verdict.scene import BUSY_PCT, Check, Finding, Scene, busy, busy_words
from tui.watch.verdict.situation import Lock, Proof
from tui.watch.verdict.verdict import Confidence, Match, RuleResult
from tui.watch.verdict.words import (
    DEADLOCK,
    DEADLOCK_OF_SOME,
    FLOCK,
    FLOCK_OF_RANK,
    MAIN_ASLEEP,
    P2P_BROKEN,
    RANK_MISSING,
    RAS,
    STACKS,
    STALE_LOCK,
    STORAGE_DEAD,
    Cause,
    filled,
    names,
    wait_words,
)
from tui.watch.words import clock_text

LOCK_AGE_S = 10.0
"""A lock that was made just now may be opened a moment later (stalls research, R4 a)."""
FROZEN_S = 90.0
"""D with all counters frozen for so long. It may still come back: a Lustre failover took over 480 s."""
ASLEEP_S = 60.0
"""No wake-up at all for so long (stalls research, R4 d)."""
THREADS_S = 30.0
"""Threads are read from 20 s of suspicion on, each 10 s at most; CPU time is that of all of them always."""
HELPERS_PCT = 5.0
"""Helpers of PyTorch's process groups wake up for ever. Measured in ranks on an H200 host: 630 wake-ups a
second and 0.9 % of a core, while the main thread slept for 116 s without one."""
SPIN_QUIET_S = 60.0
"""Nothing moves for so long while GPUs wait (stalls research, R4 e)."""
SPIN_S = 30.0
"""They wait for as long as a channel has to move in: the window of 3.1."""
LEAST_QUIET_S = 30.0
"""Any proof counts from then on; a watch that has just begun knows of no movement before."""
SLEEPS = ("futex", "hrtimer_nanosleep")
"""Where threads wait for each other or for nothing; a wait for a pipe or a child may end by that child."""


def proofs(scene: Scene) -> Iterator[Check]:
    """Give R4 (a) to (g). They count while nothing has moved for 30 s: R3 comes before them."""
    rules: tuple[Callable[[Scene], Check], ...]
    rules = (_stale, _held, _storage, _asleep, _main_asleep, spinning, _asked)
    for rule in rules:
        yield rule(scene)


def _check(rule: str, match: Match, numbers: str, until_s: float | None = None) -> Check:
    return Check(RuleResult(rule, match, numbers), until_s=until_s)


def _hung(
    scene: Scene,
    rule: str,
    numbers: str,
    why: str,
    cause: Cause,
    confidence: Confidence,
    culprit: RankMoves | None = None,
    waiting: tuple[str, ...] = (),
) -> Check:
    if scene.silence_s < LEAST_QUIET_S:
        near = f"{numbers}; nothing moves for {clock_text(scene.silence_s)} (counts from 0:30)"
        return _check(rule, "nearly", near, scene.quiet_since_s + LEAST_QUIET_S)
    sentence = f"hung{scene.place} for {clock_text(scene.silence_s)}: {why}"
    found = Finding("hung", scene.quiet_since_s, sentence, cause, confidence, culprit, waiting=waiting)
    return Check(RuleResult(rule, "yes", numbers), found)


def _rank_of(scene: Scene, pid: int | None) -> RankMoves | None:
    return next((each for each in scene.ranks if pid in each.rank.pids), None) if pid is not None else None


def _pollers(scene: Scene) -> list[RankMoves | None]:
    """Return who sleeps and looks again, as one does that waits for a file to vanish."""
    return [each for each in scene.ranks if (each.rests_in or "").startswith("hrtimer_nanosleep")]


def _stale(scene: Scene) -> Check:
    """(a) A lock file that is waited for by its existence, that no process has open.

    That it is left behind is proven; that ranks which poll wait for this one only where the log names it or
    the waiter is known. Ranks of several hosts poll for each other too.
    """
    rule = "R4(a) stale lock"
    locks = [lock for lock in scene.situation.locks if lock.kind == "existence"]
    left = [lock for lock in locks if lock.open is False and lock.age_s > LOCK_AGE_S]
    # An old one of another time may lie beside the one that is waited for.
    stale = max(left, key=lambda lock: lock.named or lock.waiter is not None, default=None)
    if stale is None:
        unseen = [lock.path for lock in locks if lock.open is None]
        if unseen:
            return _check(rule, "nearly", f"{unseen[0]}: who has it open cannot be read")
        return _check(rule, "no", f"{len(locks)} lock files seen, none without a holder")
    numbers = f"{stale.path}: {clock_text(stale.age_s)} old, open in no process"
    waiters = [_rank_of(scene, stale.waiter)] if stale.waiter is not None else _pollers(scene)
    if not waiters:
        return _check(rule, "nearly", f"{numbers}, but no rank is seen to poll")
    told = stale.named or stale.waiter is not None
    if not told and scene.situation.nodes > 1:
        return _check(rule, "nearly", f"{numbers}, but ranks may poll for another host")
    waits = tuple(each.rank.name for each in waiters if each is not None)
    verb = "wait" if len(waits) > 1 else "waits"
    why = f"{names(waits) or 'the server'} {verb} for a lock file that nobody holds"
    return _hung(
        scene,
        rule,
        numbers,
        why,
        filled(STALE_LOCK, path=stale.path),
        "proof" if told else "pattern",
        None,
        waits,
    )


def _held(scene: Scene) -> Check:
    """(b) A flock whose holder is dead, or is a process of this server that is quiet and uses no CPU."""
    rule = "R4(b) lock held"
    locks = [lock for lock in scene.situation.locks if lock.kind == "flock" and lock.waiter is not None]
    if not locks:
        return _check(rule, "no", "nobody waits for a lock that is held")
    doubts: list[str] = []
    for lock in locks:
        holder = _rank_of(scene, lock.holder)
        if holder is not None and busy(holder):
            doubts.append(f"{lock.path}: {busy_words(holder)}")
        elif holder is not None or (lock.holder is None and lock.open is False):
            return _lock_hangs(scene, rule, lock, holder)
        else:
            who = "a process that is not seen" if lock.holder is None else f"pid {lock.holder}"
            doubts.append(f"{lock.path} is held by {who}, whose work is not known")
    return _check(rule, "nearly", doubts[0])


def _lock_hangs(scene: Scene, rule: str, lock: Lock, holder: RankMoves | None) -> Check:
    waiter = _rank_of(scene, lock.waiter)
    waits = () if waiter is None or waiter is holder else (waiter.rank.name,)
    who = "a process that is gone" if holder is None else holder.rank.words
    why = f"{names(waits) or 'the server'} waits for a lock held by {who}, which does nothing"
    numbers = f"{lock.path}: held by {who}, waited for by pid {lock.waiter}"
    cause = filled(FLOCK if holder is None else FLOCK_OF_RANK, path=lock.path, pid=lock.holder)
    return _hung(scene, rule, numbers, why, cause, "proof", holder, waits)


def _storage(scene: Scene) -> Check:
    """(c) Uninterruptible sleep of any thread in which no counter moves for 90 s."""
    rule = "R4(c) waits in the kernel"
    blocked = [each for each in scene.ranks if each.in_kernel]
    if not blocked:
        return _check(rule, "no", "no thread of a rank in state D")
    worst = max(blocked, key=lambda each: _frozen_s(each) or 0.0)
    known = _frozen_s(worst)
    frozen = known or 0.0
    told = "not all counters can be read" if known is None else f"counters frozen {clock_text(frozen)}"
    numbers = f"{_blocked_words(worst)}, {told}"
    if frozen < FROZEN_S:
        until_s = None if known is None else scene.now_s - frozen + FROZEN_S
        return _check(rule, "nearly", f"{numbers} (counts from 1:30)", until_s)
    stuck = [each.rank for each in blocked if (_frozen_s(each) or 0.0) >= FROZEN_S]
    verb = "waits" if len(stuck) == 1 else "wait"
    who = names([rank.words for rank in stuck])
    why = f"{who} {verb} in the kernel and no counter moves; it may come back"
    cause = filled(STORAGE_DEAD, rank=names([rank.name for rank in stuck]), verb=verb)
    # Who waits for the storage itself is no victim of another that does.
    waits = tuple(each.rank.name for each in scene.ranks if each not in blocked)
    return _hung(scene, rule, numbers, why, cause, "proof", worst, waits)


def _frozen_s(each: RankMoves) -> float | None:
    """Return for how long it has been stuck in the kernel: its main thread, or another that never woke up."""
    main = min(each.state_s, each.frozen_s) if each.state == "D" and each.frozen_s is not None else None
    other = None if each.threads is None else each.threads.blocked_s
    return max((one for one in (main, other) if one is not None), default=None)


def _blocked_words(each: RankMoves) -> str:
    if each.state == "D":
        return f"{each.rank.words} in state D for {clock_text(each.state_s)}"
    place = each.threads.blocked_in if each.threads is not None else ""
    return f"a thread of {each.rank.words} in state D" + (f" ({place})" if place else "")


def _asleep(scene: Scene) -> Check:
    """(d) Every rank sleeps on a lock or a timer and none woke up once in 60 s, nor did anything compile.

    Where all threads were read, none of them woke up between two readings at least 30 s apart either.
    Not where ranks run on several hosts: another host may be late.
    """
    rule = "R4(d) all asleep"
    if not scene.ranks or any(each.asleep_s is None for each in scene.ranks):
        return _check(rule, "no", "wake-ups cannot be read of all ranks")
    shortest = min(each.asleep_s or 0.0 for each in scene.ranks)
    numbers = f"zero wake-ups and CPU time of all ranks for {clock_text(shortest)} (counts from 1:00)"
    if shortest < ASLEEP_S:
        near = shortest >= ASLEEP_S / 2
        return _check(rule, "nearly" if near else "no", numbers)
    awake = [each.rank.name for each in scene.ranks if not _threads_asleep(each)]
    if awake:
        return _check(rule, "nearly", f"{numbers}, but not all threads of {names(awake)} slept so long")
    doubt = _may_be_woken(scene)
    if doubt:
        return _check(rule, "nearly", f"{numbers}, but {doubt}")
    culprit = scene.odd
    who = names([each.rank.words for each in scene.ranks])
    one = culprit is not None or len(scene.ranks) == 1
    cause = filled(DEADLOCK if one else DEADLOCK_OF_SOME, rank=who, pid=scene.pid_of(culprit))
    waits = scene.others(culprit) if culprit is not None else ()
    return _hung(scene, rule, numbers, f"all threads of {who} sleep", cause, "pattern", culprit, waits)


def _may_be_woken(scene: Scene) -> str:
    """Return what may wake up ranks that sleep, "" where nothing is known to."""
    odd = [each.rank.name for each in scene.ranks if not (each.rests_in or "").startswith(SLEEPS)]
    if odd:
        return f"{names(odd)}: where it sleeps is no lock or timer"
    if (scene.rest.cpu_pct or 0.0) >= BUSY_PCT or scene.compiling:
        return "other processes of the server work"
    return "they may wait for another host" if scene.situation.nodes > 1 else ""


def _main_asleep(scene: Scene) -> Check:
    """(d) as ranks of PyTorch show it: main threads sleep, only helpers wake up, and do next to nothing.

    It counts from when the load would be called stalled, so it makes no alarm that were none without it.
    """
    rule = "R4(d) main threads asleep"
    slept = [each.main_asleep_s for each in scene.ranks if each.main_asleep_s is not None]
    if not slept or len(slept) < len(scene.ranks):
        return _check(rule, "no", "not every main thread sleeps")
    needed_s = max(ASLEEP_S, scene.threshold.seconds)
    numbers = f"main threads of all ranks without a wake-up for {clock_text(min(slept))}"
    numbers += f" (counts from {clock_text(needed_s)})"
    if min(*slept, scene.silence_s) < needed_s or not scene.judged:
        return _check(rule, "no", numbers)
    awake = [each.rank.name for each in scene.ranks if not _helpers_rest(each)]
    doubt = f"helpers of {names(awake)} may work" if awake else _may_be_woken(scene)
    if doubt:
        return _check(rule, "nearly", f"{numbers}, but {doubt}")
    who = names([each.rank.words for each in scene.ranks])
    why = f"the main threads of {who} sleep and only helpers wake up"
    culprit = scene.odd
    waits = scene.others(culprit) if culprit is not None else ()
    cause = filled(MAIN_ASLEEP, pid=scene.pid_of(culprit))
    return _hung(scene, rule, numbers, why, cause, "pattern", culprit, waits)


def _helpers_rest(each: RankMoves) -> bool:
    """Whether its helpers use next to no CPU and none of them runs or waits in the kernel."""
    sleep = each.threads is None or each.threads.asleep_s is not None
    return sleep and each.cpu_pct is not None and each.cpu_pct < HELPERS_PCT


def _threads_asleep(each: RankMoves) -> bool:
    """Whether no thread woke up, as far as threads were read."""
    return each.threads is None or (each.threads.asleep_s or 0.0) >= THREADS_S


def spinning(scene: Scene) -> Check:
    """(e) The GPUs of all ranks, or of all but one, wait (SM at 20 % at most, or idle power + 20 W at most).

    At TP2 that is one waiter; the research had asked for two. A one left out that burns CPU may work on what
    no channel shows, and one whose files cannot be read may read: then it is no hang yet.
    """
    rule = "R4(e) GPUs only wait"
    waiting, count = scene.waiting, len(scene.ranks)
    if count < 2 or len(waiting) < count - 1:
        return _check(rule, "no", f"{len(waiting)} of {count} ranks' GPUs show the signature of a wait")
    shortest = min((each.waiting_s or 0.0 for each in waiting), default=0.0)
    left_out = next((each for each in scene.ranks if each.waiting_s is None), None)
    numbers = f"{len(waiting)} of {count} GPUs wait for {clock_text(shortest)}"
    numbers += f", nothing moves for {clock_text(scene.silence_s)} (counts from 1:00)"
    doubt = _doubt(left_out)
    if doubt:
        return _check(rule, "nearly", f"{numbers}; {doubt}")
    if scene.silence_s < SPIN_QUIET_S or shortest < SPIN_S:
        began_s = scene.now_s - shortest
        until_s = max(scene.quiet_since_s + SPIN_QUIET_S, began_s + SPIN_S)
        return _check(rule, "nearly", numbers, until_s)
    if left_out is None:
        why = "all ranks wait in a collective and none is missing"
        return _hung(scene, rule, numbers, why, P2P_BROKEN, "pattern", None, scene.others(None))
    cause = filled(RANK_MISSING, rank=left_out.rank.name, pid=left_out.rank.pid)
    waits = scene.others(left_out)
    why = f"{wait_words(waits, left_out.rank.words)}, which does nothing"
    return _hung(scene, rule, numbers, why, cause, "pattern", left_out, waits)


def _doubt(left_out: RankMoves | None) -> str:
    """Return why the one left out may be at work all the same, "" if it is not."""
    if left_out is None:
        return ""
    name, cpu = left_out.rank.name, left_out.cpu_pct
    if not left_out.signals or cpu is None:
        return f"what {name} does on the CPU is not known"
    if busy(left_out):
        return busy_words(left_out)
    unread = "unknown" in (left_out.state_of(Channel.FILE), left_out.state_of(Channel.WRITTEN))
    if unread and (left_out.asleep_s or 0.0) < SPIN_QUIET_S:
        return f"files of {name} cannot be read"
    return ""


def _asked(scene: Scene) -> Check:
    """(f) and (g): what was found on request, NCCL RAS or three equal stacks."""
    rule = "R4(f, g) asked"
    near = ""
    for found in scene.situation.proofs:
        culprit = _rank_of(scene, found.pid)
        if culprit is None:
            culprit = next((each for each in scene.ranks if each.rank.name == found.rank), None)
        doubt = _stale_or_busy(scene, found, culprit)
        if not doubt:
            cause = filled(RAS if found.kind == "ras" else STACKS, pid=found.pid)
            waits = scene.others(culprit) if culprit is not None else ()
            return _hung(scene, rule, found.sentence, found.sentence, cause, "proof", culprit, waits)
        near = near or f"{found.sentence}; {doubt}"
    if near:
        return _check(rule, "nearly", near)
    return _check(rule, "no", "nothing was asked of NCCL RAS, no stack was read")


def _stale_or_busy(scene: Scene, found: Proof, culprit: RankMoves | None) -> str:
    """Return why what was found proves nothing, "" if it does.

    One line of Python may be minutes of work in native code: who uses the CPU, and not to wait for a GPU, may
    come on although its stack stands still and others are ahead of it.
    """
    if found.began_s is not None and scene.quiet_since_s > found.began_s:
        return "something has moved since"
    suspects = scene.ranks if culprit is None else (culprit,)
    at_work = next((each for each in suspects if each.waiting_s is None and busy(each)), None)
    return "" if at_work is None else busy_words(at_work)
