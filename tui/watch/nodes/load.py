"""A load over several hosts as one value: where it stands, how it is, who waits for whom."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from tui.engines.base import Engine
from tui.engines.phase import Phase
from tui.watch.meaning import Meaning
from tui.watch.nodes import words
from tui.watch.nodes.joining import Claim, claim_of, elsewhere, joined
from tui.watch.nodes.node import Node, node_of
from tui.watch.nodes.verdicts import Judged, judged
from tui.watch.nodes.waits import alone_now, place_of
from tui.watch.nodes.words import Vacant
from tui.watch.verdict.verdict import SEVERITY, Verdict, Word

NO_SERVER = "no server on {} yet"
TO_CHOOSE = "{} has several servers, of which one is to be chosen"
NOT_REACHED = "{} is not reached yet"
NOT_LISTED = "no process list of {} yet"
BLIND = "{} has no python3, without which no server is found"


@dataclass(frozen=True, slots=True)
class NodesLoad:
    """One load over several nodes. Times are seconds; None is not known.

    ``nodes`` are all of its nodes by rank, those that are missing too. ``phase`` is where its slowest node
    stands (after the last capture where the first one does, READY once that one answers). ``outcome`` is
    ready with the first node, failed with any. ``left_s`` is the largest time to ready of its nodes.
    ``judged`` says how it is and who waits for whom; ``absent`` what is to be said of nodes that are not
    found, ``missing`` that and of those that are not heard, "" where there are none. ``unknown``: whether a
    node is absent cannot be told yet. ``may_hold`` are the places of hosts that may yet show an absent one.
    """

    engine: Engine
    model: str | None
    meets: tuple[str, int]
    nodes: tuple[Node, ...]
    phase: Phase | None
    outcome: Literal["ready", "failed"] | None
    left_s: float | None
    judged: Judged
    absent: str
    missing: str
    unknown: bool = False
    may_hold: tuple[int, ...] = ()

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
        judged = self.judged
        if self.outcome == "failed" or judged.tells_missing or not self.missing:
            return judged.sentence or self.missing
        # That a node is not there is known; a guess comes after it.
        both = (self.missing, judged.sentence) if judged.is_guess else (judged.sentence, self.missing)
        return "; ".join(text for text in both if text)

    @property
    def meaning(self) -> tuple[object, ...]:
        """What is told of it without its figures: only a change of this is news."""
        judged = self.judged
        doing = tuple(self.nodes[rank].phase for rank in judged.culprits)
        standing = tuple(node.standing for node in self.nodes)
        told = judged.word, judged.cause.title, judged.waiting, judged.culprits
        return self.outcome, *told, doing, standing, self.absent

    def told(self, at: int) -> Verdict | None:
        """Return the verdict for a host's screen where it is another one than that of the host alone."""
        return next((told for place, told in self.judged.told if place == at), None)


def loads(hosts: Sequence[tuple[str, Meaning]], client_now_s: float) -> tuple[NodesLoad, ...]:
    """Return the loads over several nodes among the hosts (name and state), as of the client's time."""
    claims = [claim_of(state) for _, state in hosts]
    groups = joined(claims)
    empty = [at for at, (_, state) in enumerate(hosts) if claims[at] is None and _vacant(state)]
    vacant = tuple(_why(hosts[at]) for at in empty if not _is_unknown(hosts[at][1]))
    unknown = tuple(_why(hosts[at]) for at in empty if _is_unknown(hosts[at][1]))
    whole = {at for group in groups if len(group) > 1 for at in group}
    found: list[NodesLoad] = []
    for group in groups:
        other = [at for at in elsewhere(claims, group) if at not in whole]
        seats = (*vacant, *_apart(hosts, claims, other)), unknown
        load = _load(hosts, group, seats, client_now_s)
        found.append(replace(load, may_hold=tuple(empty) if load.absent else ()))
    return tuple(found)


def _apart(
    hosts: Sequence[tuple[str, Meaning]], claims: Sequence[Claim | None], places: Sequence[int]
) -> Iterator[tuple[str, str]]:
    """Give the hosts whose server would be a node that is missing, were its rendezvous the same."""
    for at in places:
        claim = claims[at]
        if claim is not None:
            yield hosts[at][0], f"{hosts[at][0]} has one that meets at {claim.meets}:{claim.port}"


def _why(host: tuple[str, Meaning]) -> tuple[str, str]:
    return host[0], _vacant(host[1]).format(host[0])


def _is_unknown(state: Meaning) -> bool:
    """Whether it is not known yet if a host that shows no server has one; one given up shows none."""
    if state.hello is None:
        return state.link.state not in ("lost", "failed")
    return _vacant(state) == NOT_LISTED


def _vacant(state: Meaning) -> str:
    """Return why a host shows no server though it may have one, with room for its name; "" where it does."""
    if state.shown is not None or state.url_alone:
        return ""
    if state.hello is None:
        return NOT_REACHED
    if state.without_python:
        return BLIND
    if state.choice.kind == "several":
        return TO_CHOOSE
    return NO_SERVER if state.choice.sentence else NOT_LISTED


def _load(
    hosts: Sequence[tuple[str, Meaning]],
    group: Sequence[int],
    seats: tuple[Vacant, Vacant],
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
    vacant, unknown = seats
    return load_of(servers[0].engine, nodes, vacant, unknown=unknown, model=model, meets=meets, clocks=clocks)


def again(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """Count as missing what ended before another node started: that was an earlier start of the load."""
    return tuple(
        Node(node.rank, node.host, node.at) if any(node.ended_before(other) for other in nodes) else node
        for node in nodes
    )


def load_of(
    engine: Engine,
    nodes: tuple[Node, ...],
    vacant: Vacant = (),
    *,
    unknown: Vacant = (),
    model: str | None = None,
    meets: tuple[str, int] = ("", 0),
    clocks: dict[int, float | None] | None = None,
) -> NodesLoad:
    """Return what nodes mean together. ``vacant`` are hosts that may yet show a missing one, and why not yet.

    ``unknown`` are those of which it is not known yet whether they show one, and why.
    ``clocks`` say by how many seconds a host's clock is ahead of the client's, by the place of the host.
    """
    absent = words.not_found(nodes, vacant, unknown)
    found = judged(engine, nodes, () if unknown else vacant, meets, clocks or {}, absent)
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
        absent=absent,
        missing="; ".join([*filter(None, [absent]), *words.unheard(nodes)]),
        unknown=bool(unknown) and any(node.standing == "missing" for node in nodes),
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
