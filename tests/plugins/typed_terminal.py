"""The real command at a terminal of its own, where a person types; standard output may go elsewhere."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tminus_command import Tminus

DEADLINE_S = 90.0
# The session's leader takes the terminal, as a shell's job has it, and becomes the command, or has it behind.
_TAKE = (
    "import fcntl,os,sys,termios\n"
    "fcntl.ioctl(2,termios.TIOCSCTTY,0)\n"
    "if sys.argv[1]=='behind':\n"
    "  pid=os.fork()\n"
    "  if pid: os._exit(os.waitstatus_to_exitcode(os.waitpid(pid,0)[1]))\n"
    "  os.setpgid(0,0)\n"
    "os.execv(sys.executable,[sys.executable,'-m','tui',*sys.argv[2:]])\n"
)


class Typed:
    """A command at a terminal; ``output`` is all that it has written there."""

    def __init__(self, tminus: Tminus, arguments: tuple[str, ...], out: Path | None, place: str) -> None:
        self.output = ""
        self.out = out
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        environment = {**tminus.environment(), "TERM": "xterm-256color", "LANG": "C.UTF-8"}
        stdout = slave if out is None else os.open(out, os.O_WRONLY | os.O_CREAT, 0o600)
        self.process = subprocess.Popen(
            [sys.executable, "-c", _TAKE, place, *arguments],
            stdin=slave, stdout=stdout, stderr=slave, env=environment, start_new_session=True,
        )  # fmt: skip
        if out is not None:
            os.close(stdout)
        # Kept open, so that the terminal's modes can still be read when the command has ended.
        self._slave = slave

    @property
    def echoes(self) -> bool:
        """Whether the terminal shows what is typed."""
        return bool(termios.tcgetattr(self._slave)[3] & termios.ECHO)

    def until(self, wanted: str) -> str:
        """Read until something was written; return what came before it, which is not looked at again."""
        end = time.monotonic() + DEADLINE_S
        while wanted not in self.output:
            assert time.monotonic() < end, f"{wanted!r} did not come: {self.output[-2000:]!r}"
            alive = self.process.poll() is None
            assert self.read() or alive, f"ended without {wanted!r}: {self.output[-2000:]!r}"
        before, _, self.output = self.output.partition(wanted)
        return before

    def read(self) -> bool:
        """Read what comes within a moment; say whether anything did."""
        if not select.select([self.master], [], [], 0.05)[0]:
            return False
        self.output += os.read(self.master, 65_536).decode("utf-8", "replace")
        return True

    def type(self, text: str) -> None:
        """Type a line, or a control character."""
        os.write(self.master, text.encode())

    def end(self) -> int:
        """Read to its end; return its exit code as a shell gives it."""
        end = time.monotonic() + DEADLINE_S
        while self.process.poll() is None:
            assert time.monotonic() < end, f"did not end: {self.output[-2000:]!r}"
            self.read()
        while self.read():
            pass
        code = self.process.returncode
        return code if code >= 0 else 128 - code

    def close(self) -> None:
        """End it whatever it does."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.master)
        os.close(self._slave)


AtTerminal = Callable[..., Typed]


@pytest.fixture
def at_terminal(tminus: Tminus) -> Iterator[AtTerminal]:
    """Return a function that starts the command at a terminal; ``out`` takes its standard output.

    ``behind``: as a background job.
    """
    started: list[Typed] = []

    def start(*arguments: str, out: Path | None = None, behind: bool = False) -> Typed:
        started.append(Typed(tminus, arguments, out, "behind" if behind else "front"))
        return started[-1]

    yield start
    for each in started:
        each.close()
