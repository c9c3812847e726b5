"""The top line: host, engine and model at the left, link, clock and phase at the right."""

from widgets import cells
from widgets.glyphs import BLOCK, Glyphs
from widgets.line_widget import LineWidget
from widgets.lines import Line, Span, spread, width_of
from widgets.values import Header, Mood

_NOTHING = Header(host="", engine="", model="", clock="", phase="", mood=Mood.IDLE)


class HeaderBar(LineWidget):
    """Where, what, how long and how far, in one line."""

    def __init__(self, *, id: str | None = None, glyphs: Glyphs = BLOCK) -> None:
        super().__init__(id=id, glyphs=glyphs)
        self.header = _NOTHING

    def update_header(self, header: Header) -> None:
        """Draw this header from now on."""
        if header != self.header:
            self.header = header
            self.show()

    def lines(self, width: int, height: int) -> list[Line]:
        right = self._right()
        return [spread(self._left(width - width_of(right)), right, width)]

    def _left(self, room: int) -> list[Span]:
        header = self.header
        dot = f" {self.glyphs.dot} "
        texts = [text for text in (header.engine, header.model) if text]
        taken = sum(len(dot) + cells.width(text) for text in texts)
        host = cells.clip(header.host, max(room // 2, room - taken - 1, 1), self.glyphs.ellipsis)
        spans = [Span(f" {host}", "strong")]
        own = Span(f" ({header.own})", "muted")
        if header.own and width_of([*spans, own]) + taken <= room:
            spans.append(own)
        for text in texts:
            left = room - width_of(spans) - len(dot)
            if left > 2:
                spans += [Span(dot, "muted"), Span(cells.clip(text, left, self.glyphs.ellipsis))]
        return spans

    def _right(self) -> list[Span]:
        header = self.header
        spans: list[Span] = []
        if header.link:
            spans.append(Span(f" {header.link} ", "warning"))
        if header.paused:
            spans.append(Span(" PAUSED ", "warning strong"))
        if header.clock:
            spans.append(Span(f" {header.clock} ", "text"))
        if header.phase:
            phase = f" {self.glyphs.moods[header.mood]} {header.phase} "
            spans.append(Span(phase, f"{header.mood.value} strong"))
        return [Span(cells.plain(span.text), span.role) for span in spans]
