"""A link that is cut: no event of the host arrives; afterwards what was kept there comes in one piece."""

import math
from collections.abc import Callable, Iterator, Sequence

import msgspec

from tui.demo.clock import stamp
from tui.events import AnyEvent, Exit, Link, Log

LOST = "the connection to SIMULATED was lost"
RETRY_S = 5.0

Timed = tuple[float, AnyEvent]


def cut(
    events: Iterator[Timed],
    cuts: Sequence[tuple[float, float | None]],
    again: Callable[[float], Iterator[AnyEvent]],
) -> Iterator[Timed]:
    """Yield what arrives over a link with these cuts: (second, length; None for good).

    ``again`` gives what an agent tells that is found again. Samples and answers of a cut are lost.
    """
    for at_s, for_s in sorted(cuts, key=lambda each: each[0]):
        until_s = math.inf if for_s is None else at_s + for_s
        yield from _before(events, at_s, kept := [])
        yield from _links(at_s, until_s)
        if for_s is None:
            return
        missed, rest = _missed(kept, events, until_s)
        yield until_s, Link(**stamp(until_s), state="up", sentence="connected to SIMULATED")
        yield from ((until_s, event) for event in again(until_s))
        yield from ((until_s, event) for event in _caught_up(missed, until_s))
        events = rest
    yield from events


def _before(events: Iterator[Timed], at_s: float, over: list[Timed]) -> Iterator[Timed]:
    for timed in events:
        if timed[0] >= at_s:
            over.append(timed)
            return
        yield timed


def _links(at_s: float, until_s: float) -> Iterator[Timed]:
    """Yield what the client tells of its tries."""
    yield at_s, Link(**stamp(at_s), state="lost", sentence=LOST, fault="lost", retry_in_s=RETRY_S)
    if until_s == math.inf:
        return
    t = at_s + RETRY_S
    while t < until_s:
        yield t, Link(**stamp(t), state="connecting", sentence="connecting")
        t += RETRY_S


def _missed(
    kept: Sequence[Timed], events: Iterator[Timed], until_s: float
) -> tuple[list[AnyEvent], Iterator[Timed]]:
    """Return what the cut has swallowed, and what comes after it."""
    missed: list[AnyEvent] = []
    for place, (t, event) in enumerate([*kept]):
        if t >= until_s:
            return missed, _chained(kept[place:], events)
        missed.append(event)
    for timed in events:
        if timed[0] >= until_s:
            return missed, _chained([timed], events)
        missed.append(timed[1])
    return missed, iter(())


def _chained(first: Sequence[Timed], rest: Iterator[Timed]) -> Iterator[Timed]:
    yield from first
    yield from rest


def _caught_up(missed: Sequence[AnyEvent], t: float) -> Iterator[AnyEvent]:
    """Yield the ends of processes and the whole log of the cut, as of its end."""
    for event in missed:
        if isinstance(event, Exit):
            yield msgspec.structs.replace(event, client_s=stamp(t)["client_s"])
    logs = [event for event in missed if isinstance(event, Log)]
    if logs:
        yield _joined(logs, t)


def _joined(logs: Sequence[Log], t: float) -> Log:
    lines: list[str] = []
    returns: list[int] = []
    for each in logs:
        returns += [len(lines) + place for place in each.returns]
        lines += each.lines
    return msgspec.structs.replace(logs[-1], **stamp(t), lines=lines, returns=returns)
