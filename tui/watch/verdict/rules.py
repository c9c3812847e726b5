"""The rules R0 to R6 in their order; the first that matches makes the verdict."""

from collections.abc import Iterator

from tui.engines.phase import Phase
from tui.watch.verdict.causes import quiet_cause, slow_cause
from tui.watch.verdict.channels import Channel, Reading
from tui.watch.verdict.ends import dead, driver, suspended
from tui.watch.verdict.figures import figures
from tui.watch.verdict.meters import WINDOW_S
from tui.watch.verdict.movement import Movement, RankMoves
from tui.watch.verdict.proofs import proofs, spinning
from tui.watch.verdict.scene import Check, Finding, Scene, busy, scene
from tui.watch.verdict.situation import Situation
from tui.watch.verdict.verdict import LINK, RuleResult, Verdict, Word
from tui.watch.verdict.words import ITS_OWN, NOT_ANSWERING, filled, names, wait_words
from tui.watch.words import clock_text

NOW_S = 5.0
"""What moved less than this before the newest movement moves beside it."""
RESTS_S = 10.0
"""Who has not moved for so long while one other does waits for it."""
SLOW_RATE = 3.0
"""Under a third of the best past rate is slow (stalls research, R3b)."""
SLOW_TIME = 2.0
"""Over twice the longest past time is slow (stalls research, R3b)."""
SLOW_LEAST_S = 30.0
"""So much longer than the longest before has a phase to take at least: seconds are no news."""


def judge(situation: Situation, movement: Movement) -> Verdict:
    """Return the verdict for a moment. The same inputs always give the same verdict."""
    return _judge(scene(situation, movement))


def judge_seen(situation: Situation, movement: Movement) -> Verdict | None:
    """Return the verdict, None while too little was seen to call a load quiet of which nothing moves."""
    moment = scene(situation, movement)
    found = _judge(moment)
    return found if found.word != "quiet" or moment.seen else None


def _judge(moment: Scene) -> Verdict:
    checks = list(_checks(moment))
    first = next(check.finding for check in checks if check.finding is not None)
    return _verdict(moment, first, tuple(check.result for check in checks))


def _checks(moment: Scene) -> Iterator[Check]:
    yield dead(moment)
    yield _blind(moment)
    yield driver(moment)
    yield suspended(moment)
    if moment.situation.ready:
        yield from _ready(moment)
        return
    yield _slow(moment)
    yield _progressing(moment)
    yield _answers(moment)
    found = list(proofs(moment))
    yield from found
    yield _stalled(moment)
    yield _quiet(moment, found)


def _verdict(moment: Scene, found: Finding, rules: tuple[RuleResult, ...]) -> Verdict:
    culprit = found.culprit
    return Verdict(
        word=found.word,
        since_s=found.since_s,
        sentence=found.sentence,
        figures=figures(moment, culprit, slow=found.word == "slow"),
        cause=found.cause.title,
        confidence=found.confidence,
        rank=found.rank if culprit is None else culprit.rank.name,
        pid=found.pid if culprit is None else culprit.rank.pid,
        waiting=found.waiting,
        next_step=found.cause.next_step,
        not_to_do=found.cause.not_to_do,
        until_s=found.until_s,
        then=found.then,
        longest_s=max(moment.situation.past.silences_s, default=None),
        rules=rules,
        silence_s=moment.silence_s if moment.judged and not moment.movement.blind_s(moment.now_s) else None,
        elsewhere=found.cause.elsewhere,
    )


def _blind(moment: Scene) -> Check:
    """Silence of the link is none of the server's."""
    silent_s = moment.movement.blind_s(moment.now_s)
    rule = LINK
    if not silent_s:
        last = f"; {clock_text(moment.unseen_s)} were not seen" if moment.unseen_s else ""
        return Check(RuleResult(rule, "no", f"the host is heard{last}"))
    numbers = f"nothing heard from the host for {clock_text(silent_s)}"
    word = "ready" if moment.situation.ready else "quiet"
    sentence = f"{word} when last heard: {numbers}, so what the server does is not known"
    return Check(RuleResult(rule, "yes", numbers), Finding(word, moment.now_s - silent_s, sentence))


# A server that was ready.


def _ready(moment: Scene) -> Iterator[Check]:
    """Idle is idle: a ready server is judged by what it does not answer and by GPUs that wait.

    Measured: a rank stopped while serving leaves all GPUs at util 0, for the others wait on the CPU.
    """
    unanswered = moment.situation.unanswered_s
    if not _moved(moment):
        yield spinning(moment)
        if unanswered is not None:
            yield from proofs(moment)
            yield _unanswered(moment, unanswered)
    since_s = moment.situation.ready_since_s
    since_s = moment.now_s if since_s is None else since_s
    numbers = "it has answered" if unanswered is None else f"no answer for {clock_text(unanswered)}"
    confidence = "proof" if unanswered is None else "pattern"
    found = Finding("ready", since_s, "ready", confidence=confidence)
    yield Check(RuleResult("ready", "yes", numbers), found)


