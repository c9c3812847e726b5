"""The signals reader over real processes: what it says of them, found by what holds."""

import subprocess
import time
from collections.abc import Callable

import pytest
from agent_process import Agent

from tui import events
from tui.agent import wire
from tui.requests import PingRequest
from tui.signals import CompilerSignals, ProcessSignals, Signals

QUICK = """
import tui.agent.signals.worker as w, tui.agent.signals.shards as s
w.LOOK_S, w.HOST_S, s._EVERY_S, s._SHARE = 0.05, 0.2, 0.1, 1.0
"""

# What is mapped is read each 5 s at most, and later still where reading it is dear on a busy machine.
PATIENCE_S = 60.0

Process = subprocess.Popen[str]
Launch = Callable[..., Process]
Follow = Callable[..., Agent]


def tell(process: Process, line: str = "") -> None:
    assert process.stdin is not None
    process.stdin.write(line + "\n")
    process.stdin.flush()


def told(agent: Agent, holds: Callable[[Signals], object]) -> Signals:
    """Return the first signals for which that holds."""
    end_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < end_s:
        agent.send(PingRequest(sent_s=0.0))  # an agent that hears nothing for 15 s ends
        event = events.convert(agent.receive(wire.SIGNALS))
        assert isinstance(event, Signals)
        if holds(event):
            return event
    pytest.fail(f"no such signals within {PATIENCE_S:g} s")


def of(agent: Agent, pid: int, holds: Callable[[ProcessSignals], object]) -> ProcessSignals:
    """Return the first reading of this process for which that holds."""
    event = told(agent, lambda event: any(each.pid == pid and holds(each) for each in event.processes))
    return next(each for each in event.processes if each.pid == pid)


def compiled(agent: Agent, pid: int, holds: Callable[[CompilerSignals], object]) -> CompilerSignals:
    """Return the first figures of the compilers under this process for which that holds."""
    event = told(agent, lambda event: any(each.pid == pid and holds(each) for each in event.compilers))
    return next(each for each in event.compilers if each.pid == pid)
