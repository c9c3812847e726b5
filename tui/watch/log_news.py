"""Which lines of a log are news: they say something that was not said in this phase before."""

import re
from dataclasses import dataclass, field
from hashlib import blake2b

from tui.engines.marks import Speaker, tells_progress
from tui.engines.phase import Phase
from tui.engines.reader import Heard

# What varies in a line that says the same again: numbers, names with digits in them, words of hexadecimal
# letters alone (a part of an id), and whatever is no letter. The first begins where a word does: a long one
# would be gone through again from each of its letters.
VARIES = re.compile(r"\b\w*\d\w*|\b[a-fA-F]{4,}\b|\W+|_+")
# Two lines that are alike with their digits made one have one template.
_DIGITS = bytes.maketrans(b"123456789", b"0" * 9)
_SHORT_BYTES = 512
TEMPLATES = 4096
"""A log whose every line is new is not remembered without end."""


@dataclass(slots=True)
class LogNews:
    """The templates (lines without their figures) of one phase of a load, by who wrote them.

    The same template again is a heartbeat, whatever its figures say: "waiting for 310 s" is no progress. What
    another rank has said before is news from one that says it later. A bar counts by itself (``Bar``), so its
    line is none of them.
    """

    phase: Phase | None = None
    _seen: set[tuple[Speaker, bytes]] = field(default_factory=set[tuple[Speaker, bytes]])
    # A flooded log says few things, again and again: what was said is known without the slow expression.
    _known: set[tuple[Speaker, bytes]] = field(default_factory=set[tuple[Speaker, bytes]])

    def new(self, line: str, heard: Heard, phase: Phase | None) -> bool:
        """Note a line and what it says; return whether it tells of progress."""
        marks = heard.marks
        if phase is not self.phase or len(self._seen) >= TEMPLATES:
            self.phase = phase
            self._seen.clear()
            self._known.clear()
        if not tells_progress(marks) or any(mark.progress is not None for mark in marks):
            return False
        alike = (heard.speaker, line.encode("utf-8", "surrogatepass").translate(_DIGITS))
        if alike in self._known:
            return False
        if len(alike[1]) <= _SHORT_BYTES and len(self._known) < TEMPLATES:
            self._known.add(alike)
        template = VARIES.sub(" ", line).strip()
        # A line may be long, and thousands of templates are kept.
        said = (heard.speaker, blake2b(template.encode("utf-8", "surrogatepass"), digest_size=16).digest())
        if not template or said in self._seen:
            return False
        self._seen.add(said)
        return True
