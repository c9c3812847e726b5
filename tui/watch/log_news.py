"""Which lines of a log are news: they say something that was not said in this phase before."""

import re
from dataclasses import dataclass, field

from tui.engines.marks import Mark, tells_progress
from tui.engines.phase import Phase

# What varies in a line that says the same again: words with digits in them, and whatever is no letter.
_VARIES = re.compile(r"\S*\d\S*|[^A-Za-z]+")
TEMPLATES = 4096
"""A log whose every line is new is not remembered without end."""


@dataclass(slots=True)
class LogNews:
    """The templates (lines without their figures) of one phase of a load.

    The same template again is a heartbeat, whatever its figures say: "waiting for 310 s" is no progress. A
    bar counts by itself (``Bar``), so its line is none of them.
    """

    phase: Phase | None = None
    _seen: set[str] = field(default_factory=set[str])

    def new(self, line: str, marks: tuple[Mark, ...], phase: Phase | None) -> bool:
        """Note a line; return whether it tells of progress."""
        if phase is not self.phase or len(self._seen) >= TEMPLATES:
            self.phase = phase
            self._seen.clear()
        if not tells_progress(marks) or any(mark.progress is not None for mark in marks):
            return False
        template = _VARIES.sub(" ", line).strip()
        if not template or template in self._seen:
            return False
        self._seen.add(template)
        return True
