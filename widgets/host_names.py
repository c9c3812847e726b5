"""Names of hosts in little room: each is cut where it tells nothing, so that no two look alike."""

from collections.abc import Sequence

from widgets import cells

_LEAST = 4
"""A name has so many cells at least, as long as it needs them."""


def short_names(names: Sequence[str], room: int, ellipsis: str = "…") -> list[str]:
    """Return the names in at most so many cells all together, as long as that leaves four to each."""
    for whole in (list(names), _without_domain(names)):
        if sum(map(cells.width, whole)) <= room:
            return whole
    bare = _without_domain(names)
    return _cut(bare, _shares(bare, room), ellipsis)


def names_within(names: Sequence[str], most: int, ellipsis: str = "…") -> list[str]:
    """Return the names in at most so many cells each."""
    whole = list(names)
    if all(cells.width(name) <= most for name in whole):
        return whole
    bare = _without_domain(names)
    return _cut(bare, [most] * len(bare), ellipsis)


def _without_domain(names: Sequence[str]) -> list[str]:
    """Return the first label of each, where these differ; users and addresses of digits stay."""
    labels = [name.partition("@")[2] or name for name in names]
    first = [label if label[:1].isdigit() else label.partition(".")[0] for label in labels]
    return first if len(set(first)) == len(names) else list(names)


def _shares(names: Sequence[str], room: int) -> list[int]:
    """Return how many cells each may have: what the short ones leave is for the long ones."""
    shares = [_LEAST] * len(names)
    order = sorted(range(len(names)), key=lambda at: cells.width(names[at]))
    left = room
    for done, at in enumerate(order):
        fair = max(left // (len(names) - done), _LEAST)
        shares[at] = min(cells.width(names[at]), fair)
        left -= shares[at]
    return shares


def _cut(names: Sequence[str], shares: Sequence[int], ellipsis: str) -> list[str]:
    """Return the names cut to so many cells each: in the middle, or where it leaves them tellable apart."""
    each = list(zip(names, shares, strict=True))
    ways = [[_middle_out(name, share, tail, ellipsis) for name, share in each] for tail in range(max(shares))]
    if all(_alike(way) for way in ways):
        ways.append(_inner(names, shares, ellipsis))
    half = (max(shares) - 1) // 2
    best = min(range(len(ways)), key=lambda at: (_alike(ways[at]), _broken(ways[at]), abs(at - half)))
    return ["".join(parts) for parts in ways[best]]


_Parts = tuple[str, ...]
"""What stays of a name, and the ellipses between."""


def _middle_out(name: str, share: int, tail: int, ellipsis: str) -> _Parts:
    """Return the name in so many cells, up to ``tail`` of them from its end."""
    if cells.width(name) <= share:
        return (name,)
    start = len(name)
    while start > 0 and cells.width(name[start - 1 :]) <= min(tail, share - 1):
        start -= 1
    end = cells.index_at(name, share - 1 - cells.width(name[start:]))
    return (name[:end], ellipsis, name[start:])


def _inner(names: Sequence[str], shares: Sequence[int], ellipsis: str) -> list[_Parts]:
    """Return the names without what all begin and end with, and of the beginning as much as there is room."""
    begin = _shared(names)
    end = _shared([name[begin:][::-1] for name in names])
    if not begin + end:
        return [_middle_out(name, share, 0, ellipsis) for name, share in zip(names, shares, strict=True)]
    cores = [name[begin : len(name) - end] for name in names]
    before, after = ellipsis if begin else "", ellipsis if end else ""
    rooms = [max(share - len(before) - len(after), 1) for share in shares]
    if any(cells.width(core) > room for core, room in zip(cores, rooms, strict=True)):
        return [(before, core, after) for core in _cut(cores, rooms, ellipsis)]
    heads = [room - cells.width(core) for core, room in zip(cores, rooms, strict=True)]
    return [
        (name[: min(head, begin)], before, core, after)
        for name, head, core in zip(names, heads, cores, strict=True)
    ]


def _shared(names: Sequence[str]) -> int:
    """Return how many characters all begin with."""
    return next(
        (at for at, each in enumerate(zip(*names, strict=False)) if len(set(each)) > 1), min(map(len, names))
    )


def _alike(way: Sequence[_Parts]) -> int:
    """Return how many look like one before them."""
    return len(way) - len({"".join(parts) for parts in way})


def _broken(way: Sequence[_Parts]) -> int:
    """Return how many parts end or begin within what may be a number: "1" of "12" is another host."""
    return sum(parts[0][-1:].isdigit() + parts[-1][:1].isdigit() for parts in way if len(parts) > 1)
