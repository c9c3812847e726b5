"""A URL alone: benchmarks by an agent on this machine, which may end before the watch does."""

import asyncio
from collections.abc import AsyncIterator

import msgspec

from tui.benchmark import BenchSpec
from tui.events import AnyEvent, Link
from tui.requests import AnyRequest, BenchRequest
from tui.source import Source
from tui.transport.bench_beside import BenchBeside

SPEC = BenchSpec(
    url="http://127.0.0.1:1", model=None, concurrency=1, requests=1, input_tokens=1, output_tokens=1
)


class Scripted:
    """A source that gives what is put into it, until it is closed."""

    def __init__(self) -> None:
        self.events: asyncio.Queue[AnyEvent | None] = asyncio.Queue()
        self.asked: list[AnyRequest] = []
        self.closed = False

    async def __aiter__(self) -> AsyncIterator[AnyEvent]:
        while (event := await self.events.get()) is not None:
            yield event

    def send(self, request: AnyRequest) -> None:
        self.asked.append(request)

    async def close(self) -> None:
        self.closed = True
        self.events.put_nowait(None)


async def _first(source: Source) -> AnyEvent:
    return await anext(aiter(source))


async def test_the_benchmark_after_the_end_of_its_agent_starts_another_one() -> None:
    agents: list[Scripted] = []

    def start() -> Scripted:
        agents.append(Scripted())
        return agents[-1]

    beside = BenchBeside(Scripted(), start)
    failed = Link(mono_s=0.0, wall_s=0.0, client_s=0.0, state="failed", sentence="the agent ended")
    coming = asyncio.create_task(_first(beside))
    for run in ("first", "second"):
        beside.send(BenchRequest(run=run, spec=SPEC))
    agents[0].events.put_nowait(failed)
    assert await coming == failed

    beside.send(BenchRequest(run="third", spec=SPEC))
    runs = [[msgspec.to_builtins(each)["run"] for each in agent.asked] for agent in agents]
    assert runs == [["first", "second"], ["third"]]
    await beside.close()
    assert [agent.closed for agent in agents] == [True, True]
