"""A server that others use: a person is asked, a program is told."""

import asyncio
import os
from collections.abc import AsyncIterator

import pytest
from msgspec.structs import replace

from tui.benchmark import BenchResult
from tui.commands import bench_run, bench_tell
from tui.commands.bench import Heard, without_figures
from tui.commands.bench_plan import plan_for
from tui.commands.bench_run import Chain, Host
from tui.events import AnyEvent
from tui.requests import AnyRequest, BenchRequest
from tui.settings import Choices
from tui.watch.options import WatchOptions


class Busy:
    """A source whose server others use: it measures nothing unless that is wanted all the same."""

    def __init__(self) -> None:
        self.asked: list[BenchRequest] = []
        self._events: asyncio.Queue[AnyEvent] = asyncio.Queue()

    async def __aiter__(self) -> AsyncIterator[AnyEvent]:
        while True:
            yield await self._events.get()

    def send(self, request: AnyRequest) -> None:
        if isinstance(request, BenchRequest):
            self.asked.append(request)
            self._events.put_nowait(self._result(request))

    async def close(self) -> None:
        pass

    def _result(self, request: BenchRequest) -> BenchResult:
        if request.spec.despite_load:
            return replace(without_figures(request, "failed", "measured"), outcome="done", completed=1)
        busy = without_figures(request, "failed", "3 requests of others run on the server")
        return replace(busy, fault="busy", others_running=3.0)


async def made(choices: Choices) -> tuple[Busy, Chain]:
    """Run a workload against a busy server."""
    source, options = Busy(), WatchOptions(url=choices.url)
    workload = plan_for(choices, {"TMINUS_CONFIG": "/none/config.toml"})
    heard, host = Heard(source), Host(source, options, near=False)
    chain = Chain(choices, workload, source, heard, host, asyncio.Event())
    await chain.run(options)
    await heard.close()
    return source, chain


CHOICES = Choices(url="http://h:1", concurrency=(1, 2), requests=2, record=False)


@pytest.mark.parametrize(
    ("said", "despite", "faults"),
    [(b"y\n", [False, True, True], ["", ""]), (b"n\n", [False], ["busy"]), (b"", [False], ["busy"])],
    ids=["yes", "no", "end"],
)
async def test_a_person_is_asked_once_and_only_a_yes_measures(
    monkeypatch: pytest.MonkeyPatch, said: bytes, despite: list[bool], faults: list[str]
) -> None:
    theirs, ours = os.pipe()
    os.write(ours, said)
    os.close(ours)
    monkeypatch.setattr(bench_tell, "STDIN", theirs)
    monkeypatch.setattr(bench_run, "can_ask", lambda: True)

    source, chain = await made(CHOICES)

    os.close(theirs)
    assert [each.spec.despite_load for each in source.asked] == despite
    assert [each.fault for each in chain.results] == faults
    assert len({each.run for each in source.asked}) == len(source.asked)


async def test_where_nobody_can_be_asked_nothing_is_measured() -> None:
    source, chain = await made(CHOICES)

    assert [each.spec.despite_load for each in source.asked] == [False]
    assert chain.results[0].others_running == 3.0


async def test_anyway_asks_nobody() -> None:
    choices = Choices(url="http://h:1", requests=2, record=False, anyway=True)

    source, chain = await made(choices)

    assert [each.spec.despite_load for each in source.asked] == [True]
    assert chain.results[0].completed == 1
