"""The bars of a log (n of N): how long their items took, each as the yardstick of the same bar."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from tui.engines.marks import Progress
from tui.engines.phase import Phase

BARS = 8
"""So many bars of one phase are told apart: more do not run at a time."""
ITEMS = 64


@dataclass(slots=True)
class Bar:
    """One bar. Gaps are measured between items seen; the first item has its JIT, so it is no gap.

    ``longest_gap_s`` is None until one whole gap was seen; a gap with a blind time in it counts for nothing.
    ``current`` is the item under way as the bar names it before it is done ("bs=16"), "" where it does not.
    """

    done: int = 0
    total: int = 0
    began_s: float | None = None
    last_s: float | None = None
    longest_gap_s: float | None = None
    current: str = ""
    unit: str = ""
    _blind: bool = False
    _items: set[str] = field(default_factory=set[str])

    def take(self, done: int, total: int, at_s: float, current: str = "") -> bool:
        """Note a reading; return whether it moved on: more is done, or another item is under way."""
        if self.began_s is None:
            self.done, self.total, self.began_s, self.last_s = done, total, at_s, at_s
        elif done > self.done:
            self._gap(done, at_s)
            self.done, self.last_s, self._blind = done, at_s, False
            self._items.clear()
        elif current in self._items or len(self._items) >= ITEMS:
            return False
        self.current = current
        self._items.add(current)
        return True

    def _gap(self, done: int, at_s: float) -> None:
        if self.last_s is None or self.done == 0 or self._blind:
            return
        gap = (at_s - self.last_s) / (done - self.done)
        self.longest_gap_s = gap if self.longest_gap_s is None else max(gap, self.longest_gap_s)

    def blind(self) -> None:
        """The gap that is open now cannot be measured."""
        self._blind = True

    @property
    def words(self) -> str:
        """Where it stands, with the item under way."""
        place = f"{self.done} of {self.total}"
        return f"{place}, {self.current} under way" if self.current else place


@dataclass(slots=True)
class Bars:
    """The bars of one phase, the newest 8. ``newest`` is the one that moved last, or is new."""

    newest: Bar = field(default_factory=Bar)
    _phase: Phase | None = None
    _seen: deque[Bar] = field(default_factory=lambda: deque[Bar](maxlen=BARS))

    def take(self, progress: Progress, phase: Phase | None, at_s: float) -> bool:
        """Note a reading; return whether a bar moved on. One with another total, or another unit, is new.

        So is one that has come less far than all of its kind, but that alone is no movement: two that stand
        still may be redrawn in turn, and one that is drawn anew moves with its next item.
        """
        if progress.total is None:
            return False
        if phase is not self._phase:
            self._phase = phase
            self._seen.clear()
        done, total = int(progress.done), int(progress.total)
        alike = [bar for bar in self._seen if (bar.total, bar.unit) == (total, progress.unit)]
        found = _reached(alike, done)
        if found is None:
            found = Bar(unit=progress.unit)
            self._seen.append(found)
            self.newest = found
            return found.take(done, total, at_s, progress.current) and not alike
        moved = found.take(done, total, at_s, progress.current)
        if moved:
            self.newest = found
            self._seen.remove(found)
            self._seen.append(found)
        return moved

    def blind(self) -> None:
        """No gap that is open now can be measured."""
        for bar in self._seen:
            bar.blind()


def _reached(bars: Sequence[Bar], done: int) -> Bar | None:
    """Return the bar that a reading is of: the farthest that had not come farther yet."""
    return max((bar for bar in bars if bar.done <= done), key=lambda bar: bar.done, default=None)
