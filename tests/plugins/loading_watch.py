"""A loading server that is watched by the real agent and judged by the real state, each second."""

import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

from agent_process import alive, children_of

from tui.benchmark import BenchSpec
from tui.commands.start import watch_request
from tui.events import AnyEvent, Hello, Tick
from tui.session import Session
from tui.transport.agent_source import AgentSource
from tui.transport.local import local_opener
from tui.transport.pipe import Opener, Pipe
from tui.watch.options import WatchOptions
from tui.watch.verdict.verdict import Verdict, Word

SPEC = BenchSpec(url="", model=None, concurrency=1, requests=1, input_tokens=8, output_tokens=8)
STARTED_S = 60.0
"""So long a busy machine may take to start all of it."""

Kind = TypeVar("Kind")
Wrap = Callable[[list[str]], list[str]]


@dataclass(slots=True)
class Watched:
    """What was seen of one server: every event, and a verdict a second but while the host was not heard.

    ``ended_in_s`` is how long the agent took to end when it was told to, ``left`` what was there of it then.
    """

    pids: list[int]
    events: list[AnyEvent] = field(default_factory=list[AnyEvent])
    verdicts: list[Verdict] = field(default_factory=list[Verdict])
    agents: set[int] = field(default_factory=set[int])
    ended_in_s: float = 0.0
    left: set[int] = field(default_factory=set[int])

    @property
    def words(self) -> list[Word]:
        """The words of the verdicts, each change once."""
        words: list[Word] = []
        for verdict in self.verdicts:
            if words[-1:] != [verdict.word]:
                words.append(verdict.word)
        return words

    @property
    def last(self) -> Verdict:
        """The newest verdict."""
        return self.verdicts[-1]

    def all(self, kind: type[Kind]) -> list[Kind]:
        """Return the events of one class."""
        return [event for event in self.events if isinstance(event, kind)]

    def longest_gap_s(self, kind: type[AnyEvent]) -> float:
        """Return the longest time without such an event, from the first one to the end."""
        times = [event.mono_s for event in self.events if isinstance(event, kind)]
        assert times, f"no {kind.__name__} at all"
        times.append(max(event.mono_s for event in self.events))
        return max(later - earlier for earlier, later in pairwise(times))

    def numbers(self, rule: str) -> str:
        """Return what the newest verdict says of a rule."""
        return next((each.numbers for each in self.last.rules if each.rule.startswith(rule)), "")


def server_command(ranks: int, model: Path, port: int) -> list[str]:
    """Return the command of a loading server; from ``-m sglang`` on it reads as a real one's."""
    shown = f"-m sglang.launch_server --model-path {model} --tp {ranks} --port {port}"
    return [sys.executable, "-m", "loading_server", *shown.split()]


def server_environment(phase: str, does: Sequence[str], folder: Path | None = None) -> dict[str, str]:
    """Return what tells it where its ranks stand, what each does, and in which folder."""
    told = {"LOADING_PHASE": phase, "LOADING_RANKS": json.dumps(list(does))}
    plugins = {"PYTHONPATH": str(Path(__file__).parent)}
    return os.environ | plugins | told | ({"LOADING_IN": str(folder)} if folder is not None else {})


def ranks_of(launcher: int, count: int) -> list[int]:
    """Wait for the ranks of a server; return their process ids in order."""
    end_s = time.monotonic() + STARTED_S
    while True:
        found = {_title(pid): pid for pid in children_of(launcher)}
        named = [found.get(f"sglang::scheduler_TP{rank}") for rank in range(count)]
        pids = [pid for pid in named if pid is not None]
        if len(pids) == count:
            return pids
        assert time.monotonic() < end_s, f"no ranks: {found}"
        time.sleep(0.02)


def _title(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0 ").decode()
    except OSError:
        return ""


class LoadingServer:
    """A loading server as processes of this machine: ``pid`` is its launcher's, ``ranks`` are in order."""

    def __init__(self, place: Path, phase: str, does: Sequence[str], port: int) -> None:
        with (place / "server.log").open("wb") as log:
            self._process = subprocess.Popen(
                server_command(len(does), place, port),
                env=server_environment(phase, does),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self.pid = self._process.pid
        self.ranks = ranks_of(self.pid, len(does))

    def close(self) -> None:
        """End it; its ranks and their compilers die with it."""
        self._process.kill()
        self._process.wait()


@asynccontextmanager
async def agent_on(
    launcher: int, pids: list[int], *, environment: dict[str, str] | None = None, wrap: Wrap | None = None
) -> AsyncGenerator[tuple[Watched, Session]]:
    """Watch a server by its launcher's pid; ended at the end, and how long that took is noted."""
    options = WatchOptions(pid=launcher)
    source = AgentSource(
        _opener(os.environ | (environment or {}), wrap),
        watch_request(options),
        reconnect=False,
        python=sys.executable,
    )
    session = Session(source, options, SPEC)
    watched = Watched(pids)
    try:
        yield watched, session
    finally:
        began_s = time.monotonic()
        await session.close()
        watched.ended_in_s = time.monotonic() - began_s
        watched.left = {pid for pid in watched.agents if alive(pid)}


def _opener(environment: dict[str, str], wrap: Wrap | None) -> Opener:
    start = local_opener(environment)

    async def opener(command: list[str]) -> Pipe:
        return await start(command if wrap is None else wrap(command))

    return opener


async def judge(
    watched: Watched, session: Session, until: Callable[[Watched], bool], at_most_s: float
) -> None:
    """Follow the watch until something holds of it, or for so long."""
    end_s = time.monotonic() + at_most_s
    async for event in session.updates():
        watched.events.append(event)
        if not isinstance(event, Tick):
            continue
        verdict = session.state.judged
        if verdict is not None and verdict.heard:
            watched.verdicts.append(verdict)
        if until(watched) or time.monotonic() > end_s:
            break
    for agent in watched.all(Hello):
        watched.agents |= {agent.pid, *children_of(agent.pid)}
