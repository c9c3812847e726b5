"""A tape run through the state: event by event, or as fast as it can to its end."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tui.events import AnyEvent
from tui.replay.tape import Tape
from tui.watch.state import FROM_HOST, WatchState
from tui.watch.transitions import Transition, Transitions


@dataclass(frozen=True, slots=True)
class Step:
    """One event, already in the state, at ``t`` seconds of the tape, and what it has changed."""

    t: float
    event: AnyEvent
    changes: tuple[Transition, ...]


class Run:
    """One pass over a tape. ``t`` is that of the newest event, 0 before the first.

    ``over``: it is known that no event follows. ``wall_s`` is the wall clock at ``t``, by the host's own
    events where there are any, None where none was told. Every call raises what the tape raises:
    RecordingFault for a file that cannot be read any more.
    """

    def __init__(self, tape: Tape) -> None:
        self.state = WatchState(tape.options)
        self.t = 0.0
        self.over = False
        self.origin_s = tape.origin_s
        self._events = tape.read()
        self._transitions = Transitions()
        self._coming: AnyEvent | None = None
        self._began_wall_s: float | None = None
        self._wall_from_host = False

    @property
    def wall_s(self) -> float | None:
        """The wall clock at the newest event."""
        return None if self._began_wall_s is None else self._began_wall_s + self.t

    @property
    def now_s(self) -> float | None:
        """The host's monotonic clock at the newest event, None where nothing was heard of the host."""
        return self.state.source_now((self.origin_s or 0.0) + self.t)

    def next_t(self) -> float | None:
        """Return when the next event comes, None when there is none."""
        if self._coming is None and not self.over:
            self._coming = next(self._events, None)
            self.over = self._coming is None
            if self.origin_s is None and self._coming is not None:
                self.origin_s = self._coming.client_s
        return self.peeked_t

    @property
    def peeked_t(self) -> float | None:
        """When the next event comes as far as it was read already, None where it was not or there is none."""
        if self._coming is None or self.origin_s is None:
            return None
        return max(self.t, self._coming.client_s - self.origin_s)

    def advance(self) -> Step | None:
        """Take the next event into the state; return it, or None at the end."""
        t, event = self.next_t(), self._coming
        if t is None or event is None:
            return None
        self._coming = None
        self.t = t
        self._note_wall(event)
        self.state.apply(event)
        return Step(t, event, tuple(self._transitions.take(self.state, t)))

    def steps(self) -> Iterator[Step]:
        """Advance to the end."""
        while (step := self.advance()) is not None:
            yield step

    def _note_wall(self, event: AnyEvent) -> None:
        """Learn the time of day from the host; the watching machine's counts where nothing else does."""
        from_host = isinstance(event, FROM_HOST)
        if event.wall_s > 0 and (from_host or not self._wall_from_host):
            self._began_wall_s = event.wall_s - self.t
            self._wall_from_host |= from_host


@dataclass(frozen=True, slots=True)
class Played:
    """A tape played to its end (or to where it was stopped): what changed, and the state at the end.

    ``now_s`` is the host's monotonic clock then, None where nothing was heard of the host.
    """

    transitions: tuple[Transition, ...]
    state: WatchState
    length_s: float
    now_s: float | None = None


def play(tape: Tape, stop: Callable[[Step, WatchState], bool] = lambda _step, _state: False) -> Played:
    """Run a tape through a state; ``stop`` ends it after the step for which it says so."""
    run = Run(tape)
    found: list[Transition] = []
    for step in run.steps():
        found += step.changes
        if stop(step, run.state):
            break
    return Played(tuple(found), run.state, run.t, run.now_s)
