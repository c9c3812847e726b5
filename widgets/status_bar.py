"""The status line: the newest sentence of the watch, or the answer to a key."""

from widgets.glyphs import BLOCK, Glyphs
from widgets.line_widget import LineWidget
from widgets.lines import Line, Span, cut


class StatusBar(LineWidget):
    """One sentence; an answer to a key stands for a few paints before the watch has its say again."""

    def __init__(self, *, id: str | None = None, glyphs: Glyphs = BLOCK) -> None:
        super().__init__(id=id, glyphs=glyphs)
        self.sentence = ""
        self._answer = ""
        self._paints_left = 0

    def update_sentence(self, sentence: str) -> None:
        """Draw this sentence, unless an answer still stands; call it once a paint."""
        self.sentence = sentence
        if self._paints_left:
            self._paints_left -= 1
        self.show()

    def answer(self, sentence: str, paints: int) -> None:
        """Draw the answer to a key for so many paints."""
        self._answer, self._paints_left = sentence, paints
        self.show()

    def lines(self, width: int, height: int) -> list[Line]:
        answering = self._paints_left > 0
        text = self._answer if answering else self.sentence
        return [cut([Span(" " + text, "accent" if answering else "text")], width)]
