"""The Textual application: themes, keys that work everywhere, and a polite end."""

import asyncio
import gc
import os
import sys
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, ClassVar

from rich.style import Style
from textual import events
from textual.actions import SkipAction
from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.driver import Driver
from textual.screen import Screen
from textual.theme import BUILTIN_THEMES, Theme
from textual.widgets import Input

from tui import terminal, theme
from tui.screens import keys
from tui.screens.driver import TerminalDriver
from tui.screens.help import HelpScreen
from tui.screens.hosts import HostScreen, HostsScreen
from tui.screens.keys import Key
from tui.screens.main import MainScreen
from tui.screens.profiles import ProfileScreen
from tui.screens.question import Question, QuestionScreen
from tui.screens.questions import Questions
from tui.screens.replay import Needle, ReplayScreen
from tui.screens.why import WhyScreen
from tui.theme import ThemeFile
from tui.view import View
from widgets import glyphs as glyph_sets
from widgets.gpu_rows import GpuRows
from widgets.hosts_pane import HostsPane
from widgets.log_tail import LogTail
from widgets.pages import Pages
from widgets.palette import Palette
from widgets.profile_pane import ProfilePane

SETTLED_S = 3.0
LOST_TERMINAL = 129
INTERRUPTED = 130
PLAYS = "app.pause"
"""The binding whose key, Space, plays and pauses over a tape."""


