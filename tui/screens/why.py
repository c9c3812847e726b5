"""Why the verdict is what it is: over the main screen, kept up to date, with a bug report to take along."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from tui.screens import keys
from tui.screens.keys import Key
from tui.view import View
from widgets.glyphs import Glyphs
from widgets.key_footer import KeyFooter
from widgets.palette import Palette
from widgets.status_bar import StatusBar
from widgets.why_pane import WhyPane

REFRESH_S = 0.5
ARMED_PAINTS = 20
"""For so many paints (10 s) a second press does what the first one announced."""
TOP = 100_000
_ANSWER_PAINTS = 16


class WhyScreen(ModalScreen[None], inherit_bindings=False):
    """Lies over the main screen, which goes on beneath."""

    AUTO_FOCUS = "#why"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,w,q", "dismiss", "Close it", id="why.close", show=False),
        Binding(
            "d", "diagnose", "Look into the quiet ranks; says first what that touches", id="why.diagnose"
        ),
        Binding("y", "report", "Copy a bug report (OSC 52), and write it to a file", id="why.report"),
    ]

    def __init__(
        self,
        view: View,
        table: Sequence[Key],
        palette: Palette,
        glyphs: Glyphs,
        can_paint: Callable[[], bool],
        tell: Callable[[str], None],
    ) -> None:
        super().__init__()
        self._view = view
        self._tell = tell
        self._armed = 0
        self._can_paint = can_paint
        self.pane = WhyPane(id="why", glyphs=glyphs)
        self.status = StatusBar(id="why-status", glyphs=glyphs)
        self.footer = KeyFooter(keys.why_pairs(table), id="why-footer", glyphs=glyphs)
        for widget in (self.pane, self.status, self.footer):
            widget.palette = palette

    def compose(self) -> ComposeResult:
        yield Vertical(self.pane, self.status, self.footer)

    def on_mount(self) -> None:
        self.paint()
        self.set_interval(REFRESH_S, self.paint, name="why")

    def paint(self) -> None:
        """Take over what speaks for the verdict now, unless the terminal is behind or gone."""
        self._armed = max(self._armed - 1, 0)
        if not self._armed:
            self.pane.update_prompt("")
        if self._can_paint():
            self.pane.update_panel(self._view.why())
            self.status.update_sentence("")

    def answer(self, sentence: str) -> None:
        """Tell the person what a key did, here and in the notes."""
        self.status.answer(sentence, _ANSWER_PAINTS)
        self._tell(sentence)

    def action_diagnose(self) -> None:
        """Say what a diagnosis touches; do it when the key is pressed again at once."""
        if self._armed:
            self._armed = 0
            self.pane.update_prompt("")
            self.answer(f"asked for: {self._view.diagnose()}")
        elif self._view.can_diagnose():
            self._armed = ARMED_PAINTS
            self.pane.action_move(-TOP)
            self.pane.update_prompt(f"d again does this: {self._view.diagnose_plan()}")
        else:
            self.answer(self._view.diagnose_plan())

    def action_report(self) -> None:
        """Copy the bug report, and write it to a file for terminals that take no copy."""
        report = self._view.bug_report()
        self.app.copy_to_clipboard(report)
        self.answer(self._view.keep_report(report))
