"""The phase of a load as its log tells it."""

from dataclasses import dataclass

from tui.engines.base import Phase


@dataclass(frozen=True, slots=True)
class PhaseSpan:
    """A stay in a phase. ``began_s`` is None where it began before the watch; ``ended_s`` None while it lasts."""

    phase: Phase
    began_s: float | None
    ended_s: float | None = None

    def seconds(self, now_s: float) -> float | None:
        """Return how long it lasted (until now while it lasts), None when its beginning was not seen."""
        if self.began_s is None:
            return None
        return max(0.0, (now_s if self.ended_s is None else self.ended_s) - self.began_s)
