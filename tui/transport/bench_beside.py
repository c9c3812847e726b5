"""A source that cannot run a benchmark itself, with a local agent beside it that can."""

from collections.abc import AsyncIterator, Callable

import msgspec

from tui.benchmark import BenchProgress, BenchRecords, BenchResult
from tui.events import AnyEvent, Link
from tui.requests import AnyRequest, BenchCancelRequest, BenchRequest
from tui.source import Source
from tui.streams import Pump

QUEUE_EVENTS = 64


class BenchBeside:
    """Gives the events of one source, and those of benchmarks that a local agent runs for it.

    The agent is started by the first benchmark and ended with the source; ``measured_on`` of the results is
    this machine. Should the agent end first, its last link event says why, and the next benchmark starts
    another one.
    """

    def __init__(self, source: Source, local_agent: Callable[[], Source]) -> None:
        self._source = source
        self._local_agent = local_agent
        self._agent: Source | None = None
        self._ended: list[Source] = []
        self._pump = Pump(QUEUE_EVENTS)

    async def __aiter__(self) -> AsyncIterator[AnyEvent]:
        self._pump.add(aiter(self._source), ends=True)
        while (event := await self._pump.take()) is not None:
            yield event

    def send(self, request: AnyRequest) -> None:
        """Pass a benchmark to the local agent and everything else to the source."""
        if isinstance(request, BenchRequest):
            self._bench_agent().send(msgspec.structs.replace(request, measured_on="this_machine"))
        elif isinstance(request, BenchCancelRequest):
            if self._agent is not None:
                self._agent.send(request)
        else:
            self._source.send(request)

    async def close(self) -> None:
        """End both; closing twice is allowed."""
        await self._source.close()
        for agent in (*self._ended, *([] if self._agent is None else [self._agent])):
            await agent.close()
        await self._pump.close()

    def _bench_agent(self) -> Source:
        if self._agent is None:
            self._agent = self._local_agent()
            self._pump.add(aiter(self._agent), ends=False, keep=self._concerns_a_bench)
        return self._agent

    def _concerns_a_bench(self, event: AnyEvent) -> bool:
        failed = isinstance(event, Link) and event.state == "failed"
        if failed and self._agent is not None:
            self._ended.append(self._agent)
            self._agent = None
        return failed or isinstance(event, BenchProgress | BenchRecords | BenchResult)
