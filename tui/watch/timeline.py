"""The phases of a load in order, with their times."""

from dataclasses import dataclass, field, replace
from math import floor

from tui.engines.marks import Mark, MarkKind, Progress
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


@dataclass(frozen=True, slots=True)
class _Gap:
    """A silence that ended at ``at_s``: when it began, and the longest one of the phase until then."""

    at_s: float | None
    heard_s: float | None = None
    longest_s: float | None = None


@dataclass(slots=True)
class Timeline:
    """The phases of a load in order; the last one is where it stands."""

    spans: list[PhaseSpan] = field(default_factory=list[PhaseSpan])
    _heard_s: float | None = None
    _spoken_s: float | None = None
    _floor_s: float | None = None
    _gap: _Gap = _Gap(None)
    _gap_before: _Gap = _Gap(None)

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
        self.heard(at_s)
        self._gap_before = self._gap if self._gap.at_s == at_s else _Gap(at_s)
        self._gap = _Gap(None)
        # Until then the phase before lasted at least.
        self._floor_s, self._spoken_s = self._spoken_s, at_s
        self.close(at_s)
        if len(self.spans) >= SPANS:
            del self.spans[1]
        self.spans.append(PhaseSpan(phase, at_s))
        self._heard_s = at_s
        return True

    def told(self, marks: tuple[Mark, ...], at_s: float | None, whole_s: bool = False) -> bool:
        """Take in what a line says of the phase where it stands; return whether its beginning moved back.

        What took S seconds by a line at time t began no later than t - S, whatever was printed of it before.
        ``whole_s``: times lack their fractions, so that less than a second proves nothing.
        """
        span = self.spans[-1] if self.spans else None
        if span is None or at_s is None or span.ended_s is not None:
            return False
        moved = False
        for mark in marks:
            if mark.phase is span.phase:
                self._spoken_s = at_s
                # How long it took until the server was ready is no part of being ready.
                if mark.seconds is not None and mark.kind is not MarkKind.READY:
                    moved |= self._took(mark.seconds, at_s, whole_s=whole_s)
        return moved

    def _took(self, seconds: float, at_s: float, *, whole_s: bool) -> bool:
        span = self.spans[-1]
        began_s = at_s - seconds
        if whole_s:
            if span.began_s is not None and span.began_s <= began_s + 1:
                return False
            began_s = float(floor(began_s))
        if len(self.spans) > 1:
            floors = (self.spans[-2].began_s, self._floor_s)
            began_s = max(began_s, *(each for each in floors if each is not None), began_s)
        if span.began_s is not None and span.began_s <= began_s:
            return False
        self.spans[-1] = replace(span, began_s=began_s)
        self._share_silence(began_s)
        return True

    def _share_silence(self, began_s: float) -> None:
        """Let the span before end there, and share the silence before the move between the two."""
        if len(self.spans) < 2 or self.spans[-2].ended_s is None:
            return
        before, span = self.spans[-2:]
        gap = self._gap_before
        before_s, span_s = before.longest_silence_s, span.longest_silence_s
        if gap.at_s is not None and gap.heard_s is not None:
            before_s = _longer(gap.longest_s, began_s - gap.heard_s)
            span_s = _longer(span_s, gap.at_s - max(began_s, gap.heard_s))
        if before_s is not None and before.began_s is not None:
            before_s = min(before_s, began_s - before.began_s) or None
        self.spans[-2:] = [
            replace(before, ended_s=began_s, longest_silence_s=before_s),
            replace(span, longest_silence_s=span_s),
        ]

    def heard(self, at_s: float | None) -> None:
        """A line of progress came: the silence before it is over."""
        if at_s is None:
            return
        if self.spans and self._heard_s is not None and at_s > self._heard_s:
            silence_s = at_s - self._heard_s
            span = self.spans[-1]
            self._gap = _Gap(at_s, self._heard_s, span.longest_silence_s)
            self.spans[-1] = replace(span, longest_silence_s=_longer(span.longest_silence_s, silence_s))
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

    def began_earlier(self, phase: Phase, at_s: float) -> None:
        """The phase where it stands began before it was found; one that was found in between never was."""
        if self.phase is not phase:
            return
        while len(self.spans) > 1 and (self.spans[-2].began_s or at_s) > at_s:
            del self.spans[-2]
        if len(self.spans) > 1:
            self.spans[-2] = replace(self.spans[-2], ended_s=at_s)
        self.spans[-1] = replace(self.spans[-1], began_s=at_s)

    def reopen(self) -> None:
        """The last span goes on after all."""
        if self.spans:
            self.spans[-1] = replace(self.spans[-1], ended_s=None)


def _longer(one: float | None, other: float) -> float | None:
    return one if other <= 0 or (one is not None and one >= other) else other
