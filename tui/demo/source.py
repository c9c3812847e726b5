"""The demo's events: the real local agent watching the simulated engine, with simulated GPUs put in."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Iterator

import msgspec

from tui.demo import curve
from tui.demo.launch import Launch
from tui.events import (
    AnyEvent,
    BenchProgress,
    GpuDetails,
    GpuDriver,
    GpuFacts,
    GpuProcess,
    GpuProcesses,
    Gpus,
    Hello,
    Notice,
    Process,
    Processes,
)
from tui.requests import AnyRequest, WatchRequest
from tui.source import Source

HOST = "SIMULATED"
DETAILS_EVERY_S = 5.0
BUSY_FOR_S = 1.5
NOTICE = "SIMULATED: a recorded load of SGLang on 8 H200 GPUs, replayed without any GPU"


class DemoSource:
    """Wraps the agent's stream: GPUs come from the curve, and only the simulated engine is seen."""

    def __init__(self, agent: Source, engine: Launch, speed: float) -> None:
        self._agent = agent
        self._engine = engine
        self._speed = speed
        self._curve = curve.Curve()
        self._began_s = time.monotonic()
        self._interval_s = 1.0
        self._sample_due_s: float | None = None
        self._details_due_s = 0.0
        self._busy_until_s = 0.0

    async def __aiter__(self) -> AsyncIterator[AnyEvent]:
        events = aiter(self._agent)
        coming = asyncio.ensure_future(anext(events, None))
        try:
            while True:
                await asyncio.wait({coming}, timeout=self._until_sample_s())
                if coming.done():
                    event = coming.result()
                    if event is None:
                        return
                    coming = asyncio.ensure_future(anext(events, None))
                    for each in self._changed(event):
                        yield each
                for sample in self._samples():
                    yield sample
        finally:
            coming.cancel()

    def send(self, request: AnyRequest) -> None:
        """Pass a request on; the agent is told to leave the machine's own GPUs alone."""
        if isinstance(request, WatchRequest):
            self._interval_s = request.interval_s
            request = msgspec.structs.replace(request, gpus=False)
        self._agent.send(request)

    async def close(self) -> None:
        """End the agent and the engine."""
        await self._agent.close()
        await self._engine.close()

    def _until_sample_s(self) -> float | None:
        if self._sample_due_s is None:
            return None
        return max(0.0, self._sample_due_s - time.monotonic())

    def _changed(self, event: AnyEvent) -> Iterable[AnyEvent]:
        """Return what takes the place of one event of the agent."""
        if isinstance(event, Hello):
            self._sample_due_s = time.monotonic()
            return (msgspec.structs.replace(event, host=HOST), _notice(), curve.driver(), curve.facts())
        if isinstance(event, Processes):
            return self._own(event)
        if isinstance(event, BenchProgress) and event.in_flight:
            self._busy_until_s = time.monotonic() + BUSY_FOR_S
        if isinstance(event, Gpus | GpuDetails | GpuDriver | GpuFacts | GpuProcesses):
            return ()
        return (event,)

    def _own(self, event: Processes) -> Iterator[AnyEvent]:
        """Leave only the simulated engine's tree, and give each of its ranks its GPU."""
        processes = tree(event.processes, self._engine.pid)
        yield msgspec.structs.replace(event, processes=processes, hidden=0)
        held = self._curve.figures(self._at_s(), busy=False)
        ranks = [(each.pid, each.title.rpartition("_TP")[2]) for each in processes if "_TP" in each.title]
        rows = [
            GpuProcess(index=int(rank), pid=pid, memory_mib=held[int(rank)][0])
            for pid, rank in ranks
            if rank.isdigit() and int(rank) < curve.GPUS
        ]
        if rows:
            now_s = time.monotonic()
            yield GpuProcesses(mono_s=now_s, wall_s=time.time(), client_s=now_s, processes=rows)

    def _samples(self) -> Iterator[AnyEvent]:
        now_s = time.monotonic()
        if self._sample_due_s is None or now_s < self._sample_due_s:
            return
        self._sample_due_s = now_s + self._interval_s
        busy = now_s < self._busy_until_s
        yield self._curve.samples(self._at_s(), busy=busy)
        if now_s >= self._details_due_s:
            self._details_due_s = now_s + DETAILS_EVERY_S
            yield self._curve.details(self._at_s(), busy=busy)

    def _at_s(self) -> float:
        return (time.monotonic() - self._began_s) * self._speed


def tree(processes: list[Process], root: int) -> list[Process]:
    """Return the processes of which ``root`` is an ancestor, and itself, in their order."""
    parents = {each.pid: each.ppid for each in processes}

    def belongs(pid: int) -> bool:
        while pid in parents and pid != root:
            pid = parents[pid]
        return pid == root

    return [each for each in processes if belongs(each.pid)]


def _notice() -> Notice:
    now_s = time.monotonic()
    return Notice(
        mono_s=now_s, wall_s=time.time(), client_s=now_s, level="info", about="demo", sentence=NOTICE
    )
