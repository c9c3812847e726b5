"""One watch: source -> journal -> state, used by the screen and by the commands alike."""

import asyncio
import math
import time
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import Literal, Protocol

from tui.bench.workload import Workload
from tui.benchmark import BenchChoice, BenchComparison, BenchResult, BenchSpec
from tui.events import AnyEvent, Hello, History, Notice, Pong, Tick
from tui.past_load import Past, PastLoad
from tui.requests import AnyRequest, BenchCancelRequest, FollowRequest, ProveRequest, SkipRequest
from tui.runs.entry import LoadEntry, RunEntry
from tui.source import Source, rests, try_again
from tui.ticks import TICK_S, with_ticks
from tui.transport.faults import sentence_of
from tui.watch import diagnosing
from tui.watch.benching import Benching, request_of
from tui.watch.diagnosing import Wanted
from tui.watch.history import PastWanted
from tui.watch.meaning import Meaning
from tui.watch.options import WatchOptions
from tui.watch.proving import prove_request
from tui.watch.state import WatchState

ASKED_S = 5.0
"""After so long the host has said at the latest that it began with a diagnosis."""


class Journal(Protocol):
    """Where a session writes what it receives."""

    def append(self, event: AnyEvent) -> None:
        """Write one event. Raises OSError."""
        ...

    def close(self) -> None:
        """Finish the recording. Raises OSError."""
        ...


class Runs(Protocol):
    """Where benchmarks and loads are kept. No call raises for what may fail: that is in the sentence."""

    def entry(self, state: Meaning, result: BenchResult) -> RunEntry | None:
        """Return what is to be kept of a result, None for nothing; nothing is read or written."""
        ...

    def keep(self, entry: RunEntry, clocks: AnyEvent) -> tuple[BenchComparison | None, str]:
        """Keep a run and compare it with the baseline, if there is one. May block, so it runs in a thread."""
        ...

    def loads(self, state: Meaning, event: AnyEvent) -> list[LoadEntry]:
        """Return the loads that are to be kept after an event."""
        ...

    def loads_left(self, state: Meaning) -> list[LoadEntry]:
        """Return the load in which the watch ends."""
        ...

    def keep_loads(self, loads: list[LoadEntry]) -> str:
        """Keep loads. May block, so it runs in a thread."""
        ...


