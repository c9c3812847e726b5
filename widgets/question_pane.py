"""A question of ssh or of a host, and the line in which the answer is typed.

What is typed is held here alone, as plain text in a private place: in no reactive, no message, and masked in
none of the lines that are drawn, unless the question says that it may be seen.
"""

from widgets import cells
from widgets.glyphs import BLOCK, Glyphs
from widgets.line_widget import LineWidget
from widgets.lines import EMPTY, Line, Span, cut

LIMIT = 4096
"""Characters of an answer: as many as a terminal takes in a line."""
_INDENT = 2
_FIRST_LINE_ONLY = "only the first line of what was pasted was taken"


class QuestionPane(LineWidget):
    """What was said so far, the newest at the bottom, then the question and what is typed."""

    def __init__(self, host: str, *, id: str | None = None, glyphs: Glyphs = BLOCK) -> None:
        super().__init__(id=id, glyphs=glyphs)
        self._host = host
        self._said: tuple[str, ...] = ()
        self._prompt: str | None = None
        self._echo = False
        self._hint = ""
        self._end = ""
        self._back = 0
        self.__typed = ""

    def put(self, said: tuple[str, ...], prompt: str, *, echo: bool) -> None:
        """Draw a question; what is typed is its answer from now on, seen only with ``echo``."""
        self._said, self._prompt, self._echo = said, prompt, echo
        self._begin()

    def take(self) -> str:
        """Return what was typed and forget it; wait for what comes of it."""
        typed, self._prompt = self.__typed, None
        self._begin()
        return typed

    def end(self, why: str) -> None:
        """Forget what was typed, draw why the question is none any more, and type nothing."""
        self._prompt, self._end = None, why
        self._begin()

    def hint(self, text: str) -> None:
        """Draw a line below the answer until something is typed."""
        self._hint = text
        self.show()

    def _begin(self) -> None:
        self.__typed, self._hint, self._back = "", "", 0
        self.refresh(layout=True)
        self.show()

    def type(self, text: str) -> None:
        """Add to the answer what can be seen of a text; nothing while there is no question."""
        if self._prompt is not None:
            added = "".join(each for each in text if each.isprintable())
            self.__typed = (self.__typed + added)[:LIMIT]
            self._hint = ""
            self.show()

    def paste(self, text: str) -> None:
        """Add the first line of a text: a newline in it answers nothing, so that it can be looked at."""
        lines = [line for line in text.splitlines() if line]
        self.type(lines[0] if lines else "")
        self._hint = _FIRST_LINE_ONLY if len(lines) > 1 and self._prompt is not None else ""
        self.show()

    def erase(self) -> None:
        """Take the last character away."""
        self.__typed = self.__typed[:-1]
        self.show()

    def clear(self) -> None:
        """Take away all that was typed."""
        self.__typed = ""
        self.show()

    def scroll_back(self, rows: int) -> None:
        """Show what was said before, or go on to what was said last."""
        self._back = max(0, self._back + rows)
        self.show()

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        """Return the rows that all of it takes."""
        return len(self._head(width)) + len(self._talk(width)) + len(self._foot(width))

    def lines(self, width: int, height: int) -> list[Line]:
        head, talk, foot = self._head(width), self._talk(width), self._foot(width)
        if len(head) + len(talk) + len(foot) > height:
            head, talk, foot = ([line for line in part if line] for part in (head, talk, foot))
        foot = foot[max(0, len(foot) - height + 1) :]
        room = max(0, height - len(head) - len(foot))
        self._back = min(self._back, max(0, len(talk) - room))
        end = len(talk) - self._back
        first = max(0, end - room)
        shown = talk[first:end]
        if first > 0 and shown:
            shown[0] = cut([Span(f"  {first + 1} rows above: PgUp", "muted")], width)
        return [*head, *shown, *foot][:height]

    def _head(self, width: int) -> list[Line]:
        keys = "  Esc gives up, Enter answers" if self._prompt is not None else "  Esc closes"
        keys = "  Enter or Esc closes" if self._end else keys
        title = Span(f" Login to {self._host} ", "title focused")
        return [cut([title, Span(keys, "muted")], width), EMPTY]

    def _talk(self, width: int) -> list[Line]:
        said = [_line(row) for text in self._said for row in _rows(text, width)]
        return [*said, EMPTY] if said else []

    def _foot(self, width: int) -> list[Line]:
        if self._end:
            return [*(_line(row, "warning") for row in _rows(self._end, width)), EMPTY]
        if self._prompt is None:
            return [cut([Span("  logging in", "muted")], width), EMPTY]
        asked = [_line(row, "strong") for row in _rows(self._prompt, width)]
        hints = [_line(row, "warning") for row in _rows(self._hint, width)] if self._hint else []
        return [*asked, self._box(width), *hints, EMPTY]

    def _box(self, width: int) -> Line:
        """Return the line of the answer, its end where it is too long."""
        room = max(width - 2 * _INDENT - 2, 1)
        mask = "*" if self.glyphs.name == "ascii" else "•"
        shown = cells.plain(self.__typed) if self._echo else mask * len(self.__typed)
        while cells.width(shown) > room:
            shown = shown[max(1, (cells.width(shown) - room) // 2) :]
        return cut([Span("  > ", "muted"), Span(shown, "strong"), Span(" ", "cursor")], width)


def _rows(text: str, width: int) -> list[str]:
    """Return a text in rows: by words, or where its characters are of several widths by cells."""
    room = max(width - 2 * _INDENT, 1)
    if text.isascii():
        return cells.sentence_rows(text, room)
    text = cells.plain(text)
    starts = cells.row_starts(text, room)
    return [text[begin:end] for begin, end in zip(starts, (*starts[1:], None), strict=True)]


def _line(row: str, role: str = "text") -> Line:
    return (Span(" " * _INDENT + row, role),)
