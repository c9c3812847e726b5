"""The demo's stream: the agent's events with simulated GPUs, and nothing of this machine's other servers."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence

from tui.agent import wire
from tui.demo.launch import Launch
from tui.demo.source import HOST, DemoSource, tree
from tui.events import AnyEvent, GpuDriver, GpuFacts, GpuProcesses, Gpus, Hello, Notice, Process, Processes
from tui.requests import AnyRequest, PingRequest, WatchRequest


class Scripted:
    """An agent that tells what it is given and then is silent."""

    def __init__(self, events: Sequence[AnyEvent]) -> None:
        self.events = events
        self.requests: list[AnyRequest] = []
        self.closed = False

    async def __aiter__(self) -> AsyncIterator[AnyEvent]:
        for event in self.events:
            yield event
        await asyncio.Event().wait()

    def send(self, request: AnyRequest) -> None:
        self.requests.append(request)

    async def close(self) -> None:
        self.closed = True


def hello() -> Hello:
    return Hello(
        mono_s=1.0, wall_s=1.0, protocol=wire.PROTOCOL, host="laptop", user="u", uid=1, pid=2, boot_id="b",
        python="3.11.0", kernel="6", cpu_count=2, memory_total_mib=1024,
    )  # fmt: skip


def process(pid: int, ppid: int, title: str = "python3") -> Process:
    return Process(
        pid=pid, ppid=ppid, started_s=0.0, uid=1, user="u", state="S", title=title, argv=None, matched=None,
        cwd=None, stdout=None, stderr=None, container=None, environment=None,
    )  # fmt: skip


async def until(source: DemoSource, enough: Callable[[list[AnyEvent]], bool]) -> list[AnyEvent]:
    """Take events until there are enough."""
    seen: list[AnyEvent] = []
    async for event in source:
        seen.append(event)
        if enough(seen):
            break
    return seen


async def test_the_host_is_marked_and_a_notice_says_what_it_is(engine: Launch) -> None:
    source = DemoSource(Scripted([hello()]), engine, 1.0)

    seen = await until(source, lambda events: any(isinstance(each, Gpus) for each in events))

    assert isinstance(seen[0], Hello)
    assert seen[0].host == HOST
    assert [type(each) for each in seen[1:4]] == [Notice, GpuDriver, GpuFacts]
    assert isinstance(seen[1], Notice)
    assert seen[1].sentence.startswith("SIMULATED")


async def test_the_agent_leaves_the_gpus_of_the_machine_alone(engine: Launch) -> None:
    agent = Scripted([])
    source = DemoSource(agent, engine, 1.0)

    source.send(WatchRequest(matchers=[], interval_s=0.5))
    source.send(PingRequest(sent_s=1.0))

    assert agent.requests == [WatchRequest(matchers=[], interval_s=0.5, gpus=False), PingRequest(sent_s=1.0)]


async def test_only_the_simulated_tree_is_seen_and_each_rank_holds_its_gpu(engine: Launch) -> None:
    other = process(1, 0, "sglang::scheduler_TP0")
    ours = [process(engine.pid, 7), process(1_000_001, engine.pid, "sglang::scheduler_TP3")]
    found = Processes(mono_s=1.0, wall_s=1.0, processes=[other, *ours])
    source = DemoSource(Scripted([hello(), found]), engine, 1.0)

    seen = await until(source, lambda events: any(isinstance(each, GpuProcesses) for each in events))

    assert [each.processes for each in seen if isinstance(each, Processes)] == [ours]
    held = next(each for each in seen if isinstance(each, GpuProcesses))
    assert [(each.index, each.pid) for each in held.processes] == [(3, 1_000_001)]


def test_a_tree_is_its_root_and_all_beneath() -> None:
    all_of_them = [process(1, 0), process(2, 1), process(3, 2), process(4, 1), process(5, 99)]

    assert [each.pid for each in tree(all_of_them, 2)] == [2, 3]


async def test_closing_closes_agent_and_engine(engine: Launch) -> None:
    agent = Scripted([])
    source = DemoSource(agent, engine, 1.0)

    await source.close()
    await source.close()

    assert agent.closed
    assert not engine.log_path.exists()
