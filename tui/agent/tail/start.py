"""Where reading of a log begins when nothing of it was read before."""

from __future__ import annotations

import os
import re

from tui.agent import wire

TYPE_CHECKING = False  # as in worker.py
if TYPE_CHECKING:
    from collections.abc import Callable

BLOCK_BYTES = 128 * 1024
# The kernel stamps files with a clock that lags by up to 4 ms, and process starts count in 10 ms.
CLOCK_SLACK_S = 0.1


class Start:
    """An offset (bytes), how many bytes of backlog before it are skipped, and why there, in words."""

    def __init__(self, offset: int, skipped_bytes: int, words: str) -> None:
        self.offset = offset
        self.skipped_bytes = skipped_bytes
        self.words = words


def compiled(first_lines: list[str]) -> list[re.Pattern[bytes]]:
    """Return the expressions for bytes. Raises re.error for one that is none."""
    return [re.compile(expression.encode("utf-8"), re.MULTILINE) for expression in first_lines]


def find(
    descriptor: int,
    patterns: list[re.Pattern[bytes]],
    started_wall_s: float | None,
    alive: Callable[[], None] = lambda: None,
) -> Start:
    """Return where this start's log begins.

    ``started_wall_s`` is the start of the server in seconds since 1970. A file last written before it is read
    from its end; otherwise from the last line in which a pattern is found; otherwise from the beginning. Only
    the last ``wire.LOG_BACKLOG_BYTES`` are looked at; ``alive`` is called meanwhile.
    """
    status = os.fstat(descriptor)
    if started_wall_s is not None and status.st_mtime < started_wall_s - CLOCK_SLACK_S and status.st_size:
        return Start(status.st_size, 0, "from its end: it was last written before this server started")
    floor = max(0, status.st_size - wire.LOG_BACKLOG_BYTES)
    end = status.st_size
    while patterns and end > floor:
        alive()
        first, end = _last_match(descriptor, floor, end, patterns)
        if first is not None:
            return Start(first, 0, "from the first line of this start")
    return limited(descriptor)


def limited(descriptor: int) -> Start:
    """Return the beginning of the file, or of the first line within the last ``wire.LOG_BACKLOG_BYTES``."""
    floor = max(0, os.fstat(descriptor).st_size - wire.LOG_BACKLOG_BYTES)
    if floor == 0:
        return Start(0, 0, "from its beginning")
    newline = os.pread(descriptor, BLOCK_BYTES, floor).find(b"\n")
    offset = floor + newline + 1
    return Start(offset, offset, "its last %d MiB" % (wire.LOG_BACKLOG_BYTES >> 20))


def _last_match(
    descriptor: int, floor: int, end: int, patterns: list[re.Pattern[bytes]]
) -> tuple[int | None, int]:
    """Search the block of whole lines before ``end``; return where its last match begins, and its own begin.

    A line longer than a block counts as several.
    """
    begin = max(floor, end - BLOCK_BYTES)
    block = os.pread(descriptor, end - begin, begin)
    newline = block.find(b"\n", 0, len(block) - 1) if begin > 0 else -1
    begin += newline + 1
    lines = block[newline + 1 :]
    found = max(last_in(lines, pattern) for pattern in patterns)
    return (begin + found if found >= 0 else None), begin


def last_in(lines: bytes, pattern: re.Pattern[bytes]) -> int:
    """Return where the last line begins in which the pattern is found, -1 when there is none."""
    found, position = -1, 0
    while position <= len(lines):
        match = pattern.search(lines, position)
        if match is None:
            break
        begin = lines.rfind(b"\n", 0, match.start()) + 1
        end = lines.find(b"\n", match.start())
        end = len(lines) if end < 0 else end
        # What was found may reach over the end of a line; only what stands within one counts.
        if pattern.search(lines[begin:end]):
            found = begin
        position = end + 1
    return found
