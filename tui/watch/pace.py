"""How fast the work under way goes, by the steps that its own log counts."""

from dataclasses import dataclass, field

from tui.engines.marks import Progress

LEAST_SPAN_S = 1.0
"""Steps seen within less are one burst: several shards end together, and a log is read in pieces."""
_KEPT = 256


@dataclass(slots=True)
class Pace:
    """The rate of one bar, from the times at which its count grew.

    The first step is left out: it pays for what is compiled or opened once (on H200s the first of 36 captured
    sizes took 63 of 68 s), so a rate is there from the second step on. The rate is that of the later half of
    the steps: sizes are captured from the largest to the smallest, each faster than the one before.
    """

    _bar: tuple[str, float | None] | None = None
    _steps: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])

    def take(self, progress: Progress | None, at_s: float | None) -> None:
        """Note how far the work is at a time. Another bar, or one that goes back, begins anew.

        A bar drawn again without a step changes nothing; ``at_s`` None (read long after it was written)
        makes the steps before it useless.
        """
        if progress is None or at_s is None:
            self.reset()
            return
        bar = (progress.unit, progress.total)
        if bar != self._bar or (self._steps and progress.done < self._steps[-1][1]):
            self.reset()
            self._bar = bar
        if progress.done > (self._steps[-1][1] if self._steps else 0.0):
            self._steps.append((at_s, progress.done))
            if len(self._steps) > _KEPT:
                self._steps = [*self._steps[:-1:2], self._steps[-1]]

    def reset(self) -> None:
        """Forget the bar."""
        self._bar = None
        self._steps.clear()

    def left_s(self, now_s: float) -> float | None:
        """Return the seconds that the rest of the bar takes at this rate, None where no rate is known.

        A step that takes longer than those before it slows the rate down while it lasts. None, too, for a bar
        that is full, or whose last step takes longer than the rate allows: that is no sign that it ends now.
        """
        total = self._bar[1] if self._bar is not None else None
        if total is None or len(self._steps) < 2 or self._steps[-1][1] >= total:
            return None
        last_s, done = self._steps[-1]
        since_s, before = self._baseline(last_s)
        if since_s > last_s - LEAST_SPAN_S:
            return None
        unit_s = (last_s - since_s) / (done - before)
        open_s = max(0.0, now_s - last_s)
        if open_s <= unit_s:
            return unit_s * (total - done) - open_s
        left_s = (now_s - since_s) / (done + 1.0 - before) * (total - done - 1.0)
        return left_s if left_s > 0 else None

    def _baseline(self, last_s: float) -> tuple[float, float]:
        """The step from which the rate is taken: in the middle, earlier where that is too short a time."""
        for step in reversed(self._steps[: len(self._steps) // 2]):
            if last_s - step[0] >= LEAST_SPAN_S:
                return step
        return self._steps[0]
