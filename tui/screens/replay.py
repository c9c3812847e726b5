"""The main screen over a tape: the same panes, and keys that move the needle."""

from collections.abc import Callable, Sequence
from typing import ClassVar, Protocol

from textual.binding import Binding, BindingType
from textual.widgets import Input

from tui.screens.keys import Key
from tui.screens.main import MainScreen
from tui.view import View
from widgets.glyphs import Glyphs
from widgets.place_box import PlaceBox


class Needle(Protocol):
    """What a key may do to a replay; each answers in a sentence, "" where the picture says it."""

    def toggle(self) -> str:
        """Pause, or play on."""
        ...

    def step(self, direction: int) -> str:
        """Pause and go one second on or back."""
        ...

    def faster(self, direction: int) -> str:
        """Play faster or slower."""
        ...

    def jump(self, direction: int) -> str:
        """Go to the next or previous change."""
        ...

    def go_to(self, wish: str) -> str:
        """Go to a time or to what the recording comes to."""
        ...


class ReplayScreen(MainScreen):
    """Plays, pauses, steps and jumps."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "play", "Pause, or play on", id="replay.play"),
        Binding("full_stop", "needle_step(1)", "Pause, one second on", id="replay.on"),
        Binding("comma", "needle_step(-1)", "Pause, one second back", id="replay.back"),
        Binding("plus,equals_sign", "speed(1)", "Faster", id="replay.faster"),
        Binding("minus", "speed(-1)", "Slower", id="replay.slower"),
        Binding(
            "right_square_bracket", "jump(1)", "Next change of phase, readiness, verdict", id="replay.next"
        ),
        Binding("left_square_bracket", "jump(-1)", "Previous change", id="replay.previous"),
        Binding("t", "place", "Go to a time, a phase, a fault, a verdict", id="replay.place", priority=True),
    ]

    def __init__(
        self,
        view: View,
        table: Sequence[Key],
        glyphs: Glyphs,
        can_paint: Callable[[], bool],
        needle: Needle,
    ) -> None:
        super().__init__(view, table, glyphs, can_paint)
        self._needle = needle

    def _told(self, sentence: str) -> None:
        self.answer(sentence)
        self.paint()

    def action_play(self) -> None:
        """Pause, or play on."""
        self._told(self._needle.toggle())

    def action_needle_step(self, direction: int) -> None:
        """Pause and go one second on or back."""
        self._told(self._needle.step(direction))

    def action_speed(self, direction: int) -> None:
        """Play faster or slower."""
        self._told(self._needle.faster(direction))

    def action_jump(self, direction: int) -> None:
        """Go to the next or previous change."""
        self._told(self._needle.jump(direction))

    async def action_place(self) -> None:
        """Ask where to go."""
        self._leave_to_search_box()
        box = PlaceBox(id="search")
        await self.dashboard.mount(box)
        self.set_focus(box)

    def typed(self, box: Input, text: str) -> None:
        """Go to what was typed, or search for it."""
        if not isinstance(box, PlaceBox):
            super().typed(box, text)
        elif text.strip():
            self._told(self._needle.go_to(text))
