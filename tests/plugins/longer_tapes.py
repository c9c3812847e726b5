"""Recordings changed: a stop that is no state T, and one that lasts longer than it did."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from tui.events import AnyEvent, Exit, Hello, Log, Probe, Processes
from tui.replay.opening import open_tape
from tui.replay.tape import Tape
from tui.signals import ProcessSignals, Signals

RECORDINGS = Path(__file__).parents[3] / "shared" / "recordings"
NEWS = (Hello, Log, Exit, Probe)


@dataclass(frozen=True, slots=True)
class Again:
    """The seconds from ``from_s`` to ``to_s`` are lived through so many more times, without anything new."""

    from_s: float
    to_s: float
    times: int

    @property
    def seconds(self) -> float:
        """How much longer that takes."""
        return (self.to_s - self.from_s) * self.times


def stuck(folder: str, again: Again) -> Tape:
    """Return a recording in which who was stopped sleeps on a lock instead, and for longer."""
    tape = open_tape(RECORDINGS / folder)
    events = [_asleep(event) for event in tape.read()]
    longer = list(_longer(events, again))
    return replace(tape, read=lambda: iter(longer), outline=None)


def _asleep(event: AnyEvent) -> AnyEvent:
    if isinstance(event, Processes):
        found = [msgspec.structs.replace(each, state=_state(each.state)) for each in event.processes]
        return msgspec.structs.replace(event, processes=found)
    if isinstance(event, Signals):
        stopped = [each.state == "T" for each in event.processes]
        told = [
            msgspec.structs.replace(each, state="S", wchan="futex_do_wait") if is_stopped else each
            for each, is_stopped in zip(event.processes, stopped, strict=True)
        ]
        return msgspec.structs.replace(event, processes=told)
    return event


def _state(state: str) -> str:
    return "S" if state == "T" else state


def _longer(events: list[AnyEvent], again: Again) -> Iterator[AnyEvent]:
    origin_s = events[0].client_s
    inside = [event for event in events if again.from_s <= event.client_s - origin_s < again.to_s]
    used = _used(inside)
    repeated = False
    for event in events:
        if event.client_s - origin_s < again.to_s:
            yield event
            continue
        if not repeated:
            repeated = True
            yield from _repeats(inside, again, used)
        yield _moved(event, again.seconds, used, again.times)


def _repeats(inside: list[AnyEvent], again: Again, used: dict[int, float]) -> Iterator[AnyEvent]:
    for turn in range(1, again.times + 1):
        for event in inside:
            if not isinstance(event, NEWS):
                yield _moved(event, (again.to_s - again.from_s) * turn, used, turn)


def _used(inside: list[AnyEvent]) -> dict[int, float]:
    """Return how much CPU time each process uses from the first reading to the last, and one second more."""
    told = [event for event in inside if isinstance(event, Signals)]
    first = {each.pid: each.cpu_s for each in told[0].processes}
    last = {each.pid: each.cpu_s for each in told[-1].processes}
    turns = len(told) / max(1, len(told) - 1)
    return {pid: (cpu_s - first[pid]) * turns for pid, cpu_s in last.items() if pid in first}


def _moved(event: AnyEvent, seconds: float, used: dict[int, float], turns: int) -> AnyEvent:
    """Return an event later, its counters of CPU time as far on as that needs."""
    later = msgspec.structs.replace(
        event,
        mono_s=event.mono_s + seconds,
        wall_s=event.wall_s + seconds,
        client_s=event.client_s + seconds,
    )
    if not isinstance(later, Signals):
        return later
    return msgspec.structs.replace(
        later, processes=[_older(each, used.get(each.pid, 0.0) * turns) for each in later.processes]
    )


def _older(each: ProcessSignals, cpu_s: float) -> ProcessSignals:
    return msgspec.structs.replace(each, cpu_s=round(each.cpu_s + cpu_s, 2))
