"""The rank processes of the simulated engine: real children, titled as SGLang titles its own."""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG, PR_SET_NAME = 1, 15
ARG_START_FIELD = 48


class Children:
    """Idle children that end with this process, however it ends, or by ``end``."""

    def __init__(self, pids: list[int], lifeline: int) -> None:
        self._pids = pids
        self._lifeline = lifeline

    def end(self) -> None:
        """Let go of them and wait until they are gone."""
        os.close(self._lifeline)
        for pid in self._pids:
            os.waitpid(pid, 0)


def spawn(titles: list[str]) -> Children:
    """Fork one idle child a title."""
    read_end, write_end = os.pipe()
    sys.stdout.flush()
    pids: list[int] = []
    for title in titles:
        pid = os.fork()
        if pid == 0:
            os.close(write_end)
            _be(title, read_end)
        pids.append(pid)
    os.close(read_end)
    return Children(pids, write_end)


def _be(title: str, alive: int) -> None:
    """Live as ``title`` until the parent is gone (its end of the pipe closes). Never returns."""
    for number in (0, *range(3, 64)):
        if number != alive:
            _close(number)
    set_title(title)
    while os.read(alive, 1):
        pass
    os._exit(0)


def set_title(title: str) -> None:
    """Change what ``ps`` shows of this process, where the system lets it: arguments and short name."""
    text = title.encode()
    try:
        with open("/proc/self/cmdline", "rb") as now:
            room = len(now.read())
        with open("/proc/self/stat", "rb") as facts:
            start = int(facts.read().rpartition(b")")[2].split()[ARG_START_FIELD - 3])
        with open("/proc/self/mem", "r+b", buffering=0) as memory:
            memory.seek(start)
            memory.write(text[: room - 1].ljust(room, b"\0"))
    except (OSError, ValueError, IndexError):
        return
    ctypes.CDLL(None).prctl(PR_SET_NAME, text[:15], 0, 0, 0)


def die_with_parent() -> None:
    """Let the kernel kill this process when its parent (the thread that started it) ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _close(number: int) -> None:
    try:
        os.close(number)
    except OSError:
        return
