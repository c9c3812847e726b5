"""The longest time in which nothing of a load moved, for each of its stays in a phase."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class _Silence:
    """One time in which nothing moved: how long so far, and whether the load hung in it."""

    stay: int
    seconds: float
    hung: bool = False


@dataclass(slots=True)
class Silences:
    """Joint silences over all channels of all ranks, in seconds, by the number of the stay from 0.

    A stay in which standing still could not be told at some moment has none: it would look too calm. A
    silence in which the load hung is none of a healthy one, though it came through: on H200s one of 62 s had
    the next load, which hung too, wait for three minutes until it counted as stalled.
    """

    _longest: dict[int, float] = field(default_factory=dict[int, float])
    _untold: set[int] = field(default_factory=set[int])
    _now: _Silence | None = None

    def note(
        self, stay: int, silence_s: float | None, in_phase_s: float | None, *, hung: bool = False
    ) -> None:
        """Note a moment: for how long nothing has moved (None: not told), and how long the stay lasts.

        ``hung``: the load is known to hang, or to be stopped from outside.
        """
        if silence_s is None or in_phase_s is None:
            self._untold.add(stay)
            return
        silence_s = max(0.0, min(silence_s, in_phase_s))
        now = self._now
        if now is None or now.stay != stay or silence_s < now.seconds:
            self._keep()
            now = self._now = _Silence(stay, silence_s)
        now.seconds, now.hung = silence_s, now.hung or hung

    def of(self, stay: int) -> float | None:
        """Return the longest silence of a stay, None where it is not known."""
        if stay in self._untold:
            return None
        told, now = self._longest.get(stay), self._now
        if now is None or now.stay != stay or now.hung:
            return told
        return max(told or 0.0, now.seconds)

    def clear(self) -> None:
        """Forget all: another load begins."""
        self._longest.clear()
        self._untold.clear()
        self._now = None

    def _keep(self) -> None:
        now = self._now
        if now is not None and not now.hung:
            self._longest[now.stay] = max(self._longest.get(now.stay, 0.0), now.seconds)
