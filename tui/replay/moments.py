"""What a tape holds to jump to: its length, and when what changed."""

import bisect
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from tui.replay.headless import Run
from tui.replay.tape import Tape
from tui.watch.transitions import Kind, Transition


@dataclass(slots=True)
class Moments:
    """Everything that changed, in order. ``complete`` once the whole tape was looked through."""

    changes: list[Transition] = field(default_factory=list[Transition])
    length_s: float = 0.0
    complete: bool = False

    def after(self, t: float, kind: Kind | None = None) -> Transition | None:
        """Return the next change (of a kind) later than ``t``."""
        place = bisect.bisect_right(self.changes, t, key=lambda change: change.t)
        return next((each for each in self.changes[place:] if kind in (None, each.kind)), None)

    def before(self, t: float, kind: Kind | None = None) -> Transition | None:
        """Return the last change (of a kind) earlier than ``t``."""
        place = bisect.bisect_left(self.changes, t, key=lambda change: change.t)
        return next((each for each in reversed(self.changes[:place]) if kind in (None, each.kind)), None)

    def reached(self, word: str, t: float) -> Transition | None:
        """Return when something next came to be ``word`` (phase, verdict, rung, fault) after ``t``.

        ``word`` is as in --json or as it is shown, in small letters with _ for each blank. Without a later
        moment it is the first one.
        """
        found = [each for each in self.changes if word in (each.after, each.words.lower().replace(" ", "_"))]
        return next((each for each in found if each.t > t), found[0] if found else None)


def look_through(tape: Tape, moments: Moments) -> Iterator[None]:
    """Fill ``moments`` event by event; who iterates decides how long it may keep others waiting."""
    run = Run(tape if tape.outline is None else replace(tape, read=tape.outline))
    for step in run.steps():
        moments.changes += step.changes
        moments.length_s = step.t
        yield
    moments.complete = True
