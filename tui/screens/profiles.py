"""Which workload the benchmark key fires: a list over the main screen."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from tui.view import View
from widgets.glyphs import Glyphs
from widgets.palette import Palette
from widgets.profile_pane import ProfilePane


class ProfileScreen(ModalScreen[str | None], inherit_bindings=False):
    """Lies over the main screen, which goes on beneath; ends with the sentence on what was chosen."""

    AUTO_FOCUS = "#profiles"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,B", "dismiss", "Close the profiles", id="profile.close", show=False),
    ]

    def __init__(self, view: View, palette: Palette, glyphs: Glyphs) -> None:
        super().__init__()
        self._view = view
        self.pane = ProfilePane(view.profiles(), id="profiles", glyphs=glyphs)
        self.pane.palette = palette

    def compose(self) -> ComposeResult:
        yield self.pane

    def on_profile_pane_chosen(self, message: ProfilePane.Chosen) -> None:
        """Choose it and close."""
        self.dismiss(self._view.choose_profile(message.name))
