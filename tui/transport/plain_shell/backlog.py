"""What a log held before it was read for the first time, and where in it this start's lines begin."""

import re
from dataclasses import dataclass

from tui.agent.tail.start import last_in

BACKLOG_BYTES = 4 * 1024 * 1024
"""So much is fetched at most: more than a load writes at its usual level, a second or two of a slow link."""


@dataclass(frozen=True, slots=True)
class Start:
    """Where to begin in what was fetched, how many bytes of the file before it go unread, and why there."""

    offset: int
    skipped_bytes: int
    words: str


class Backlog:
    """The last bytes of a file of ``size`` bytes; ``data`` is to be filled from the offset ``begin`` on."""

    def __init__(self, size: int, patterns: list[re.Pattern[bytes]]) -> None:
        self.begin = max(0, size - BACKLOG_BYTES)
        self.end = size
        self.data = bytearray()
        self._patterns = patterns

    def start(self) -> Start:
        """Return where this start begins: its first line, else all that was fetched, from a whole line on."""
        data = bytes(self.data)
        found = max((last_in(data, pattern) for pattern in self._patterns), default=-1)
        if found >= 0:
            return Start(found, 0, "is read from the first line of this start")
        if self.begin == 0:
            return Start(0, 0, "is read from its beginning")
        offset = data.find(b"\n") + 1
        return Start(offset, self.begin + offset, f"is read: its last {BACKLOG_BYTES >> 20} MiB")
