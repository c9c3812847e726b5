"""Which of several hosts are nodes of one load, by what their servers' arguments say. Pure.

Not joined is better than joined wrongly: where two ways of joining are possible, none is taken.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address

from tui.watch.meaning import Meaning
from tui.watch.target import SAME_S

LOOPBACK = "loopback of "
ANY = "any"
"""An address at which a server listens and that says of no host which it is."""
Cell = list[int]


@dataclass(frozen=True, slots=True)
class Claim:
    """What the server of one host says of the load that it is a node of.

    ``meets`` is the host of the rendezvous as it was spelled, ``port`` its port. ``boot_id`` tells machines
    apart ("" where it is not known), ``start`` is pid and start of the server.
    """

    engine: str
    nodes: int
    rank: int
    meets: str
    port: int
    model: str | None = None
    boot_id: str = ""
    start: tuple[int, float] = (0, 0.0)

    @property
    def key(self) -> tuple[str, int, int]:
        """What all nodes of a load have in common to the letter."""
        return self.engine, self.nodes, self.port

    def same_process(self, other: "Claim") -> bool:
        """Whether both are of one process; two agents may date its start some milliseconds apart."""
        (pid, started_s), (other_pid, other_started_s) = self.start, other.start
        same = bool(self.boot_id) and self.boot_id == other.boot_id and self.rank == other.rank
        return same and pid == other_pid and abs(started_s - other_started_s) < SAME_S


def claim_of(state: Meaning) -> Claim | None:
    """Return what the followed server of a host claims, None where it is no node of a load on several."""
    server = state.shown
    meets = None if server is None else server.arguments.rendezvous
    if server is None or meets is None:
        return None
    arguments = server.arguments
    nodes, rank = arguments.nodes or 1, arguments.node_rank
    if rank is None and arguments.config_path is None:
        rank = 0  # what the engines take where nothing is given
    if rank is None or not rank < nodes:
        return None
    return Claim(
        engine=server.engine.name,
        nodes=nodes,
        rank=rank,
        meets=meets[0],
        port=meets[1],
        model=arguments.model,
        boot_id="" if state.hello is None else state.hello.boot_id,
        start=server.key,
    )


def joined(claims: Sequence[Claim | None]) -> list[tuple[int, ...]]:
    """Return the places in ``claims`` of the nodes of each load, by rank; of a load one node may be known.

    The loads are in the order of the first of their nodes. What may belong to two loads is in none.
    """
    buckets: dict[tuple[str, int, int], list[tuple[int, Claim]]] = {}
    for at, claim in enumerate(claims):
        if claim is None:
            continue
        bucket = buckets.setdefault(claim.key, [])
        # One machine by two names shows the same server twice.
        if not any(claim.same_process(other) for _, other in bucket):
            bucket.append((at, claim))
    found = [cell for bucket in buckets.values() for cell in _loads(dict(bucket))]
    return sorted((tuple(cell) for cell in found), key=min)


def elsewhere(claims: Sequence[Claim | None], group: Sequence[int]) -> list[int]:
    """Return the places of nodes that a load lacks by their rank, but which meet at another place.

    One of the two commands may have a wrong address; or they are nodes of two loads that are seen in part.
    """
    own = [claim for at in group if (claim := claims[at]) is not None]
    lacking = set(range(own[0].nodes)) - {claim.rank for claim in own}
    return [
        at
        for at, claim in enumerate(claims)
        if claim is not None
        and at not in group
        and claim.rank in lacking
        and (claim.engine, claim.nodes) == own[0].key[:2]
        and len({_model(each.model) for each in (claim, *own)} - {None}) <= 1
    ]


def _loads(claims: dict[int, Claim]) -> Iterator[Cell]:
    """Give the loads among claims with the same engine, number of nodes and port."""
    cells: dict[str, Cell] = {}
    for at, claim in claims.items():
        name = _named(claim)
        cells.setdefault(name if name != ANY else f"{ANY} {at}", []).append(at)
    spelled = list(cells.values())
    for group in _components(spelled, claims):
        whole = sorted((at for cell in group for at in cell), key=lambda at: claims[at].rank)
        if _fits(whole, claims):
            yield whole
            continue
        # Which of the differently spelled ones belong together is not known; those spelled alike do.
        alike = (cell for cell in group if len(cell) > 1 and _fits(cell, claims))
        yield from (sorted(cell, key=lambda at: claims[at].rank) for cell in alike)


def _named(claim: Claim) -> str:
    """Return the host of the rendezvous so that spellings of the same are alike."""
    name = claim.meets.strip().lower().rstrip(".")
    address = _address(name)
    if name == "localhost" or (address is not None and address.is_loopback):
        return f"{LOOPBACK}{claim.boot_id}"
    return ANY if address is not None and address.is_unspecified else name


def _address(name: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(name)
    except ValueError:
        return None


def _fits(cell: Sequence[int], claims: dict[int, Claim]) -> bool:
    """Whether these can be nodes of one load: each rank once, and no two models."""
    ranks = [claims[at].rank for at in cell]
    models = {_model(claims[at].model) for at in cell} - {None}
    return len(set(ranks)) == len(ranks) and len(models) <= 1


def _model(name: str | None) -> str | None:
    """Return a model's name without the folder that it lies in, which differs from host to host."""
    return None if name is None else name.rstrip("/").rpartition("/")[2].lower()


def _components(cells: Sequence[Cell], claims: dict[int, Claim]) -> Iterator[list[Cell]]:
    """Give the cells that may be spellings of the same rendezvous, all that hang together at once."""
    left = list(range(len(cells)))
    while left:
        group, edge = [left[0]], [left.pop(0)]
        while edge:
            one = edge.pop()
            near = [other for other in left if _may_be_one(cells[one], cells[other], claims)]
            left = [other for other in left if other not in near]
            group += near
            edge += near
        yield [cells[at] for at in group]


def _may_be_one(one: Cell, other: Cell, claims: dict[int, Claim]) -> bool:
    """Whether two differently spelled cells may meet at the same place."""
    return (
        _fits(one, claims)
        and _fits(other, claims)
        and _fits([*one, *other], claims)
        and all(_may_be_same(claims[this], claims[that]) for this in one for that in other)
    )


def _may_be_same(one: Claim, other: Claim) -> bool:
    """Whether two spellings may mean the same host: a name and an address, a name with its domain."""
    names = _named(one), _named(other)
    if ANY in names:
        return True
    inner = [claim for claim, name in zip((one, other), names, strict=True) if name.startswith(LOOPBACK)]
    if inner:
        # Only on one machine, or as the first node sees itself.
        same = one.boot_id == other.boot_id or not (one.boot_id and other.boot_id)
        return same or (len(inner) == 1 and inner[0].rank == 0)
    addresses = [_address(name) is not None for name in names]
    if any(addresses):
        return not all(addresses)
    first, second = (name.split(".") for name in names)
    shorter = min(len(first), len(second))
    return first[:shorter] == second[:shorter]
