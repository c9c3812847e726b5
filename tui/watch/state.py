"""WatchState: what all events together mean. A plain reducer without I/O and without a clock.

The same state serves the screen, ``tminus wait``, ``--json`` and the tests. Times are seconds of the host's
monotonic clock unless a name says ``client``.
"""

from collections import deque
from typing import Literal

from tui.engines.base import Engine, Phase
from tui.events import (
    AnyEvent,
    BenchProgress,
    BenchResult,
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
    Link,
    Log,
    LogSource,
    Notice,
    Pong,
    Probe,
    Processes,
)
from tui.requests import FollowRequest
from tui.watch.bench import BenchState
from tui.watch.clock import SourceClock
from tui.watch.follow import expected_model, follow_request
from tui.watch.gpus import GpuBook
from tui.watch.ladder import OPEN, Rung, missing
from tui.watch.link import LinkState
from tui.watch.load import End, Load
from tui.watch.log_buffer import LogBuffer
from tui.watch.options import WatchOptions
from tui.watch.phases import PhaseSpan
from tui.watch.target import Choice, Server, choose, servers

NOTICES = 50
FROM_HOST = (Hello, Gpus, GpuDetails, GpuDriver, GpuFacts, GpuProcesses, Processes, Exit, Log, Probe, Pong)
"""Events that only the host can have made: the client's clock is set by these alone."""


