"""``tminus bench``: find the server, run the levels of a workload beside it, print what came of it."""

import asyncio
import json
import sys
import uuid

from msgspec.structs import replace

from tui.bench.report import LOST, exit_code, json_object, level_lines, text_lines
from tui.bench.workload import Workload, goes_on_after
from tui.benchmark import BenchProgress, BenchRecords, BenchResult, BenchSpec
from tui.commands import bench_keep, bench_plan, start
from tui.commands.ask import terminal_asker
from tui.commands.bench import Heard, Listeners, SourceEnded, bench
from tui.commands.bench_find import NoServer, find, for_server
from tui.commands.bench_tell import Teller, agrees, can_ask
from tui.engines.counters import counters_for, figures_of
from tui.events import AnyEvent, Goodbye, Link
from tui.requests import BenchRequest, FollowRequest, ProveRequest
from tui.runs.keeping import KeptRuns
from tui.settings import Choices
from tui.source import Source
from tui.terminal import exit_signals, outputs_are_one
from tui.transport.clean import clean
from tui.transport.faults import sentence_of
from tui.transport.refused_bench import without_figures
from tui.watch.options import WatchOptions
from tui.watch.proving import prove_request
from tui.watch.state import WatchState

CLOSE_S = 5.0
BENCH = (BenchProgress, BenchRecords, BenchResult)


class Host:
    """What is heard of the host: its state, and why it cannot be reached any more.

    What the state wants to know of the server it follows is asked for, so that a kept run can say under what
    it was made; all but probes, which are requests themselves. ``near`` False: nothing of this machine, where
    only the load generator runs, belongs to the server.
    """

    def __init__(self, source: Source, options: WatchOptions, *, near: bool) -> None:
        self.state = WatchState(options)
        self.lost = ""
        self.fault: str | None = None
        self._source = source
        self._near = near
        self._followed: FollowRequest | None = None
        self._proven: ProveRequest | None = None

    def take(self, event: AnyEvent) -> str:
        """Take an event in; return why the host is lost, "" while it is not."""
        if isinstance(event, Link) and event.state == "failed":
            self.lost, self.fault = event.sentence, event.fault
        elif isinstance(event, Goodbye):
            self.lost = event.sentence
        if self._near or isinstance(event, BENCH):
            self.state.apply(event)
        if self._near:
            self._ask()
        return self.lost

    def hear(self, event: AnyEvent) -> None:
        """Take an event in."""
        self.take(event)

    def _ask(self) -> None:
        follow = self.state.wanted
        if follow is not None and follow != self._followed:
            self._followed = follow
            self._source.send(replace(follow, probe=None))
        prove = prove_request(self.state)
        if prove is not None and prove != self._proven:
            self._proven = prove
            self._source.send(prove)


def run(choices: Choices) -> int:
    """Benchmark the server that was chosen; return the exit code."""
    workload = bench_plan.plan_for(choices)
    options = start.options_for(choices)
    return asyncio.run(_run(choices, options, workload))


async def _run(choices: Choices, options: WatchOptions, workload: Workload) -> int:
    source = start.bench_source(choices, options, terminal_asker(choices))
    host = Host(source, options, near=start.host_of(choices) is not None)
    stop = asyncio.Event()
    codes: list[int] = []

    def leave(code: int) -> None:
        codes.append(code)
        stop.set()

    heard = Heard(source)
    chain = Chain(choices, workload, source, heard, host, stop)
    try:
        with exit_signals(leave):
            await chain.run(options)
    finally:
        await heard.close()
        await asyncio.wait({asyncio.ensure_future(source.close())}, timeout=CLOSE_S)
    chain.tell_all()
    if codes:
        return codes[0]
    if host.lost:
        _say_lost(host, choices, told=any(host.lost == each.sentence for each in chain.results))
        return LOST
    return max(exit_code(result) for result in chain.results)


def _say_lost(host: Host, choices: Choices, *, told: bool) -> None:
    """Say beside the output why the host is lost, unless that stands right above; and what helps."""
    helps = sentence_of("shell_no_benchmark") if host.fault == "no_python" else ""
    hint = start.host_hint(choices, host.fault)
    if not told or choices.json or not outputs_are_one():
        start.say(host.lost + (f"; {helps}" if helps else "") + hint)
    elif helps or hint:
        start.say(helps + hint if helps else host.lost + hint)


