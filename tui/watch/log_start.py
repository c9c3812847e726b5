"""One start of a server, as its log tells it: phases with their times and silences, on the log's clock."""

from dataclasses import dataclass, replace

from tui.engines.base import Engine
from tui.engines.clock import iso_text
from tui.engines.marks import Mark, MarkKind, Progress, tells_progress
from tui.engines.phase import Phase
from tui.engines.reader import SILENCE, Heard
from tui.watch.log_times import Moment
from tui.watch.phases import LogPhases
from tui.watch.timeline import Timeline

_NO_MOVE = frozenset((MarkKind.ACCESS, MarkKind.HEARTBEAT, MarkKind.STEADY))
_OVER = ("failed", "stopped")


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

    ``first_line`` is where it begins; ``started`` is the clock text of its first time stamp. ``absolute``:
    times stay those of the moments that are taken in, which a reader's own clock tells.
    """

    def __init__(self, engine: Engine, first_line: int = 1, *, absolute: bool = False) -> None:
        self.phases = LogPhases(engine)
        self.timeline = Timeline()
        self.first_line = first_line
        self.started: str | None = None
        self.silence: Silence | None = None
        self.at_s: float | None = None
        self.seen_start = False
        self.began_s: float | None = None
        self._absolute = absolute
        self._base_s = 0.0
        self._settled: Timeline | None = None
        self._heard: tuple[int, int] = (first_line, 0)
        self._heard_s: float | None = None
        self._progress: Progress | None = None
        self._launch_guessed = False
        # When the line was written that began the last phase, and that which ended the longest silence.
        self._moved_s: float | None = None
        self._silence_end_s: float | None = None
        self._over = False
        self._over_s: float | None = None
        # Whether the time of the end is known; None: the next line that has a time decides.
        self._end_known: bool | None = None

    @property
    def phase(self) -> Phase:
        """Where the load stands; one that has told nothing has been launched and no more."""
        return self.phases.phase or Phase.LAUNCH

    @property
    def until_s(self) -> float | None:
        """The last time that belongs to it: that of its end, or of the log while it goes on."""
        return self._over_s if self._over else self.at_s

    def take(self, heard: Heard, line: str, number: int, moment: Moment, source: int = 0) -> None:
        """Take in what a line says that was written at a moment of its file's clock."""
        if heard is SILENCE:
            return
        marks = heard.marks
        self._settled = None
        at_s = self._time(heard, moment)
        if self._over and self._end_known is None and moment.told:
            # It lies between two times: near enough where clocks show whole seconds.
            self._end_known = at_s is not None and self._over_s is not None and at_s - self._over_s <= 1
            if self._end_known:
                self.timeline.close(self._over_s)
        # Many lines share a time; nothing was silent between them.
        if at_s == self._heard_s:
            self._heard = (number, source)
        elif at_s is not None and tells_progress(marks):
            self._went_on(at_s, number, source)
        if not marks:
            return
        self.phases.take(heard, line, number, at_s, source)
        if self._over and self.phases.outcome not in _OVER:
            # It was no end: the server went on.
            self._over = False
            self.timeline.reopen()
        if not self._over and any(mark.kind not in _NO_MOVE for mark in marks):
            self.seen_start = self.seen_start or any(mark.kind is MarkKind.START for mark in marks)
            self._follow(at_s, told=moment.told)
            if not self._over:
                self._took(marks, at_s, whole_s=moment.whole_s)

    def finish(self) -> None:
        """The log ends here. A silence that lasts until its last time stamp counts."""
        self._settle(self.timeline)
        if self.at_s is not None and self.phases.outcome == "unfinished":
            self._went_on(self.at_s, None, self._heard[1])

    @property
    def standing(self) -> Timeline:
        """The phases as they are if the log ends here."""
        if self.timeline.phase is self.phase:
            return self.timeline
        if self._settled is None:
            self._settled = replace(self.timeline, spans=list(self.timeline.spans))
            self._settle(self._settled)
        return self._settled

    def _settle(self, timeline: Timeline) -> None:
        if timeline.phase is self.phase:
            return
        # The lines after a failure may tell where it happened, not since when the load was there.
        launched = not timeline.spans and self.until_s is not None and self.phase is Phase.LAUNCH
        timeline.move(self.phase, self.began_s if launched else None)
        if self._over and self._end_known:
            timeline.close(self._over_s)

    # Times.

    def _time(self, heard: Heard, moment: Moment) -> float | None:
        seconds = moment.seconds
        if seconds is None:
            return self.at_s
        if self.began_s is None:
            self._base_s = 0.0 if self._absolute else seconds
            self.began_s = seconds - self._base_s
            self.started = iso_text(heard.time or "")
        # Of several files one may be behind another.
        at_s = max(seconds - self._base_s, self.began_s if self.at_s is None else self.at_s)
        self.at_s = at_s
        return at_s

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
                self._silence_end_s = at_s
        if number is not None:
            self._heard_s = at_s
            self._heard = (number, source)

    # Phases.

    def _follow(self, at_s: float | None, *, told: bool) -> None:
        phases, timeline = self.phases, self.timeline
        phase = phases.phase
        if phase is not None:
            if not timeline.spans and phase is not Phase.LAUNCH and (self.seen_start or self._late(at_s)):
                timeline.move(Phase.LAUNCH, self.began_s)
                timeline.heard(at_s)
                self._launch_guessed = not self.seen_start
            first = phase is Phase.LAUNCH and not timeline.spans and self.began_s is not None
            if timeline.move(phase, self.began_s if first else at_s):
                self._moved_s = at_s
        progress = phases.progress
        if progress is not self._progress:
            self._progress = progress
            if progress is not None:
                timeline.went_on(progress)
        if phases.outcome in _OVER:
            self._over = True
            self._over_s = at_s
            self._end_known = True if told else None
            # A line without a time may have come long after the last one that has: no end is made up.
            if told:
                timeline.close(at_s)

    def _late(self, at_s: float | None) -> bool:
        return at_s is not None and self.began_s is not None and at_s > self.began_s

    def _took(self, marks: tuple[Mark, ...], at_s: float | None, *, whole_s: bool) -> None:
        """Let the engine's own words for how long things took move the phase's beginning back."""
        timeline = self.timeline
        if at_s is not None and self._launch_guessed and len(timeline.spans) == 2:
            longest_s = max(
                (mark.seconds or 0.0 for mark in marks if mark.phase is timeline.phase), default=0
            )
            if longest_s > at_s - (self.began_s or 0.0) + 1:
                # The log began within that phase: there was no launch in it.
                del timeline.spans[0]
        if not timeline.told(marks, at_s, whole_s=whole_s):
            return
        silence, began_s = self.silence, timeline.since_s
        if silence is None or began_s is None or self._moved_s is None:
            return
        within_s = self._moved_s - began_s
        if self._silence_end_s == self._moved_s and within_s > silence.seconds / 2:
            self.silence = replace(silence, phase=timeline.spans[-1].phase)
