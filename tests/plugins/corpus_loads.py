"""A server whose log is a real one, played at its own pace, while its ranks do what its phase asks for."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import TypedDict

from start_logs import CORPUS, ReadLog, corpus, engine_of
from verdict_host import IDLES, LOADS, POLLS, Doing, VerdictHost

from tui.engines.base import Engine
from tui.engines.phase import Phase
from tui.events import AnyEvent, Hello, Link, Log, LogSource, Probe, Process, Processes, Rung
from tui.explain.sources import LogFile
from tui.replay.log_lines import Batch, TimedLog
from tui.watch.options import WatchOptions
from tui.watch.state import WatchState
from tui.watch.verdict.movement import Movement
from tui.watch.verdict.verdict import Verdict

LOG = "/srv/server.log"
MAIN, CORE, FIRST_RANK = 100, 99, 101
RANKS = 3
JIT_S = 1200
BRIEF_S = 420
"""A build that lasts longer than the longest silence that any rule takes for a stall (302 s)."""
SERVES_S = 45
BUILDS = (Phase.COMPILE, Phase.CAPTURE)

# What healthy ranks do in each phase, as measured or less.
IMPORTS = Doing(state="R", wchan="0", cpu=1.0, wakeups=20.0, anon_mib=12.0, file_mib=3.0)
REPACKS = Doing(state="R", wchan="0", cpu=1.0)
TRACES = Doing(state="R", wchan="0", cpu=1.0, compilers=("compile_worker",), compiler_cpu=0.5)
CAPTURES = Doing(state="R", wchan="0", cpu=1.0, wakeups=30.0, memory_mib=14.0, util=39.0, power_w=281.0)
WARMS = Doing(cpu=0.3, wakeups=50.0, util=30.0, memory_util=5.0, power_w=300.0)
HEALTHY = {
    Phase.LAUNCH: IMPORTS,
    Phase.DISTRIBUTED: POLLS,
    Phase.WEIGHTS: LOADS,
    Phase.KV_CACHE: REPACKS,
    Phase.COMPILE: TRACES,
    Phase.CAPTURE: CAPTURES,
    Phase.START_API: WARMS,
    Phase.WARMUP: WARMS,
    Phase.READY: IDLES,
}


class At(TypedDict):
    """The three clocks of an event."""

    mono_s: float
    wall_s: float
    client_s: float


@dataclass(frozen=True, slots=True)
class Story:
    """A log up to its first word for ready: batches of lines in time, and where a build may stand in it.

    ``cut`` is how many batches come before the build, in ``phase``; ``ready_t`` when the log says ready;
    ``build_s`` how long the build lasts.
    """

    name: str
    engine: Engine
    batches: tuple[Batch, ...]
    cut: int
    phase: Phase
    ready_t: float
    build_s: int = JIT_S

    @property
    def words(self) -> str:
        """Its name among tests."""
        return f"{self.name.removesuffix('.log')} in {self.phase.value}"


@dataclass(frozen=True, slots=True)
class Judged:
    """What was thought at a moment; ``built_s`` is for how long the build had lasted, None outside of it."""

    verdict: Verdict
    built_s: int | None


@cache
def stories() -> list[Story]:
    """Return each log of the corpus that gets ready, once for each phase in which it can build kernels.

    The whole 20 minutes are built in one log of each engine for each phase, in all with TMINUS_LONG=1.
    """
    logs = (name for name, expected in sorted(corpus().items()) if "ready" in expected["phase"])
    told = [story for name in logs for story in _stories(name)]
    if float(os.environ.get("TMINUS_LONG", "0.1")) >= 1:
        return told
    first = {(story.engine.name, story.phase): story for story in reversed(told)}
    return [
        story if first[story.engine.name, story.phase] is story else replace(story, build_s=BRIEF_S)
        for story in told
    ]


def _stories(name: str) -> Iterator[Story]:
    engine = engine_of(corpus()[name])
    log, number, kept = ReadLog(engine), 0, list[Batch]()
    first: dict[Phase, int] = {}
    for batch in TimedLog(LogFile(str(CORPUS / name), "")).batches():
        kept.append(batch)
        for line in batch.lines:
            number += 1
            log.read(number, line)
        phase = log.phases.phase
        if log.phases.outcome == "ready":
            break
        if phase is not None:
            first.setdefault(phase, len(kept))
    else:
        return
    # A log without such a phase builds in the last one that it has.
    builds = [phase for phase in BUILDS if phase in first] or list(first)[-1:] or [Phase.LAUNCH]
    for phase in builds:
        yield Story(name, engine, tuple(kept), first.get(phase, 0), phase, kept[-1].t)


class _Told(Movement):
    """Hands what a host tells to a state instead."""

    __slots__ = ("state",)

    def __init__(self, state: WatchState) -> None:
        super().__init__()
        self.state = state

    def take(self, event: AnyEvent) -> None:
        self.state.apply(event)

    def heard(self, at_s: float) -> None:
        del at_s


class CorpusLoad:
    """A story that is watched: ``play`` lets it happen and tells a verdict each second."""

    def __init__(self, story: Story) -> None:
        self.story = story
        self.state = WatchState(WatchOptions())
        alone = story.engine.name not in _TITLES
        self.host = VerdictHost(1 if alone else RANKS, movement=_Told(self.state))
        self.host.situation = self.host.at()
        self._tell(_hello(), Link(**self._at(), state="up", sentence=""))
        self._tell(Processes(**self._at(), processes=self._processes(alone=alone)))
        self._tell(LogSource(**self._at(), path=LOG, state="open", sentence=""))

    @property
    def builder(self) -> int:
        """The process id of the rank that builds."""
        return FIRST_RANK + self.host.count - 1

    def play(self, builds: Doing, others: Doing) -> Iterator[Judged]:
        """Play the log, hold it while a build lasts in its phase, play on, and let the server serve."""
        batches = list(self.story.batches)
        yield from self._lines(batches[: self.story.cut])
        yield from self._build(builds, others)
        yield from self._lines(batches[self.story.cut :], batches[self.story.cut - 1].t)
        self._becomes_ready()
        for _ in range(SERVES_S):
            yield self._second(None)

    def _build(self, builds: Doing, others: Doing) -> Iterator[Judged]:
        for second in range(1, self.story.build_s + 1):
            doing = [others] * (self.host.count - 1)
            yield self._second(second, [*doing, builds])

    def _lines(self, batches: list[Batch], from_t: float = 0.0) -> Iterator[Judged]:
        t = from_t
        for batch in batches:
            while t + 1.0 <= batch.t:
                t += 1.0
                yield self._second(None)
            self._tell(
                Log(
                    **self._at(),
                    lines=batch.lines,
                    tail="",
                    returns=batch.returns,
                    path=LOG,
                    device=1,
                    inode=2,
                    offset=0,
                )
            )

    def _second(self, built_s: int | None, doing: list[Doing] | None = None) -> Judged:
        healthy = HEALTHY.get(self.state.phase or Phase.LAUNCH, WARMS)
        self.host.doing = doing or [healthy] * self.host.count
        self.host.run(1)
        verdict = self.state.judged
        # Nothing is judged while nothing could have moved yet.
        return Judged(verdict or Verdict("quiet", self.host.now_s, ""), built_s)

    def _becomes_ready(self) -> None:
        rungs: tuple[Rung, ...] = ("port", "health", "models", "token")
        for rung in rungs:
            self._tell(
                Probe(
                    **self._at(),
                    rung=rung,
                    outcome="ok",
                    latency_ms=1.0,
                    detail="200 OK",
                    url="http://127.0.0.1:30000",
                    status=200,
                    models=["m"] if rung == "models" else [],
                    model="m" if rung == "token" else None,
                )
            )

    def _tell(self, *events: AnyEvent) -> None:
        for event in events:
            self.state.apply(event)

    def _at(self) -> At:
        return At(mono_s=self.host.now_s, wall_s=self.host.now_s, client_s=self.host.now_s)

    def _processes(self, *, alone: bool) -> list[Process]:
        started_s = self.host.now_s
        command = _COMMANDS.get(self.story.engine.name, "vllm serve m")
        matched = self.story.engine.name if self.story.engine.name in _COMMANDS else "vllm"
        if alone:
            return [_process(FIRST_RANK, 1, command, started_s, matched)]
        title = _TITLES[self.story.engine.name]
        ranks = [
            _process(FIRST_RANK + rank, MAIN, title.format(rank=rank), started_s) for rank in range(RANKS)
        ]
        return [_process(MAIN, 1, f"{command} {_COUNT[matched]} {RANKS}", started_s, matched), *ranks]


_COMMANDS = {
    "sglang": "python3 -m sglang.launch_server --model-path m",
    "vllm": "vllm serve m",
    "tgi": "text-generation-launcher --model-id m",
    "trtllm": "trtllm-serve m",
    "llamacpp": "llama-server -m m",
}
_COUNT = {"sglang": "--tp", "vllm": "--tensor-parallel-size", "tgi": "--num-shard"}
# In the others the server itself is the one rank.
_TITLES = {
    "sglang": "sglang::scheduler_TP{rank}",
    "vllm": "VLLM::Worker_TP{rank}",
    "tgi": "/usr/bin/python3 /usr/bin/text-generation-server serve m --sharded",
}


def _process(pid: int, ppid: int, title: str, started_s: float, matched: str | None = None) -> Process:
    return Process(
        pid=pid,
        ppid=ppid,
        started_s=started_s,
        uid=1000,
        user="someone",
        state="S",
        title=title,
        argv=title.split(),
        matched=matched,
        cwd="/srv",
        stdout=LOG,
        stderr=LOG,
        container=None,
        environment={},
    )


def _hello() -> Hello:
    return Hello(
        mono_s=5000.0,
        wall_s=5000.0,
        client_s=5000.0,
        protocol=1,
        host="gpu-box",
        user="someone",
        uid=1000,
        pid=1,
        boot_id="boot",
        python="3.12.3",
        kernel="6.8.0",
        cpu_count=64,
        memory_total_mib=1024,
    )
