"""The last lines of the server's log, numbered; a progress bar that redraws itself is one line."""

from collections import deque
from dataclasses import dataclass

from tui.engines.base import Level, Phase

CAPACITY = 20_000


@dataclass(frozen=True, slots=True)
class BufferedLine:
    """One line. ``number`` runs on over the whole watch, ``mark`` is the phase that the line began."""

    number: int
    text: str
    level: Level = ""
    mark: Phase | None = None
    at_s: float = 0.0
    ours: bool = False


class LogBuffer:
    """A ring of the last 20,000 lines. Numbers start at 1 and are never used twice or changed.

    A bar under way is ``tail``: it becomes a line when something else follows it.
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self.lines: deque[BufferedLine] = deque(maxlen=capacity)
        self.total = 0

    def after(self, number: int) -> list[BufferedLine]:
        """Return the lines with a higher number, oldest first."""
        if not self.lines:
            return []
        skip = max(0, number - self.lines[0].number + 1)
        return [self.lines[place] for place in range(skip, len(self.lines))]