class TminusApp(App[None], inherit_bindings=False):
    """The screen over one watch. ``theme`` and ``glyphs`` None mean: what the terminal can show."""

    CSS = theme.stylesheet()
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "quit", "Quit", id="app.quit"),
        Binding("ctrl+q", "quit", "Quit, from everywhere", id="app.quit_now", priority=True),
        Binding("ctrl+c", "interrupt", "Copy what is selected, else quit", id="app.interrupt", priority=True),
        Binding("question_mark,f1", "help", "This help", id="app.help", priority=True),
        Binding("ctrl+p", "command_palette", "Commands and themes", id="app.commands", priority=True),
        Binding("T", "next_theme", "Next theme", id="app.theme"),
        Binding("ctrl+z", "suspend_process", "Suspend; fg comes back", id="app.suspend", priority=True),
    ]

    def __init__(
        self,
        view: View,
        *,
        theme: str | None = None,
        glyphs: str | None = None,
        mouse: bool = True,
        needle: Needle | None = None,
    ) -> None:
        super().__init__(ansi_color=True if "NO_COLOR" in os.environ else None)
        self.animation_level = "none"
        # Whoever listened there would be shown every key of a password.
        self.devtools, self._devtools_redirector = None, None
        self.view = view
        self.questions = Questions(self, self._dialog)
        self._replays = needle is not None
        self.mouse = mouse
        asked, self._glyph_note = terminal.glyph_choice(glyphs, terminal.facts())
        self._glyphs = glyph_sets.SETS[asked]
        self._palettes: dict[str, Palette] = {}
        self._register_themes()
        self.theme = terminal.theme_choice(theme, os.environ)
        self.main = self._screen(needle)

    def _screen(self, needle: Needle | None) -> MainScreen:
        if needle is None:
            return MainScreen(self.view, self.keys, self._glyphs, self.can_paint)
        return ReplayScreen(self.view, self.keys, self._glyphs, self.can_paint, needle)

    def _dialog(self, question: Question) -> QuestionScreen:
        return QuestionScreen(question, self._palettes[self.theme], self._glyphs)

    def exit_lines(self) -> Sequence[str]:
        """Return what stays in the terminal when the screen is left."""
        return self.view.exit_lines()

    @property
    def keys(self) -> list[Key]:
        """The keys that work in this application."""
        table = [key for key in key_table() if key.group != "hosts"]
        if not self._replays:
            return [key for key in table if key.group != "replay"]
        return [key for key in table if key.id != PLAYS]

    def _register_themes(self) -> None:
        for name in BUILTIN_THEMES:
            self.unregister_theme(name)
        for each in theme.packaged():
            self.register_theme(_textual_theme(each))
            self._palettes[each.name] = _palette(each)

    async def on_event(self, event: events.Event) -> None:
        """Drop the keys that were meant for a dialog that is gone, but for the one that quits."""
        is_typed = isinstance(event, events.Paste | events.Key) and getattr(event, "key", "") != "ctrl+q"
        if not (is_typed and self.questions.drops(event)):
            await super().on_event(event)

    def get_default_screen(self) -> Screen[Any]:
        return self.main

    def get_driver_class(self) -> type[Driver]:
        # Windows' console is written to by other means, which Textual's own driver has.
        return super().get_driver_class() if sys.platform == "win32" else TerminalDriver

    def on_mount(self) -> None:
        self._wear()
        self.theme_changed_signal.subscribe(self, lambda _: self._wear())
        self.main.answer(self._glyph_note)

    def _wear(self) -> None:
        for screen in self.main_screens():
            screen.wear(self._palettes[self.theme])

    def main_screens(self) -> Sequence[MainScreen]:
        """Return every main screen there is, shown or not."""
        return (self.main,)

    def can_paint(self) -> bool:
        """Return whether the terminal takes a picture now; leave when it is gone."""
        driver = self._driver
        if not isinstance(driver, TerminalDriver):
            return True
        if driver.is_lost:
            self.leave(LOST_TERMINAL)
        return not driver.is_lost and not driver.is_stalled

    def leave(self, return_code: int) -> None:
        """End the application with this code for the shell."""
        self.exit(return_code=return_code)

    def watch_title(self, title: str) -> None:
        """Show the title in the terminal's window as well."""
        if isinstance(self._driver, TerminalDriver):
            self._driver.set_title(f"tminus {title}")

    def copy_to_clipboard(self, text: str) -> None:
        sequence, sentence = terminal.copy_sequence(text, os.environ)
        if sequence and self._driver is not None:
            self._driver.write(sequence)
        self.main.answer(sentence)

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        for target, bindings in (("app", self.BINDINGS), ("screen", self._main_bindings())):
            for key in keys.keys_of(bindings):
                run = partial(self.run_action, f"{target}.{key.action}")
                yield SystemCommand(key.meaning, f"key {' '.join(key.keys)}", run)
        for name in theme.names():
            yield SystemCommand(
                f"Theme: {name}", "use this colour theme", partial(setattr, self, "theme", name)
            )

    def _main_bindings(self) -> list[BindingType]:
        if not self._replays:
            return MainScreen.BINDINGS
        own = [each for each in MainScreen.BINDINGS if not (isinstance(each, Binding) and each.id == PLAYS)]
        return [*own, *ReplayScreen.BINDINGS]

    def action_interrupt(self) -> None:
        """Copy what is selected, or quit as Ctrl-C does; of a question nothing is copied, it is given up."""
        if isinstance(self.screen, QuestionScreen):
            self.screen.action_give_up()
            return
        selected = self.screen.get_selected_text()
        if not selected and isinstance(self.focused, Input):
            selected = self.focused.selected_text
        if selected:
            self.copy_to_clipboard(selected)
        else:
            self.leave(INTERRUPTED)

    async def action_help(self) -> None:
        """Show all keys; one pressed at once after this one belongs to the help."""
        if isinstance(self.focused, Input) or self.screen is not self.main:
            raise SkipAction
        await self.push_screen(HelpScreen(self.keys, self._palettes[self.theme], self._glyphs))

    def action_command_palette(self) -> None:
        """Show the commands, but not over a question, which takes all keys."""
        if not isinstance(self.screen, QuestionScreen):
            super().action_command_palette()

    def action_next_theme(self) -> None:
        """Go through the themes."""
        names = theme.names()
        self.theme = names[(names.index(self.theme) + 1) % len(names)]
        self.main.answer(f"theme {self.theme}")

    def _fatal_error(self) -> None:
        # Textual's own shows the local variables of every frame, and with them an API key.
        from rich.traceback import Traceback  # brings a highlighter along that only a failure needs

        self.panic(Traceback(show_locals=False, width=None))


