"""Asking a person on the terminal itself, as ssh does: standard output and input stay what they are.

Nothing that is typed is kept here. While it is typed unseen the terminal shows no echo; that is undone
however the question ends: answered, given up, by a signal, or because nobody needs the answer any more.
"""

import asyncio
import os
import select
import signal
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING or find_spec("termios"):  # Windows has none, and nothing is asked there
    import termios

from tui.settings import Choices

TERMINAL = "/dev/tty"
_LINE_BYTES = 4096
_LOCAL_MODES, _CHARACTERS = 3, 6


def terminal_asker(choices: Choices) -> "TerminalAsker | None":
    """Return who asks at this terminal; None where there is no person: nothing is asked then.

    Standard input and error must be the terminal, and this process be in its foreground. With --json a
    program reads, but for --once, which people type.
    """
    if (choices.json and not choices.once) or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    if not hasattr(os, "tcgetpgrp"):
        return None  # no terminal of the kind that can be asked on here: Windows
    try:
        descriptor = os.open(TERMINAL, os.O_RDWR | os.O_NOCTTY)
    except OSError:
        return None
    try:
        in_front = os.tcgetpgrp(descriptor) == os.getpgrp()
    finally:
        os.close(descriptor)
    return TerminalAsker() if in_front else None


def drop_typed() -> None:
    """Throw away what was typed before anything was there to take it, where that can be done."""
    if not (find_spec("termios") and sys.stdin.isatty()):
        return
    with suppress(termios.error):  # the terminal is gone
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


class TerminalAsker:
    """Asks on the controlling terminal, on which nothing else is drawn."""

    later = False

    def __init__(self) -> None:
        self._open: _Terminal | None = None

    def tell(self, line: str) -> None:
        """Say a line."""
        self._say(f"{line}\n")

    def tell_again(self, line: str, prompt: str) -> None:
        """Say one line while a question is open, and its prompt again; what was typed for it stays typed."""
        self._say(f"\n{line}\n{prompt}")

    def end_line(self) -> None:
        """End the line of an open prompt, so that what is printed next begins one of its own."""
        if self._open is not None:
            with suppress(OSError):  # the terminal is gone
                self._open.end_line()

    def _say(self, text: str) -> None:
        with suppress(OSError):  # the terminal is gone
            descriptor = os.open(TERMINAL, os.O_RDWR | os.O_NOCTTY)
            try:
                _write(descriptor, text)
            finally:
                os.close(descriptor)

    async def ask(self, prompt: str, *, echo: bool) -> str | None:
        """Return what was typed, without its newline; None at the end of the input."""
        try:
            with _terminal(echo=echo) as self._open:
                return await self._open.answer(prompt)
        except (OSError, termios.error):
            return None  # the terminal is gone
        finally:
            self._open = None


@contextmanager
def _terminal(*, echo: bool) -> "Generator[_Terminal]":
    """Open the controlling terminal for one question; a signal finds it restored from its first change on."""
    terminal = _Terminal()
    try:
        with _dying_politely(terminal.restore):
            try:
                terminal.prepare(echo=echo)
                yield terminal
            finally:
                terminal.restore()
    finally:
        terminal.close()


class _Terminal:
    """The controlling terminal during one question."""

    def __init__(self) -> None:
        self._descriptor = os.open(TERMINAL, os.O_RDWR | os.O_NOCTTY)
        self._before = termios.tcgetattr(self._descriptor)
        self._unseen = False
        self._ended = False
        self._told, self._tell = os.pipe()

    def prepare(self, *, echo: bool) -> None:
        """Switch the echo off, where it is to be, and Ctrl-Z, which would leave it off for the shell."""
        if echo:
            return
        self._unseen = True
        modes = termios.tcgetattr(self._descriptor)
        modes[_LOCAL_MODES] &= ~(termios.ECHO | termios.ECHONL)
        modes[_CHARACTERS][termios.VSUSP] = os.fpathconf(self._descriptor, "PC_VDISABLE")
        termios.tcsetattr(self._descriptor, termios.TCSAFLUSH, modes)

    async def answer(self, prompt: str) -> str | None:
        """Read one line in a thread, which a cancelled wait calls back before anything else goes on."""
        _write(self._descriptor, prompt)
        reading = asyncio.ensure_future(asyncio.to_thread(self._line))
        try:
            line = await asyncio.shield(reading)
        except asyncio.CancelledError:
            os.write(self._tell, b"\n")
            await asyncio.wait({reading})
            self.end_line()
            raise
        if self._unseen or not line.endswith(b"\n"):
            _write(self._descriptor, "\n")
        return line.decode("utf-8", "replace").rstrip("\r\n") if line else None

    def end_line(self) -> None:
        """Go to a new line behind the prompt, once."""
        if not self._ended:
            self._ended = True
            _write(self._descriptor, "\n")

    def restore(self) -> None:
        """Give the terminal its own modes back."""
        if not self._unseen:
            return
        try:
            termios.tcsetattr(self._descriptor, termios.TCSANOW, self._before)
        except termios.error:
            return  # the terminal is gone

    def close(self) -> None:
        """Let go of it."""
        for each in (self._descriptor, self._told, self._tell):
            os.close(each)

    def _line(self) -> bytes:
        """Return a line, newline and all; nothing at the end of the input or when called back."""
        ready, _, _ = select.select([self._descriptor, self._told], [], [])
        if self._told in ready:
            return b""
        try:
            return os.read(self._descriptor, _LINE_BYTES)
        except OSError:
            return b""  # the terminal is gone


def _write(descriptor: int, text: str) -> None:
    data = text.encode(sys.stderr.encoding or "utf-8", "replace")
    while data:
        data = data[os.write(descriptor, data) :]


@contextmanager
def _dying_politely(restore: Callable[[], None]) -> Generator[None]:
    """Restore the terminal before a signal ends the process that would otherwise end it at once."""
    loop = asyncio.get_running_loop()
    numbers = [each for each in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(each) is signal.SIG_DFL]

    def die(number: int) -> None:
        restore()
        loop.remove_signal_handler(number)
        os.kill(os.getpid(), number)

    for each in numbers:
        loop.add_signal_handler(each, die, each)
    try:
        yield
    finally:
        for each in numbers:
            loop.remove_signal_handler(each)
