"""The readiness ladder: a table of its rungs, or two lines where room is scarce."""

from collections.abc import Sequence
from dataclasses import replace

from widgets import cells
from widgets.glyphs import BLOCK, Glyphs
from widgets.line_widget import LineWidget
from widgets.lines import Line, Span, cut, width_of
from widgets.titles import label
from widgets.values import Ladder, LadderRung, Mood

_NOTHING = Ladder(rungs=(), headline="nothing known yet", mood=Mood.IDLE)
COMPACT_ROWS = 3
_GAP = "  "


class LadderPane(LineWidget, can_focus=True):
    """Process, port, health, model, first token: which rung the server stands on, and the last answer."""

    def __init__(self, *, id: str | None = None, glyphs: Glyphs = BLOCK) -> None:
        super().__init__(id=id, glyphs=glyphs)
        self.ladder = _NOTHING

    def update_ladder(self, ladder: Ladder) -> None:
        """Draw this ladder from now on."""
        if ladder != self.ladder:
            self.ladder = ladder
            self.show()

    def lines(self, width: int, height: int) -> list[Line]:
        rungs = self.ladder.rungs
        head = self._headline(width)
        if not rungs or height == 1:
            return [head]
        if height > 3 * len(rungs):
            return [head, *self._table_with_answers(width)]
        if height > len(rungs):
            return [head, *self._table(width)]
        return [head, self._row_of_rungs(width), self._current(width)]

    def _headline(self, width: int) -> Line:
        ladder = self.ladder
        text = f" {self.glyphs.moods[ladder.mood]} {ladder.headline}"
        return cut([*label(self, 2, "Readiness"), Span(text, f"{ladder.mood.value} strong")], width)

    def _table(self, width: int) -> list[Line]:
        return self._rows_of(self.ladder.rungs, width)

    def _rows_of(self, rungs: Sequence[LadderRung], width: int) -> list[Line]:
        columns = [[_facts(rung)[column] for rung in rungs] for column in range(5)]
        sizes = [max(cells.width(text) for text in column) for column in columns]
        sizes[1] = min(sizes[1], max(width // 4, 8))
        return [self._table_row(rung, sizes, width) for rung in rungs]

    def _table_row(self, rung: LadderRung, sizes: list[int], width: int) -> Line:
        role, quiet = _roles(rung)
        name, state, since, tries, latency = (
            cells.left(text, size, self.glyphs.ellipsis)
            for text, size in zip(_facts(rung), sizes, strict=True)
        )
        spans = [
            Span(f"  {self.glyphs.moods[rung.mood]} ", role),
            Span(name + _GAP, quiet),
            Span(state + _GAP, role),
        ]
        figures = "".join(text + _GAP for text in (since, tries, latency) if text)
        spans.append(Span(figures, "muted"))
        spans.append(Span(cells.clip(rung.answer, max(width - width_of(spans), 0), self.glyphs.ellipsis)))
        return cut(spans, width)

    def _table_with_answers(self, width: int) -> list[Line]:
        """Return the table with each whole answer under its rung: for a pane that has the screen."""
        lines: list[Line] = []
        bare = [replace(rung, answer="") for rung in self.ladder.rungs]
        for rung, row in zip(self.ladder.rungs, self._rows_of(bare, width), strict=True):
            lines.append(row)
            lines += [(Span("      " + text),) for text in cells.sentence_rows(rung.answer, width - 7)]
        return lines

    def _row_of_rungs(self, width: int) -> Line:
        """Return all rungs in one line; words of those not reached, then of the passed, give way first."""
        for silent in ((), (Mood.IDLE,), (Mood.IDLE, Mood.GOOD)):
            spans = [span for rung in self.ladder.rungs for span in self._short(rung, silent)]
            if width_of(spans) <= width:
                break
        return cut(spans, width)

    def _short(self, rung: LadderRung, silent: tuple[Mood, ...]) -> list[Span]:
        role, quiet = _roles(rung)
        state = "" if rung.mood in silent else f" {rung.state}"
        return [Span(f"  {self.glyphs.moods[rung.mood]} ", role), Span(rung.name, quiet), Span(state, role)]

    def _current(self, width: int) -> Line:
        rung = current(self.ladder.rungs)
        since = f"since {rung.since}" if rung.since else ""
        facts = (rung.answer, since, _tries(rung), rung.latency)
        text = f" {self.glyphs.dot} ".join(fact for fact in facts if fact) or "no answer yet"
        return cut([Span(f"    {rung.name}: ", "muted"), Span(cells.plain(text))], width)


def current(rungs: tuple[LadderRung, ...]) -> LadderRung:
    """Return the rung that is waited for: the first asked but not passed, else not passed, else the last."""
    open_rungs = [rung for rung in rungs if rung.mood is not Mood.GOOD]
    asked = [rung for rung in open_rungs if rung.mood is not Mood.IDLE]
    return next(iter(asked or open_rungs), rungs[-1])


def _facts(rung: LadderRung) -> tuple[str, str, str, str, str]:
    since = f"since {rung.since}" if rung.since else ""
    return rung.name, rung.state, since, _tries(rung), rung.latency


def _roles(rung: LadderRung) -> tuple[str, str]:
    """Return the role of the state and that of the name; what is not reached yet stays quiet."""
    return rung.mood.value, "muted" if rung.mood is Mood.IDLE else "text"


def _tries(rung: LadderRung) -> str:
    if rung.tries is None:
        return ""
    return "1 try" if rung.tries == 1 else f"{rung.tries} tries"
