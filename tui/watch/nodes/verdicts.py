"""The verdict on a load over several hosts, and what it makes of the verdict on each of them."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tui.engines.base import Engine
from tui.watch.nodes import words
from tui.watch.nodes.node import Node
from tui.watch.nodes.waits import Waits, waits
from tui.watch.nodes.words import Vacant
from tui.watch.verdict.verdict import SEVERITY, Verdict, Word
from tui.watch.verdict.words import NONE, Cause

FIRST_S = 1.0
"""Nodes that ended so close together may have ended in either order."""
Clocks = Mapping[int, float | None]


@dataclass(frozen=True, slots=True)
class Judged:
    """How a load over several hosts is. ``word`` None: no node tells.

    ``sentence`` is "" where there is nothing to say beside the word. ``waiting`` and ``culprits`` are ranks
    of nodes, ``ended`` that of the node that ended first (None: none has). ``told`` are the verdicts for the
    screens of hosts, by their places, that are not those of the hosts alone. ``is_guess``: the sentence is
    no more than a guess; ``tells_missing``: it says which node is missing or not heard.
    """

    word: Word | None
    sentence: str = ""
    cause: Cause = NONE
    waiting: tuple[int, ...] = ()
    culprits: tuple[int, ...] = ()
    ended: int | None = None
    told: tuple[tuple[int, Verdict], ...] = ()
    is_guess: bool = False
    tells_missing: bool = False


def judged(
    engine: Engine,
    nodes: Sequence[Node],
    vacant: Vacant,
    meets: tuple[str, int],
    clocks: Clocks,
    absent: str = "",
) -> Judged:
    """Return how a load is as of now. ``clocks`` say how far each host's clock is ahead, by its place.

    ``absent`` says which nodes are not found.
    """
    dead = _first_dead(nodes)
    if dead is not None:
        return _ended(nodes, dead, clocks)
    if nodes[0].is_ready:
        return _ready(nodes)
    found = waits(engine, nodes, vacant=bool(vacant))
    return (
        _waited(nodes, found, vacant, meets, clocks)
        if found is not None
        else _worst(nodes, absent if vacant else "")
    )


def _first_dead(nodes: Sequence[Node]) -> Node | None:
    """Return the node that ended first; of those that ended together the one that says why."""
    dead = [node for node in nodes if node.standing == "dead"]
    first_s = min((node.ended_s for node in dead if node.ended_s is not None), default=0.0)
    early = [node for node in dead if _earliest_s(node) <= first_s + FIRST_S]
    return min(early, key=_blame, default=None)


def _earliest_s(node: Node) -> float:
    known = (node.ended_from_s, node.ended_s)
    return next((at_s for at_s in known if at_s is not None), -math.inf)


def _blame(node: Node) -> tuple[bool, bool, bool, int]:
    return node.fault == "shut_down", not node.cause, node.follows, node.rank


def _ended(nodes: Sequence[Node], dead: Node, clocks: Clocks) -> Judged:
    sentence = words.ended(dead)
    told_of = dead.verdict
    why = Cause(dead.cause, words.on_host(dead, dead.next_step), "")
    if not dead.cause and told_of is not None:
        why = _cause_on(dead, told_of)
    told: list[tuple[int, Verdict]] = []
    for node in nodes:
        if node.at is not None and node.standing == "dead" and node is not dead and node.verdict is not None:
            told.append((node.at, _after(node.verdict, dead)))
        offset_s = None if node.at is None else clocks.get(node.at)
        if node.at is None or offset_s is None or node.standing not in ("loading", "ready"):
            continue
        own = node.verdict or Verdict("dead", offset_s, "")
        if dead.ended_s is not None:
            own = replace(own, since_s=dead.ended_s + offset_s)
        told.append((node.at, _with(own, "dead", f"dead: {sentence}", why)))
    waiting = tuple(node.rank for node in nodes if node.may_wait)
    return Judged("dead", sentence, why, waiting, (dead.rank,), dead.rank, tuple(told))


def _after(own: Verdict, first: Node) -> Verdict:
    """Return the verdict on a node that ended after another one: that one is to be looked at."""
    how = own.sentence.removeprefix("dead: ")
    return replace(own, sentence=f"dead: after {first.words}: {how}", elsewhere=True)


def _with(own: Verdict, word: Word, sentence: str, cause: Cause) -> Verdict:
    """Return a verdict with another word, sentence and cause: no rank of this host is to blame."""
    return replace(
        own,
        word=word,
        sentence=sentence,
        cause=cause.title,
        next_step=cause.next_step,
        not_to_do=cause.not_to_do,
        confidence="proof" if word == "dead" else "pattern",
        rank=None,
        pid=None,
        waiting=(),
        until_s=own.until_s if word == own.word else None,
        then=own.then if word == own.word else None,
        elsewhere=True,
    )


def _ready(nodes: Sequence[Node]) -> Judged:
    """The first node answers: one of the others that does nothing waits for requests like it.

    Only that one is suspended is still told of these.
    """
    head, *others = nodes
    for node, own in _verdicts(others):
        if own.word == "suspended":
            return Judged(own.word, f"{node.words} is {own.sentence}", _cause_on(node, own), (), (node.rank,))
    found = head.verdict
    if head.heard and found is not None and SEVERITY[found.word] > 0:
        return Judged(found.word, f"{head.words}: {found.sentence}")
    idle = f"ready: {head.words} {'answers' if head.heard else 'answered when last heard'}"
    told = tuple(
        (node.at, _with(own, "ready", idle, NONE)) for node, own in _verdicts(others) if node.at is not None
    )
    return Judged("ready" if head.heard else None, told=told)


def _verdicts(nodes: Sequence[Node]) -> list[tuple[Node, Verdict]]:
    """Return the nodes that load and are heard, with what is thought of each."""
    loading = (node for node in nodes if node.standing == "loading")
    return [(node, node.verdict) for node in loading if node.verdict is not None]


def _worst_word(nodes: Iterable[Node]) -> Word | None:
    found = [node.verdict for node in nodes if node.verdict is not None]
    return max(found, key=lambda each: each.severity).word if found else None


def _waited(
    nodes: Sequence[Node], found: Waits, vacant: Vacant, meets: tuple[str, int], clocks: Clocks
) -> Judged:
    """Judge by who is waited for: those that wait are as the load is, and no fault is theirs."""
    sentence = words.who_waits(found, nodes, vacant)
    cause = words.cause_of(found, nodes, meets)
    word = _worst_word(nodes[rank] for rank in found.culprits if nodes[rank].heard)
    if word is None:
        # Of one that is not there nothing is known: then it is as those that wait see it.
        word = _worst_word(nodes[rank] for rank in found.waiting) or "quiet"
    tells = found.kind in ("missing", "unheard")
    told = Judged(word, sentence, cause, found.waiting, found.culprits, tells_missing=tells)
    shown = (*_of_waiting(nodes, told, clocks), *_of_culprits(nodes, found))
    return replace(told, told=shown)


def _of_waiting(nodes: Sequence[Node], load: Judged, clocks: Clocks) -> Iterator[tuple[int, Verdict]]:
    """Give what the screens of those that wait say: how the one is that they wait for, and since when."""
    first = nodes[load.culprits[0]] if load.culprits else None
    began_s = None if first is None or not first.heard else first.since_s
    for rank in load.waiting:
        node = nodes[rank]
        own, word = node.verdict, load.word
        if node.at is None or own is None or word is None:
            continue
        where = "" if node.phase is None else f" in {node.phase.words}"
        told = _with(own, word, f"{word}{where}: {load.sentence}", load.cause)
        offset_s = clocks.get(node.at)
        if began_s is not None and offset_s is not None:
            told = replace(told, since_s=began_s + offset_s)
        yield node.at, told


def _of_culprits(nodes: Sequence[Node], found: Waits) -> Iterator[tuple[int, Verdict]]:
    """Say on the screen of the one that is waited for that it is."""
    waiting = [nodes[rank] for rank in found.waiting]
    verb = "waits" if len(waiting) == 1 else "wait"
    who = waiting[0].words if len(waiting) == 1 else words.listed(waiting)
    for rank in found.culprits:
        node = nodes[rank]
        if node.at is not None and node.verdict is not None and node.standing == "loading":
            told = _joined(node.verdict.sentence, f"{who} {verb} for this node")
            yield node.at, replace(node.verdict, sentence=told)


def _worst(nodes: Sequence[Node], absent: str) -> Judged:
    """Nobody waits for anybody: the load is as the worst of its nodes that are heard."""
    heard = [(node, node.verdict) for node in nodes if node.heard and node.verdict is not None]
    if not heard:
        return Judged(None)
    node, own = max(heard, key=lambda pair: SEVERITY[pair[1].word])
    if SEVERITY[own.word] == 0:
        return Judged(own.word)
    told = (*_beside_guesses(nodes, absent), *_beside(nodes, node, own))
    is_guess = own.confidence == "guess"
    return Judged(
        own.word,
        f"{node.words}: {own.sentence}",
        _cause_on(node, own),
        (),
        (node.rank,),
        told=told,
        is_guess=is_guess,
    )


def _beside_guesses(nodes: Sequence[Node], absent: str) -> Iterator[tuple[int, Verdict]]:
    """Say on the screens of nodes that do nothing, for all that is known, which node is not there."""
    for node, own in _verdicts(nodes):
        if absent and node.at is not None and node.stands and own.confidence == "guess":
            yield node.at, replace(own, sentence=_joined(own.sentence, absent))


def _joined(sentence: str, more: str) -> str:
    return f"{sentence}{'; ' if ': ' in sentence else ': '}{more}"


def _cause_on(node: Node, own: Verdict) -> Cause:
    """Return the cause of a node's verdict for a line that is of no host: its next step says on which."""
    return Cause(own.cause, words.on_host(node, own.next_step), own.not_to_do)


def _beside(nodes: Sequence[Node], one: Node, own: Verdict) -> Iterator[tuple[int, Verdict]]:
    """Say on the screens of the others that one stands: they cannot get far without it."""
    if SEVERITY[own.word] < SEVERITY["stalled"]:
        return
    for node, other in _verdicts(nodes):
        if node.at is not None and node is not one:
            yield node.at, replace(other, sentence=_joined(other.sentence, f"{one.words} is {own.word}"))
