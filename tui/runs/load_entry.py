"""A load of a watch as an entry of the ledger, and when one is to be made."""

from collections.abc import Callable

from tui.engines.phase import Phase
from tui.runs.entry import Fingerprint, Instance, LoadEntry, StageTime, VerdictTime
from tui.watch.course import Course
from tui.watch.meaning import Meaning


def load_entry(state: Meaning, fingerprint: Fingerprint, instance: Instance) -> LoadEntry | None:
    """Return the entry of the current load as far as it was seen; None where nothing is to be kept.

    That is a server that was ready before it was looked at, or of which no process is known.
    """
    return None if state.course is None else entry_of(state.course, fingerprint, instance)


def entry_of(course: Course, fingerprint: Fingerprint, instance: Instance) -> LoadEntry:
    """Return the entry of a load; times in it count from the start of the server."""
    start_s = course.server.started_s
    return LoadEntry(
        instance=instance,
        fingerprint=fingerprint,
        host=instance.host,
        began_wall_s=instance.started_wall_s or 0.0,
        outcome=course.outcome,
        ready_s=None if course.ready_s is None else _since(start_s, course.ready_s),
        phases=tuple(
            StageTime(
                phase=span.phase.value,
                began_s=None if span.began_s is None else _since(start_s, span.began_s),
                seconds=_rounded(span.seconds(course.until_s)),
            )
            for span in course.spans
            if span.phase is not Phase.READY
        ),
        verdicts=tuple(
            VerdictTime(
                word=span.word,
                sentence=span.sentence,
                began_s=_since(start_s, span.began_s),
                seconds=round(span.ended_s - span.began_s, 3),
            )
            for span in course.verdicts
        ),
        sentence=course.sentence,
    )


def _since(start_s: float, at_s: float) -> float:
    return round(max(0.0, at_s - start_s), 3)


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)


class LoadsSeen:
    """Finds the loads of one watch that are to be kept: call ``take`` after each event, ``left`` at the end.

    Both return entries for the ledger, each load's once it is ready or has ended. A load that another one
    follows in the same event is kept with what was known of it until then.
    """

    def __init__(
        self, fingerprint_of: Callable[[Meaning], Fingerprint], instance_of: Callable[[Meaning], Instance]
    ) -> None:
        self._fingerprint_of = fingerprint_of
        self._instance_of = instance_of
        self._seen: tuple[int, str | None, bool] = (0, None, False)
        self._told: str | None = None
        self._known: tuple[Fingerprint, Instance] | None = None

    def take(self, state: Meaning) -> list[LoadEntry]:
        """Return what is to be kept after an event: most often nothing."""
        seen = (state.loads, state.outcome, state.log_failure is not None)
        if seen == self._seen:
            return []
        found = self._passed(state) if state.loads != self._seen[0] else []
        self._seen = seen
        course = state.course
        if course is None:
            return found
        self._known = self._fingerprint_of(state), self._instance_of(state)
        if course.outcome in ("left", self._told) or self._told == "ready":
            return found
        self._told = course.outcome
        return [*found, entry_of(course, *self._known)]

    def left(self, state: Meaning) -> list[LoadEntry]:
        """Return the load that the watch ends in, where it has not come to its own end."""
        found = self.take(state)
        course = state.course
        if course is None or course.outcome != "left" or self._known is None:
            return found
        return [*found, entry_of(course, self._fingerprint_of(state), self._instance_of(state))]

    def _passed(self, state: Meaning) -> list[LoadEntry]:
        """Return the load before, where that it ended was not told yet."""
        told, known, course = self._told, self._known, state.passed
        self._told = self._known = None
        if course is None or known is None or told in (course.outcome, "ready"):
            return []
        return [entry_of(course, *known)]
