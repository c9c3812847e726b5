"""Which rows of a log buffer are on the screen: following its end, or held at a place."""

from typing import NamedTuple

from widgets import cells
from widgets.log_buffer import LogBuffer


class Row(NamedTuple):
    """A row of the screen: characters ``start`` to ``end`` of the line at ``position``."""

    position: int
    start: int
    end: int


class LogWindow:
    """A window of ``width`` by ``height`` over a buffer.

    Its last row is row ``rows(bottom - 1) - skip`` of the line before position ``bottom``. While it follows,
    that is the newest line; while it is held, ``cursor`` is the line that keys speak of.
    """

    def __init__(self, buffer: LogBuffer) -> None:
        self.buffer = buffer
        self.width = 80
        self.height = 1
        self.wrap = False
        self.column = 0
        self.follows = True
        self.cursor = 0
        self._bottom = 0
        self._skip = 0

    def resize(self, width: int, height: int) -> None:
        """Take the size of the screen's part; a held window keeps its last line."""
        if width != self.width:
            self._skip = 0
        self.width, self.height = max(width, 1), max(height, 1)

    def visible(self) -> list[Row]:
        """Return the rows to draw, from the top."""
        self._settle()
        rows: list[Row] = []
        position = self._bottom
        while position > self.buffer.first and len(rows) < self.height + self._skip:
            position -= 1
            rows[:0] = self._rows_of(position)
        rows = rows[: len(rows) - self._skip]
        return rows[-self.height :]

    def _rows_of(self, position: int) -> list[Row]:
        text = self.buffer[position].text
        if not self.wrap:
            start = cells.index_at(text, self.column)
            return [Row(position, start, cells.index_at(text, self.width, start))]
        starts = cells.row_starts(text, self.width)
        return [
            Row(position, start, end) for start, end in zip(starts, (*starts[1:], len(text)), strict=True)
        ]

    def _count(self, position: int) -> int:
        return len(cells.row_starts(self.buffer[position].text, self.width)) if self.wrap else 1

    def _settle(self) -> None:
        """Keep the place inside what the buffer still holds."""
        if self.follows:
            self._bottom, self._skip = self.buffer.end, 0
            return
        highest = self._bottom_under(self.buffer.first)
        self._bottom, self._skip = _later(highest, (min(self._bottom, self.buffer.end), self._skip))
        self.cursor = max(self.buffer.first, min(self.cursor, self.buffer.end - 1))

    def _bottom_under(self, top: int) -> tuple[int, int]:
        """Return bottom and skip of the window whose first row is the first of the line at ``top``."""
        rows, position = 0, top
        while rows < self.height and position < self.buffer.end:
            rows += self._count(position)
            position += 1
        return position, max(rows - self.height, 0)

    def follow(self) -> None:
        """Show the newest lines from now on."""
        self.follows = True

    def hold(self) -> None:
        """Stand still, with the cursor on the newest line."""
        if self.follows:
            self._settle()
            self.follows = False
            self.cursor = self.buffer.end - 1

    def move(self, lines: int) -> None:
        """Move the cursor by lines; below the newest line, follow again."""
        if self.follows and lines > 0:
            return
        self.hold()
        if self.cursor + lines >= self.buffer.end:
            self.follow()
        else:
            self.go_to(self.cursor + lines)

    def go_to(self, position: int) -> None:
        """Hold with the cursor on a line, moving the window no more than needed."""
        self.hold()
        self.cursor = max(self.buffer.first, min(position, self.buffer.end - 1))
        rows = self.visible()
        if rows and self.cursor <= rows[0].position:
            self._bottom, self._skip = self._bottom_under(self.cursor)
        elif rows and self.cursor >= rows[-1].position:
            self._bottom, self._skip = self.cursor + 1, 0

    def scroll(self, rows: int) -> None:
        """Move the window by rows; at the end of the log, follow again."""
        if self.follows and rows > 0:
            return
        self.hold()
        for _ in range(abs(rows)):
            self._one_down() if rows > 0 else self._one_up()
        if rows > 0 and self._bottom == self.buffer.end and not self._skip:
            self.follow()
        elif seen := [row.position for row in self.visible()]:
            self.cursor = max(seen[0], min(self.cursor, seen[-1]))

    def _one_down(self) -> None:
        if self._skip:
            self._skip -= 1
        elif self._bottom < self.buffer.end:
            self._bottom += 1
            self._skip = self._count(self._bottom - 1) - 1

    def _one_up(self) -> None:
        if (self._bottom, -self._skip) <= _key(self._bottom_under(self.buffer.first)):
            return
        self._skip += 1
        if self._skip == self._count(self._bottom - 1):
            self._bottom, self._skip = self._bottom - 1, 0

    def shift(self, half_pages: int) -> None:
        """Move sideways by half the width; wrapped lines have no other side."""
        if not self.wrap:
            self.column = max(0, self.column + half_pages * (self.width // 2))

    def toggle_wrap(self) -> None:
        """Wrap long lines, or cut them again."""
        self.wrap = not self.wrap
        self.column = self._skip = 0


def _key(place: tuple[int, int]) -> tuple[int, int]:
    bottom, skip = place
    return bottom, -skip


def _later(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return max(one, other, key=_key)
