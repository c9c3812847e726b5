"""The newest log lines, addressed by positions that stay true while old ones fall out, and a search."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import replace

from widgets import cells
from widgets.values import LogLine, Mood

KEPT_LINES = 20_000


class LogBuffer:
    """Lines at positions ``first`` to ``end`` - 1; a jump in their numbers is told by a line of its own."""

    def __init__(self, keep: int = KEPT_LINES) -> None:
        self.first = 0
        self.last_number: int | None = None
        self.needle = ""
        self.pattern: re.Pattern[str] | None = None
        self.matches: list[int] = []
        self.marks: list[int] = []
        self._keep = keep
        self._lines: list[LogLine] = []

    @property
    def end(self) -> int:
        """The position after the newest line."""
        return self.first + len(self._lines)

    def __getitem__(self, position: int) -> LogLine:
        """Return the line at a position between ``first`` and ``end``."""
        return self._lines[position - self.first]

    def clear(self) -> None:
        """Forget all lines; positions go on, so that none means another line than before."""
        self.first = self.end
        self._lines.clear()
        self.last_number = None
        self.matches.clear()
        self.marks.clear()

    def extend(self, lines: Iterable[LogLine]) -> int:
        """Append newer lines and return how many there were."""
        start = self.end
        for line in lines:
            self._tell_jump(line.number)
            text = cells.plain(line.text)
            if line.mark:
                self.marks.append(self.end)
            self._lines.append(line if text is line.text else replace(line, text=text))
            self.last_number = line.number
        added = self.end - start
        self._trim()
        self._find(max(start, self.first))
        return added

    def _tell_jump(self, number: int) -> None:
        if self.last_number is not None and number > self.last_number + 1:
            missing = number - self.last_number - 1
            self._lines.append(LogLine(number - 1, f"({missing} lines not shown here)", Mood.WARNING))

    def _trim(self) -> None:
        """Drop the oldest; in larger pieces, because each deletion moves all that is kept."""
        excess = len(self._lines) - self._keep
        if excess > self._keep // 10:
            del self._lines[:excess]
            self.first += excess
            del self.matches[: bisect_left(self.matches, self.first)]
            del self.marks[: bisect_left(self.marks, self.first)]

    def search(self, text: str) -> None:
        """Find the lines that hold the text; capitals count only where the text has some."""
        self.needle = text
        flags = re.IGNORECASE if text == text.lower() else re.NOFLAG
        self.pattern = re.compile(re.escape(text), flags) if text else None
        self.matches = []
        self._find(self.first)

    def _find(self, start: int) -> None:
        if self.pattern is not None:
            found = self.pattern.search
            new = self._lines[start - self.first :]
            self.matches += [start + index for index, line in enumerate(new) if found(line.text)]

    @property
    def stops(self) -> list[int]:
        """The positions that one steps through: the matches of a search, else the marks."""
        return self.marks if self.pattern is None else self.matches

    def stop_after(self, position: int) -> int | None:
        """Return the next of the stops, from the oldest again after the newest."""
        stops = self.stops
        return stops[bisect_right(stops, position) % len(stops)] if stops else None

    def stop_before(self, position: int) -> int | None:
        """Return the stop before this position, from the newest again before the oldest."""
        stops = self.stops
        return stops[bisect_left(stops, position) - 1] if stops else None

    def position_of(self, number: int) -> int | None:
        """Return where the line with this number stands, None when it is not kept (any more)."""
        index = bisect_left(self._lines, number, key=lambda line: line.number)
        found = index < len(self._lines) and self._lines[index].number == number
        return self.first + index if found else None