class Session:
    """Runs one watch and keeps its state; the screen and the commands read ``state`` between events.

    ``changes`` counts the events that may have changed what is shown at one and the same time of day.
    ``unkept`` says, after the end, why the load in which it ended is not in the ledger, "" when it is.
    ``bench`` is what a key or readiness fires until another of the ``profiles`` is chosen; its URL and model
    are filled in from what is watched. Finished benchmarks are kept in ``runs``. A
    recording that cannot be written any more ends with a notice, never with the watch. What ``past`` holds of
    a load's engine and model enters as a history event once those are known; without it (a replay, whose
    recording has that event, and the demo) nothing is read or kept.
    """

    def __init__(
        self,
        source: Source,
        options: WatchOptions,
        bench: BenchSpec | Workload,
        *,
        profiles: Sequence[Workload] = (),
        journal: Journal | None = None,
        past: Past | None = None,
        runs: Runs | None = None,
    ) -> None:
        self.state = WatchState(options)
        self._source = source
        self._options = options
        first = bench if isinstance(bench, Workload) else Workload(bench.profile, "", (bench,))
        self.benching = Benching((first, *(each for each in profiles if each.name != first.name)))
        self._runs = runs
        self._journal = journal
        self._past = past
        self._told: PastWanted | None = None
        self._kept: PastLoad | None = None
        self._sent: FollowRequest | None = None
        self._newest: AnyEvent | None = None
        self._proof: ProveRequest | None = None
        self._diagnosed_s = -math.inf
        self.changes = 0
        self.unkept = ""

    async def updates(self) -> AsyncIterator[AnyEvent]:
        """Iterate over the events, each already taken into the state; once a second at least a tick."""
        async with aclosing(with_ticks(self._source, TICK_S)) as events:
            async for event in events:
                for each in (*self._record(event), event):
                    self._take(each)
                    brought, cut = self._past_events(each), self._cut_off(each)
                    yield each
                    for other in (*brought, *cut, *await self._keep(cut[-1] if cut else each)):
                        yield other
        await self.close()

    def send(self, request: AnyRequest) -> None:
        """Ask the source for something."""
        self._source.send(request)

    @property
    def rests(self) -> bool:
        """Whether the link has failed and waits for ``try_again``."""
        return rests(self._source)

    def try_again(self) -> str:
        """Let a link that rests try again; return what was done, in a sentence."""
        return try_again(self._source, self.state.link.state)

    async def close(self) -> None:
        """End the source, keep the load in which it ends, finish the recording; closing twice is allowed."""
        await self._source.close()
        runs, self._runs = self._runs, None
        if runs is not None and (left := runs.loads_left(self.state)):
            self.unkept = await asyncio.to_thread(runs.keep_loads, left)
        journal, self._journal = self._journal, None  # an event that still comes is no longer recorded
        if journal is not None:
            journal.close()

    def skip_log(self) -> str:
        """Jump to the end of a log that is read far behind; return what is done, in a sentence."""
        self.changes += 1
        if refusal := self.state.log_lag.no_skip:
            return refusal
        if self.state.link.state != "up":
            return "nothing can be skipped while the host is not connected"
        self._source.send(SkipRequest())
        return "jumping to the end of the log; what lies between is marked there as not read"

    def start_bench(self) -> str:
        """Fire the benchmark, or arm it until the server is ready; return which, in a sentence."""
        self.changes += 1
        if self.state.bench.running is not None:
            return "a benchmark is running already; Esc cancels it"
        if self.state.without_python:
            return sentence_of("shell_no_benchmark")
        if not self.state.ready:
            self._choose("armed")
            return f"the benchmark{self._named} will fire when the server is ready"
        return self._begin()

    def choose_profile(self, name: str) -> str:
        """Choose what the key fires from now on; return which, in a sentence."""
        self.changes += 1
        sentence = self.benching.answer(name)
        self._choose("chosen", profile=self.benching.chosen.name)
        return sentence

    def cancel_bench(self) -> str:
        """Cancel or disarm the benchmark; return what was done, in a sentence."""
        self.changes += 1
        self.benching.stop()
        running = self.state.bench.running
        if running is not None:
            self._source.send(BenchCancelRequest(run=running))
            progress = self.state.bench.progress
            measuring = progress is not None and progress.stage == "measure"
            kept = "; what was measured is kept" if measuring else ", of which nothing is measured yet"
            return "cancelling the benchmark" + kept
        if self.state.bench.armed:
            self._choose("disarmed")
            return "the benchmark will not fire"
        return "no benchmark is running"

    @property
    def can_diagnose(self) -> bool:
        """Whether the plan can be carried out; it says why where it cannot."""
        return isinstance(self.diagnosis_wanted(), Wanted)

    def diagnosis_plan(self) -> str:
        """Return what a diagnosis would touch now, or why there can be none; nothing is touched."""
        plan = self.diagnosis_wanted()
        return plan if isinstance(plan, str) else plan.sentence

    def diagnose(self) -> str:
        """Look into the quiet ranks; return what that touches, or why it is not done, in a sentence."""
        self.changes += 1
        plan = self.diagnosis_wanted()
        if isinstance(plan, str):
            return plan
        self._diagnosed_s = time.monotonic()
        self._source.send(plan.request)
        return plan.sentence

    def diagnosis_wanted(self) -> Wanted | str:
        """Return what a diagnosis would ask of the host now, or why there can be none in a sentence."""
        now_s = time.monotonic()
        if now_s - self._diagnosed_s < ASKED_S:
            return "a diagnosis runs already"
        return diagnosing.wanted(self.state, self.state.source_now(now_s))

    def _take(self, event: AnyEvent) -> None:
        self.state.apply(event)
        self._newest = event
        self.changes += not isinstance(event, Tick | Pong)
        wanted = self.state.wanted
        if wanted is not None and wanted != self._sent:
            self._sent = wanted
            self._source.send(wanted)
        proof = prove_request(self.state)
        if proof is not None and (proof != self._proof or isinstance(event, Hello)):
            self._source.send(proof)
        self._proof = proof
        if isinstance(event, BenchResult) and self.benching.goes_on(event):
            self._fire()
        if self.state.bench_due:
            self._begin()

    def _past_events(self, event: AnyEvent) -> list[AnyEvent]:
        """Keep a load that became ready; return, taken in, what past loads tell of one that was taken up."""
        brought: list[AnyEvent] = []
        if self._past is not None:
            finished, wanted = self.state.finished, self.state.past_wanted
            if finished is not None and finished is not self._kept:
                self._kept = finished
                sentence = self._past.add(finished)
                brought += [_notice(event, sentence, "history")] if sentence else []
            if wanted is not None and wanted != self._told:
                self._told = wanted
                loads, sentence = self._past.of(wanted.engine, wanted.model)
                brought.append(_history(event, loads, sentence))
        brought = [each for other in brought for each in (*self._record(other), other)]
        for each in brought:
            self._take(each)
        return brought

    def _cut_off(self, event: AnyEvent) -> list[AnyEvent]:
        """Return, taken in, the result of a benchmark that the loss of the link has cut."""
        result = self.benching.cut(self.state, event)
        told: list[AnyEvent] = [] if result is None else [*self._record(result), result]
        for each in told:
            self._take(each)
        return told

    async def _keep(self, event: AnyEvent) -> list[AnyEvent]:
        """Keep a benchmark or a load that has ended; return, taken in, what the ledger says of it."""
        if self._runs is None:
            return []
        told: list[AnyEvent] = []
        if loads := self._runs.loads(self.state, event):
            fault = await asyncio.to_thread(self._runs.keep_loads, loads)
            told += [_notice(event, fault, "ledger")] if fault else []
        entry = self._runs.entry(self.state, event) if isinstance(event, BenchResult) else None
        if entry is not None:
            comparison, fault = await asyncio.to_thread(self._runs.keep, entry, event)
            told += [] if comparison is None else [comparison]
            told += [_notice(event, fault, "ledger")] if fault else []
        told = [each for other in told for each in (*self._record(other), other)]
        for each in told:
            self._take(each)
        return told

    @property
    def _named(self) -> str:
        name = self.benching.chosen.name
        return f" ({name})" if name else ""

    def _begin(self) -> str:
        self.benching.begin(uuid.uuid4().hex[:8], despite_load=self.state.bench.busy)
        return self._fire()

    def _fire(self) -> str:
        """Fire the next level of the chosen workload."""
        run = uuid.uuid4().hex[:8]
        spec = self.benching.next(run)
        request = None if spec is None else request_of(self.state, self.benching.chosen, spec, run)
        if request is None:
            self.benching.stop()
            return "no server to benchmark"
        self._source.send(request)
        self._choose("started", run, spec=request.spec)
        return f"the benchmark{self._named} runs"

    def _choose(
        self,
        choice: Literal["armed", "disarmed", "started", "chosen"],
        run: str | None = None,
        *,
        profile: str = "",
        spec: BenchSpec | None = None,
    ) -> None:
        """Take in what was chosen as an event, so that a recording has it, as of the newest one."""
        beside = self._newest or Tick(mono_s=0.0, wall_s=time.time(), client_s=time.monotonic())
        chosen = BenchChoice(
            mono_s=beside.mono_s,
            wall_s=beside.wall_s,
            client_s=beside.client_s,
            choice=choice,
            run=run,
            profile=profile,
            spec=spec,
        )
        for each in (*self._record(chosen), chosen):
            self.state.apply(each)

    def _record(self, event: AnyEvent) -> list[Notice]:
        """Write the event; return the notice that recording has ended, when it has."""
        if self._journal is None:
            return []
        try:
            self._journal.append(event)
        except OSError as error:
            self._journal = None
            sentence = f"the recording stopped: {error.strerror or error}; the watch goes on"
            return [_notice(event, sentence, "journal")]
        return []


def _history(beside: AnyEvent, loads: list[PastLoad], sentence: str) -> History:
    return History(
        mono_s=beside.mono_s,
        wall_s=beside.wall_s,
        client_s=beside.client_s,
        sentence=sentence,
        loads=loads,
    )


def _notice(beside: AnyEvent, sentence: str, about: str) -> Notice:
    return Notice(
        mono_s=beside.mono_s,
        wall_s=beside.wall_s,
        client_s=beside.client_s,
        level="warning",
        about=about,
        sentence=sentence,
    )
