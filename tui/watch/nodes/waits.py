"""Which nodes of a load wait for which, by what is known of each. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tui.engines.base import Engine
from tui.engines.phase import Phase
from tui.watch.nodes.node import Node
from tui.watch.verdict.verdict import Word

Kind = Literal["stopped", "trouble", "behind", "missing", "unheard", "apart"]


@dataclass(frozen=True, slots=True)
class Waits:
    """Who waits (ranks), for whom, and of what kind that is.

    ``kind``: stopped (suspended from outside), trouble (it stands for a reason of its own), behind (in an
    earlier phase, or at work where the others are done), missing (no server of it is found), unheard (only
    that it may be), apart (all are there and wait for each other: ``culprits`` is empty).
    """

    kind: Kind
    waiting: tuple[int, ...]
    culprits: tuple[int, ...] = ()


def place_of(engine: Engine, node: Node) -> int:
    """Return how far a node is, -1 where that is not known."""
    return -1 if node.phase is None else engine.place(node.phase)


def alone_now(engine: Engine, nodes: Sequence[Node]) -> bool:
    """Whether the first node does what no other takes part in, as after the last capture."""
    return place_of(engine, nodes[0]) > engine.place(Phase.CAPTURE)


def waits(engine: Engine, nodes: Sequence[Node], *, vacant: bool) -> Waits | None:
    """Return who waits for whom among the nodes of a load that is neither ready nor dead, None for nobody.

    Only who does nothing and shows no reason of its own is said to wait. ``vacant``: a watched host may yet
    show the server of a node that is missing.
    """
    waiting = [node for node in nodes if node.may_wait]
    if not waiting:
        return None
    stopped = [node for node in nodes if _is(node, "suspended")]
    if stopped:
        return Waits("stopped", _ranks(waiting), _ranks(stopped))
    trouble = [node for node in nodes if _is(node, "stalled", "hung") and not node.may_wait]
    if trouble:
        return Waits("trouble", _ranks(waiting), _ranks(trouble))
    return _behind(engine, nodes, waiting) or _absent(engine, nodes, waiting, vacant=vacant)


def _is(node: Node, *words: Word) -> bool:
    return node.standing == "loading" and node.verdict is not None and node.verdict.word in words


def _ranks(nodes: Sequence[Node]) -> tuple[int, ...]:
    return tuple(node.rank for node in nodes)


def _behind(engine: Engine, nodes: Sequence[Node], waiting: Sequence[Node]) -> Waits | None:
    """Return who waits for the nodes that have come least far, or that work where these are done."""
    taking_part = nodes[:1] if alone_now(engine, nodes) else nodes
    placed = [node for node in taking_part if node.standing == "loading" and node.phase is not None]
    least = min((place_of(engine, node) for node in placed), default=0)
    last = [node for node in placed if place_of(engine, node) == least]
    further = [node for node in waiting if place_of(engine, node) > least]
    movers = [node for node in last if node.moves]
    beside = [node for node in waiting if place_of(engine, node) == least] if movers else []
    if not (further or beside) or alone_now(engine, nodes):
        return None
    ordered = sorted((*further, *beside), key=lambda node: node.rank)
    return Waits("behind", _ranks(ordered), _ranks(movers or last))


def _absent(engine: Engine, nodes: Sequence[Node], waiting: Sequence[Node], *, vacant: bool) -> Waits | None:
    """Return who waits for nodes that are not there or not heard; all are there: they wait for each other."""
    met = engine.place(Phase.DISTRIBUTED)
    early = [node for node in waiting if 0 <= place_of(engine, node) <= met]
    gone = [node for node in nodes if node.standing == "missing" and (vacant or node.host is not None)]
    if early and gone:
        return Waits("missing", _ranks(early), _ranks(gone))
    unheard = [node for node in nodes if node.standing == "unheard"]
    if unheard and not alone_now(engine, nodes):
        return Waits("unheard", _ranks(waiting), _ranks(unheard))
    if len(early) == len(nodes) and all(place_of(engine, node) == met for node in early):
        return Waits("apart", _ranks(early))
    return None
