"""The screen in a pseudo-terminal: what it writes while idle, and how it leaves in every case."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest

ROOT = Path(__file__).parent.parent.parent
FAKE = Path(__file__).parent / "watch_fake_load.py"
DEADLINE_S = 60.0
FIRST_FRAME = b"watching pid 41207"
ENTER, LEAVE = b"\x1b[?1049h", b"\x1b[?1049l"
RESTORED = (b"\x1b[?25h", b"\x1b[?1003l", b"\x1b[?1000l", b"\x1b[?2004l", b"\x1b[<u", b"\x1b[23;2t", LEAVE)
SUMMARY = b"not ready after 3:12 (loading)"


class Screen:
    """A started screen; everything it wrote is in ``output``."""

    def __init__(self, arguments: list[str], environ: dict[str, str], size: tuple[int, int]) -> None:
        self.output = b""
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        self.process = subprocess.Popen(
            [sys.executable, str(FAKE), "--own-terminal", *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=environ,
            cwd=ROOT,
            start_new_session=True,
        )
        os.close(slave)

    def read_for(self, seconds: float) -> bytes:
        """Read for so long; return what came."""
        before, end = len(self.output), time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and self._read(left):
            pass
        return self.output[before:]

    def read_until(self, wanted: bytes, seconds: float = DEADLINE_S) -> None:
        """Read until something was written; fail when it does not come."""
        end = time.monotonic() + seconds
        while wanted not in self.output:
            assert time.monotonic() < end, f"{wanted!r} did not come: {self.output[-2000:]!r}"
            assert self._read(1.0), f"ended without {wanted!r}: {self.output[-2000:]!r}"

    def _read(self, seconds: float) -> bool:
        if not select.select([self.master], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.master, 65_536)
        except OSError:
            return False
        self.output += data
        return bool(data)

    def press(self, keys: str) -> None:
        """Type keys."""
        os.write(self.master, keys.encode())

    def hang_up(self) -> None:
        """Let the terminal go away."""
        os.close(self.master)
        self.master = -1

    def wait(self) -> int:
        """Read to the end; return the exit code as a shell gives it."""
        end = time.monotonic() + DEADLINE_S
        while self.master >= 0 and self._read(0.1):
            assert time.monotonic() < end, f"did not end: {self.output[-2000:]!r}"
        code = self.process.wait(DEADLINE_S)
        return code if code >= 0 else 128 - code

    def close(self) -> None:
        """End it whatever it does."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if self.master >= 0:
            self.hang_up()


class Start(Protocol):
    """Starts a screen with arguments of the made-up load and changes to the environment."""

    def __call__(self, *arguments: str, size: tuple[int, int] = (80, 24), **changes: str) -> Screen: ...


@pytest.fixture
def start() -> Iterator[Start]:
    """Return a function that starts screens, all of which end with the test."""
    started: list[Screen] = []

    def begin(*arguments: str, size: tuple[int, int] = (80, 24), **changes: str) -> Screen:
        unset = ("NO_COLOR", "TMUX", "STY", "COLUMNS", "LINES")
        environ = {key: value for key, value in os.environ.items() if key not in unset}
        environ |= {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}
        environ |= {"PYTHONPATH": str(ROOT), **changes}
        started.append(Screen(list(arguments), environ, size))
        return started[-1]

    yield begin
    for screen in started:
        screen.close()


def check_left(screen: Screen) -> None:
    """Fail unless the terminal was restored and the summary written after that."""
    picture, _, after = screen.output.partition(LEAVE)
    for code in RESTORED:
        assert code in screen.output, code
    assert SUMMARY not in picture
    assert SUMMARY in after
    assert b"\x1b[3" not in after.partition(SUMMARY)[0].replace(b"\x1b[?25h", b"")


@pytest.mark.parametrize(
    ("way", "code"),
    [("q", 0), ("\x03", 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)],
    ids=["q", "ctrl-c", "SIGTERM", "SIGHUP", "SIGINT"],
)
def test_every_way_out_restores_the_terminal_and_leaves_the_summary(
    start: Start, way: str | signal.Signals, code: int
) -> None:
    screen = start()
    screen.read_until(FIRST_FRAME)
    if isinstance(way, str):
        screen.press(way)
    else:
        screen.process.send_signal(way)
    assert screen.wait() == code
    check_left(screen)


def test_an_exception_restores_the_terminal_and_shows_its_traceback_without_values(start: Start) -> None:
    screen = start("--fail-after", "0.3")
    assert screen.wait() == 1
    after = screen.output.partition(LEAVE)[2]
    assert b"RuntimeError" in after
    assert b"made to fail" in after
    assert b"locals" not in after
    assert after.index(b"made to fail") < after.index(SUMMARY)


