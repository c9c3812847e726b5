"""The questions of all hosts that are watched, one after another in the order in which they come."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

from textual.app import App

from tui.screens.question import Question, QuestionScreen, Typed


class Questions:
    """Has a dialog for one host at a time, which stays until that host's login is over.

    Whoever asks is a task of a watch. What touches the screen is done by the application itself: while it
    lays a dialog over the others it hands on no key, so that one typed then belongs to the dialog.
    """

    def __init__(self, app: App[Any], dialog: Callable[[Question], QuestionScreen]) -> None:
        self._app = app
        self._dialog = dialog
        self._waiting: deque[Question] = deque()
        self._open: QuestionScreen | None = None

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

    def over(self, host: str) -> None:
        """Let go of a host's dialog: its login has ended."""
        self._app.call_later(self._let_go, host)

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
            self._open.close()

    def _let_go(self, host: str) -> None:
        if self._open is not None and self._open.host == host and self._open.question is None:
            self._open.close()

    def _closed(self, _: None) -> None:
        self._open = None
        self._app.call_later(self._show)
