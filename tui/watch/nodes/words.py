"""What is said of the nodes of a load, and of who waits for whom."""

from collections.abc import Sequence

from tui.engines.phase import Phase
from tui.watch.nodes.node import Node
from tui.watch.nodes.waits import Waits
from tui.watch.verdict.words import NO_KILL, NONE, Cause
from tui.watch.words import age_text

Vacant = tuple[tuple[str, str], ...]

DOING: dict[Phase, str] = {
    Phase.LAUNCH: "still starts",
    Phase.DISTRIBUTED: "still sets up its ranks",
    Phase.WEIGHTS: "still loads weights",
    Phase.KV_CACHE: "still sets up its KV cache",
    Phase.COMPILE: "still compiles",
    Phase.CAPTURE: "still captures graphs",
    Phase.START_API: "still starts its API",
    Phase.WARMUP: "still warms up",
}


def _all(count: int) -> str:
    return "both nodes" if count == 2 else f"all {count} nodes"


def apart(count: int, meets: tuple[str, int]) -> Cause:
    """Return the cause where all nodes are there and none goes on (stalls research, table 1, row 5)."""
    host, port = meets
    return Cause(
        f"{_all(count)} have started, but they do not reach each other",
        f"check from each that {host}:{port} is reached; NCCL_SOCKET_IFNAME and GLOO_SOCKET_IFNAME;"
        " the firewall",
        NO_KILL,
        elsewhere=True,
    )


def absent(node: Node, meets: tuple[str, int]) -> Cause:
    """Return the cause where a node has not come to the rendezvous."""
    host, port = meets
    where = "" if node.host is None else f" on {node.host}"
    return Cause(
        f"node {node.rank} has not come to the rendezvous",
        f"start node {node.rank}{where}, with {host}:{port} as its rendezvous",
        NO_KILL,
        elsewhere=True,
    )


def cause_of(waits: Waits, nodes: Sequence[Node], meets: tuple[str, int]) -> Cause:
    """Return why nodes wait, with what to do; nothing where the one that they wait for is at work."""
    if waits.kind == "apart":
        return apart(len(nodes), meets)
    first = nodes[waits.culprits[0]]
    if waits.kind == "missing":
        return absent(first, meets)
    told = first.verdict
    if told is None or not first.heard or first.moves:
        return NONE
    return Cause(told.cause, on_host(first, told.next_step), told.not_to_do)


def on_host(node: Node, next_step: str) -> str:
    """Return what to do on a node's host as it is said elsewhere: "on gpu-b: kill -CONT 7"."""
    return f"on {node.host}: {next_step}" if next_step and node.host is not None else next_step


def listed(nodes: Sequence[Node]) -> str:
    """Return nodes in a sentence, without their hosts: "node 0", "nodes 0 and 2", "3 nodes"."""
    if len(nodes) == 1:
        return f"node {nodes[0].rank}"
    if len(nodes) == 2:
        return f"nodes {nodes[0].rank} and {nodes[1].rank}"
    return f"{len(nodes)} nodes"


def who_waits(waits: Waits, nodes: Sequence[Node], vacant: Vacant) -> str:
    """Return who waits for whom: "node 0 waits for node 1 (gpu-b), which still loads weights"."""
    if waits.kind == "apart":
        return f"{_all(len(nodes))} have started and wait for each other"
    culprits = [nodes[rank] for rank in waits.culprits]
    waiting = [nodes[rank] for rank in waits.waiting]
    verb = "may wait" if waits.kind == "unheard" else "waits" if len(waiting) == 1 else "wait"
    more = f" and {len(culprits) - 1} more" if len(culprits) > 1 else ""
    return f"{listed(waiting)} {verb} for {culprits[0].words}{more}{_doing(culprits[0], vacant)}"


def _doing(node: Node, vacant: Vacant) -> str:
    """Return what is known of the one that is waited for, as the rest of a sentence."""
    if node.standing == "missing":
        return absence(node, vacant)
    if node.standing == "unheard":
        return f", not heard for {age_text(node.unheard_s or 0.0)}"
    if node.moves or node.verdict is None:
        return f", which {'still moves' if node.phase is None else DOING.get(node.phase, 'still moves')}"
    return f", which is {node.verdict.sentence}"


def absence(node: Node, vacant: Vacant) -> str:
    """Return why a node is missing, as far as that is known, as the rest of a sentence."""
    if node.host is not None:
        return ", which has not started again"
    if not vacant:
        return ", which is on no watched host"
    return (
        f": {vacant[0][1]}"
        if len(vacant) == 1
        else f": {', '.join(name for name, _ in vacant)} show no server yet"
    )


def not_found(nodes: Sequence[Node], vacant: Vacant, unknown: Vacant) -> str:
    """Return what is to be said of nodes that are not found, "" where there are none."""
    away = [node for node in nodes if node.standing == "missing"]
    if not away:
        return ""
    if unknown and any(node.host is None for node in away):
        verb = "is" if len(away) == 1 else "are"
        told = f"{verb} not known yet: {', '.join(why for _, why in unknown)}"
    else:
        told = _away(away, vacant)
    return f"{listed(away)} of {len(nodes)} {told}"


def unheard(nodes: Sequence[Node]) -> list[str]:
    """Return what is to be said of each node that is not heard."""
    return [
        f"{node.words} was last heard {age_text(node.unheard_s or 0.0)} ago"
        for node in nodes
        if node.standing == "unheard"
    ]


def _away(away: Sequence[Node], vacant: Vacant) -> str:
    is_one = len(away) == 1
    if all(node.host is not None for node in away):
        return f"{'has' if is_one else 'have'} not started again"
    verb = "is" if is_one else "are"
    lost = next(node for node in away if node.host is None)
    return f"{verb} not found{absence(lost, vacant)}" if vacant else f"{verb} on no watched host"


def ended(node: Node) -> str:
    """Return how a node ended: "node 1 (gpu-b) is dead: killed"."""
    how = "was shut down" if node.fault == "shut_down" else "is dead"
    return f"{node.words} {how}" + (f": {node.reason}" if node.reason and node.fault != "shut_down" else "")
