"""One host's questions on the way to it: over the main screen, until the login is over or given up."""

import asyncio
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from widgets.glyphs import Glyphs
from widgets.palette import Palette
from widgets.question_pane import QuestionPane

TAKEN_BACK = "nothing was sent, because the login ended before it was answered"
OTHER_HOST = "another host asks now: keys are taken after a short pause"


@dataclass(frozen=True, slots=True, repr=False)
class Typed:
    """What a person typed. It has no text of its own, so that no message or log shows it."""

    text: str


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """What is asked on the way to ``host``, after what was ``said``; the answer None gives the login up."""

    host: str
    said: tuple[str, ...]
    prompt: str
    echo: bool
    answered: "asyncio.Future[Typed | None]"


class QuestionScreen(ModalScreen[None], inherit_bindings=False):
    """Takes all keys; what is typed while nothing is asked goes nowhere."""

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "answer", "Give the answer", id="question.answer"),
        Binding("escape", "give_up", "Give the login up (Ctrl+c as well)", id="question.give_up"),
        Binding("backspace", "erase", "Take the last character away", id="question.erase"),
        Binding("ctrl+u", "clear", "Take away all that was typed", id="question.clear"),
        Binding("pageup", "scroll(4)", "What was said before", id="question.page_up"),
        Binding("pagedown", "scroll(-4)", "What was said last", id="question.page_down"),
    ]

    def __init__(self, question: Question, palette: Palette, glyphs: Glyphs) -> None:
        super().__init__()
        self.host = question.host
        self.question: Question | None = None
        self._over = False
        self.is_taken_back = False
        self.pane = QuestionPane(question.host, id="question", glyphs=glyphs)
        self.pane.palette = palette
        self.put(question)

    def compose(self) -> ComposeResult:
        yield self.pane

    def on_screen_resume(self) -> None:
        """Close, where that was wanted while another screen lay over this one."""
        if self._over:
            self.dismiss()

    def put(self, question: Question) -> None:
        """Ask this from now on."""
        self.question = question
        self.pane.put(question.said, question.prompt, echo=question.echo)

    def takes(self, question: Question) -> bool:
        """Return whether this dialog can ask that now: the next question of its own login."""
        is_over = self._over or self.is_taken_back
        return question.host == self.host and self.question is None and not is_over

    def await_pause(self) -> None:
        """Say that no key is taken before a short pause."""
        self.pane.hint(OTHER_HOST)

    def take_back(self, why: str = "") -> None:
        """Send nothing of what was typed, say why and take no more, but stay until it is closed by a key."""
        self.question, self.is_taken_back = None, True
        self.pane.end(f"{TAKEN_BACK}: {why}" if why else TAKEN_BACK)

    def close(self) -> None:
        """End it, as soon as it is the one that is seen."""
        self.question, over, self._over = None, self._over, True
        if self.is_current and not over:
            self.dismiss()

    # Keys. They are taken in the order in which they come: a binding would be heard only after those that
    # were typed behind it.

    def on_key(self, event: events.Key) -> None:
        """Take a key, as what it does or as what it types."""
        actions = {
            "enter": self.action_answer,
            "ctrl+j": self.action_answer,
            "escape": self.action_give_up,
            "backspace": self.action_erase,
            "ctrl+u": self.action_clear,
        }
        action = actions.get(event.key)
        if action is not None:
            action()
        elif event.is_printable and event.character is not None:
            self.pane.type(event.character)
        else:
            return
        event.stop()
        event.prevent_default()

    def on_paste(self, event: events.Paste) -> None:
        """Take what was pasted, as far as it is one line."""
        event.stop()
        self.pane.paste(event.text)

    def action_answer(self) -> None:
        """Give what was typed as the answer, and wait for what comes of it; close what was taken back."""
        if self.is_taken_back:
            self.close()
        if self.question is None:
            return
        question, self.question = self.question, None
        typed = Typed(self.pane.take())
        if not question.answered.done():
            question.answered.set_result(typed)

    def action_give_up(self) -> None:
        """Give the login up; without a question only look away from it."""
        if self.question is not None and not self.question.answered.done():
            self.question.answered.set_result(None)
        self.close()

    def action_erase(self) -> None:
        """Take the last character away."""
        self.pane.erase()

    def action_clear(self) -> None:
        """Take away all that was typed."""
        self.pane.clear()

    def action_scroll(self, rows: int) -> None:
        """Move through what was said."""
        self.pane.scroll_back(rows)