@pytest.mark.parametrize("arguments", [(), ("--nohup",)], ids=["hang-up signal", "ignored"])
def test_a_terminal_that_goes_away_ends_the_program(start: Start, arguments: tuple[str, ...]) -> None:
    screen = start(*arguments)
    screen.read_until(FIRST_FRAME)
    screen.hang_up()
    assert screen.wait() == 129


def test_a_terminal_that_takes_nothing_does_not_keep_the_program_from_ending(start: Start) -> None:
    screen = start("--log-rate", "200", size=(200, 50))
    screen.read_until(FIRST_FRAME)
    time.sleep(1.5)  # nobody reads: the kernel's buffer fills and the writer stands
    screen.process.terminate()
    assert screen.process.wait(DEADLINE_S) == 143


def test_an_idle_screen_writes_nothing(start: Start) -> None:
    screen = start("--still")
    screen.read_until(FIRST_FRAME)
    screen.read_for(1.0)
    assert screen.read_for(3.0) == b""
    screen.press("q")
    assert screen.wait() == 0


def test_a_paint_of_eight_changing_gpus_stays_small(start: Start) -> None:
    screen = start("--log-rate", "0")
    screen.read_until(FIRST_FRAME)
    screen.read_for(1.0)
    paints = screen.read_for(3.0)
    assert paints.count(b"\x1b[3;1H") in range(3, 9)  # the first GPU row, twice a second
    assert len(paints) / paints.count(b"\x1b[3;1H") < 5_000
    assert b"\x1b[2J" not in paints


def test_the_window_is_named_and_gets_its_name_back(start: Start) -> None:
    screen = start()
    screen.read_until(b"\x1b]2;tminus gpu01: LOADING\x07")
    screen.press("q")
    screen.wait()
    assert (
        screen.output.index(b"\x1b[22;2t")
        < screen.output.index(b"\x1b]2;")
        < screen.output.index(b"\x1b[23;2t")
    )


def test_without_the_mouse_no_mouse_code_is_sent(start: Start) -> None:
    screen = start("--no-mouse")
    screen.read_until(FIRST_FRAME)
    screen.press("q")
    assert screen.wait() == 0
    assert re.search(rb"\x1b\[\?100[0236]h", screen.output) is None


def test_no_color_sends_no_colour(start: Start) -> None:
    screen = start(NO_COLOR="1")
    screen.read_until(FIRST_FRAME)
    codes = re.findall(rb"\x1b\[([0-9;]*)m", screen.output)
    numbers = {int(number) for code in codes for number in code.split(b";") if number}
    assert not numbers & ({*range(30, 39), *range(40, 49), *range(90, 108)})


def test_sixteen_colours_are_the_terminals_own(start: Start) -> None:
    screen = start(TERM="xterm", COLORTERM="")
    screen.read_until(FIRST_FRAME)
    assert b"38;2;" not in screen.output
    assert b"38;5;" not in screen.output
    assert re.search(rb"\x1b\[[0-9;]*3[1-6]", screen.output)


def test_without_utf8_the_picture_is_ascii_and_keeps_its_columns(start: Start) -> None:
    screen = start(PYTHONIOENCODING="ascii", size=(120, 40))
    screen.read_until(FIRST_FRAME)
    screen.read_until(b"drawn in ASCII")
    screen.read_for(0.3)
    assert screen.output.isascii()
    assert b"\\u" not in screen.output
    assert b"?????? and ?? are wide" in screen.output


def test_suspending_gives_the_terminal_back_and_resuming_draws_again(start: Start) -> None:
    screen = start("--still")
    screen.read_until(FIRST_FRAME)
    screen.press("\x1a")
    screen.read_until(LEAVE)
    pid, status = os.waitpid(screen.process.pid, os.WUNTRACED)
    assert pid == screen.process.pid
    assert os.WIFSTOPPED(status)
    drawn = len(screen.output)
    screen.process.send_signal(signal.SIGCONT)
    end = time.monotonic() + DEADLINE_S
    while FIRST_FRAME not in screen.output[drawn:]:
        assert time.monotonic() < end
        screen.read_for(0.1)
    assert ENTER in screen.output[drawn:]
    screen.press("q")
    assert screen.wait() == 0


def test_keys_that_arrive_in_one_piece_are_taken_in_order(start: Start) -> None:
    screen = start("--still")
    screen.read_until(FIRST_FRAME)
    screen.press("/q4load\r")  # neither quits nor leaves for the benchmark
    screen.read_until(b"no line holds 'q4load' so far")
    screen.press("?qq")  # the help, closed again, and quit
    assert screen.wait() == 0
