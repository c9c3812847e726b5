"""WatchState: what all events together mean. A plain reducer without I/O and without a clock.

The same state serves the screen, ``tminus wait``, ``--json`` and the tests. Times are seconds of the host's
monotonic clock unless a name says ``client``.
"""

from typing import Literal

from tui.benchmark import BenchChoice, BenchComparison, BenchProgress, BenchRecords, BenchResult
from tui.engines.phase import Phase
from tui.events import (
    AnyEvent,
    Checkpoint,
    Dropped,
    Event,
    Exit,
    Gap,
    GpuDetails,
    GpuDriver,
    GpuFacts,
    GpuProcesses,
    Gpus,
    Hello,
    History,
    Link,
    Log,
    LogSource,
    Notice,
    Pong,
    Probe,
    Processes,
    Tick,
)
from tui.provenance import Provenance
from tui.signals import Evidence, GpuFault, HostSignals, Locks, Signals
from tui.watch.follow import follow_request
from tui.watch.history import past_load
from tui.watch.judging import TOGETHER_S
from tui.watch.ladder import OPEN
from tui.watch.load import Load
from tui.watch.log_load import LoggedLoads, LogLoad
from tui.watch.meaning import Meaning
from tui.watch.target import SAME_S, Choice, Server, choose, servers
from tui.watch.verdict.verdict import Verdict
from tui.watch.words import clock_text

# fmt: off
FROM_HOST = (
    Hello, Gpus, GpuDetails, GpuDriver, GpuFacts, GpuProcesses, Processes, Exit, Log, Probe, Pong,
    Signals, HostSignals, Locks, GpuFault, Evidence, Provenance,
)
# fmt: on
"""Events that only the host can have made: the client's clock is set by these alone."""
TELLS_TIME = (*FROM_HOST, Tick)
"""Events after which a load may be judged anew."""
UNSEEN_S = 10.0
"""After so long without a list of processes, which may hang, a port is asked all the same."""
JUDGE_S = 1.0
"""How often a load is judged whose outcome has not changed."""
JUDGE_READY_S = 5.0
"""How often a server is judged that is ready and calm: what may become of it then takes 30 s and more."""
NAME_IT = "no python3 on {host}, so servers are not found there: give --port N, and --log PATH"
GONE = "rank gone"
"""What a notice is about that a rank or another part of the server has gone."""


