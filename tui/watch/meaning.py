"""What a watch means so far: the read-only half of WatchState."""

from collections import deque
from typing import Literal

from tui.engines.base import Engine
from tui.engines.generic import GENERIC
from tui.engines.marks import Progress
from tui.engines.phase import Phase
from tui.events import Checkpoint, GpuDriver, Hello, LogSource, Notice
from tui.past_load import PastLoad
from tui.provenance import Provenance
from tui.requests import FollowRequest
from tui.watch.bench import BenchState
from tui.watch.circumstances import circumstances
from tui.watch.clock import SourceClock
from tui.watch.course import Course, course_of
from tui.watch.eta import Estimate, Standing, estimate, fraction, words
from tui.watch.follow import expected_model, follow_request
from tui.watch.gpus import GpuBook
from tui.watch.history import LoadKey, Matching, PastLoads, PastWanted, key_of, past_of
from tui.watch.judging import Judging
from tui.watch.ladder import Rung
from tui.watch.lanes import Lane
from tui.watch.link import LinkState
from tui.watch.load import Load
from tui.watch.load_end import End
from tui.watch.log_buffer import LogBuffer
from tui.watch.log_lag import LogLag
from tui.watch.options import WatchOptions
from tui.watch.root_cause import Cause
from tui.watch.target import Choice, Member, Server
from tui.watch.timeline import PhaseSpan
from tui.watch.transfer import Transfer
from tui.watch.verdict.situation import Past, Situation
from tui.watch.verdict.verdict import Verdict, Word
from tui.watch.weights import received

NOTICES = 50


