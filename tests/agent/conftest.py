"""What the agent's tests share: one of its workers as a real process, its messages decoded strictly."""

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tui import events
from tui.agent import wire
from tui.requests import AnyRequest

ROOT = Path(__file__).parents[2]
_SERVE = (
    "import importlib, sys; from tui.agent import worker;"
    "importlib.import_module('tui.agent.' + sys.argv[1]).serve(worker.Channel(0, 1))"
)

Message = dict[str, Any]


class Served:
    """One worker in a process of its own, asked and heard over its real channel."""

    def __init__(self, name: str, *, python: str = sys.executable, env: dict[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            [python, "-c", _SERVE, name],
            cwd=ROOT,
            env={**os.environ, **(env or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.unread: list[Message] = []
        self._rest = b""

    def send(self, request: AnyRequest) -> None:
        """Ask for something, as the client would."""
        assert self.process.stdin is not None
        self.process.stdin.write(msgspec.json.encode(request) + b"\n")
        self.process.stdin.flush()

    def receive(self, kind: str, timeout_s: float = 10.0) -> Message:
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
        return bool(data)

    def close(self) -> None:
        """End it as the agent's death would."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        try:
            self.process.wait(2)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


Serve = Callable[..., Served]


@pytest.fixture
def served() -> Iterator[Serve]:
    """Start a worker by its module's name: ``served("tail")``, with ``python=`` or ``env=`` of its own."""
    started: list[Served] = []

    def start(name: str, *, python: str = sys.executable, env: dict[str, str] | None = None) -> Served:
        started.append(Served(name, python=python, env=env))
        return started[-1]

    yield start
    for one in started:
        one.close()
