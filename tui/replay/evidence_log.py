"""The log lines that matter, out of a log of any length, gathered while it is read."""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tui.watch.log_buffer import BufferedLine

FIRST = 60
LAST = 200
AROUND = 20
MARKED = 400
"""So many lines that stand out are kept of the beginning, and as many of the end."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """So many lines stood here."""

    lines: int


class LogDigest:
    """Keeps the first lines of each start, phases, warnings, errors, what is around the cause, the end."""

    def __init__(self) -> None:
        self._kept: dict[int, BufferedLine] = {}
        self._recent: deque[BufferedLine] = deque(maxlen=LAST)
        self._late: deque[BufferedLine] = deque(maxlen=MARKED)
        self._stood_out = 0
        self._first_left = FIRST
        self._around_until = 0
        self._causes: set[int] = set()
        self.total = 0

    def begin(self) -> None:
        """A server's start: its first lines count."""
        self._first_left = FIRST

    def take(self, lines: Iterable[BufferedLine]) -> None:
        """Take lines in, in order."""
        for line in lines:
            self.total = line.number
            self._recent.append(line)
            if self._first_left or line.number <= self._around_until:
                self._first_left = max(0, self._first_left - 1)
                self._keep(line)
            elif line.mark is not None or line.level:
                self._stands_out(line)

    def cause(self, number: int, lines: Iterable[BufferedLine]) -> None:
        """A line turns out to tell the cause of a failure; ``lines`` are those still at hand."""
        if number in self._causes:
            return
        self._causes.add(number)
        self._around_until = max(self._around_until, number + AROUND)
        for line in lines:
            if abs(line.number - number) <= AROUND:
                self._keep(line)

    def lines(self) -> Iterator[BufferedLine | LeftOut]:
        """Iterate over what is kept, in order, with what is left out between."""
        for line in (*self._recent, *self._late):
            self._keep(line)
        last = 0
        for number in sorted(self._kept):
            if number > last + 1:
                yield LeftOut(number - last - 1)
            yield self._kept[number]
            last = number
        if last < self.total:
            yield LeftOut(self.total - last)

    def _stands_out(self, line: BufferedLine) -> None:
        self._stood_out += 1
        if self._stood_out <= MARKED:
            self._keep(line)
        else:
            self._late.append(line)

    def _keep(self, line: BufferedLine) -> None:
        self._kept[line.number] = line
