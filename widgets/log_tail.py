"""The log pane: follows the newest lines, or is held for reading, moving, searching and copying."""

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.selection import Selection
from textual.strip import Strip

from widgets import cells
from widgets.glyphs import BLOCK, Glyphs
from widgets.line_widget import LineWidget
from widgets.lines import EMPTY, Line, Span, spread
from widgets.log_buffer import KEPT_LINES, LogBuffer
from widgets.log_window import LogWindow, Row
from widgets.titles import titled
from widgets.values import LogLine, LogPanel, Mood

_WHEEL_ROWS = 3
_ROLES = {Mood.IDLE: "text", Mood.WAITING: "muted"}


class LogTail(LineWidget, can_focus=True):
    """The newest lines of a log, without any scroll bar: what it shows costs the same at any length."""

    ALLOW_SELECT: ClassVar[bool] = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "move(1)", "Next line", id="log.down", show=False),
        Binding("up,k", "move(-1)", "Previous line", id="log.up", show=False),
        Binding("pagedown", "page(2)", "Next page", id="log.page_down", show=False),
        Binding("pageup", "page(-2)", "Previous page", id="log.page_up", show=False),
        Binding("ctrl+d", "page(1)", "Half a page down", id="log.half_down", show=False),
        Binding("ctrl+u", "page(-1)", "Half a page up", id="log.half_up", show=False),
        Binding("home,g", "first", "Oldest line", id="log.home", show=False),
        Binding("end,G", "last", "Newest line, and follow", id="log.end", show=False),
        Binding("right", "shift(1)", "Half a page to the right", id="log.right", show=False),
        Binding("left", "shift(-1)", "Half a page to the left", id="log.left", show=False),
    ]

    def __init__(self, *, id: str | None = None, glyphs: Glyphs = BLOCK, keep: int = KEPT_LINES) -> None:
        super().__init__(id=id, glyphs=glyphs)
        self.panel = LogPanel(title="")
        self.buffer = LogBuffer(keep)
        self.window = LogWindow(self.buffer)
        self._rows: list[Row] = []
        self._new_lines = 0
        self._tail_rows = 0
        self._selection: Selection | None = None

    def update_panel(self, panel: LogPanel) -> None:
        """Draw this title, unfinished line and sentence from now on."""
        if panel != self.panel:
            self.panel = panel
            self.show()

    def extend(self, lines: Sequence[LogLine]) -> None:
        """Append lines, newest last; a held window stays where it is and counts them."""
        added = self.buffer.extend(lines)
        self._new_lines = 0 if self.window.follows else self._new_lines + added
        self.show()

    def clear(self) -> None:
        """Forget all lines, and begin to follow; a search goes on in those that come."""
        needle = self.buffer.needle
        self.buffer.clear()
        self.buffer.search(needle)
        self.window.follow()
        self._new_lines = 0
        self.show()

    # What the screen's keys ask for; each returns what to tell about it.

    def search(self, text: str) -> str:
        """Find a text and show the newest line that holds it."""
        self.buffer.search(text)
        if not text:
            self.show()
            return ""
        if not self.buffer.matches:
            self.show()
            return f"no line holds '{text}' so far"
        before = self.buffer.end if self.window.follows else self.window.cursor + 1
        return self._go_to(self.buffer.stop_before(before))

    def step(self, direction: int) -> str:
        """Show the next (1) or previous (-1) mark, or line that holds the text searched for."""
        if self.window.follows or direction < 0:
            place = self.buffer.end if self.window.follows else self.window.cursor
            return self._go_to(self.buffer.stop_before(place))
        return self._go_to(self.buffer.stop_after(self.window.cursor))

    def show_fault(self) -> str:
        """Show the line that tells why the load failed."""
        number = self.panel.fault_number
        if number is None:
            return "no line tells of a failure"
        position = self.buffer.position_of(number)
        if position is None:
            return "the line that tells of the failure is not kept any more"
        return self._go_to(position)

    def _go_to(self, position: int | None) -> str:
        if position is None:
            searched = self.buffer.pattern is not None
            return "no line holds it so far" if searched else "no line began a phase so far; / searches"
        self.window.go_to(position)
        self.show()
        return ""

    def toggle_follow(self) -> str:
        """Follow the newest lines, or hold."""
        if self.window.follows:
            self.window.hold()
        else:
            self.action_last()
        self.show()
        return "following the newest lines" if self.window.follows else "held; f follows again"

    def toggle_wrap(self) -> str:
        """Wrap long lines, or cut them."""
        self.window.toggle_wrap()
        self.show()
        return "long lines are wrapped" if self.window.wrap else "long lines are cut; arrows move sideways"

    def current_text(self) -> str | None:
        """Return the line at the cursor, while following the newest, or None without any."""
        if self.buffer.end == self.buffer.first:
            return None
        return self.buffer[self.buffer.end - 1 if self.window.follows else self.window.cursor].text

    # Keys of the pane itself.

    def action_move(self, lines: int) -> None:
        """Move the cursor by lines."""
        self.window.move(lines)
        self.show()

    def action_page(self, halves: int) -> None:
        """Move by half pages."""
        rows = max((self.window.height - 1) * abs(halves) // 2, 1)
        self.window.scroll(rows if halves > 0 else -rows)
        self.show()

    def action_first(self) -> None:
        """Show the oldest line."""
        self.window.go_to(self.buffer.first)
        self.show()

    def action_last(self) -> None:
        """Show the newest line and follow."""
        self.window.follow()
        self._new_lines = 0
        self.show()

    def action_shift(self, halves: int) -> None:
        """Move sideways."""
        self.window.shift(halves)
        self.show()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.window.scroll(_WHEEL_ROWS)
        self.show()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.window.scroll(-_WHEEL_ROWS)
        self.show()

    # Drawing.

    def lines(self, width: int, height: int) -> list[Line]:
        window = self.window
        if window.follows:
            # Holding must not move a line, so the row of the unfinished one stays as it was then.
            self._tail_rows = 1 if self.panel.tail else 0
        tail = cells.clip(self.panel.tail, width, self.glyphs.ellipsis) if self._tail_rows else ""
        window.resize(width, max(height - 1 - self._tail_rows, 1))
        self._rows = window.visible() if height > 1 else []
        body = [self._row(row, width) for row in self._rows]
        if tail:
            body += [EMPTY] * (0 if window.follows else window.height - len(body))
            body.append((Span(tail, "muted"),))
        if not body and height > 1:
            sentence = self.panel.sentence or "no line yet"
            body = [(Span("  " + row, "text"),) for row in cells.sentence_rows(sentence, width - 2)]
        return [self._title(width), *body]

    def _title(self, width: int) -> Line:
        window, dot = self.window, f" {self.glyphs.dot} "
        right: list[Span] = [Span("  ")]
        if self.buffer.pattern is not None:
            right.append(Span(self._found() + dot, "accent"))
        elif not window.follows and window.cursor in self.buffer.marks:
            place = self.buffer.marks.index(window.cursor) + 1
            right.append(Span(f"mark {place} of {len(self.buffer.marks)}{dot}", "accent"))
        if window.wrap or window.column:
            right.append(Span(("wrapped" if window.wrap else f"column {window.column + 1}") + dot, "muted"))
        if window.follows:
            right.append(Span("follow ", "good"))
        else:
            right.append(Span(f"held, {self._new_lines} new: f follows ", "warning"))
        return titled(self, 3, "Log", [Span(" " + cells.plain(self.panel.title), "muted")], right, width)

    def _found(self) -> str:
        buffer = self.buffer
        shown = cells.clip(buffer.needle, 20, self.glyphs.ellipsis)
        if not self.window.follows and self.window.cursor in buffer.matches:
            return f"'{shown}' {buffer.matches.index(self.window.cursor) + 1} of {len(buffer.matches)}"
        return f"'{shown}' in {len(buffer.matches)} lines"

    def _row(self, row: Row, width: int) -> Line:
        line = self.buffer[row.position]
        held = not self.window.follows and row.position == self.window.cursor
        suffix = " cursor" if held else ""
        role = _ROLES.get(line.mood, line.mood.value) + suffix
        end, more = row.end, not self.window.wrap and row.end < len(line.text)
        if more:
            end = cells.index_at(line.text, width - 1, row.start)
        spans = self._spans(row._replace(end=end), role)
        if not held and not more:
            return tuple(spans)
        mark = [Span(self.glyphs.more, "muted" + suffix)] if more else []
        return spread(spans, mark, width, "text" + suffix)

    def _spans(self, row: Row, role: str) -> list[Span]:
        text, at = self.buffer[row.position].text, row.start
        spans: list[Span] = []
        for start, end, kind in self._marks(row):
            start, end = max(start, at), min(end, row.end)
            if start < end:
                spans += [Span(text[at:start], role), Span(text[start:end], kind)]
                at = end
        return [*spans, Span(text[at : row.end], role)]

    def _marks(self, row: Row) -> list[tuple[int, int, str]]:
        """Return what stands out in a row: the mouse's selection, or else the matches of the search."""
        text, pattern, selection = self.buffer[row.position].text, self.buffer.pattern, self._selection
        chosen = None if selection is None else selection.get_span(row.position)
        if chosen is not None:
            return [(chosen[0], len(text) if chosen[1] < 0 else chosen[1], "selection")]
        if pattern is None:
            return []
        around = len(pattern.pattern)
        found = pattern.finditer(text, max(row.start - around, 0), row.end + around)
        return [(match.start(), match.end(), "match") for match in found]

    # The mouse's selection, which the screen keeps by character and line.

    def render_line(self, y: int) -> Strip:
        strip = super().render_line(y)
        if not 0 < y <= len(self._rows):
            return strip
        # Painting takes whole regions (render_lines); a single line is asked for to learn which character
        # stands where.
        row = self._rows[y - 1]
        return strip.apply_offsets(row.start, row.position)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        buffer = self.buffer
        spans = ((position, selection.get_span(position)) for position in range(buffer.first, buffer.end))
        texts = [
            buffer[position].text[span[0] : None if span[1] < 0 else span[1]]
            for position, span in spans
            if span is not None
        ]
        return "\n".join(texts), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self._selection = selection
        if selection is not None:
            self.window.hold()
        self.show()