class HostsApp(TminusApp):
    """The screen over several watches, one of them shown at a time. ``options`` are those of TminusApp."""

    DEFAULT_MODE = "host-0"

    def __init__(self, views: Sequence[View], **options: Any) -> None:
        self._views = tuple(views)
        self._hosts: list[HostScreen] = []
        super().__init__(self._views[0], **options)

    def _screen(self, needle: Needle | None) -> MainScreen:
        """Make a main screen for each host, in a mode of its own, and return the first."""
        for index, view in enumerate(self._views):
            screen = HostScreen(view, self.keys, self._glyphs, self.can_paint, index, self.show_host)
            self._hosts.append(screen)
            self.add_mode(f"host-{index}", partial(self._hosts.__getitem__, index))
        self._hosts[0].shown = True
        return self._hosts[0]

    @property
    def keys(self) -> list[Key]:
        """The keys that work in this application."""
        return [key for key in key_table() if key.group != "replay"]

    def main_screens(self) -> Sequence[MainScreen]:
        """Return the main screens of all hosts."""
        return self._hosts

    async def show_host(self, index: int) -> None:
        """Show the panes of the host of this number, unless something else lies over those shown."""
        before, after = self.main, self._hosts[index]
        if before is after or self.screen is not before:
            return
        for screen in self._hosts:
            screen.shown = screen is after
        self.main = after
        await self.switch_mode(f"host-{index}")
        after.come_up()

    def exit_lines(self) -> Sequence[str]:
        """Return what stays in the terminal of all that was watched."""
        return [line for view in self._views for line in view.exit_lines()]

    def _main_bindings(self) -> list[BindingType]:
        return [*MainScreen.BINDINGS, *HostScreen.BINDINGS]


def key_table() -> list[Key]:
    """Return every key of the application, from the bindings of all that take keys."""
    return keys.keys_of(
        TminusApp.BINDINGS,
        MainScreen.BINDINGS,
        ReplayScreen.BINDINGS,
        HostScreen.BINDINGS,
        HostsPane.BINDINGS,
        HostsScreen.BINDINGS,
        LogTail.BINDINGS,
        GpuRows.BINDINGS,
        WhyScreen.BINDINGS,
        ProfilePane.BINDINGS,
        ProfileScreen.BINDINGS,
        QuestionScreen.BINDINGS,
        Pages.BINDINGS,
        HelpScreen.BINDINGS,
    )


def _textual_theme(file: ThemeFile) -> Theme:
    colours = file.colours
    variables = BUILTIN_THEMES["ansi-dark" if file.dark else "ansi-light"].variables if file.ansi else {}
    return Theme(
        name=file.name,
        dark=file.dark,
        ansi=file.ansi,
        variables=dict(variables),
        primary=colours["primary"],
        secondary=colours["secondary"],
        accent=colours["accent"],
        foreground=colours["foreground"],
        background=colours["background"],
        surface=colours["surface"],
        panel=colours["panel"],
        success=colours["success"],
        warning=colours["warning"],
        error=colours["error"],
    )


def _palette(file: ThemeFile) -> Palette:
    return Palette({role: Style.parse(text) for role, text in file.roles.items()})


async def run_screen(app: TminusApp) -> int:
    """Run the screen to its end, restore the terminal, write the summary; return the exit code.

    0 after q, 130 after Ctrl-C, 128 + the signal's number, 129 when the terminal went away, 1 after an
    exception, whose traceback stands before the summary.
    """
    settling = asyncio.create_task(_settle())
    try:
        with terminal.exit_signals(app.leave):
            await app.run_async(mouse=app.mouse)
    finally:
        settling.cancel()
        gc.unfreeze()
    terminal.say(app.exit_lines())
    # Whoever ends it says how; it ended by itself only where the framework gave up.
    return 1 if app.return_code is None else app.return_code


async def _settle() -> None:
    """Leave what the start has made out of every later search for garbage, which took 0.1 s: a key waits."""
    await asyncio.sleep(SETTLED_S)
    gc.freeze()
