"""The questions of all hosts that are watched, one after another in the order in which they come."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

from textual import events
from textual.app import App

from tui.screens.question import Question, QuestionScreen, Typed

PAUSE_S = 0.7
"""So long no key may have come before one counts again: more than lies between two keys of a fast typist."""


class Questions:
    """Has a dialog for one host at a time, which stays until that host's login is over.

    Whoever asks is a task of a watch. What touches the screen is done by the application itself: while it
    lays a dialog over the others it hands on no key, so that one typed then belongs to the dialog.

    Whoever still types for one host must not type into what comes after it: a question that is taken back
    leaves its dialog standing until it is closed by hand, and after that, and at the first question of
    another host, no key is taken until none has come for ``pause_s``.
    """

    def __init__(self, app: App[Any], dialog: Callable[[Question], QuestionScreen]) -> None:
        self._app = app
        self._dialog = dialog
        self._waiting: deque[Question] = deque()
        self._open: QuestionScreen | None = None
        self._last_host: str | None = None
        self._quiet_since_s: float | None = None
        self.pause_s = PAUSE_S

    async def ask(self, host: str, said: tuple[str, ...], prompt: str, *, echo: bool) -> Typed | None:
        """Return the answer, None when the login was given up. Cancelled, the question is taken back."""
        question = Question(host, said, prompt, echo, asyncio.get_running_loop().create_future())
        self._waiting.append(question)
        self._app.call_later(self._show)
        try:
            return await question.answered
        finally:
            if question.answered.cancelled():
                self._app.call_later(self._take_back, question)

    def over(self, host: str, why: str = "") -> None:
        """Let go of a host's dialog: its login has ended, and ``why`` where it failed."""
        self._app.call_later(self._let_go, host, why)

    def drops(self, event: events.Event) -> bool:
        """Return whether a key or a paste was meant for what stood there before, and goes nowhere."""
        since_s = self._quiet_since_s
        if since_s is None:
            return False
        is_early = event.time - since_s < self.pause_s
        self._quiet_since_s = max(since_s, event.time) if is_early else None
        return is_early

    def begin_pause(self) -> None:
        """Take no key from now on until none has come for a while."""
        self._quiet_since_s = events.Event().time

    async def _show(self) -> None:
        """Put the next question, where the dialog that is open lets it."""
        following = next((each for each in self._waiting if self._can_put(each)), None)
        if following is None:
            return
        self._waiting.remove(following)
        if self._open is not None:
            self._open.put(following)
            return
        self._open = self._dialog(following)
        if self._last_host not in (None, following.host):
            self._open.await_pause()
            self.begin_pause()
        self._last_host = following.host
        self._app.bell()
        await self._app.push_screen(self._open, self._closed)

    def _can_put(self, question: Question) -> bool:
        if question.answered.done():
            return False
        return self._open is None or self._open.takes(question)

    def _take_back(self, question: Question) -> None:
        if question in self._waiting:
            self._waiting.remove(question)
        if self._open is not None and self._open.question is question:
            self._open.take_back()

    def _let_go(self, host: str, why: str) -> None:
        if self._open is None or self._open.host != host or self._open.question is not None:
            return
        if self._open.is_taken_back:
            self._open.take_back(why)
        else:
            self._open.close()

    def _closed(self, _: None) -> None:
        if self._open is not None and self._open.is_taken_back:
            self.begin_pause()
        self._open = None
        self._app.call_later(self._show)
