"""The terminal driver: Textual's own, kept alive and quiet when the terminal stalls or goes away."""

import os
import re
import select
import sys
import time
from typing import Any, TextIO, cast

from rich.cells import cell_len
from textual.app import App

from tui import terminal

if sys.platform == "win32":
    from textual.drivers.windows_driver import WindowsDriver as SystemDriver
else:
    from textual.drivers.linux_driver import LinuxDriver as SystemDriver

_STALLED_S = 0.3
_LET_GO_S = 1.0
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")


class TerminalFile:
    """The file that the writer thread writes to: it survives a lost terminal and tells of a stalled one.

    It writes to the descriptor itself: a buffered file would keep its lock in a write that never ends, and
    the interpreter could not finish.
    """

    def __init__(self, file: TextIO) -> None:
        self.lost = False
        self._descriptor = file.fileno()
        self._encoding = file.encoding
        self._pending: list[str] = []
        self._busy_since: float | None = None

    @property
    def busy_s(self) -> float:
        """How long the terminal has not taken what is being written; 0 while it keeps up."""
        since = self._busy_since
        return 0.0 if since is None else time.monotonic() - since

    def fileno(self) -> int:
        """Return the descriptor of the terminal."""
        return self._descriptor

    def write(self, text: str) -> int:
        """Keep the text until the next flush."""
        self._pending.append(text)
        return len(text)

    def flush(self) -> None:
        """Hand all that was written to the terminal; once it is lost, to nobody."""
        data = encoded("".join(self._pending), self._encoding)
        self._pending.clear()
        self._busy_since = time.monotonic()
        while data and not self.lost:
            try:
                data = data[os.write(self._descriptor, data) :]
            except BlockingIOError:
                select.select([], [self._descriptor], [], _LET_GO_S)
            except OSError:
                self.lost = True
        self._busy_since = None


def encoded(text: str, encoding: str) -> bytes:
    """Return the text in the terminal's encoding; what that lacks becomes ``?`` of the same width."""
    if not terminal.is_utf8(encoding):
        text = _NOT_ASCII.sub(lambda match: _replaced(match.group(), encoding), text)
    return text.encode(encoding, "replace")


def _replaced(character: str, encoding: str) -> str:
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        return "?" * cell_len(character)
    return character


class TerminalDriver(SystemDriver):
    """Draws on the terminal, keeps the window's title, and never blocks the end of the program."""

    def __init__(
        self, app: App[Any], *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        self._window_title = ""
        self.terminal = TerminalFile(cast("TextIO", sys.__stderr__))
        self._file = cast("Any", self.terminal)

    @property
    def is_lost(self) -> bool:
        """Whether the terminal has gone away."""
        return self.terminal.lost or terminal.is_lost(self.fileno)

    @property
    def is_stalled(self) -> bool:
        """Whether the terminal takes nothing at present (a slow link, a stopped window)."""
        return self.terminal.busy_s > _STALLED_S

    def set_title(self, text: str) -> None:
        """Set the title of the terminal's window until the screen is left."""
        self._window_title = text
        self.write(terminal.title_sequence(text))

    def start_application_mode(self) -> None:
        super().start_application_mode()
        self.write(terminal.TITLE_PUSH)
        if self._window_title:
            self.write(terminal.title_sequence(self._window_title))

    def stop_application_mode(self) -> None:
        self.write(terminal.TITLE_POP)
        super().stop_application_mode()

    def write(self, data: str) -> None:
        if not self.terminal.lost:
            super().write(data)

    def close(self) -> None:
        """Wait for the last of the output, but not for a terminal that takes nothing any more."""
        if self.terminal.busy_s < _LET_GO_S:
            super().close()
