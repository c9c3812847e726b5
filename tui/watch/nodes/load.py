"""A load over several hosts as one value: where it stands, how it is, who waits for whom."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from tui.engines.base import Engine
from tui.engines.phase import Phase
from tui.watch.meaning import Meaning
from tui.watch.nodes import words
from tui.watch.nodes.joining import Claim, claim_of, elsewhere, joined
from tui.watch.nodes.node import Node, node_of
from tui.watch.nodes.verdicts import Judged, judged
from tui.watch.nodes.waits import alone_now, place_of
from tui.watch.verdict.verdict import SEVERITY, Verdict, Word

NO_SERVER = "no server on {} yet"
TO_CHOOSE = "{} has several servers, of which one is to be chosen"
NOT_REACHED = "{} is not reached yet"
BLIND = "{} has no python3, without which no server is found"


@dataclass(frozen=True, slots=True)
class NodesLoad:
    """One load over several nodes. Times are seconds; None is not known.

    ``nodes`` are all of its nodes by rank, those that are missing too. ``phase`` is where its slowest node
    stands (after the last capture where the first one does, READY once that one answers). ``outcome`` is
    ready with the first node, failed with any. ``left_s`` is the largest time to ready of its nodes.
    ``judged`` says how it is and who waits for whom; ``missing`` what is to be said of nodes that are not
    found or not heard, "" where there are none.
    """

    engine: Engine
    model: str | None
    meets: tuple[str, int]
    nodes: tuple[Node, ...]
    phase: Phase | None
    outcome: Literal["ready", "failed"] | None
    left_s: float | None
    judged: Judged
    missing: str

    @property
    def key(self) -> tuple[str, int, tuple[str, int]]:
        """What tells it from other loads on the same hosts."""
        return self.engine.name, len(self.nodes), self.meets

    @property
    def members(self) -> tuple[int, ...]:
        """The places of its hosts among all that are watched, by rank."""
        return tuple(node.at for node in self.nodes if node.at is not None)

    @property
    def word(self) -> Word | None:
        """How it is in a word, None where no node tells."""
        return self.judged.word

    @property
    def sentence(self) -> str:
        """What matters most: who waits for whom, what is wrong with which node, which ones are missing."""
        return self.judged.sentence or self.missing

    def told(self, at: int) -> Verdict | None:
        """Return the verdict for a host's screen where it is another one than that of the host alone."""
        return next((told for place, told in self.judged.told if place == at), None)


def loads(hosts: Sequence[tuple[str, Meaning]], client_now_s: float) -> tuple[NodesLoad, ...]:
    """Return the loads over several nodes among the hosts (name and state), as of the client's time."""
    claims = [claim_of(state) for _, state in hosts]
    groups = joined(claims)
    vacant = tuple(
        (name, why.format(name))
        for (name, state), claim in zip(hosts, claims, strict=True)
        if claim is None and (why := _vacant(state))
    )
    whole = {at for group in groups if len(group) > 1 for at in group}
    found: list[NodesLoad] = []
    for group in groups:
        other = [at for at in elsewhere(claims, group) if at not in whole]
        found.append(_load(hosts, group, (*vacant, *_apart(hosts, claims, other)), client_now_s))
    return tuple(found)


def _apart(
    hosts: Sequence[tuple[str, Meaning]], claims: Sequence[Claim | None], places: Sequence[int]
) -> Iterator[tuple[str, str]]:
    """Give the hosts whose server would be a node that is missing, were its rendezvous the same."""
    for at in places:
        claim = claims[at]
        if claim is not None:
            yield hosts[at][0], f"{hosts[at][0]} has one that meets at {claim.meets}:{claim.port}"


def _vacant(state: Meaning) -> str:
    """Return why a host shows no server though it may have one, with room for its name; "" where it does."""
    if state.shown is not None or state.url_alone:
        return ""
    if state.hello is None:
        return NOT_REACHED
    if state.without_python:
        return BLIND
    return TO_CHOOSE if state.choice.kind == "several" else NO_SERVER


def _load(
    hosts: Sequence[tuple[str, Meaning]],
    group: Sequence[int],
    vacant: tuple[tuple[str, str], ...],
    client_now_s: float,
) -> NodesLoad:
    states = [hosts[at][1] for at in group]
    servers = [state.shown for state in states if state.shown is not None]
    found: dict[int, Node] = {}
    for at, state in zip(group, states, strict=True):
        claim = claim_of(state)
        if claim is not None:
            found[claim.rank] = node_of(state, claim.rank, hosts[at][0], at, client_now_s)
    count = servers[0].arguments.nodes or len(found)
    nodes = again([found.get(rank, Node(rank)) for rank in range(count)])
    now_s = {at: hosts[at][1].source_now(client_now_s) for at in group}
    clocks = {at: None if own_s is None else own_s - client_now_s for at, own_s in now_s.items()}
    model = next((state.model for state in states if state.model), None)
    meets = servers[0].arguments.rendezvous or ("", 0)
    return load_of(servers[0].engine, nodes, vacant, model=model, meets=meets, clocks=clocks)


def again(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """Count as missing what ended before another node started: that was an earlier start of the load."""
    return tuple(
        Node(node.rank, node.host, node.at) if any(node.ended_before(other) for other in nodes) else node
        for node in nodes
    )


def load_of(
    engine: Engine,
    nodes: tuple[Node, ...],
    vacant: tuple[tuple[str, str], ...] = (),
    *,
    model: str | None = None,
    meets: tuple[str, int] = ("", 0),
    clocks: dict[int, float | None] | None = None,
) -> NodesLoad:
    """Return what nodes mean together. ``vacant`` are hosts that may yet show a missing one, and why not yet.

    ``clocks`` say by how many seconds a host's clock is ahead of the client's, by the place of the host.
    """
    found = judged(engine, nodes, vacant, meets, clocks or {})
    dead = next((node for node in nodes if node.rank == found.ended), None)
    return NodesLoad(
        engine=engine,
        model=model,
        meets=meets,
        nodes=nodes,
        phase=_phase(engine, nodes) if dead is None else dead.phase,
        outcome="failed" if dead is not None else "ready" if nodes[0].standing == "ready" else None,
        left_s=_left_s(nodes, found),
        judged=found,
        missing=words.missing(nodes, vacant),
    )


def _phase(engine: Engine, nodes: Sequence[Node]) -> Phase | None:
    """Return where the slowest node stands: a node that answers nobody prints nothing of its readiness."""
    if nodes[0].is_ready:
        return Phase.READY
    if alone_now(engine, nodes):
        return nodes[0].phase
    known = [node for node in nodes if node.phase is not None]
    return min(known, key=lambda node: place_of(engine, node)).phase if known else None


def _left_s(nodes: Sequence[Node], found: Judged) -> float | None:
    """Return the largest time to ready; None where the first node tells none, or one is missing or stands."""
    stands = found.word is not None and SEVERITY[found.word] >= SEVERITY["stalled"]
    if stands or nodes[0].is_ready or nodes[0].left_s is None or not all(node.heard for node in nodes):
        return None
    return max(node.left_s for node in nodes if node.left_s is not None)


def told_over(own: Verdict | None, load: NodesLoad | None, at: int) -> Verdict | None:
    """Return the verdict to show for a host: the load's where it says more than that of the host alone."""
    told = None if load is None else load.told(at)
    return own if told is None else told
