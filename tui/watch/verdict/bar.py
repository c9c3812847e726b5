"""A bar of the log (n of N): how long its items took, as the yardstick of the same bar."""

from dataclasses import dataclass


@dataclass(slots=True)
class Bar:
    """The newest bar. Gaps are measured between items seen; the first item has its JIT, so it is no gap.

    ``longest_gap_s`` is None until one whole gap was seen; a gap with a blind time in it counts for nothing.
    ``current`` is the item under way as the bar names it before it is done ("bs=16"), "" where it does not.
    """

    done: int = 0
    total: int = 0
    began_s: float | None = None
    last_s: float | None = None
    longest_gap_s: float | None = None
    current: str = ""
    _blind: bool = False

    def take(self, done: int, total: int, at_s: float, current: str = "") -> bool:
        """Note a reading; return whether it moved on. Another total, or fewer done, is another bar."""
        another, self.current = current != self.current, current
        if self.began_s is None or total != self.total or done < self.done:
            self.done, self.total, self.began_s, self.last_s = done, total, at_s, at_s
            self.longest_gap_s, self._blind = None, False
            return True
        if done == self.done:
            return another
        self._gap(done, at_s)
        self.done, self.last_s, self._blind = done, at_s, False
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
