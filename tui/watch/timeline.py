"""The phases of a load in order, with their times."""

from dataclasses import dataclass, field, replace

from tui.engines.marks import Progress
from tui.engines.phase import Phase

SPANS = 1000
"""So many stays are kept: those behind the first go when a log turns between phases for ever."""


@dataclass(frozen=True, slots=True)
class PhaseSpan:
    """A stay in a phase, on the clock of who keeps the timeline (the host's monotonic one, or a log's own).

    ``began_s`` is None where that was not seen; ``ended_s`` None while it lasts. ``longest_silence_s`` is the
    longest time without a line of progress, None where times are not known; ``progress`` the last one told.
    """

    phase: Phase
    began_s: float | None
    ended_s: float | None = None
    longest_silence_s: float | None = None
    progress: Progress | None = None

    def seconds(self, now_s: float) -> float | None:
        """Return how long it lasted (until now while it lasts), None when its beginning was not seen."""
        if self.began_s is None:
            return None
        return max(0.0, (now_s if self.ended_s is None else self.ended_s) - self.began_s)


@dataclass(slots=True)
class Timeline:
    """The phases of a load in order; the last one is where it stands."""

    spans: list[PhaseSpan] = field(default_factory=list[PhaseSpan])
    _heard_s: float | None = None

    @property
    def phase(self) -> Phase | None:
        """The phase where it stands, None before the first."""
        return self.spans[-1].phase if self.spans else None

    @property
    def since_s(self) -> float | None:
        """When that phase began, None when that was not seen."""
        return self.spans[-1].began_s if self.spans else None

    @property
    def progress(self) -> Progress | None:
        """How much of that phase is done, None when nothing tells."""
        return self.spans[-1].progress if self.spans else None

    def move(self, phase: Phase, at_s: float | None) -> bool:
        """Go to a phase at a time (None: the moment was not seen). Return whether that was a move."""
        if phase is self.phase:
            return False
        self.close(at_s)
        if len(self.spans) >= SPANS:
            del self.spans[1]
        self.spans.append(PhaseSpan(phase, at_s))
        self._heard_s = at_s
        return True

    def heard(self, at_s: float | None) -> None:
        """A line of progress came: the silence before it is over."""
        if at_s is None:
            return
        if self.spans and self._heard_s is not None and at_s > self._heard_s:
            silence_s = at_s - self._heard_s
            span = self.spans[-1]
            if span.longest_silence_s is None or silence_s > span.longest_silence_s:
                self.spans[-1] = replace(span, longest_silence_s=silence_s)
        if self._heard_s is None or at_s > self._heard_s:
            self._heard_s = at_s

    def went_on(self, progress: Progress) -> None:
        """So much of the phase is done."""
        if self.spans:
            self.spans[-1] = replace(self.spans[-1], progress=progress)

    def close(self, at_s: float | None) -> None:
        """End the last span. One whose end was not seen has no beginning either: no seconds are invented."""
        if self.spans and self.spans[-1].ended_s is None:
            self.heard(at_s)
            began_s = self.spans[-1].began_s if at_s is not None else None
            self.spans[-1] = replace(self.spans[-1], began_s=began_s, ended_s=at_s)

    def reopen(self) -> None:
        """The last span goes on after all."""
        if self.spans:
            self.spans[-1] = replace(self.spans[-1], ended_s=None)