class Meaning:
    """Everything that can be asked of a watch. Times are on the host's monotonic clock.

    Fields outlive a load: ``hello``, ``link``, ``driver``, ``gpus``, ``servers``, ``choice``, ``log``,
    ``log_lag``, ``log_source``, ``notices``, ``bench``, ``dropped`` (samples), ``loads`` (taken up),
    ``alerts`` (loads that became ready or ended), ``past_loads``, ``finished`` (the newest that became ready
    in this watch), ``passed`` (the course of the load before), ``checkpoint`` (the newest), ``provenance``
    (of the current server) and ``lost`` (its first rank that went before any failure was told); None where
    there is none. Properties tell of the current load, or of the last until the next is taken up.
    """

    def __init__(self, options: WatchOptions) -> None:
        self.options = options
        self.hello: Hello | None = None
        self.link = LinkState()
        self.driver: GpuDriver | None = None
        self.gpus = GpuBook()
        self.servers: list[Server] = []
        self.choice = Choice("none", None, "")
        self.log = LogBuffer()
        self.log_lag = LogLag()
        self.log_source: LogSource | None = None
        self.notices: deque[Notice] = deque(maxlen=NOTICES)
        self.bench = BenchState(armed=options.bench_on_ready)
        self.past_loads = PastLoads()
        self.finished: PastLoad | None = None
        self.passed: Course | None = None
        self.checkpoint: Checkpoint | None = None
        self.provenance: Provenance | None = None
        self.dropped = 0
        self.lost: Member | None = None
        self.loads = 0
        self.alerts = 0
        self.judging = Judging()
        self._judged: Verdict | None = None
        self._clock = SourceClock()
        self._load: Load | None = None
        self._earlier_end: End | None = None
        self._wanted = follow_request(None, options) if options.url is not None else None

    def source_now(self, client_s: float) -> float | None:
        """Return the host's monotonic time at a client's time, None before the first event of the host."""
        return self._clock.source_s(client_s)

    @property
    def wanted(self) -> FollowRequest | None:
        """What the source should follow now; the session sends it whenever it changes.

        None before the first server was found (without a URL, or a port and all processes). It stays as it
        was after a server's end, so that the last lines of its log still come.
        """
        return self._wanted

    @property
    def url_alone(self) -> bool:
        """Whether only a URL is watched: no process is known, so nothing but its port can tell."""
        return self.options.url is not None and self.shown is None

    @property
    def unheard(self) -> bool:
        """Whether nothing was heard yet of the host, nor of the URL."""
        return self.hello is None and self._load is None

    @property
    def without_agent(self) -> bool:
        """Whether a URL is watched from here, with no agent on its host: readiness is all there is."""
        return self.hello is not None and self.hello.protocol == 0

    @property
    def without_python(self) -> bool:
        """Whether a shell watches in place of an agent: no process is seen, so no server is found."""
        return self.hello is not None and not self.hello.python and not self.without_agent

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
    def engine_version(self) -> str | None:
        """The engine's version as its log tells it, None when not known."""
        return None if self._load is None else self._load.log_phases.version

    @property
    def model(self) -> str | None:
        """The model's name: as the server lists it, else as its arguments say."""
        listed = None if self._load is None else self._load.ladder.listed
        server = self.shown
        told = None if self._load is None else self._load.told_model
        named = server.model if server is not None else told
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
        """When the current load was taken up, None where a log without times alone tells of it."""
        return None if self._load is None else self._load.began_s

    @property
    def started_s(self) -> float | None:
        """When the server of the current load started, None when not known (a URL alone)."""
        return None if self._load is None else self._load.started_s

    @property
    def origin_s(self) -> float | None:
        """What T+ counts from: the start of the server, or, where that is not known, of the watch of it."""
        return self.began_s if self.started_s is None else self.started_s

    @property
    def phase(self) -> Phase | None:
        """Where the load stands (stood, after its end), None when nothing tells."""
        return None if self._load is None else self._load.told.phase

    @property
    def phase_since_s(self) -> float | None:
        """When that phase began, None when that was not seen."""
        return None if self._load is None else self._load.told.since_s

    @property
    def phases(self) -> list[PhaseSpan]:
        """The phases so far in order, the current one last."""
        return [] if self._load is None else list(self._load.told.spans)

    @property
    def past_phases(self) -> list[PhaseSpan]:
        """The phases before the current one, in order."""
        return self.phases[:-1]

    @property
    def phase_progress(self) -> Progress | None:
        """How much of the current phase the log says is done, None where it does not."""
        return None if self._load is None else self._load.told.progress

    @property
    def lanes(self) -> list[Lane]:
        """The ranks that have spoken, each where it stands."""
        return [] if self._load is None else self._load.log_phases.lanes.all

    @property
    def lagging_ranks(self) -> list[Lane]:
        """The ranks that hold the load back: others have printed what these have not."""
        return [] if self._load is None or self._load.ended else self._load.log_phases.lanes.lagging

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
    def ready_known(self) -> bool:
        """Whether that was seen, or the log tells when it was; a lost link leaves it at "by then"."""
        return self._load is None or self._load.ready_known

    @property
    def outcome(self) -> Literal["ready", "failed"] | None:
        """How the current load came out so far; a ready one may yet fail."""
        if self._load is None:
            return None
        if self._load.ended:
            return "failed"
        return "ready" if self._load.ready else None

    @property
    def verdict(self) -> Word | None:
        """What is to be thought of the load in one word, judged once a second; None while nothing tells."""
        if self.outcome == "failed":
            return "dead"
        if self._judged is None:
            return self.outcome
        return self._judged.word

    @property
    def judged(self) -> Verdict | None:
        """The verdict as of the newest event, None while nothing but the port or a bare log tells."""
        return self._judged

    def judgement(self, now_s: float) -> Verdict | None:
        """Return the verdict at a time of the host, None where no process of a server is known."""
        moment = self.circumstances(now_s)
        return None if moment is None else self.judging.judge(moment)

    def circumstances(self, now_s: float) -> Situation | None:
        """Return what the rules know of a moment, None where no process of a server is known."""
        load = self._load
        if load is None or load.server is None:
            return None
        self.judging.of_server(load.server)
        loading = not load.ended and not load.ready
        return circumstances(
            load,
            load.server,
            self.judging,
            self.gpus,
            now_s,
            past=past_of(self.matching.loads, load.timeline.phase) if loading else Past(),
            transfer=self.transfer(now_s) if self.phase is Phase.WEIGHTS else None,
            others=self.servers,
            log=self.log,
        )

    @property
    def reason(self) -> str:
        """Why it failed, or what is not there yet, in one sentence; "" when ready."""
        if self._load is None:
            return self.choice.sentence
        end = self._load.end
        if end is not None:
            return end.reason
        return "" if self.outcome == "ready" else self._load.missing

    @property
    def fault(self) -> str | None:
        """The class of the failure: died, shut_down, refused; log_failure where a log alone tells of it.

        While a load is not ready: what a person has to mend (wrong_model, key_needed, tls, not_http).
        """
        if self._load is None:
            return None
        end = self._load.end
        if end is not None:
            return end.fault
        if self.ready:
            return None
        wrong = [rung.outcome for rung in self.ladder if rung.state == "bad"]
        return wrong[-1] if wrong else None

    @property
    def log_failure(self) -> Cause | None:
        """Why the load has failed by its log, while its process lives; None when it has not."""
        return None if self._load is None else self._load.log_failure

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
    def log_behind_bytes(self) -> int:
        """How much of the log is still to be read."""
        return 0 if self._load is None else self._load.behind_bytes

    @property
    def log_last_activity_s(self) -> float | None:
        """When the log last grew by a line that we did not cause; None when that was not seen."""
        return None if self._load is None else self._load.log_activity_s

    @property
    def bench_due(self) -> bool:
        """Whether an armed benchmark is to be fired now."""
        return self.ready and self.bench.armed and self.bench.running is None

    @property
    def course(self) -> Course | None:
        """The course of the current load as far as it was seen, None where no process of it is known."""
        return course_of(self._load, self.judging.verdicts, self._clock.latest_s)

    @property
    def load_key(self) -> LoadKey | None:
        """What the current load is compared with past ones by, None where its model is not known."""
        load = self._load
        if load is None or load.server is None:
            return None
        host, told = (None if self.hello is None else self.hello.host), load.log_phases.version
        return key_of(load.server, version=told, gpus=self.gpus, host=host, cache=load.cache)

    @property
    def past_wanted(self) -> PastWanted | None:
        """Which past loads the session should read, None while no server with a known model is followed."""
        server = self.shown
        if server is None or server.arguments.model is None:
            return None
        return PastWanted(self.loads, server.engine.name, server.arguments.model)

    @property
    def matching(self) -> Matching:
        """The past loads that the current one is compared with, and in words which they are."""
        key = self.load_key
        return Matching((), "") if key is None else self.past_loads.matching(key)

    def estimate(self, now_s: float) -> Estimate | None:
        """Return how long until ready (T-); None: no estimate yet, or none (it is over, or stands)."""
        load = self._load
        if load is None or load.ended or load.ready or (self._judged is not None and self._judged.stands):
            return None
        place = (load.engine or GENERIC).place
        came = self.transfer(now_s) if self.phase is Phase.WEIGHTS else None
        received_left_s = None if came is None else came.left_at(now_s)
        standing = Standing(load.told.spans, load.pace, load.started_s, place, received_left_s)
        return estimate(standing, self.matching, now_s)

    def estimate_words(self, now_s: float) -> str:
        """Return the estimate in a sentence, or that and why there is none yet; "" once it is over."""
        return words(self.estimate(now_s), self.matching) if self.loading and not self.ready else ""

    def transfer(self, now_s: float) -> Transfer | None:
        """Return what came over PCIe in the weights phase, None before it or where nothing can be counted."""
        load = self._load
        if load is None or load.server is None:
            return None
        return received(load, load.server, self.gpus, self.checkpoint, self.matching, now_s)

    def phase_fraction(self, now_s: float) -> float | None:
        """Return how much of the current phase is done (0 to 1), None where neither log nor GPUs tell."""
        if self._load is None:
            return None
        came = self.transfer(now_s) if self.phase is Phase.WEIGHTS else None
        return fraction(self.phase, self._load.told.progress, came.fraction if came is not None else None)
