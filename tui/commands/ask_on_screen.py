"""Asking a person on the way to one host: on the terminal, and in a dialog once a screen is up."""

from tui.screens.questions import Questions
from tui.transport.asking import Asker, GivenUp


class ScreenAsker:
    """Asks for one host, which each dialog names. ``asked``: a dialog was put, so that a person is there.

    A dialog shows all that was said since the login began, as a terminal would.
    """

    later = True

    def __init__(self, host: str, terminal: Asker) -> None:
        self.asked = False
        self._host = host
        self._terminal = terminal
        self._dialogs: Questions | None = None
        self._said: list[str] = []
        self._shown = 0

    def move_to(self, dialogs: Questions) -> None:
        """Ask in dialogs from now on."""
        self._dialogs = dialogs

    def tell(self, line: str) -> None:
        """Say a line: at once on a terminal, else beside the next question."""
        if self._dialogs is None:
            self._terminal.tell(line)
        else:
            self._said.append(line)

    async def ask(self, prompt: str, *, echo: bool) -> str | None:
        """Return what was typed. Raises GivenUp."""
        if self._dialogs is None:
            return await self._terminal.ask(prompt, echo=echo)
        self.asked = True
        said = tuple(self._said)
        self._said.append(prompt)
        self._shown = len(self._said)
        typed = await self._dialogs.ask(self._host, said, prompt, echo=echo)
        if typed is None:
            raise GivenUp
        return typed.text

    def logged_in(self) -> None:
        """Let go of the dialog: the host's agent may take its time, and asks nothing."""
        if self._dialogs is not None and self._said:
            self._dialogs.over(self._host)

    def login_over(self, why: str) -> list[str]:
        """Let go of the dialog, or say there why it failed; return what was said after its question."""
        if self._dialogs is None or not self._said:
            return []
        unseen = self._said[self._shown :]
        self._said, self._shown = [], 0
        self._dialogs.over(self._host, why)
        return unseen
