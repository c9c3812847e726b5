"""The overview of several hosts: a row each, one under the pointer, and what is to be said of that one."""

from collections import Counter
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from widgets import cells
from widgets.glyphs import BLOCK, Glyphs
from widgets.host_rows import entries, table
from widgets.line_widget import LineWidget
from widgets.lines import EMPTY, Line, Span, cut
from widgets.values import HostRow, Mood

_TOLD_LEAST = 4


class HostsPane(LineWidget, can_focus=True):
    """A list with a pointer; Enter shows the host that it stands on."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j,right_square_bracket", "move(1)", "Next host of the list", id="hosts.down"),
        Binding("up,k,left_square_bracket", "move(-1)", "Previous host of the list", id="hosts.up"),
        Binding("enter", "choose", "Show this host", id="hosts.choose"),
    ]

    class Chosen(Message):
        """A host was chosen."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def __init__(self, rows: tuple[HostRow, ...], *, id: str | None = None, glyphs: Glyphs = BLOCK) -> None:
        super().__init__(id=id, glyphs=glyphs)
        self.rows = rows
        self.pointer = next((at for at, row in enumerate(rows) if row.shown), 0)

    def update_rows(self, rows: tuple[HostRow, ...]) -> None:
        """Draw these hosts from now on."""
        if rows != self.rows:
            self.rows = rows
            self.show()

    def lines(self, width: int, height: int) -> list[Line]:
        if not self.rows:
            return []
        head, *body = table(self.rows, width, self.glyphs, self.pointer)
        room = max(height - 2 - _TOLD_LEAST, 1)
        first = min(max(self._line() - room + 1, 0), max(len(body) - room, 0))
        dot = self.glyphs.dot
        caption = Span(f"  {_counted(self.rows)} {dot} Enter shows one, Esc closes", "muted")
        title = cut([Span(" Hosts ", "title focused"), caption], width)
        listed = [title, head, *body[first : first + room]]
        return [*listed, EMPTY, *self._told(width)][:height]

    def _told(self, width: int) -> list[Line]:
        row = self.rows[self.pointer]
        facts = [row.name, row.model, f"node {row.node}" if row.node else ""]
        what = f" {self.glyphs.dot} ".join(text for text in facts if text)
        told = [(row.sentence, row.mood)]
        if row.joined is not None and row.joined.sentence not in row.sentence:
            told.append((f"{row.joined.name}: {row.joined.sentence}", row.joined.mood))
        return [
            cut([Span(f"  {what}", "strong")], width),
            *((Span(f"  {line}", _role(mood)),) for text, mood in told for line in _rows(text, width - 4)),
        ]

    def _order(self) -> list[int]:
        """Return the numbers of the hosts as they stand one below the other."""
        return [entry for entry in entries(self.rows) if isinstance(entry, int)]

    def _line(self) -> int:
        """Return the line of the list that the pointer is on."""
        return entries(self.rows).index(self.pointer)

    def action_move(self, rows: int) -> None:
        """Move the pointer, as far as there are rows."""
        order = self._order()
        self.pointer = order[max(0, min(order.index(self.pointer) + rows, len(order) - 1))]
        self.show()

    def action_choose(self) -> None:
        """Tell which one was chosen."""
        self.post_message(self.Chosen(self.pointer))


def _role(mood: Mood) -> str:
    return "text" if mood in (Mood.IDLE, Mood.WAITING) else mood.value


def _rows(text: str, width: int) -> list[str]:
    return cells.sentence_rows(text, width) if text else []


def _counted(rows: tuple[HostRow, ...]) -> str:
    """Return how many there are of each kind: "8 hosts: 5 ready, 2 loading, 1 not reached"."""
    counts = Counter(row.word for row in rows)
    return f"{len(rows)} hosts: " + ", ".join(f"{count} {word}" for word, count in counts.most_common())
