"""Which of two configurations is to be started next, so that a drift of the host does not look like a gain.

Hosts drift: they warm up, clocks fall, other tenants come. Measured A A A B B B, any drift is a difference of
A and B. In the order A B B A both have the same mean place in time, and a steady drift cancels.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

Letter = Literal["A", "B"]
_A: Final[Letter] = "A"
_B: Final[Letter] = "B"


@dataclass(frozen=True, slots=True)
class Due:
    """What is to be started next and why; ``which`` "" when nothing is."""

    which: Letter | Literal[""]
    why: str


def letters(a_times_s: Sequence[float], b_times_s: Sequence[float]) -> tuple[Letter, ...]:
    """Return the order in which instances of A and B were started."""
    named: list[tuple[float, Letter]] = [(at_s, _A) for at_s in a_times_s]
    named.extend((at_s, _B) for at_s in b_times_s)
    return tuple(letter for _, letter in sorted(named))


def apart(order: Sequence[Letter]) -> Letter | None:
    """Return whose instances all came first, None when they alternate or one side has none."""
    changes = sum(one != other for one, other in pairwise(order))
    return order[0] if changes == 1 else None


def due_next(order: Sequence[Letter], *, settled: bool = False) -> Due:
    """Return which is due after this order; ``settled``: no more are needed for a verdict.

    The side with fewer instances; among equals the one that came first, when all of that one came first, or
    else the one that A B B A asks for.
    """
    first, counts = apart(order), (order.count(_A), order.count(_B))
    if settled and first is None:
        return Due("", "nothing: what was measured is enough")
    if counts[0] != counts[1] and not settled:
        fewer = _A if counts[0] < counts[1] else _B
        return Due(fewer, f"it has {_starts(min(counts))}, the other {max(counts)}")
    if first is not None and counts[0] > 1:
        return Due(first, "all its instances came first: a drift of the host would show in another one")
    return _balanced(order)


def _balanced(order: Sequence[Letter]) -> Due:
    """Return the first of the next pair: the side that came later on average; the other closes the pair."""
    if not order:
        return Due(_A, "nothing was measured yet")
    places = {letter: [place for place, each in enumerate(order) if each == letter] for letter in (_A, _B)}
    later = sum(places[_B]) - sum(places[_A])
    if later == 0:
        return Due(_B if order[-1] == _A else _A, "both stand alike in time: another pair may begin")
    return Due(_B if later > 0 else _A, "the order A B B A lets a drift of the host cancel")


def _starts(count: int) -> str:
    return f"{count} instance{'' if count == 1 else 's'}"