class WatchState(Meaning):
    """The watch so far: feed it every event in order with ``apply``; what can be read is in Meaning.

    When the followed server ends, its load stays as it was, with ``last_end``, until the next server is taken
    up by itself; then everything that belongs to a load begins anew.
    """

    _end_counted: Load | None = None
    _lost_s = 0.0
    _ready_counted: Load | None = None
    _logged: LoggedLoads | None = None
    _judged_at: tuple[int, bool, bool] | None = None
    _fallen: int = 0
    _judged_s = 0.0

    def apply(self, event: AnyEvent) -> None:
        """Take one event in. Never raises for an event that decodes."""
        if isinstance(event, FROM_HOST):
            if isinstance(event, Hello):
                self._take_hello(event)
            self._clock.take(event.mono_s, event.client_s)
            self._mark_blind(event, self.link.heard(event.client_s, beat=isinstance(event, Pong)))
            self.judging.take(event)
        self._apply(event)
        # Who holds a port is not known before the processes are: a stranger's answer is no readiness of ours.
        if self._wanted is None and self.hello is not None:
            overdue = event.client_s - self.hello.client_s > UNSEEN_S
            self._wanted = follow_request(None, self.options) if overdue else None
        self._judge(event)

    def _mark_blind(self, event: AnyEvent, blind_s: float | None) -> None:
        """Say in the log for how long nothing was seen, where it goes on."""
        if blind_s is not None and self.log.total:
            self.log.settle()
            sentence = f"[nothing was heard from the host for {clock_text(blind_s)}]"
            self.log.add(sentence, level="warning", at_s=event.mono_s)

    def _apply(self, event: AnyEvent) -> None:
        match event:
            case Gpus() | GpuDetails() | GpuFacts() | GpuProcesses():
                self.gpus.take(event)
            case Probe():
                self._take_probe(event)
            case Log():
                self._take_log(event)
            case Processes():
                self._take_processes(event)
            case Exit():
                self._take_exit(event)
            case BenchProgress() | BenchRecords() | BenchResult() | BenchComparison():
                self.bench.take(event)
            case _:
                self._take_rest(event)

    def _take_rest(self, event: AnyEvent) -> None:
        match event:
            case Link():
                self.link.take(event)
                if event.state != "up" and self._load is not None:
                    self._load.lose_link(self._clock.latest_s)
                    self.judging.movement.link_lost(self._clock.latest_s)
                if event.state in ("lost", "failed", "closed"):
                    self.judging.diagnosis.cut()
                if event.state in ("lost", "failed", "closed") and self.bench.cut():
                    self._note(event, "warning", "the benchmark was cut off with the link; b starts it again")
            case GpuDriver():
                self.driver = event
            case LogSource():
                self.log_source = event
                if self._load is not None:
                    self._load.take_source(event)
            case Notice():
                self.notices.append(event)
            case Gap():
                self.log.settle()
                self.log.add(f"[{event.sentence}]", level="warning", at_s=event.mono_s)
            case History():
                self.past_loads.take(event)
            case Checkpoint():
                self.checkpoint = event
            case Provenance():
                self._take_provenance(event)
            case BenchChoice():
                self.bench.choose(event)
            case Dropped():
                self.dropped += event.samples
            case _:
                pass

    def _take_provenance(self, event: Provenance) -> None:
        """Keep what is told of the current load's server; a late answer may tell of another one."""
        server = self.shown
        if server is None or server.pid != event.pid:
            return
        if event.started_s is None or abs(event.started_s - server.started_s) < SAME_S:
            self.provenance = event

    def _take_hello(self, event: Hello) -> None:
        """An agent reports; after a reboot of the host nothing that ran before is left."""
        if self.hello is not None and self.hello.boot_id != event.boot_id and self._load is not None:
            self._load.finish(self._clock.latest_s)
            self._end_seen(self._load)
            self.passed = self.course
            self._earlier_end, self._load = self._load.end, None
            self._note(event, "warning", f"{event.host} was restarted since it was last heard")
        self._clock.reset()
        self.hello = event
        if self.without_python:
            self._wanted = self._wanted or follow_request(None, self.options, finds_servers=False)
            if self._wanted is None or self._wanted.probe is None:
                self.choice = Choice("none", None, NAME_IT.format(host=event.place or event.host))

    def _take_probe(self, probe: Probe) -> None:
        load = self._load
        url_alone = load is None or load.server is None
        if url_alone and (load is None or (load.ended and probe.outcome in OPEN)):
            load = self._begin(None, probe)
        if load is not None:
            was_ready = load.ready_s is not None
            load.take_probe(probe)
            if not was_ready and load.ready_s is not None and load.ready_seen:
                self.alerts += 1
                self._keep(load, load.ready_s, probe.wall_s)
            if load.ended:
                self._end_seen(load)

    def _keep(self, load: Load, ready_s: float, wall_s: float) -> None:
        """A load became ready before our eyes: the next one of its kind is measured by it."""
        key = self.load_key
        if key is not None and load.started_s is not None and not load.blind:
            came = self.transfer(ready_s)
            self.finished = past_load(
                key,
                load.timeline.spans,
                ready_s - load.started_s,
                wall_s,
                None if came is None else round(came.mean_received_mib, 1),
                self.judging.silences,
            )
            self.past_loads.add(self.finished)

    def _take_log(self, event: Log) -> None:
        self.log_lag.take(event, self._clock.source_s(event.client_s))
        if self.options.ready_on == "log":
            self._take_bare_log(event)
            return
        load = self._load if self._load is not None else self._begin(None, event)
        told = load.log_failure
        if self.without_python:
            load.guess_engine(event.lines)
        load.take_log(event, self.log)
        if load.heard_from:
            self.judging.said(load.heard_from, event.mono_s)
        if load.behind_bytes == 0 and not load.ready:
            self.judging.bar(load.log_phases.progress, load.log_phases.phase, event.mono_s)
        cause = load.log_failure
        if told is None and cause is not None:
            where = "" if load.log_phases.phase is None else f" in {load.log_phases.phase.words}"
            self._note(event, "error", f"the log tells of a failure{where}: {cause.quote.text}")

    def _take_bare_log(self, event: Log) -> None:
        """Follow the loads of a log that nothing else tells of."""
        if self._logged is None:
            self._logged = LoggedLoads(self.options)
        for load in self._logged.take(event, self.log):
            if load is not self._load:
                self._begin_logged(load)
            if load.ended:
                self._end_seen(load)
            elif load.ready and self._ready_counted is not load:
                self._ready_counted = load
                self.alerts += 1

    def _begin_logged(self, load: LogLoad) -> None:
        """Take up a start, or the same one anew by the rules of another engine."""
        if load.number > self.loads:
            self._earlier_end = self.last_end
            self.gpus.new_load()
        elif load.number == 1:
            self._earlier_end = None
        self._load, self.loads = load, load.number

    def _take_processes(self, event: Processes) -> None:
        load = self._load
        told = load.server if load is not None and load.exit is not None else None
        # A list made before an exit that was told in between still has the process.
        self.servers = [server for server in servers(event) if not server.same_as(told)]
        if load is not None and load.server is not None:
            same = next((server for server in self.servers if server.same_as(load.server)), None)
            if same is None:
                self._finish(load, event)
            elif load.ended:
                load.revive(same)
            else:
                load.see(same)
        self._choose(event, event.hidden)
        self._wanted = self._wanted or follow_request(None, self.options)

    def _choose(self, event: Event, hidden: int = 0) -> None:
        last = self._load.server if self._load is not None else None
        self.choice = choose(self.servers, self.options, last, hidden)
        server = self.choice.server
        if server is not None and not server.same_as(last):
            self._begin(server, event)

    def _take_exit(self, event: Exit) -> None:
        load = self._load
        if load is None or load.server is None:
            return
        if event.main and event.pid == load.server.pid:
            load.exit = event
            if event.mono_s - self._lost_s < TOGETHER_S:
                self.lost = None
            self._forget_gone(event.mono_s)
            self._finish(load, event)
            self.servers = [server for server in self.servers if not server.same_as(load.server)]
            self._choose(event)
        # Who goes after the log told of a shutdown has not gone by itself.
        elif not load.ended and load.log_phases.shutdown is None:
            self._note_member(load.server, event)

    def _note_member(self, server: Server, event: Exit) -> None:
        gone = next((member for member in server.members if member.pid == event.pid), None)
        if gone is not None:
            self.judging.went(gone, event)
        if gone is not None and gone.role.kind in ("rank", "engine_core", "controller", "detokenizer"):
            if self.lost is None and self.log_failure is None:
                self.lost, self._lost_s = gone, event.mono_s
            self._note(event, "error", f"{gone.role.words} (pid {gone.pid}) is gone", about=GONE)

    def _forget_gone(self, ended_s: float) -> None:
        """Take back that ranks are gone which went with their server: the one that went first stands."""
        for note in list(self.notices):
            if note.about == GONE and ended_s - note.mono_s < TOGETHER_S:
                self.notices.remove(note)

    def _begin(self, server: Server | None, event: Event) -> Load:
        """Take up a load: everything of the one before but its end is let go."""
        if self._load is not None:
            self._earlier_end = self._load.end or self._earlier_end
            self.passed = self.course
        self._wanted = follow_request(server, self.options)
        self._load = Load(server, self.options, self._wanted, event.mono_s)
        if self.without_python:
            self._load.ladder.process("unknown", "not seen without python3", event.mono_s)
        self.loads += 1
        self.lost = None
        self.provenance = None
        self.judging.new_load(event.mono_s)
        self.gpus.new_load()
        self.bench.armed = self.bench.armed or self.options.bench_on_ready
        self.log.settle()
        if server is not None:
            self.log_source = None
            if self.log.total:
                self.log.add(f"[{server.words} is followed from here]", mark=Phase.LAUNCH, at_s=event.mono_s)
        return self._load

    def _finish(self, load: Load, event: Event) -> None:
        if not load.ended:
            load.finish(event.mono_s)
            self._end_seen(load)

    def _end_seen(self, load: Load) -> None:
        """Count an end once, and settle the bar that it leaves behind."""
        if self._end_counted is not load:
            self._end_counted = load
            self.alerts += 1
            self.log.settle()

    def _judge(self, event: AnyEvent) -> None:
        """Judge the load where its outcome changed or a rank went, and once a second of the host's clock.

        While it is ready and calm, every 5 s.
        """
        load = self._load
        if load is None or load.server is None:
            self._judged, self._judged_at = None, None
            return
        if not isinstance(event, TELLS_TIME):
            return
        now_s = max(event.mono_s, self._clock.latest_s)
        at, fallen = (self.loads, load.ended, load.ready), self.judging.fallen_by(now_s)
        rests = fallen == self._fallen and now_s - self._judged_s < self._judge_each_s
        if self._judged_at == at and (load.ended or rests):
            return
        self._fallen = fallen
        found = self.judgement(now_s)
        if found is None and self._judged_at == at:
            # Until more was seen, what was last said of the server stands; that it was not heard does not.
            found = self._judged if self._judged is not None and self._judged.heard else None
        self._judged_at, self._judged_s, self._judged = at, now_s, found
        if load.ready or load.ended:
            self.judging.verdicts.close(now_s)
            return
        self.judging.verdicts.take(found, now_s)
        if found is not None:
            self._note_silence(load, found, now_s)

    @property
    def _judge_each_s(self) -> float:
        rests = self._judged is not None and self._judged.word == "ready" and self.judging.calm
        return JUDGE_READY_S if rests else JUDGE_S

    def _note_silence(self, load: Load, judged: Verdict, now_s: float) -> None:
        spans = load.timeline.spans
        if spans:
            hung = judged.word in ("hung", "suspended")
            in_phase_s = spans[-1].seconds(now_s)
            self.judging.silences.note(len(spans) - 1, judged.silence_s, in_phase_s, hung=hung)

    def _note(
        self,
        event: Event,
        level: Literal["info", "warning", "error"],
        sentence: str,
        about: str = "server",
    ) -> None:
        self.notices.append(
            Notice(
                mono_s=event.mono_s,
                wall_s=event.wall_s,
                client_s=event.client_s,
                level=level,
                about=about,
                sentence=sentence,
            )
        )
