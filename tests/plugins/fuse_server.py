"""A file system in user space of the tests' own, in a mount namespace of its own, and a program that uses it.

Run as ``python -m fuse_server MOUNT QUESTIONS MIB_PER_S SIZE_MIB NAME...`` with the program's command as a
JSON list in FUSE_COMMAND (in its own arguments this process would be taken for the program). It says
"up PID" (the program's) or "refused WHY" on its output. Told ``dead`` on its input it goes on to take
questions, and answers none: whoever asked waits, and cannot even be killed before the file system is gone.
The first of a kind that a process asks about a node is written to QUESTIONS, as ``OP PID NODE``.

It is gone with this process, whatever ends it: the end of its input, of its parent, or an alarm. The kernel
then answers all who wait with an error. The program dies with it.
"""

import ctypes
import json
import math
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import IO

from fuse_protocol import MOST_BYTES, Folder, Op, Question, question
from simulated_ranks import die_with_parent

MIB = 1024 * 1024
DEAD = "DEAD"
"""Stands among the questions from where on none is answered."""
CAUGHT_S = 5.0
"""So long after data first did not come, all who read are caught at some, however busy the machine."""
LOOK_MS = 200
LONGEST_S = 600
CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000
MS_NOSUID, MS_NODEV, MS_REC, MS_PRIVATE = 2, 4, 0x4000, 0x40000
_libc = ctypes.CDLL(None, use_errno=True)


def _call(what: str, failed: int) -> None:
    if failed:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)


def _apart() -> None:
    """Move into a mount namespace of its own; who is not root needs a user namespace for that."""
    uid, gid = os.getuid(), os.getgid()
    _call("unshare", _libc.unshare(CLONE_NEWNS | (CLONE_NEWUSER if uid else 0)))
    if uid:
        for name, text in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)
    _call("mount /", _libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None))


def _mount(place: str) -> int:
    """Mount there; return the descriptor by which the kernel asks. Raises OSError."""
    device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
    options = f"fd={device},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()}"
    flags = MS_NOSUID | MS_NODEV
    _call("mount", _libc.mount(b"tminus-test", place.encode(), b"fuse", flags, options.encode()))
    return device


class Server:
    """Answers the kernel's questions, data at so many MiB/s, until it is told to be dead."""

    def __init__(self, device: int, folder: Folder, mib_per_s: float, questions: IO[str]) -> None:
        self._device = device
        self._folder = folder
        self._rate = mib_per_s * MIB
        self._questions = questions
        self._seen: set[tuple[str, int, int]] = set()
        self._free_s = 0.0
        self._dies = self._dead = False
        self._dead_s = math.inf

    def serve(self) -> None:
        """Go on until the input ends."""
        poll = select.poll()
        poll.register(0, select.POLLIN)
        poll.register(self._device, select.POLLIN)
        while True:
            ready = {number for number, _ in poll.poll(LOOK_MS)}
            if not self._dead and time.monotonic() >= self._dead_s:
                self._dead = True
                print(DEAD, 0, 0, file=self._questions, flush=True)
            if 0 in ready and not self._obey(os.read(0, 64)):
                return
            if self._device in ready:
                self._take()

    def _obey(self, told: bytes) -> bool:
        self._dies = self._dies or b"dead" in told
        return bool(told)

    def _withheld(self, asked: Question) -> bool:
        """Tell whether there is no answer: first to those who want data, a while later to anybody.

        Who waits for another answer than data can be interrupted, and is in state S; a dead disk shows D.
        """
        if self._dies and asked.op == Op.READ:
            self._dead_s = min(self._dead_s, time.monotonic() + CAUGHT_S)
            return True
        return self._dead

    def _take(self) -> None:
        try:
            asked = question(os.read(self._device, MOST_BYTES))
        except FileNotFoundError:  # the process that asked was killed meanwhile
            return
        self._note(asked)
        if self._withheld(asked):
            return
        self._wait(asked.read_bytes)
        answer = self._folder.answer(asked)
        if answer is not None:
            self._give(answer)

    def _give(self, answer: bytes) -> None:
        try:
            os.write(self._device, answer)
        except FileNotFoundError:  # likewise
            return

    def _note(self, asked: Question) -> None:
        key = (asked.name, asked.pid, asked.node)
        if key not in self._seen and asked.op != Op.INIT:
            self._seen.add(key)
            print(*key, file=self._questions, flush=True)

    def _wait(self, size: int) -> None:
        now_s = time.monotonic()
        self._free_s = max(self._free_s, now_s) + size / self._rate
        time.sleep(max(0.0, self._free_s - now_s))


def _start(command: list[str]) -> "subprocess.Popen[bytes]":
    """Start the program that uses it; it dies with this process."""
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr,
        preexec_fn=die_with_parent,
        start_new_session=True,
    )


def _ready(prepare: Callable[[], int]) -> int:
    try:
        return prepare()
    except OSError as error:
        _tell(f"refused {error.filename}: {error.strerror}")
        raise SystemExit(0) from None


def _tell(text: str) -> None:
    os.write(1, text.encode() + b"\n")


def main(arguments: list[str]) -> None:
    """Mount, start the command, serve."""
    die_with_parent()
    signal.alarm(LONGEST_S)
    place, questions, rate, size, *names = arguments

    def prepare() -> int:
        _apart()
        return _mount(place)

    device = _ready(prepare)
    with open(questions, "w") as file:
        server = Server(device, Folder(names, int(float(size) * MIB)), float(rate), file)
        child = _start(json.loads(os.environ.pop("FUSE_COMMAND")))
        _tell(f"up {child.pid}")
        server.serve()


if __name__ == "__main__":
    main(sys.argv[1:])