def _unanswered(moment: Scene, unanswered_s: float) -> Check:
    seconds = moment.threshold.seconds
    numbers = f"no answer for {clock_text(unanswered_s)}, nothing moves for {clock_text(moment.silence_s)}"
    numbers += f" (counts from {clock_text(seconds)})"
    if min(unanswered_s, moment.silence_s) < seconds or not moment.judged:
        return Check(RuleResult("R5 stalled", "nearly", numbers))
    culprit = moment.odd
    cause = filled(NOT_ANSWERING, pid=None if culprit is None else culprit.rank.pid)
    sentence = f"stalled: the server has not answered for {clock_text(unanswered_s)} and nothing moves"
    found = Finding("stalled", moment.now_s - unanswered_s, sentence, cause, "pattern", culprit)
    return Check(RuleResult("R5 stalled", "yes", numbers), found)


# R3.


def _moved(moment: Scene) -> list[tuple[RankMoves, Reading]]:
    everyone = (*moment.ranks, moment.rest)
    return [(each, reading) for each in everyone for reading in each.moved]


def _movers_words(moved: list[tuple[RankMoves, Reading]]) -> str:
    told = [f"{each.rank.name}: {reading.figure or reading.channel.words}" for each, reading in moved]
    return "; ".join(told[:4]) + (f"; {len(told) - 4} more" if len(told) > 4 else "")


def _progressing(moment: Scene) -> Check:
    """R3: a channel of any rank, or of the server beside them, moved in the last 30 s."""
    moved = _moved(moment)
    if not moved:
        numbers = f"nothing moved in {WINDOW_S:.0f} s"
        return Check(RuleResult("R3 progressing", "no", numbers))
    culprit, waiting = _waits(moment)
    since_s = moment.situation.phase_since_s
    since_s = moment.movement.silence_began_s if since_s is None else since_s
    sentence = f"progressing{moment.place}"
    if culprit is not None:
        sentence += f": {wait_words(waiting, culprit.rank.words)}, which moves ({_most(culprit)})"
    elif waiting:
        verb = "waits" if len(waiting) == 1 else "wait"
        sentence += f": {names(waiting)} {verb} while others move"
    found = Finding("progressing", since_s, sentence, confidence="proof", culprit=culprit, waiting=waiting)
    return Check(RuleResult("R3 progressing", "yes", _movers_words(moved)), found)


def _waits(moment: Scene) -> tuple[RankMoves | None, tuple[str, ...]]:
    """Return the one rank that others wait for while it moves, and who waits.

    A line of the log names nobody: most engines let one rank write for all. Who works on the CPU does not
    wait, unless it spins there for its GPU.
    """
    since_s = _wait_began_s(moment)
    moving = [each for each in moment.ranks if each.waiting_s is None and _worked_s(each) >= since_s]
    if not moving or len(moment.ranks) < 2:
        return None, ()
    now = [each for each in moving if _worked_s(each) > moment.now_s - RESTS_S]
    moving = now if len(now) == 1 else moving
    rest = [each for each in moment.ranks if each not in moving]
    waiting = tuple(each.rank.name for each in rest if each.waiting_s is not None or not busy(each))
    alone = len(moving) == 1 and len(waiting) == len(rest)
    return (moving[0] if alone and waiting else None), waiting


def _worked_s(rank: RankMoves) -> float:
    """Return when it last moved on another channel than the log, 0 for never."""
    moved = (each.moved_s for each in rank.moved if each.channel is not Channel.LOG)
    return max((moved_s for moved_s in moved if moved_s is not None), default=0.0)


def _wait_began_s(moment: Scene) -> float:
    """Return when the last of those began to wait whose GPUs show it: who moved only before moves no more."""
    waits = [each.waiting_s for each in moment.waiting if each.waiting_s is not None]
    return moment.now_s - min(waits, default=WINDOW_S)


def _newest_s(rank: RankMoves) -> float:
    return max((each.moved_s for each in rank.moved if each.moved_s is not None), default=0.0)


def _most(rank: RankMoves) -> str:
    """Return the most telling of what moves now."""
    newest_s = _newest_s(rank)
    now = [each for each in rank.moved if each.moved_s is not None and newest_s - each.moved_s <= NOW_S]
    order = (Channel.COMPILE, Channel.PCIE, Channel.FILE, Channel.WRITTEN)
    told = sorted(now, key=lambda each: order.index(each.channel) if each.channel in order else len(order))
    return next((each.figure for each in told if each.figure), told[0].channel.words)


