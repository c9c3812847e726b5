"""A load over several watched hosts as data: what ``wait --json`` and ``--once --json`` print of it."""

import msgspec

from tui.commands.records import seconds
from tui.present.nodes import load_row, told_line
from tui.watch.nodes.load import NodesLoad
from tui.watch.nodes.node import Node
from tui.watch.words import clock_text


class NodePart(msgspec.Struct, frozen=True, kw_only=True):
    """One node. ``host`` is null on no watched host; ``state`` is missing, unheard, loading, ready or dead.

    ``phase`` and ``verdict`` are what was last heard of the host alone, ``unheard_s`` how long ago that was
    where its link is lost.
    """

    node: int
    host: str | None
    state: str
    phase: str | None
    verdict: str | None
    unheard_s: float | None


class LoadPart(msgspec.Struct, frozen=True, kw_only=True):
    """One load over several nodes. ``null`` is not known.

    ``ready`` is what its first node is. ``phase`` is where its slowest node stands, ``remaining_s`` the
    largest time to ready. ``waiting`` are the nodes that wait, ``waits_for`` those that they wait for or that
    are at fault. ``reason`` says so in a sentence, or which nodes are missing.
    """

    engine: str
    model: str | None
    nodes: int
    ready: bool
    phase: str | None
    verdict: str | None
    reason: str
    remaining_s: float | None
    waiting: tuple[int, ...]
    waits_for: tuple[int, ...]
    cause: str
    next_step: str
    members: tuple[NodePart, ...]


class LoadRecord(LoadPart, frozen=True, tag="load", tag_field="event"):
    """What has changed of a load over several nodes, as a line of ``wait --json``."""

    t: float


def load_part(load: NodesLoad) -> LoadPart:
    """Return a load as data."""
    cause = load.judged.cause
    return LoadPart(
        engine=load.engine.name,
        model=load.model,
        nodes=len(load.nodes),
        ready=load.outcome == "ready",
        phase=None if load.phase is None else load.phase.value,
        verdict=load.word,
        reason=load.sentence,
        remaining_s=None if load.left_s is None else seconds(load.left_s),
        waiting=load.judged.waiting,
        waits_for=load.judged.culprits,
        cause=cause.title,
        next_step=cause.next_step,
        members=tuple(map(_node, load.nodes)),
    )


def _node(node: Node) -> NodePart:
    return NodePart(
        node=node.rank,
        host=node.host,
        state=node.standing,
        phase=None if node.phase is None else node.phase.value,
        verdict=None if node.verdict is None else node.verdict.word,
        unheard_s=None if node.unheard_s is None else seconds(node.unheard_s),
    )


def load_line(load: NodesLoad, t: float) -> str:
    """Return a load as a JSON line, without the newline."""
    return msgspec.json.encode(LoadRecord(t=t, **msgspec.structs.asdict(load_part(load)))).decode()


def load_words(load: NodesLoad) -> str:
    """Return a load in a line for people."""
    row = load_row(load)
    hosts = ", ".join(node.host for node in load.nodes if node.host is not None)
    left = "" if load.left_s is None else f"ready in {clock_text(load.left_s)}"
    return f"{row.name} ({hosts}): {told_line(row, left)}"


def news_of(load: NodesLoad) -> tuple[object, ...]:
    """Return what makes a load worth a line of its own once it changes."""
    return load.phase, *load.meaning
