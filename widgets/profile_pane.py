"""The workloads that can be chosen, one under the pointer: what each is for, what it asks."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from widgets import cells
from widgets.glyphs import BLOCK, Glyphs
from widgets.line_widget import LineWidget
from widgets.lines import EMPTY, Line, Span, cut
from widgets.values import Mood, ProfileRow

_HEAD = 2


class ProfilePane(LineWidget, can_focus=True):
    """A list with a pointer; Enter chooses what it stands on."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "move(1)", "Next profile", id="profile.down"),
        Binding("up,k", "move(-1)", "Previous profile", id="profile.up"),
        Binding("enter,b", "choose", "Choose it: b runs it from then on", id="profile.choose"),
    ]

    class Chosen(Message):
        """A profile was chosen."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    def __init__(self, rows: Sequence[ProfileRow], *, id: str | None = None, glyphs: Glyphs = BLOCK) -> None:
        super().__init__(id=id, glyphs=glyphs)
        self.rows = tuple(rows)
        self.pointer = next((at for at, row in enumerate(self.rows) if row.chosen), 0)

    def lines(self, width: int, height: int) -> list[Line]:
        head: Line = (Span(" Profiles ", "title focused"), Span("  Enter chooses, Esc closes", "muted"))
        parts = [list(self._row(at, row, width)) for at, row in enumerate(self.rows)]
        room = max(height - _HEAD, 1)
        first = 0
        while first < self.pointer and sum(len(part) for part in parts[first : self.pointer + 1]) > room:
            first += 1
        body = [line for part in parts[first:] for line in part]
        return [head, EMPTY, *body[:room]]

    def _row(self, at: int, row: ProfileRow, width: int) -> Iterator[Line]:
        here = at == self.pointer
        name = row.name or "as the options say"
        mark = f" {self.glyphs.moods[Mood.ACTIVE] if here else ' '} {name}"
        chosen = Span("  b runs it", "muted") if row.chosen else Span("")
        yield cut([Span(mark, "title" if here else "strong"), chosen], width)
        for text, role in ((row.about, "text"), (row.words, "muted")):
            for line in cells.sentence_rows(text, width - 6):
                yield (Span(f"     {line}", role),)

    def action_move(self, rows: int) -> None:
        """Move the pointer, as far as there are rows."""
        self.pointer = max(0, min(self.pointer + rows, len(self.rows) - 1))
        self.show()

    def action_choose(self) -> None:
        """Tell which one was chosen."""
        if self.rows:
            self.post_message(self.Chosen(self.rows[self.pointer].name))
