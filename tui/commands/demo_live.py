"""The real half of a demo on the screen: a server that can be benchmarked, and what a benchmark brings."""

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Sequence

import msgspec

from tui.bench.workload import Workload
from tui.benchmark import BenchProgress, BenchRecords, BenchResult
from tui.demo.live import LiveServer
from tui.demo.processes import LOG_PATH
from tui.events import AnyEvent, Link, Log, Notice
from tui.replay.headless import Step
from tui.requests import AnyRequest, BenchCancelRequest, BenchRequest
from tui.source import Source
from tui.watch.benching import Benching
from tui.watch.state import WatchState

BUSY_FOR_S = 1.5
"""Progress is told twice a second; without any for so long nothing is generated."""
REPORT_EVERY_S = 1.0


class DemoLive:
    """Stands beside the tape of a scenario (the Live of ``tui.replay.player``).

    The server answers from the moment at which the tape is ready; a benchmark of it is a real one, run by a
    local agent that the first one starts.
    """

    def __init__(
        self, server: LiveServer, workloads: Sequence[Workload], agent: Callable[[], Source]
    ) -> None:
        self._server = server
        self._benching = Benching(workloads)
        self._agent_made = agent
        self._agent: Source | None = None
        self._asked: asyncio.Queue[AnyRequest] = asyncio.Queue()
        self._armed = False
        self._running: str | None = None
        self._failed = False
        self._results: list[BenchResult] = []
        self._state: WatchState | None = None
        self._wall_s = 0.0
        self._busy_until_s = 0.0
        self._report = _Report()

    def busy(self) -> bool:
        """Whether the server generates for a benchmark right now, at a moment at which it is ready."""
        return self._ready and time.monotonic() < self._busy_until_s

    async def events(self) -> AsyncIterator[AnyEvent]:
        """Iterate over what benchmarks tell; an agent that ends is started again by the next one."""
        while True:
            first = await self._asked.get()
            self._agent = self._agent_made()
            self._agent.send(first)
            async for event in self._agent:
                for each in self._told(event):
                    yield each
            self._agent = None

    @property
    def _ready(self) -> bool:
        """Whether the tape stands where its server answers: before that nothing of it is generated."""
        return self._state is not None and self._state.ready

    def took(self, step: Step, state: WatchState) -> None:
        """Open the server's port when the tape is ready; fire what is armed then."""
        self._wall_s = step.event.wall_s
        if state.ready:
            self._server.open()
        if state is not self._state:
            self._carry_over(state)
        if self._failed:
            self._failed = False
            state.bench.cut()
        newest = state.bench.results[-1] if state.bench.results else None
        if state.bench.running is None and newest is not None and self._benching.goes_on(newest):
            self._fire(state)
        if state.bench_due:
            self._begin(state)

    def start_bench(self, state: WatchState) -> str:
        """Fire the benchmark, or arm it until the server is ready; return which, in a sentence."""
        if state is not self._state:
            self._carry_over(state)
        if state.bench.running is not None:
            return "a benchmark is running already; Esc cancels it"
        if state.ready:
            self._begin(state)
            return "the benchmark runs"
        self._armed = True
        state.bench.arm()
        return "the benchmark will fire when the server is ready"

    def cancel_bench(self, state: WatchState) -> str:
        """Cancel or disarm the benchmark; return what was done, in a sentence."""
        self._benching.stop()
        running = state.bench.running
        if running is not None:
            self._send(BenchCancelRequest(run=running))
            return "cancelling the benchmark; what was measured is kept"
        if state.bench.armed:
            self._armed = False
            state.bench.disarm()
            return "the benchmark will not fire"
        return "no benchmark is running"

    def _carry_over(self, state: WatchState) -> None:
        """Tell the state that a jump back has begun of the benchmarks: they are real and were not undone."""
        self._state = state
        for result in self._results:
            state.bench.take(result)
        if self._armed:
            state.bench.arm()
        if self._running is not None:
            state.bench.started(self._running)

    async def close(self) -> None:
        """End the server and the agent; closing twice is allowed."""
        if self._agent is not None:
            await self._agent.close()
        await self._server.close()

    @property
    def benching(self) -> Benching:
        """What can be fired, and what is chosen of it."""
        return self._benching

    def _begin(self, state: WatchState) -> None:
        self._armed = False
        self._benching.begin(uuid.uuid4().hex[:8], despite_load=state.bench.busy)
        self._fire(state)

    def _fire(self, state: WatchState) -> None:
        run = uuid.uuid4().hex[:8]
        level = self._benching.next(run)
        if level is None:
            return
        spec = msgspec.structs.replace(level, url=f"http://127.0.0.1:{self._server.port}", model=state.model)
        self._send(BenchRequest(run=run, spec=spec, prompts=self._benching.chosen.prompts_of(spec)))
        self._running = run
        state.bench.started(run, spec)

    def _send(self, request: AnyRequest) -> None:
        if self._agent is not None:
            self._agent.send(request)
        else:
            self._asked.put_nowait(request)

    def _told(self, event: AnyEvent) -> Iterator[AnyEvent]:
        """Return what of an agent's event concerns the demo: its benchmarks, and why it has ended."""
        if isinstance(event, Link) and event.state == "failed":
            self._running, self._failed = None, True
            yield _notice(event)
        if isinstance(event, BenchProgress | BenchRecords | BenchResult):
            yield event
        if isinstance(event, BenchProgress) and event.in_flight:
            now_s = time.monotonic()
            self._busy_until_s = now_s + BUSY_FOR_S
            if self._ready:
                yield from self._report.lines(event, now_s, self._wall_s)
        if isinstance(event, BenchResult):
            self._busy_until_s, self._running = 0.0, None
            self._results.append(event)


class _Report:
    """The throughput lines that an engine prints while it generates."""

    def __init__(self) -> None:
        self._before: BenchProgress | None = None
        self._said_s = 0.0

    def lines(self, progress: BenchProgress, now_s: float, wall_s: float) -> Iterator[Log]:
        """Yield a line a second."""
        before = self._before
        if before is not None and before.run == progress.run and now_s - self._said_s < REPORT_EVERY_S:
            return
        same = before is not None and before.run == progress.run and before.stage == progress.stage
        made = progress.output_tokens - (before.output_tokens if before is not None and same else 0)
        took_s = progress.elapsed_s - (before.elapsed_s if before is not None and same else 0.0)
        self._before, self._said_s = progress, now_s
        if made > 0 and took_s > 0:
            yield _decode_line(progress, made / took_s, wall_s)


def _decode_line(progress: BenchProgress, tokens_per_s: float, wall_s: float) -> Log:
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(wall_s))
    line = (
        f"[{when} TP0] Decode batch, #running-req: {progress.in_flight}, token usage: 0.00, "
        f"cuda graph: True, gen throughput (token/s): {tokens_per_s:.2f}, #queue-req: 0"
    )
    return Log(
        mono_s=progress.mono_s,
        wall_s=wall_s,
        lines=[line],
        tail="",
        returns=[],
        path=LOG_PATH,
        device=1,
        inode=1,
        offset=0,
    )


def _notice(link: Link) -> Notice:
    sentence = f"no benchmark: {link.sentence}"
    return Notice(mono_s=link.mono_s, wall_s=link.wall_s, level="error", about="bench", sentence=sentence)
