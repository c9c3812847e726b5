"""One start of a server, as its log tells it: phases with their times and silences on the log's own clock."""

import re
from dataclasses import dataclass

from tui.engines.base import Engine
from tui.engines.clock import LogClock, iso_text
from tui.engines.marks import Mark, MarkKind, Progress, tells_progress
from tui.engines.phase import Phase
from tui.engines.reader import SILENCE, Heard
from tui.watch.phases import LogPhases
from tui.watch.timeline import Timeline

# tqdm's "[00:08<00:13, 2.09it/s]" or "[1:02:03<00:00": the time since the bar began.
_BAR_TIME = re.compile(r"\[(?:(\d{1,4}):)?(\d{1,2}):(\d\d)<")
_FIGURES = re.compile(r"[\d.]+")
_NO_MOVE = frozenset((MarkKind.ACCESS, MarkKind.HEARTBEAT, MarkKind.STEADY))
_OVER = ("failed", "stopped")
_BARS = 64


@dataclass(frozen=True, slots=True)
class Silence:
    """The longest time without a line of progress: in which phase, and between which two lines."""

    seconds: float
    phase: Phase
    after_line: int
    before_line: int | None
    source: int = 0


class Start:
    """Follows one start. Times are seconds since its first time stamp, None as long as there is none.

    ``first_line`` is where it begins; ``started`` is the clock text of second 0. Lines without a time count
    as of the last time before them; a bar without one counts by its own watch.
    """

    def __init__(self, engine: Engine, first_line: int = 1) -> None:
        self.phases = LogPhases(engine)
        self.timeline = Timeline()
        self.first_line = first_line
        self.started: str | None = None
        self.silence: Silence | None = None
        self.at_s: float | None = None
        self.seen_start = False
        self._base: float | None = None
        self._heard: tuple[int, int] = (first_line, 0)
        self._heard_s: float | None = None
        self._bars: dict[str, float] = {}
        self._progress: Progress | None = None
        self._over = False
        self._over_s: float | None = None

    @property
    def phase(self) -> Phase:
        """Where the load stands; one that has told nothing has been launched and no more."""
        return self.phases.phase or Phase.LAUNCH

    def take(self, heard: Heard, line: str, number: int, clock: LogClock, source: int = 0) -> None:
        """Take in what a line says; ``clock`` is that of the file it stands in."""
        if heard is SILENCE:
            return
        marks = heard.marks
        at_s = self._time(heard, marks, line, clock)
        # Many lines share a time; nothing was silent between them.
        if at_s == self._heard_s:
            self._heard = (number, source)
        elif at_s is not None and tells_progress(marks):
            self._went_on(at_s, number, source)
        if not marks:
            return
        self.phases.take(heard, line, number, at_s, source)
        if not self._over and any(mark.kind not in _NO_MOVE for mark in marks):
            self.seen_start = self.seen_start or any(mark.kind is MarkKind.START for mark in marks)
            self._follow(at_s)

    def finish(self) -> None:
        """The log ends here. A silence that lasts until its last time stamp counts."""
        if self.timeline.phase is not self.phase:
            # The lines after a failure may tell where it happened, not since when the load was there.
            launched = not self.timeline.spans and self._base is not None and self.phase is Phase.LAUNCH
            self.timeline.move(self.phase, 0.0 if launched else None)
            if self._over:
                self.timeline.close(self._over_s)
        if self.at_s is not None and self.phases.outcome == "unfinished":
            self._went_on(self.at_s, None, self._heard[1])

    # Times.

    def _time(self, heard: Heard, marks: tuple[Mark, ...], line: str, clock: LogClock) -> float | None:
        seconds = clock.read(heard.time)
        if seconds is None:
            return self._bar_time(line, marks)
        if self._base is None:
            self._base = seconds
            self.started = iso_text(heard.time or "")
        # Of several files one may be behind another.
        at_s = max(seconds - self._base, self.at_s or 0.0)
        self.at_s = at_s
        return at_s

    def _bar_time(self, line: str, marks: tuple[Mark, ...]) -> float | None:
        """Return the last time, or for a bar the time when it began and what its own watch shows since.

        Both are never too late: bars of several ranks share the beginning of the first.
        """
        progress = next((mark.progress for mark in marks if mark.progress is not None), None)
        watches = _BAR_TIME.findall(line) if progress is not None and self.at_s is not None else []
        if self.at_s is None or progress is None or not watches:
            return self.at_s
        hours, minutes, seconds = watches[-1]
        shown_s = int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds)
        # The text names what is under way ("bs=16") and so differs from one drawing to the next.
        bar = _FIGURES.sub("#", progress.text)
        if shown_s <= 1 and len(self._bars) < _BARS:
            self._bars.setdefault(bar, self.at_s - shown_s)
        if bar in self._bars:
            self.at_s = max(self.at_s, self._bars[bar] + shown_s)
            if progress.done == progress.total:
                del self._bars[bar]
        return self.at_s

    def _went_on(self, at_s: float, number: int | None, source: int) -> None:
        spans = self.timeline.spans
        if not self._over and spans:
            before = spans[-1].longest_silence_s
            self.timeline.heard(at_s)
            silence_s = spans[-1].longest_silence_s
            longest = self.silence.seconds if self.silence is not None else 0.0
            phase = spans[-1].phase
            if (
                silence_s is not None
                and silence_s != before
                and silence_s > longest
                and phase is not Phase.READY
            ):
                self.silence = Silence(silence_s, phase, self._heard[0], number, self._heard[1])
        if number is not None:
            self._heard_s = at_s
            self._heard = (number, source)

    # Phases.

    def _follow(self, at_s: float | None) -> None:
        phases, timeline = self.phases, self.timeline
        phase = phases.phase
        if phase is not None:
            if not timeline.spans and phase is not Phase.LAUNCH and (self.seen_start or at_s):
                timeline.move(Phase.LAUNCH, None if self._base is None else 0.0)
                timeline.heard(at_s)
            first = phase is Phase.LAUNCH and not timeline.spans and self._base is not None
            timeline.move(phase, 0.0 if first else at_s)
        progress = phases.progress
        if progress is not self._progress:
            self._progress = progress
            if progress is not None and phase is phases.front:
                timeline.went_on(progress)
        if phases.outcome in _OVER:
            self._over = True
            self._over_s = at_s
            timeline.close(at_s)
