"""The agent, or one worker of it, as a real process whose messages are decoded strictly."""

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, Protocol

import msgspec

from tui import events
from tui.agent import wire
from tui.requests import AckRequest, AnyRequest
from tui.transport.bootstrap import stub_and_nonce
from tui.transport.bundle import bundle

ROOT = Path(__file__).parents[2]
PATIENCE_S = 60.0
"""So long what has to come may take on a machine that is busy with other tests."""
_SERVE = (
    "import importlib, sys; from tui.agent import worker;"
    "importlib.import_module('tui.agent.' + sys.argv[1] + '.worker').serve(worker.Channel(0, 1))"
)
# Stand-ins for workers take their modules' place before the agent forks.
_AGENT = """
import json, sys, types
stand_ins, prelude = json.loads(sys.argv[1])
for name, source in stand_ins.items():
    module = types.ModuleType("tui.agent." + name + ".worker")
    exec("import os, time\\nfrom tui.agent import wire\\n" + source, module.__dict__)
    sys.modules[module.__name__] = module
exec(prelude)
from tui.agent.main import main
main()
"""

WORKERS = (
    "gpus",
    "processes",
    "tail",
    "probe",
    "load",
    "checkpoint",
    "signals",
    "diagnose",
    "locks",
    "prove",
)
_IDLE = "def serve(channel):\n    while True: channel.receive(None)\n"

Message = dict[str, Any]


class Heard:
    """A process that takes requests and gives messages, one JSON object a line."""

    def __init__(self, command: list[str], env: Mapping[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, **(env or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.unread: list[Message] = []
        self._rest = b""

    def send(self, request: AnyRequest) -> None:
        """Ask for something, as the client would."""
        self.write(msgspec.json.encode(request) + b"\n")

    def write(self, data: bytes) -> None:
        """Write bytes as they are."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def receive(self, kind: str, timeout_s: float = PATIENCE_S) -> Message:
        """Return the next message of this kind, passing over others; fails when none comes in time."""
        message = self.receive_within(kind, timeout_s)
        assert message is not None, f"no {kind} message within {timeout_s} s"
        return message

    def receive_within(self, kind: str, timeout_s: float) -> Message | None:
        """Return the next message of this kind, None when none comes in that time."""
        end_s = time.monotonic() + timeout_s
        while True:
            while self.unread:
                message = self.unread.pop(0)
                if message["kind"] == kind:
                    return message
            if not self._fill(end_s - time.monotonic()):
                return None

    def next(self, timeout_s: float = PATIENCE_S) -> Message | None:
        """Return the next message of any kind, None at the end of the output or when none comes in time."""
        end_s = time.monotonic() + timeout_s
        while not self.unread:
            if not self._fill(end_s - time.monotonic()):
                return None
        return self.unread.pop(0)

    def _fill(self, timeout_s: float) -> bool:
        assert self.process.stdout is not None
        if not select.select([self.process.stdout], [], [], max(0.0, timeout_s))[0]:
            return False
        data = os.read(self.process.stdout.fileno(), 1 << 16)
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            message: Message = json.loads(line)
            if message["kind"] != wire.LOG_BYTES:
                events.convert(message)
            self.unread.append(message)
            self._took(message, line)
        return bool(data)

    def _took(self, message: Message, line: bytes) -> None:
        """Do what a client does with a message that has arrived."""

    def close(self) -> int:
        """End it as the client's (for a worker: the agent's) death would; return its exit status."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        if not self.process.stdin.closed:
            self.process.stdin.close()
        try:
            self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        return self.process.returncode


class Served(Heard):
    """One worker in a process of its own, asked and heard over its real channel."""

    def __init__(
        self, name: str, *, python: str = sys.executable, env: Mapping[str, str] | None = None
    ) -> None:
        super().__init__([python, "-c", _SERVE, name], env)


class Agent(Heard):
    """The whole agent, from the sources as they lie here.

    ``stand_ins`` are sources of workers by their names; those in ``real`` are what they are, the
    others do nothing.
    ``prelude`` is code that runs first. With ``acks`` it is told what has arrived, as by a client.
    """

    def __init__(
        self,
        stand_ins: Mapping[str, str] | None = None,
        *,
        prelude: str = "",
        python: str = sys.executable,
        real: Collection[str] = (),
    ) -> None:
        idle = {name: _IDLE for name in WORKERS if name not in real}
        super().__init__([python, "-c", _AGENT, json.dumps([idle | dict(stand_ins or {}), prelude])])
        self.acks = True
        self._log_bytes = 0

    def _took(self, message: Message, line: bytes) -> None:
        if self.acks and message["kind"] == wire.LOG_BYTES:
            self._log_bytes += len(line) + 1
            self.send(AckRequest(log_bytes=self._log_bytes))


class Bundled(Heard):
    """The whole agent, started as on a host: from the stub and what is sent to it."""

    def __init__(self, *, python: str = sys.executable, env: Mapping[str, str] | None = None) -> None:
        stub, nonce = stub_and_nonce()
        super().__init__([python, "-ISsu", "-c", stub], env)
        assert self.process.stdout is not None
        assert os.read(self.process.stdout.fileno(), len(nonce)) == nonce
        packed = bundle()
        self.write(packed.stage + packed.body)
        self._log_bytes = 0

    def _took(self, message: Message, line: bytes) -> None:
        if message["kind"] == wire.LOG_BYTES:
            self._log_bytes += len(line) + 1
            self.send(AckRequest(log_bytes=self._log_bytes))


class StartAgent(Protocol):
    """What the fixture ``agent`` is: starts an Agent that ends with the test."""

    def __call__(
        self,
        stand_ins: Mapping[str, str] | None = None,
        *,
        prelude: str = "",
        python: str = sys.executable,
        real: Collection[str] = (),
    ) -> Agent: ...


def children_of(pid: int) -> list[int]:
    """Return the live children of a process."""
    found: list[int] = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                stat = Path(f"/proc/{entry}/stat").read_text()
            except OSError:
                continue
            state, ppid = stat.rpartition(")")[2].split()[:2]
            if int(ppid) == pid and state != "Z":
                found.append(int(entry))
    return found


def alive(pid: int) -> bool:
    """Return whether a process runs (a zombie does not)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def until(condition: Callable[[], object], timeout_s: float = PATIENCE_S) -> None:
    """Wait until the condition holds; fail when it does not in time."""
    end_s = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < end_s, "it did not come true in time"
        time.sleep(0.01)
