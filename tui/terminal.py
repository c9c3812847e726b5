"""What the terminal needs around the screen: checks before it starts, title, clipboard, leaving politely.

Nothing here imports Textual, so that a command can refuse a terminal before it loads the screen.
"""

import asyncio
import base64
import os
import select
import signal
import sys
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass

# Encoded bytes that terminals are known to take in one OSC 52 sequence.
CLIPBOARD_BYTES = 74_000
LEAST_COLUMNS = 40
LEAST_ROWS = 8
_PATIENCE_S = 1.0
TITLE_PUSH = "\x1b[22;2t"
TITLE_POP = "\x1b[23;2t"


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known about the terminal before the screen starts. ``columns`` and ``rows`` are cells."""

    input_is_tty: bool
    output_is_tty: bool
    term: str
    encoding: str
    columns: int
    rows: int


def facts() -> Facts:
    """Look at the terminal that the screen would use: it reads standard input and draws on standard error."""
    columns, rows = _size()
    return Facts(
        input_is_tty=_is_tty(0),
        output_is_tty=_is_tty(2) and _is_tty(1),
        term=os.environ.get("TERM", ""),
        encoding=(sys.__stderr__.encoding if sys.__stderr__ is not None else None) or "ascii",
        columns=columns,
        rows=rows,
    )


def _is_tty(descriptor: int) -> bool:
    try:
        return os.isatty(descriptor)
    except OSError:
        return False


def _size() -> tuple[int, int]:
    for descriptor in (2, 1, 0):
        try:
            size = os.get_terminal_size(descriptor)
        except (OSError, ValueError):
            continue
        if size.columns and size.lines:
            return size.columns, size.lines
    return 80, 24


WITHOUT_SCREEN = "use 'tminus wait' for plain lines, or '--once --json' for one snapshot"


def refusal(known: Facts, way: str = WITHOUT_SCREEN) -> str | None:
    """Return the sentence why no screen can be drawn here and which ``way`` there is without, or None."""
    if not known.input_is_tty:
        return f"standard input is no terminal, so no key could be read: {way}"
    if not known.output_is_tty:
        return f"the output is no terminal, so no screen can be drawn: {way}"
    if known.term in ("", "dumb"):
        name = f"TERM={known.term}" if known.term else "TERM is not set"
        return f"this terminal cannot be drawn on ({name}): {way}, or set TERM"
    if known.columns < LEAST_COLUMNS or known.rows < LEAST_ROWS:
        size = f"{known.columns}x{known.rows}"
        return (
            f"the terminal is {size}, and the screen needs {LEAST_COLUMNS}x{LEAST_ROWS}: enlarge it, or {way}"
        )
    return None


def is_utf8(encoding: str) -> bool:
    """Return whether an encoding can show every glyph."""
    return encoding.lower().replace("-", "").replace("_", "") in ("utf8", "utf8sig")


def glyph_choice(asked: str | None, known: Facts) -> tuple[str, str]:
    """Return the glyph set to use, and the sentence to say when it is not the one asked for (or usual)."""
    if is_utf8(known.encoding):
        return asked or "block", ""
    if asked == "ascii":
        return "ascii", ""
    return "ascii", f"the terminal's encoding is {known.encoding}, not UTF-8: drawn in ASCII (set LANG)"


def colours_are_few(environ: Mapping[str, str]) -> bool:
    """Return whether the terminal has 16 colours or fewer, or none are wanted, by the rules Rich goes by."""
    if "NO_COLOR" in environ:
        return True
    asked = environ.get("TEXTUAL_COLOR_SYSTEM", "auto")
    if asked != "auto":
        return asked in ("standard", "windows")
    if environ.get("COLORTERM", "").strip().lower() in ("truecolor", "24bit"):
        return False
    return environ.get("TERM", "").strip().lower().rpartition("-")[2] not in ("256color", "kitty")


def background_is_light(environ: Mapping[str, str]) -> bool:
    """Return whether COLORFGBG says that the terminal's background is light."""
    background = environ.get("COLORFGBG", "").rpartition(";")[2]
    return background in ("7", "15")


def theme_choice(asked: str | None, environ: Mapping[str, str]) -> str:
    """Return the name of the theme: the one asked for, or what colours and background allow."""
    light = background_is_light(environ)
    if "NO_COLOR" in environ or (asked is None and colours_are_few(environ)):
        return "tminus-ansi-light" if light else "tminus-ansi-dark"
    return asked or ("tminus-light" if light else "tminus-dark")


