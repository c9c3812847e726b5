"""The longest time in which nothing of a load moved, for each of its stays in a phase."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class Silences:
    """Joint silences over all channels of all ranks, in seconds, by the number of the stay from 0.

    A stay in which standing still could not be told at some moment has none: it would look too calm.
    """

    _longest: dict[int, float] = field(default_factory=dict[int, float])
    _untold: set[int] = field(default_factory=set[int])

    def note(self, stay: int, silence_s: float | None, in_phase_s: float | None) -> None:
        """Note a moment: for how long nothing has moved (None: not told), and how long the stay lasts."""
        if silence_s is None or in_phase_s is None:
            self._untold.add(stay)
            return
        silence_s = max(0.0, min(silence_s, in_phase_s))
        self._longest[stay] = max(self._longest.get(stay, 0.0), silence_s)

    def of(self, stay: int) -> float | None:
        """Return the longest silence of a stay, None where it is not known."""
        return None if stay in self._untold else self._longest.get(stay)

    def clear(self) -> None:
        """Forget all: another load begins."""
        self._longest.clear()
        self._untold.clear()