def _slow(moment: Scene) -> Check:
    """R3b: it moves, but under a third of the best past rate, or for over twice the longest past time.

    One that answers, though not as was asked for, has loaded: no time of its phases tells of it any more.
    """
    rule, situation = "R3b slow", moment.situation
    best, rate, times = situation.past.best_rate_mib_s, situation.rate_mib_s, situation.past.durations_s
    told: list[str] = []
    slow: list[str] = []
    if best and rate is not None and situation.phase is Phase.WEIGHTS:
        told.append(f"{rate:.0f} MiB/s, the best past load {best:.0f} MiB/s")
        slow += told[-1:] if rate < best / SLOW_RATE else []
    if times and situation.phase_since_s is not None and situation.phase is not None:
        stays = moment.now_s - situation.phase_since_s
        told.append(
            f"{clock_text(stays)} in {situation.phase.words}, at most {clock_text(max(times))} before"
        )
        slow += told[-1:] if stays > max(SLOW_TIME * max(times), max(times) + SLOW_LEAST_S) else []
    if not slow or situation.answers or not _moved(moment):
        return Check(
            RuleResult(rule, "nearly" if slow else "no", "; ".join(told) or "no past load to compare")
        )
    culprit, waiting = _waits(moment)
    cause = slow_cause(moment)
    sentence = f"slow{moment.place}: {slow[0]}"
    began_s = situation.phase_since_s
    since_s = moment.movement.silence_began_s if began_s is None else began_s
    found = Finding("slow", since_s, sentence, cause, "pattern", culprit, waiting=waiting)
    return Check(RuleResult(rule, "yes", "; ".join(told)), found)


def _answers(moment: Scene) -> Check:
    """A server that answers, though not as was asked for, does not hang: a person has to decide."""
    rule, told = "answers", moment.situation.answers
    if not told:
        return Check(RuleResult(rule, "no", "it does not answer yet"))
    return Check(
        RuleResult(rule, "yes", told),
        Finding("quiet", moment.quiet_since_s, f"quiet: it answers, but {told}", ITS_OWN),
    )


# R5 and R6.


def _stalled(moment: Scene) -> Check:
    """R5: nothing moved for longer than the threshold, and no proof holds."""
    rule, threshold = "R5 stalled", moment.threshold
    numbers = f"nothing moves for {clock_text(moment.silence_s)}, counts from {clock_text(threshold.seconds)}"
    numbers += f" ({threshold.words})"
    if moment.silence_s <= threshold.seconds:
        return Check(RuleResult(rule, "no", numbers))
    if not moment.judged:
        return Check(RuleResult(rule, "nearly", f"{numbers}, but {_unread(moment)}"))
    culprit = moment.odd if len(moment.ranks) > 1 or not moment.ranks else moment.ranks[0]
    cause = quiet_cause(moment, culprit)
    waits = moment.others(culprit) if culprit is not None else ()
    who = f"; {wait_words(waits, culprit.rank.words)}" if culprit is not None and waits else ""
    sentence = f"stalled{moment.place}: nothing has moved for {clock_text(moment.silence_s)}{who}"
    found = Finding("stalled", moment.quiet_since_s, sentence, cause, "guess", culprit, waiting=waits)
    return Check(RuleResult(rule, "yes", numbers), found)


def _unread(moment: Scene) -> str:
    if not any(each.signals for each in (*moment.ranks, moment.rest)):
        return "what its processes do is not read"
    return "what it reads and writes cannot be read (another user's process) while it uses the CPU"


def _quiet(moment: Scene, found: list[Check]) -> Check:
    """R6: nothing moves, not yet for long enough; with the countdown where one can be told."""
    numbers = f"nothing moves for {clock_text(moment.silence_s)}"
    numbers += f" (a stall from {clock_text(moment.threshold.seconds)})"
    longest = max(moment.situation.past.silences_s, default=None)
    if longest is not None and longest >= 1.0:
        numbers += f", the longest before was {clock_text(longest)}"
    until_s, then = _becomes(moment, found) if moment.judged else (None, None)
    sentence = f"quiet{moment.place} for {clock_text(moment.silence_s)}"
    if until_s is None:
        sentence += f": {_unread(moment)}, so no stall can be told"
    culprit = moment.odd if moment.waiting else None
    waits = tuple(each.rank.name for each in moment.waiting) if culprit is not None else ()
    cause = quiet_cause(moment, culprit)
    quiet = Finding(
        "quiet", moment.quiet_since_s, sentence, cause, "guess", culprit, waiting=waits, until_s=until_s,
        then=then,
    )  # fmt: skip
    return Check(RuleResult("R6 quiet", "yes", numbers), quiet)


def _becomes(moment: Scene, found: list[Check]) -> tuple[float, Word]:
    """Return when a quiet load will be thought of worse if nothing moves, and what it will be then."""
    stalled_s = moment.quiet_since_s + moment.threshold.seconds
    proven_s = min((check.until_s for check in found if check.until_s is not None), default=stalled_s)
    word: Word = "stalled" if stalled_s <= proven_s else "hung"
    return max(moment.now_s, min(stalled_s, proven_s)), word
