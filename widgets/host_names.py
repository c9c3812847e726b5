"""Names of hosts in little room: what they share is left out, what tells them apart stays."""

from collections.abc import Sequence

from widgets import cells

_WORTH = 3
"""Leaving out less gains nothing."""


def short_names(names: Sequence[str], room: int, ellipsis: str = "…") -> list[str]:
    """Return the names in at most so many cells all together, as long as that leaves four to each."""
    share = max(room // max(len(names), 1), 4)
    for shorter in (list(names), _without_domain(names), _without_beginning(names, ellipsis)):
        if sum(map(cells.width, shorter)) <= room:
            return shorter
    return [cells.clip(name, share, ellipsis) for name in _without_beginning(names, ellipsis)]


def _without_domain(names: Sequence[str]) -> list[str]:
    """Return the first label of each, where these differ; users and addresses of digits stay."""
    labels = [name.partition("@")[2] or name for name in names]
    first = [label if label[:1].isdigit() else label.partition(".")[0] for label in labels]
    return first if len(set(first)) == len(names) else list(names)


def _without_beginning(names: Sequence[str], ellipsis: str) -> list[str]:
    """Return the names without what each begins with in common with another; a number stays whole."""
    bare = _without_domain(names)
    shared = [max((_shared(name, other) for other in bare if other != name), default=0) for name in bare]
    return [ellipsis + name[end:] if end >= _WORTH else name for name, end in zip(bare, shared, strict=True)]


def _shared(one: str, other: str) -> int:
    """Return how many characters both begin with, less the digits at their end; one at least is left."""
    pairs = zip(one, other, strict=False)
    end = next((at for at, pair in enumerate(pairs) if pair[0] != pair[1]), min(len(one), len(other)))
    return min(len(one[:end].rstrip("0123456789")), len(one) - 1)
