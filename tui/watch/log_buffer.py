"""The last lines of the server's log, numbered; a progress bar that redraws itself is one line."""

import re
from collections import deque
from itertools import takewhile

import msgspec
from msgspec.structs import replace

from tui.engines.base import Engine
from tui.engines.lines import BAR, Level
from tui.engines.phase import Phase

CAPACITY = 20_000
# vLLM to 0.31 prints a rank's prefix on a line of its own before each drawing of a bar.
_EMPTY = re.compile(r"\s*(?:\([\w-]+(?: \w+)? pid=\d+\)\s*)*")
_FIGURES = re.compile(r"[\d.,]+")


class BufferedLine(msgspec.Struct, frozen=True, gc=False):
    """One line. ``number`` runs on over the whole watch, ``mark`` is the phase that the line began.

    ``engine`` is whose line it is, None for one that is none of its: then ``said`` is the level.
    """

    number: int
    text: str
    said: Level = ""
    mark: Phase | None = None
    at_s: float = 0.0
    engine: Engine | None = None

    @property
    def level(self) -> Level:
        """Whether it tells of an error or a warning; found when it is asked, since few lines are shown."""
        return self.said if self.engine is None else self.engine.level(self.text)


def _bar(text: str) -> re.Match[str] | None:
    return BAR.search(text) if "%|" in text or "% Completed |" in text else None


def redraw_key(text: str, returned: bool) -> str | None:
    """Return what two drawings of one bar have in common, None for a line that is no redrawn one.

    A bar with a log line glued behind it counts as that line: nothing of it may be lost.
    """
    bar = _bar(text)
    if bar is not None:
        return _FIGURES.sub("#", bar["text"].strip()) if not text[bar.end() :].strip() else None
    return _FIGURES.sub("#", text.strip()) if returned else None


class LogBuffer:
    """A ring of the last 20,000 lines. Numbers start at 1; a line once given out never changes.

    A bar under way is held back as ``held``: it becomes a line when something else follows it.
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self.lines: deque[BufferedLine] = deque(maxlen=capacity)
        self.held: BufferedLine | None = None
        self._key: str | None = None
        self._last = 0

    @property
    def total(self) -> int:
        """How many lines came, a bar counted once."""
        return self._last + (self.held is not None)

    @property
    def next_number(self) -> int:
        """The number that the line under way has, or that the next one gets."""
        return self._last + 1

    def add(
        self,
        text: str,
        *,
        returned: bool = False,
        level: Level = "",
        mark: Phase | None = None,
        at_s: float = 0.0,
        engine: Engine | None = None,
    ) -> int:
        """Take a line in and return its number. ``returned``: the next line may draw over it."""
        line = BufferedLine(self._last + 1, text, level, mark, at_s, engine)
        if not returned and self.held is None and "%" not in text:
            self._last += 1
            self.lines.append(line)
            return self._last
        return self._draw(line, returned)

    def _draw(self, line: BufferedLine, returned: bool) -> int:
        """Take in a line that may be a bar, or follow one."""
        text = line.text
        if (returned or self.held is not None) and _EMPTY.fullmatch(text):
            return self._last
        key = redraw_key(text, returned)
        if self.held is not None:
            if key == self._key or (key is None and self._drawn_over(text)):
                if line.mark is None:
                    line = replace(line, mark=self.held.mark)
                self.held = None
            else:
                self.settle()
                line = replace(line, number=self.next_number)
        if key is None:
            self._append(line)
        else:
            self.held, self._key = line, key
        return line.number

    def _drawn_over(self, text: str) -> bool:
        """Whether a line that is no bar alone begins with the bar under way."""
        bar = _bar(text)
        return bar is not None and _FIGURES.sub("#", bar["text"].strip()) == self._key

    def mark_last(self, mark: Phase | None) -> None:
        """The line that came last has moved the load to this phase."""
        if self.held is not None:
            self.held = replace(self.held, mark=mark)
        elif self.lines:
            self.lines[-1] = replace(self.lines[-1], mark=mark)

    def settle(self) -> None:
        """Make the bar under way a line of its own, as it stands."""
        if self.held is not None:
            held, self.held = self.held, None
            self._append(held)

    def _append(self, line: BufferedLine) -> None:
        self._last = line.number
        self.lines.append(line)

    def after(self, number: int) -> list[BufferedLine]:
        """Return the lines with a higher number, oldest first."""
        fresh = list(takewhile(lambda line: line.number > number, reversed(self.lines)))
        fresh.reverse()
        return fresh