def title_sequence(text: str) -> str:
    """Return the sequence that sets the window's title."""
    clean = "".join(each for each in text if each.isprintable())
    return f"\x1b]2;{clean[:200]}\x07"


def copy_sequence(text: str, environ: Mapping[str, str]) -> tuple[str, str]:
    """Return the OSC 52 sequence for a text ("" when it cannot be sent) and the sentence that tells it.

    A terminal never says whether it took the text, so the sentence says "sent", not "copied".
    """
    encoded = base64.b64encode(text.encode("utf-8", "replace")).decode("ascii")
    if len(encoded) > CLIPBOARD_BYTES:
        return "", f"not sent: {len(text)} characters are more than terminals take ({CLIPBOARD_BYTES} bytes)"
    sentence = f"sent to terminal ({len(text)} characters, OSC 52)"
    if environ.get("TMUX"):
        sentence += "; tmux needs: set -g set-clipboard on"
    elif environ.get("STY"):
        sentence += "; GNU screen does not pass it on"
    return f"\x1b]52;c;{encoded}\x07", sentence


def is_lost(descriptor: int) -> bool:
    """Return whether the terminal behind a descriptor has gone away."""
    try:
        import termios
    except ImportError:  # Windows
        return not _is_tty(descriptor)
    try:
        termios.tcgetattr(descriptor)
    except (termios.error, OSError, ValueError):
        return True
    return False


@contextmanager
def exit_signals(leave: Callable[[int], object]) -> Generator[None]:
    """Call ``leave`` with 128 + the signal's number on SIGTERM, SIGHUP and SIGINT; needs a running loop.

    SIGHUP is handled also where it was ignored (nohup): a screen without its terminal has nothing to do.
    """
    loop = asyncio.get_running_loop()
    numbers = _signals("SIGTERM", "SIGHUP", "SIGINT")
    before = {number: signal.getsignal(number) for number in numbers}
    for number in numbers:
        try:
            loop.add_signal_handler(number, leave, 128 + number)
        except NotImplementedError:  # Windows: Python's own handler, which the loop runs soon after
            signal.signal(number, lambda seen, _: loop.call_soon_threadsafe(leave, 128 + seen))
    try:
        yield
    finally:
        for number in numbers:
            with suppress(NotImplementedError):
                loop.remove_signal_handler(number)
            signal.signal(number, before[number])


def _signals(*names: str) -> list[signal.Signals]:
    """Return those of the signals that this system has."""
    return [getattr(signal, name) for name in names if hasattr(signal, name)]


@contextmanager
def undone_by_signals() -> Generator[None]:
    """Leave the block with SystemExit, 128 + the signal's number, on the first SIGTERM or SIGHUP.

    What the block undoes on its way out is undone then; further signals wait for that. An ignored SIGHUP
    (nohup) stays ignored. For commands without a loop, in the main thread.
    """
    numbers = _signals("SIGTERM", "SIGHUP")
    before = {number: signal.getsignal(number) for number in numbers}

    def leave(number: int, _frame: object) -> None:
        for each in numbers:
            signal.signal(each, signal.SIG_IGN)
        raise SystemExit(128 + number)

    for number in numbers:
        if before[number] is not signal.SIG_IGN:
            signal.signal(number, leave)
    try:
        yield
    finally:
        for number in numbers:
            signal.signal(number, before[number])


def say(lines: Iterable[str]) -> None:
    """Write lines to standard output, unless it is gone or takes nothing; nothing fails for it later."""
    text = "".join(line + "\n" for line in lines)
    try:
        if os.name == "posix" and not select.select([], [1], [], _PATIENCE_S)[1]:
            raise BlockingIOError
        sys.stdout.write(text)
        sys.stdout.flush()
    except (OSError, ValueError):
        _silence()


def _silence() -> None:
    """Point standard output and error to nowhere, or the interpreter would fail to flush them at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(nowhere, descriptor)
    os.close(nowhere)


def outputs_are_one() -> bool:
    """Return whether standard output and standard error are one: a terminal, a file or a pipe."""
    if sys.stdout.isatty() and sys.stderr.isatty():
        return True
    try:
        return os.path.samestat(os.fstat(sys.stdout.fileno()), os.fstat(sys.stderr.fileno()))
    except OSError:  # one is closed, or no file at all
        return False
