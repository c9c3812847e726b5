"""A driver that hangs, in the whole agent: it is told while it lasts, and nothing else stands still."""

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import msgspec
from agent_process import PATIENCE_S

from tui import events
from tui.agent import wire
from tui.requests import PingRequest, WatchRequest

Message = dict[str, Any]

# The agent with a deadline of 0.2 s instead of 5 s and ten looks a second instead of one.
_AGENT = (
    "from tui.agent import loop, wire; wire.BLOCKING_DEADLINE_S = 0.2; loop._TICK_S = 0.1;"
    "loop.Loop(0, 1).run()"
)
_HANG_S = 4.0
# A busy machine makes any reader silent for moments; this one is silent for so long only while it hangs.
_SURE_S = 1.5
# The hang that holds nothing up lasts for longer than a busy machine takes to end an agent.
_FOR_EVER_S = 600


class Stub(Protocol):
    """The stand-in for NVML."""

    def environment(self, **switches: Any) -> dict[str, str]: ...


class Agent:
    """The agent as a child process; keeps every message it sent."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process
        self._rest = b""
        self.heard: list[Message] = []

    def send(self, request: msgspec.Struct) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(msgspec.json.encode(request) + b"\n")
        self._process.stdin.flush()

    def until(self, kind: str, after: int = 0, **fields: object) -> int:
        """Wait for a message of this kind with these fields; return the place of what follows it."""
        end_s = time.monotonic() + PATIENCE_S
        place = after
        while True:
            for message in self.heard[place:]:
                place += 1
                if message["kind"] == kind and all(message[name] == value for name, value in fields.items()):
                    return place
            self._hear(end_s)

    def _hear(self, end_s: float) -> None:
        out = self._process.stdout
        assert out is not None
        assert select.select([out], [], [], max(0.0, end_s - time.monotonic()))[0], "nothing more was said"
        *lines, self._rest = (self._rest + os.read(out.fileno(), 65536)).split(b"\n")
        for line in lines:
            self.heard.append(json.loads(line))
            events.decode(line)


@contextmanager
def agent(environment: dict[str, str]) -> Generator[Agent]:
    process = subprocess.Popen(
        [sys.executable, "-c", _AGENT],
        cwd=Path(__file__).parents[2],
        env={**os.environ, **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with process:
        yield Agent(process)
        assert process.stdin is not None
        process.stdin.close()
        process.wait(PATIENCE_S)


def test_a_hanging_driver_is_told_while_pings_are_answered_and_readings_go_on_after(nvml_stub: Stub) -> None:
    with agent(nvml_stub.environment(gpus=2, hang=(1, 1.0, _HANG_S))) as watched:
        watched.send(WatchRequest(matchers=[], interval_s=0.05, discover=False))
        watched.until(wire.GPUS)
        silent = watched.until(wire.GPU_DRIVER, state="silent")
        assert watched.heard[silent - 1]["silent_s"] > 0.2
        while watched.heard[silent - 1]["silent_s"] < _SURE_S:
            silent = watched.until(wire.GPU_DRIVER, silent, state="silent")
        assert "has not answered" in watched.heard[silent - 1]["sentence"]
        watched.send(PingRequest(sent_s=1.0))
        pong = watched.until(wire.PONG, silent)
        again = watched.until(wire.GPU_DRIVER, silent, state="ok")
        assert pong < again
        watched.until(wire.GPUS, again)


def test_a_hanging_reader_does_not_hold_up_the_end_of_the_agent(nvml_stub: Stub) -> None:
    with agent(nvml_stub.environment(gpus=1, hang=(0, 0, _FOR_EVER_S))) as watched:
        watched.send(WatchRequest(matchers=[], interval_s=0.05, discover=False))
        watched.until(wire.GPU_DRIVER, state="silent")
        ended_s = time.monotonic()
    assert time.monotonic() - ended_s < PATIENCE_S
