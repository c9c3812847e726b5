"""Workers: forked children of the agent, one for each kind of read that can block for ever.

A worker is a folder of this package whose ``worker.py`` has ``serve(channel)``. One that hangs is told of
and never doubled; one that died is started again.
"""

from __future__ import annotations

import fcntl
import gc
import importlib
import json
import mmap
import os
import signal
import sys
import time

from tui.agent import wire
from tui.agent.channel import PULSE, READ_BYTES, Channel, encode, leave

TYPE_CHECKING = False  # as in channel.py
if TYPE_CHECKING:
    import types
    from typing import NoReturn

_RESPAWN_S = (1.0, 2.0, 5.0, 10.0, 30.0)
_STEADY_S = 60.0
_REAP_S = 1.0
# What a person reads of them.
_WORDS = {
    "gpus": "GPU reader",
    "processes": "process reader",
    "tail": "log reader",
    "probe": "prober",
    "load": "load generator",
    "checkpoint": "checkpoint reader",
    "signals": "signals reader",
    "diagnose": "diagnosis",
    "locks": "lock reader",
    "prove": "reader of what the server runs under",
}


def words_for(name: str) -> str:
    """Return what a worker is called in a sentence."""
    return _WORDS.get(name, name)


class Death:
    """How a worker ended: ``finished`` when it had nothing more to do."""

    def __init__(self, status: int) -> None:
        self.finished = status == 0
        signalled = os.WIFSIGNALED(status)
        self.how = "signal %d" % os.WTERMSIG(status) if signalled else "status %d" % os.WEXITSTATUS(status)