class WatchState:
    """The watch so far. Feed it every event in order with ``apply``; read the rest.

    Fields that outlive a load: ``hello``, ``link``, ``driver``, ``gpus``, ``servers``, ``choice``, ``log``,
    ``log_source``, ``notices``, ``bench``, ``dropped``. Fields of the current (or just ended) load are
    properties: ``target``, ``engine``, ``started_s``, ``phase``, ``past_phases``, ``ladder``, ``ready``,
    ``outcome``, ``reason``, ``fault``. When the followed server ends its load stays as it was, and
    ``last_end`` with it, until the next server is taken up.
    """

    def __init__(self, options: WatchOptions) -> None:
        self.options = options
        self.hello: Hello | None = None
        self.link = LinkState()
        self.driver: GpuDriver | None = None
        self.gpus = GpuBook()
        self.servers: list[Server] = []
        self.choice: Choice = choose([], options, None)
        self.log = LogBuffer()
        self.log_source: LogSource | None = None
        self.notices: deque[Notice] = deque(maxlen=NOTICES)
        self.bench = BenchState(armed=options.bench_on_ready)
        self.dropped = 0
        self.loads = 0
        self._clock = SourceClock()
        self._load: Load | None = None
        self._earlier_end: End | None = None
        self._wanted = follow_request(None, options)

    # Events in.

    def apply(self, event: AnyEvent) -> None:
        """Take one event in. Never raises for an event that decodes."""
        if isinstance(event, FROM_HOST):
            if isinstance(event, Hello):
                self._clock.reset()
            self._clock.take(event.mono_s, event.client_s)
            self.link.heard(event.client_s)
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
            case BenchProgress() | BenchResult():
                self.bench.take(event)
            case _:
                self._take_rest(event)

    def _take_rest(self, event: AnyEvent) -> None:
        match event:
            case Hello():
                self.hello = event
            case Link():
                self.link.take(event)
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
            case Dropped():
                self.dropped += event.samples
            case _:
                pass

    def _take_probe(self, probe: Probe) -> None:
        load = self._load
        url_alone = load is None or load.server is None
        if url_alone and (load is None or (load.ended and probe.outcome in OPEN)):
            load = self._begin(None, probe)
        if load is not None:
            load.take_probe(probe)
            self._note_end()

    def _take_log(self, event: Log) -> None:
        load = self._load if self._load is not None else self._begin(None, event)
        load.take_log(event, self.log)

    def _take_processes(self, event: Processes) -> None:
        self.servers = servers(event)
        load = self._load
        if load is not None and load.server is not None:
            same = next((server for server in self.servers if server.key == load.server.key), None)
            if same is None:
                load.finish(event.mono_s)
                self._note_end()
            elif load.ended:
                load.revive(same)
            else:
                load.server = same
        self._choose(event, event.hidden)

    def _choose(self, event: Event, hidden: int = 0) -> None:
        last = self._load.server if self._load is not None else None
        self.choice = choose(self.servers, self.options, last, hidden)
        server = self.choice.server
        if server is not None and (last is None or last.key != server.key):
            self._begin(server, event)

    def _take_exit(self, event: Exit) -> None:
        load = self._load
        if load is None or load.server is None:
            return
        if event.main and event.pid == load.server.pid:
            load.exit = event
            load.finish(event.mono_s)
            self._note_end()
            self.servers = [server for server in self.servers if server.key != load.server.key]
            self._choose(event)
        elif not load.ended:
            self._note_member(load.server, event)

    def _note_member(self, server: Server, event: Exit) -> None:
        gone = next((member for member in server.members if member.pid == event.pid), None)
        if gone is not None and gone.role.kind in ("rank", "engine_core", "controller", "detokenizer"):
            self._note(event, "error", f"{gone.role.words} (pid {gone.pid}) is gone")

    def _begin(self, server: Server | None, event: Event) -> Load:
        """Take up a load: everything of the one before but its end is let go."""
        if self._load is not None:
            self._earlier_end = self._load.end or self._earlier_end
        self._wanted = follow_request(server, self.options)
        self._load = Load(server, self.options, self._wanted, event.mono_s)
        self.loads += 1
        self.gpus.new_load()
        self.bench.armed = self.bench.armed or self.options.bench_on_ready
        self.log.settle()
        if server is not None:
            self.log_source = None
            if self.log.total:
                self.log.add(f"[{server.words} is followed from here]", mark=Phase.LAUNCH, at_s=event.mono_s)
        return self._load

    def _note_end(self) -> None:
        """Settle the bar that an ended load leaves behind."""
        if self._load is not None and self._load.ended:
            self.log.settle()

    def _note(self, event: Event, level: Literal["info", "warning", "error"], sentence: str) -> None:
        self.notices.append(
            Notice(
                mono_s=event.mono_s,
                wall_s=event.wall_s,
                client_s=event.client_s,
                level=level,
                about="server",
                sentence=sentence,
            )
        )

    # What it all means.

    def source_now(self, client_s: float) -> float | None:
        """Return the host's monotonic time at a client's time, None before the first event of the host."""
        return self._clock.source_s(client_s)

    @property
    def wanted(self) -> FollowRequest | None:
        """What the source should follow now; the session sends it whenever it changes.

        None before the first server was found (and without a URL). It stays as it was after a server's end,
        so that the last lines of its log still come.
        """
        return self._wanted

    @property
    def url_alone(self) -> bool:
        """Whether only a URL is watched: no process is known, so nothing but its port can tell."""
        return self.options.url is not None and self.shown is None

    @property
    def target(self) -> Server | None:
        """The server that is followed, None when there is none (yet, or any more)."""
        return None if self._load is None or self._load.ended else self._load.server

    @property
    def shown(self) -> Server | None:
        """The server of the current load, also after its end."""
        return None if self._load is None else self._load.server

    @property
    def engine(self) -> Engine | None:
        """The engine of the current load, None when not known."""
        return None if self._load is None else self._load.engine

    @property
    def model(self) -> str | None:
        """The model's name: as the server lists it, else as its arguments say."""
        listed = None if self._load is None else self._load.ladder.listed
        server = self.shown
        named = server.model if server is not None else None
        if not listed:
            return named
        expected = self.expected_model
        return expected if expected in listed else listed[0]

    @property
    def expected_model(self) -> str | None:
        """The id that has to answer: options, else the arguments, else None (the first listed)."""
        return expected_model(self.shown, self.options)

    @property
    def loading(self) -> bool:
        """Whether a load is under way: taken up and not ended."""
        return self._load is not None and not self._load.ended

    @property
    def began_s(self) -> float | None:
        """When the current load was taken up."""
        return None if self._load is None else self._load.began_s

    @property
    def started_s(self) -> float | None:
        """When the server of the current load started, None when not known (a URL alone)."""
        return None if self._load is None else self._load.started_s

    @property
    def phase(self) -> Phase | None:
        """Where the load stands (stood, after its end), None when nothing tells."""
        return None if self._load is None else self._load.timeline.phase

    @property
    def phase_since_s(self) -> float | None:
        """When that phase began, None when that was not seen."""
        return None if self._load is None else self._load.timeline.since_s

    @property
    def phases(self) -> list[PhaseSpan]:
        """The phases so far in order, the current one last."""
        return [] if self._load is None else list(self._load.timeline.spans)

    @property
    def past_phases(self) -> list[PhaseSpan]:
        """The phases before the current one, in order."""
        return self.phases[:-1]

    @property
    def ladder(self) -> tuple[Rung, Rung, Rung, Rung, Rung]:
        """Process, port, health, model, token."""
        if self._load is None:
            return (Rung("process"), Rung("port"), Rung("health"), Rung("model"), Rung("token"))
        return self._load.ladder.rungs

    @property
    def ready(self) -> bool:
        """Whether the rung that counts was reached in this load, by the expected model; False once ended."""
        return self.outcome == "ready"

    @property
    def ready_s(self) -> float | None:
        """When it became ready (or was first found ready, see ready_seen), None when it never was."""
        return None if self._load is None else self._load.ready_s

    @property
    def ready_seen(self) -> bool:
        """Whether the load was seen not ready before it was: only then its time to ready is known."""
        return self._load is not None and self._load.ready_seen

    @property
    def outcome(self) -> Literal["ready", "failed"] | None:
        """How the current load came out so far; a ready one may yet fail."""
        if self._load is None:
            return None
        if self._load.ended:
            return "failed"
        return "ready" if self._load.ready_s is not None else None

    @property
    def reason(self) -> str:
        """Why it failed, or what is not there yet, in one sentence; "" when ready."""
        if self._load is None:
            return self.choice.sentence
        end = self._load.end
        if end is not None:
            return end.reason
        return "" if self.outcome == "ready" else missing(self._load.ladder.rungs)

    @property
    def fault(self) -> str | None:
        """The class of the failure: died, shut_down, refused; wrong_model or key_needed while that is so."""
        if self._load is None:
            return None
        end = self._load.end
        if end is not None:
            return end.fault
        if self._load.ladder.rung("model").state == "bad":
            return "key_needed" if self._load.ladder.rung("model").outcome == "key_needed" else "wrong_model"
        needs_key = any(rung.state == "bad" and rung.outcome == "key_needed" for rung in self.ladder)
        return "key_needed" if needs_key else None

    @property
    def last_end(self) -> End | None:
        """How the last load that ended did; the current one's if that has ended."""
        end = None if self._load is None else self._load.end
        return end or self._earlier_end

    @property
    def attempts(self) -> int:
        """How many questions were put to the server's port in this load."""
        return 0 if self._load is None else self._load.ladder.attempts

    @property
    def log_tail(self) -> str:
        """The unfinished line at the end of the log, or the bar that is being redrawn."""
        if self._load is not None and self._load.tail and not self._load.ended:
            return self._load.tail
        return self.log.held.text if self.log.held is not None else ""

    @property
    def log_last_activity_s(self) -> float | None:
        """When the log last grew by a line that we did not cause; None when that was not seen."""
        return None if self._load is None else self._load.log_activity_s

    @property
    def bench_due(self) -> bool:
        """Whether an armed benchmark is to be fired now."""
        return self.ready and self.bench.armed and self.bench.running is None