class Chain:
    """The levels of a workload, one after another over one source. What is done is kept whatever follows."""

    def __init__(
        self,
        choices: Choices,
        workload: Workload,
        source: Source,
        heard: Heard,
        host: Host,
        stop: asyncio.Event,
    ) -> None:
        self.results: list[BenchResult] = []
        self._choices = choices
        self._workload = workload
        self._source = source
        self._heard = heard
        self._host = host
        self._stop = stop
        self._teller = Teller(quiet=choices.json)
        self._despite_load = choices.anyway
        self._runs = KeptRuns(start.ledger_path()) if choices.record else None
        self._kept: list[str] = []

    async def run(self, options: WatchOptions) -> None:
        """Find the server and run the levels, until one gives no figures."""
        specs = self._workload.specs
        first = self._request(specs[0], options)
        here = start.host_of(self._choices) is None
        if not here and options.url is None:
            try:
                await find(self._heard, self._host.state, self._host.take, self._stop)
            except NoServer as none:
                outcome = "cancelled" if self._stop.is_set() else "failed"
                await self._done(without_figures(first, outcome, str(none)))
                return
        for spec in specs:
            result = await self._level(self._request(spec, options))
            await self._done(result)
            if not goes_on_after(result) or self._stop.is_set():
                return

    def tell_all(self) -> None:
        """Print what a person reads: the one result, or a line for each level; and what is kept of it."""
        if self._choices.json:
            return
        several = len(self._workload.specs) > 1
        lines = (
            level_lines(self.results) if several else text_lines(self.results[0], figures_of(self.results[0]))
        )
        _print([*lines, *self._kept])

    def _request(self, spec: BenchSpec, options: WatchOptions) -> BenchRequest:
        """Return what is sent for a level: to the server that was found, or to the URL that was named."""
        request = BenchRequest(
            run=uuid.uuid4().hex[:8],
            spec=replace(spec, despite_load=self._despite_load),
            prompts=self._workload.prompts_of(spec),
            counters=counters_for(None),
            api_key=options.api_key,
        )
        if start.host_of(self._choices) is None:
            return replace(request, measured_on="this_machine")
        return request if options.url is not None else for_server(self._host.state, request)

    async def _level(self, request: BenchRequest) -> BenchResult:
        """Run one level; where others use the server, ask a person whether to measure all the same."""
        result = await self._bench(request)
        if result.fault != "busy" or self._choices.json or not can_ask() or self._stop.is_set():
            return result
        try:
            agreed = await agrees(f"{result.sentence}; measure all the same?", self._heard, self._stop)
        except SourceEnded:
            return result
        if not agreed:
            return result
        self._despite_load = True
        again = replace(request, run=uuid.uuid4().hex[:8], spec=replace(request.spec, despite_load=True))
        return await self._bench(again)

    async def _bench(self, request: BenchRequest) -> BenchResult:
        self._teller.spec = request.spec
        listeners = Listeners(self._progress, self._host.hear, self._host.hear)
        return await bench(self._source, request, listeners, heard=self._heard, cancelled=self._stop)

    def _progress(self, event: BenchProgress) -> None:
        self._teller.progress(event)
        self._host.take(event)

    async def _done(self, result: BenchResult) -> None:
        """Keep a result at once, and print it where a program reads."""
        self.results.append(result)
        self._host.take(result)
        told: list[str] = []
        if self._runs is not None:
            told = await asyncio.to_thread(bench_keep.keep, self._runs, result, self._host.state)
        if self._choices.json:
            _print([json.dumps(json_object(result, figures_of(result)))])
        else:
            self._kept += told


def _print(lines: list[str]) -> None:
    encoding = sys.stdout.encoding or "utf-8"
    text = "".join(f"{clean(line)}\n" for line in lines)
    sys.stdout.buffer.write(text.encode(encoding, "replace"))
    sys.stdout.buffer.flush()