class Worker:
    """The agent's side of one worker: start, ask, read without blocking, watch over, stop."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.pid: int | None = None
        self.started_s = 0.0
        self._retry_s = 0.0
        self._failures = 0
        self._pulse = mmap.mmap(-1, mmap.PAGESIZE)
        self._outgoing = -1
        self._incoming = -1
        self._lifeline = -1
        self._unsent = b""
        self._waiting: dict[str, bytes] = {}
        self._pieces: list[bytes] = []

    def start(self) -> None:
        """Fork it unless there is one (hanging or not) or it is too early after its last death.

        Raises OSError when the host gives no more processes or descriptors.
        """
        if self.pid is not None or time.monotonic() < self._retry_s:
            return
        (request_out, self._outgoing), (self._incoming, message_in) = os.pipe(), os.pipe()
        lifeline, self._lifeline = os.pipe()
        theirs = (request_out, message_in, lifeline)
        try:
            self._fork(theirs)
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        os.set_blocking(self._outgoing, False)
        os.set_blocking(self._incoming, False)

    def _fork(self, theirs: tuple[int, int, int]) -> None:
        self.started_s = time.monotonic()
        PULSE.pack_into(self._pulse, 0, self.started_s)
        try:
            pid = os.fork()
        except OSError:
            self._forget(self.started_s)
            raise
        if pid == 0:
            _run(self.name, Channel(theirs[0], theirs[1], self._pulse), theirs)
        self.pid = pid

    def fileno(self) -> int:
        """Return the descriptor that is readable when messages wait (-1 when it does not run)."""
        return self._incoming

    @property
    def silent_s(self) -> float:
        """Seconds for which it has been overdue to show life; 0.0 while all is well."""
        return max(0.0, time.monotonic() - self.busy_since) if self.pid is not None else 0.0

    @property
    def busy_since(self) -> float:
        """The moment (monotonic) from which it owes a sign of life; in the future while it owes none."""
        due_s: float = PULSE.unpack_from(self._pulse, 0)[0]
        return due_s

    def send(self, message: dict[str, object]) -> None:
        """Ask for something. Of several requests of one kind that it has not taken yet the last one stays."""
        kind = str(message["kind"])
        self._waiting.pop(kind, None)
        self._waiting[kind] = encode(message)
        self.flush()

    def flush(self) -> None:
        """Write as much of the waiting requests as the pipe takes."""
        while self._outgoing >= 0 and (self._unsent or self._waiting):
            if not self._unsent:
                self._unsent = self._waiting.pop(next(iter(self._waiting)))
            try:
                self._unsent = self._unsent[os.write(self._outgoing, self._unsent) :]
            except BlockingIOError:
                return
            except BrokenPipeError:
                self._unsent = b""

    def read_lines(self) -> list[bytes]:
        """Return the encoded messages that wait (one read of 64 KiB), in order; ends quietly at its death."""
        try:
            data = os.read(self._incoming, READ_BYTES)
        except BlockingIOError:
            return []
        if not data:
            self._close()
            return []
        head, *rest = data.split(b"\n")
        self._pieces.append(head)
        lines: list[bytes] = []
        for piece in rest:
            lines.append(b"".join(self._pieces) + b"\n")
            self._pieces = [piece]
        return lines

    def read(self) -> list[dict[str, object]]:
        """Return the messages that wait, decoded."""
        return [json.loads(line) for line in self.read_lines()]

    def reap(self) -> Death | None:
        """Return how it ended when it has since the last call, and set the time before a new start."""
        if self.pid is None:
            return None
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid == 0:
            return None
        self._forget(time.monotonic())
        return Death(status)

    def kill(self) -> None:
        """Kill it for good, without waiting."""
        self._close()
        if self.pid is not None:
            os.kill(self.pid, signal.SIGKILL)

    def stop(self) -> None:
        """Kill it for good and wait a moment for its end."""
        reap_all([self])

    def _forget(self, now_s: float) -> None:
        self._failures = 0 if now_s - self.started_s > _STEADY_S else self._failures
        self._retry_s = now_s + _RESPAWN_S[min(self._failures, len(_RESPAWN_S) - 1)]
        self._failures += 1
        self.pid = None
        self._close()

    def _close(self) -> None:
        for descriptor in (self._outgoing, self._incoming, self._lifeline):
            if descriptor >= 0:
                os.close(descriptor)
        self._outgoing = self._incoming = self._lifeline = -1
        self._unsent, self._pieces = b"", []


def share(name: str) -> None:
    """Import what a worker runs before it is forked: what no worker changes is in memory once."""
    try:
        _module(name)
    except ImportError:
        return  # it will say so itself
    finally:
        gc.freeze()  # no collection writes to frozen objects, so that they stay shared


def _module(name: str) -> types.ModuleType:
    return importlib.import_module("tui.agent." + name + ".worker")


def reap_all(workers: list[Worker]) -> None:
    """Kill these workers and wait a moment; one stuck in the kernel goes when its read returns."""
    for worker in workers:
        worker.kill()
    end_s = time.monotonic() + _REAP_S
    for worker in workers:
        while worker.pid is not None and worker.reap() is None and time.monotonic() < end_s:
            time.sleep(0.002)


def _run(name: str, channel: Channel, keep: tuple[int, int, int]) -> NoReturn:
    """Be the worker: never returns into the agent's frames, whatever happens."""
    status = 1
    try:
        _detach(keep)
        _module(name).serve(channel)
        status = 0
    finally:
        if status:
            _last_words(name, channel)
        leave(status)


def _detach(keep: tuple[int, int, int]) -> None:
    """Let go of everything inherited, so that a hung worker holds neither the link nor another worker."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    signal.set_wakeup_fd(-1)
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    for entry in os.listdir("/proc/self/fd"):
        if int(entry) > 2 and int(entry) not in keep:
            _close_quietly(int(entry))
    # The kernel sends SIGIO (which ends us, in any sleep that can be interrupted) once the agent's end of
    # this pipe closes, also after kill -9 while a driver call hangs.
    lifeline = keep[2]
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)


def _close_quietly(descriptor: int) -> None:
    try:
        os.close(descriptor)
    except OSError:  # the descriptor of the listing itself
        return


def _last_words(name: str, channel: Channel) -> None:
    kind, error, trace = sys.exc_info()
    where = ""
    while trace is not None:
        where = "%s:%d" % (trace.tb_frame.f_code.co_filename, trace.tb_lineno)
        trace = trace.tb_next
    sentence = "the %s failed: %s: %s (%s)" % (words_for(name), kind.__name__ if kind else "", error, where)
    channel.send(wire.stamped(wire.NOTICE, level="error", about=name, sentence=sentence))
