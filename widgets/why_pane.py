"""Why the verdict is what it is: cause, figures, advice, ranks, time-outs, every rule with its numbers."""

from collections.abc import Iterable, Iterator

from widgets import cells
from widgets.glyphs import BLOCK, Glyphs
from widgets.lines import EMPTY, Line, Span, cut, width_of
from widgets.pages import Pages
from widgets.rank_lanes import table
from widgets.values import DeadlineRow, Mood, RuleRow, WhyPanel

_LABEL_CELLS = 10
_NUMBERS_LEAST = 28


class WhyPane(Pages):
    """All that speaks for a verdict, to be scrolled."""

    def __init__(self, *, id: str | None = None, glyphs: Glyphs = BLOCK) -> None:
        super().__init__(id=id, glyphs=glyphs)
        self.panel = WhyPanel()
        self.prompt = ""

    def update_prompt(self, prompt: str) -> None:
        """Draw what a second press of a key does, "" for nothing."""
        if prompt != self.prompt:
            self.prompt = prompt
            self.show()

    def update_panel(self, panel: WhyPanel) -> None:
        """Draw this from now on."""
        if panel != self.panel:
            self.panel = panel
            self.show()

    def body(self, width: int) -> list[Line]:
        return [cut(line, width) for line in self._lines(width)]

    def _lines(self, width: int) -> Iterator[Line]:
        yield (Span(" Why ", "title focused"), Span("  Esc or w closes", "muted"))
        yield EMPTY
        if self.prompt:
            yield from (*_wrapped("", self.prompt, width, "warning strong"), EMPTY)
        if self.panel.verdict.word:
            yield from (*self._verdict(width), *self._parts(width))
        else:
            yield from _wrapped("", self.panel.sentence or "nothing is known yet", width)

    def _verdict(self, width: int) -> Iterator[Line]:
        panel, verdict = self.panel, self.panel.verdict
        role = f"{verdict.mood.value} strong"
        yield (Span(f" {self.glyphs.moods[verdict.mood]} {verdict.word} ", role), Span(panel.since))
        told = f" {self.glyphs.dot} ".join(text for text in (verdict.place, verdict.told) if text)
        yield from _wrapped("", told, width)
        yield from _wrapped("then", verdict.countdown, width)
        yield from _wrapped("cause", verdict.cause, width)
        yield from _wrapped("waiting", verdict.waiting, width)
        yield from _wrapped("next", verdict.next_step, width, "strong")
        yield from _wrapped("caution", verdict.not_to_do, width)

    def _parts(self, width: int) -> Iterator[Line]:
        panel = self.panel
        yield from self._part("Figures", _items(panel.verdict.figures, width))
        yield from self._part("Ranks", table(panel.lanes, width, self.glyphs) if panel.lanes else ())
        yield from self._part("Time-outs", self._deadlines(panel.deadlines))
        yield from self._part("Diagnosis", _items(panel.diagnosis, width))
        yield from self._part("Rules", self._rules(width))

    def _part(self, heading: str, lines: Iterable[Line]) -> Iterator[Line]:
        found = list(lines)
        if found:
            yield from (EMPTY, (Span(f" {heading}", "strong"),), *found)

    def _deadlines(self, rows: Iterable[DeadlineRow]) -> Iterator[Line]:
        for row in rows:
            spans = [
                Span(f" {self.glyphs.moods[row.mood]}  {row.name} ", row.mood.value),
                Span(row.left, "strong"),
            ]
            yield (*spans, Span(f"  {row.source}", "muted"))

    def _rules(self, width: int) -> Iterator[Line]:
        rules = self.panel.rules
        names = max((cells.width(row.name) for row in rules), default=0)
        states = max((cells.width(row.state) for row in rules), default=0)
        for row in rules:
            yield from self._rule(row, names, states, width)

    def _rule(self, row: RuleRow, names: int, states: int, width: int) -> Iterator[Line]:
        """Return a rule with its numbers beside it; beneath it where the screen is narrow."""
        quiet = row.mood is Mood.IDLE
        role = "muted" if quiet else f"{row.mood.value} strong"
        head = [
            Span(f" {self.glyphs.moods[row.mood]}  ", row.mood.value),
            Span(f"{cells.left(row.name, names)}  {cells.left(row.state, states)}", role),
        ]
        beside = width_of(head) + 2
        if width - beside < _NUMBERS_LEAST:
            yield tuple(head)
            yield from _items((row.numbers,), width)
            return
        for index, text in enumerate(cells.sentence_rows(row.numbers, width - beside) or [""]):
            lead = head if index == 0 else [Span(" " * (beside - 2))]
            yield (*lead, Span(f"  {text}", "muted" if quiet else "text"))


def _wrapped(label: str, text: str, width: int, role: str = "text") -> Iterator[Line]:
    """Return a text beside its label, as many rows as it takes; none without a text."""
    lead = _LABEL_CELLS if label else 2
    for index, row in enumerate(cells.sentence_rows(text, width - lead - 2)):
        head = cells.left(f"   {label}" if label and index == 0 else "", lead)
        yield (Span(head, "muted"), Span(f" {row}", role))


def _items(texts: Iterable[str], width: int) -> Iterator[Line]:
    for text in texts:
        for index, row in enumerate(cells.sentence_rows(text, width - 6)):
            yield (Span("    " if index == 0 else "      "), Span(row))
