"""Stuck servers watched by the real agent and judged by the real state, all at once."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import pytest
from msgspec.structs import replace
from stuck_server import CannotBeShown, StuckServer

from tui.benchmark import BenchSpec
from tui.commands import start
from tui.events import AnyEvent, Tick
from tui.session import Session
from tui.signals import CompilerSignals, HostSignals, Locks, ProcessSignals, Signals
from tui.watch.options import WatchOptions
from tui.watch.state import WatchState
from tui.watch.verdict.movement import BLIND_S
from tui.watch.verdict.verdict import Match, Verdict, Word

Risen = TypeVar("Risen", ProcessSignals, CompilerSignals)

SPEC = BenchSpec(url="", model=None, concurrency=1, requests=1, input_tokens=8, output_tokens=8)
FOUND_S = 120.0
"""So long the agents may take to see their servers: many of them start at once on few cores."""
SEEN_TIMES = 5
"""So many readings of all ranks come before the harm, and the word that they load."""
AFTER_S = 6.0
"""So long a watch goes on after its verdict, for it has to stand."""
REPEATED = (Signals, HostSignals, Locks, Tick)
ENDS: tuple[Word, ...] = ("stalled", "hung", "suspended", "dead", "ready")


@dataclass(frozen=True, slots=True)
class Told:
    """A verdict and when it was told, in seconds after the harm (negative before)."""

    at_s: float
    verdict: Verdict

    @property
    def heard(self) -> bool:
        """Whether the host was heard then: a machine that is busy with all of this may be late."""
        return self.verdict.heard

    def matched(self, rule: str) -> Match:
        """Return whether a rule matched, by the beginning of its name."""
        return next(each.matched for each in self.verdict.rules if each.rule.startswith(rule))


@dataclass(slots=True)
class Watched:
    """One stuck server as it was seen: its processes, the events, each verdict a second.

    ``impossible`` says why this machine could not show it, ``failed`` why it could not be watched; then there
    is nothing else. ``left`` is what of it was still there after its end.
    """

    case: str
    impossible: str = ""
    failed: str = ""
    options: WatchOptions = field(default_factory=WatchOptions)
    pids: dict[str, int] = field(default_factory=dict[str, int])
    stuck_s: float = 0.0
    events: list[AnyEvent] = field(default_factory=list[AnyEvent])
    told: list[Told] = field(default_factory=list[Told])
    left: list[str] = field(default_factory=list[str])

    @property
    def words(self) -> list[Word]:
        """The words in their order, each change once; not what was said while nothing was heard."""
        return changes([told for told in self.told if told.heard])

    @property
    def unseen_s(self) -> float:
        """How old the last reading was when the harm came: nothing that moved after it was seen to."""
        read = (each.mono_s for each in self.events if isinstance(each, Signals))
        return self.stuck_s - max(at_s for at_s in read if at_s <= self.stuck_s)

    @property
    def last(self) -> Verdict:
        """The newest verdict that was told while the host was heard."""
        return next(told.verdict for told in reversed(self.told) if told.heard)

    def first(self, word: Word) -> Told:
        """Return the first verdict with this word."""
        found = next((told for told in self.told if told.verdict.word == word), None)
        assert found is not None, f"never {word}: {self.words}, at last {self.last.sentence}"
        return found


def changes(told: Sequence[Told]) -> list[Word]:
    """Return the words of verdicts in their order, each change once."""
    words: list[Word] = []
    for each in told:
        if not words or words[-1] != each.verdict.word:
            words.append(each.verdict.word)
    return words


async def watch(case: str, at_most_s: float) -> Watched:
    """Start a stuck server and watch it until a word that ends it stands, or for so long after the harm."""
    try:
        server = await asyncio.to_thread(StuckServer, case)
    except CannotBeShown as reason:
        return Watched(case, impossible=str(reason))
    watched = Watched(case, options=WatchOptions(pid=server.pids["launcher"]))
    try:
        await _watch(server, watched, at_most_s)
    finally:
        await asyncio.to_thread(server.close)
        watched.left = server.left()
    return watched


async def _watch(server: StuckServer, watched: Watched, at_most_s: float) -> None:
    session = Session(start.local_agent(watched.options), watched.options, SPEC)
    updates = session.updates()
    try:
        async with asyncio.timeout(FOUND_S):
            await _until_seen(session.state, updates, watched, server)
        await asyncio.to_thread(server.get_stuck)
        watched.stuck_s, watched.pids = server.stuck_s, server.pids
        watched.told = [Told(told.at_s - server.stuck_s, told.verdict) for told in watched.told]
        end_s = server.stuck_s + at_most_s
        async for event in updates:
            watched.events.append(event)
            _judge(session.state, event, watched)
            end_s = min(end_s, event.mono_s + AFTER_S) if _ends(watched) else end_s
            if isinstance(event, Tick) and event.mono_s >= end_s:
                break
    finally:
        await session.close()


async def _until_seen(
    state: WatchState, updates: AsyncIterator[AnyEvent], watched: Watched, server: StuckServer
) -> None:
    seen = 0
    ranks = {pid for name, pid in server.pids.items() if name.startswith("TP")}
    while seen < SEEN_TIMES or not watched.told or watched.told[-1].verdict.word != "progressing":
        event = await anext(updates)
        watched.events.append(event)
        _judge(state, event, watched)
        if isinstance(event, Signals):
            seen += ranks <= {process.pid for process in event.processes}


def _ends(watched: Watched) -> bool:
    return bool(watched.told) and watched.told[-1].at_s >= 0 and watched.told[-1].verdict.word in ENDS


def _judge(state: WatchState, event: AnyEvent, watched: Watched) -> None:
    if isinstance(event, Tick):
        verdict = state.judgement(event.mono_s)
        if verdict is not None:
            watched.told.append(Told(event.mono_s - watched.stuck_s, verdict))


async def watch_all(cases: Mapping[str, float]) -> dict[str, Watched]:
    """Watch several at once, each for so many seconds at most after its harm. One that fails says so."""
    found = await asyncio.gather(
        *(watch(case, at_most_s) for case, at_most_s in cases.items()), return_exceptions=True
    )
    return {case: _whatever(case, each) for case, each in zip(cases, found, strict=True)}


def _whatever(case: str, found: Watched | BaseException) -> Watched:
    return Watched(case, failed=repr(found)) if isinstance(found, BaseException) else found


# Longer than anybody waits.

_COUNTERS = (
    "cpu_s",
    "wakeups",
    "minor_faults",
    "major_faults",
    "read_chars_bytes",
    "read_bytes",
    "write_bytes",
)
_COMPILER_COUNTERS = ("cpu_s", "started")
Counting = ProcessSignals | CompilerSignals
Rises = dict[tuple[type[Counting], int, str], float]


def stretched(watched: Watched, to_s: float, tail_s: float = 20.0) -> Watched:
    """Return what would have been told had the end of a watch gone on alike until so long after the harm.

    The readings of its last ``tail_s`` seconds in which the host was heard all the time are told again and
    again with the clocks moved on; what counts up (CPU time, wake-ups, compilers) counts up alike each time.
    The log is silent.
    """
    made = Watched(watched.case, options=watched.options, pids=watched.pids, stuck_s=watched.stuck_s)
    state = WatchState(watched.options)
    since_s, until_s = _heard_span(watched, tail_s)
    events = [event for event in watched.events if event.mono_s <= until_s]
    tail = [event for event in events if event.mono_s > since_s and isinstance(event, REPEATED)]
    rises = _rises([event for event in tail if isinstance(event, Signals)])
    for event in events:
        _replay(state, event, made)
    span_s = until_s - since_s
    for turn in range(1, int((watched.stuck_s + to_s - since_s) / span_s) + 1):
        for event in tail:
            _replay(state, _later(event, turn, span_s, rises), made)
    return made


def _heard_span(watched: Watched, least_s: float) -> tuple[float, float]:
    """Return the last time of such a length after the harm, from reading to reading, without a blind time."""
    read = [each.mono_s for each in watched.events if isinstance(each, Signals)]
    read = [at_s for at_s in read if at_s >= watched.stuck_s]
    since = len(read) - 1
    for until in range(len(read) - 1, 0, -1):
        since = min(since, until)
        while since > 0 and read[since] - read[since - 1] < BLIND_S and read[until] - read[since] < least_s:
            since -= 1
        if read[until] - read[since] >= least_s:
            return read[since], read[until]
    pytest.fail(f"the host was never heard for {least_s:.0f} s on end: this machine is too busy")


def _replay(state: WatchState, event: AnyEvent, made: Watched) -> None:
    state.apply(event)
    made.events.append(event)
    if isinstance(event, Tick) and state.judged is not None:
        made.told.append(Told(event.mono_s - made.stuck_s, state.judged))


def _counters(each: Counting) -> tuple[str, ...]:
    return _COUNTERS if isinstance(each, ProcessSignals) else _COMPILER_COUNTERS


def _rises(readings: Sequence[Signals]) -> Rises:
    """Return how much each counter of each process rose over all of them."""
    first: Rises = {}
    rises: Rises = {}
    for reading in readings:
        for each in (*reading.processes, *reading.compilers):
            for name in _counters(each):
                value: float | None = getattr(each, name)
                if value is not None:
                    key = (type(each), each.pid, name)
                    rises[key] = value - first.setdefault(key, value)
    return rises


def _later(event: AnyEvent, turn: int, tail_s: float, rises: Rises) -> AnyEvent:
    by_s = turn * tail_s
    when = {"mono_s": event.mono_s + by_s, "wall_s": event.wall_s + by_s, "client_s": event.client_s + by_s}
    moved = replace(event, **when)
    if not isinstance(moved, Signals):
        return moved
    return replace(
        moved,
        processes=[_risen(each, turn, rises) for each in moved.processes],
        compilers=[_risen(each, turn, rises) for each in moved.compilers],
    )


def _risen(each: Risen, turn: int, rises: Rises) -> Risen:
    more: dict[str, object] = {}
    for name in _counters(each):
        value: float | None = getattr(each, name)
        if value is not None:
            more[name] = type(value)(value + turn * rises.get((type(each), each.pid, name), 0))
    return replace(each, **more)
