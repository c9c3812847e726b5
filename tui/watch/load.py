"""One load of one server: everything that begins anew when the server does."""

import re
from collections.abc import Sequence

from tui.engines.base import Engine
from tui.engines.generic import GENERIC
from tui.engines.marks import MarkKind, Progress, Speaker, somebodys_request, tells_progress
from tui.engines.phase import Phase
from tui.engines.reader import Heard
from tui.engines.registry import EngineGuess, engine_serving
from tui.events import Exit, Log, LogSource, Probe
from tui.requests import FollowRequest
from tui.watch.follow import expected_model
from tui.watch.history import Cache, cache_told
from tui.watch.ladder import READY_RUNG, Expectation, Ladder, missing
from tui.watch.late_lines import LateLines
from tui.watch.load_end import REFUSED_S, End, Fault, reason
from tui.watch.log_buffer import LogBuffer
from tui.watch.log_news import LogNews
from tui.watch.options import WatchOptions
from tui.watch.own_lines import OwnLines
from tui.watch.pace import Pace
from tui.watch.phases import LogPhases
from tui.watch.root_cause import Cause, Quote
from tui.watch.stand_out import stands_out
from tui.watch.target import Server
from tui.watch.timeline import Timeline

SEEN_FROM_START_S = 3.0
"""A server taken up within this time of its start has its log read as it is written."""

_PORT_PHASES = (Phase.START_API, Phase.WARMUP, Phase.READY)
"""Phases that the port can tell of before the log does: from there a load only goes forward."""


class Load:
    """A load under way, or ended and kept until the next begins. ``server`` is None for a URL watched alone.

    ``began_s`` is when it was taken up, ``started_s`` when the server started (None: not known). ``blind``:
    the link was lost since it was last seen to wait, so it may have been ready for a while. ``heard_from``:
    who wrote lines of progress in the newest log event, as far as they came when they were written.
    ``downloading``: what the log last told of is a download. ``ready_dated``: it became ready while the link
    was lost, and the log tells when.
    """

    def __init__(
        self, server: Server | None, options: WatchOptions, follow: FollowRequest | None, at_s: float
    ) -> None:
        self.server = server
        self.options = options
        self.engine: Engine | None = server.engine if server is not None else None
        self.began_s: float | None = at_s
        self.started_s: float | None = server.started_s if server is not None else None
        self.ladder = Ladder(Expectation(expected_model(server, options), exact=options.model is not None))
        self.timeline = Timeline()
        self.log_phases = LogPhases(self.engine or GENERIC)
        self.pace = Pace()
        self.cache: Cache | None = None
        self.blind = False
        self.ready_dated = False
        self._found_blind = False
        self._unseen_s: float | None = None
        self._lost_s = 0.0
        self._late_s: float | None = None
        self._log_ready_s: float | None = None
        self._late_lines = LateLines()
        self.own_lines = OwnLines(self.engine, follow.probe if follow is not None else None)
        self.ready_s: float | None = None
        self.ended_s: float | None = None
        self.exit: Exit | None = None
        self.tail = ""
        self.log_activity_s: float | None = None
        self.behind_bytes = 0
        self.heard_from: list[Speaker] = []
        self.downloading = False
        self._news = LogNews()
        self._guess = EngineGuess()
        self._log_phase: Phase | None = None
        self._line_phase: Phase | None = None
        self._reached: tuple[Phase, Progress | None] | None = None
        self._refused = False
        self._deaf = False
        self._behind = server is not None and at_s - server.started_s > SEEN_FROM_START_S
        if server is not None:
            self.ladder.process("ok", f"pid {server.pid}", server.started_s)
            if follow is not None and follow.log_path is not None:
                self.timeline.move(Phase.LAUNCH, self.started_s)

    @property
    def ended(self) -> bool:
        """Whether it is over."""
        return self.ended_s is not None

    @property
    def log_failure(self) -> Cause | None:
        """Why it has failed by its log while its process lives: a parent may outlive its ranks for long."""
        return None if self.ended else self.log_phases.cause

    @property
    def ready(self) -> bool:
        """Whether it has become ready."""
        return self.ready_s is not None

    @property
    def told(self) -> Timeline:
        """The phases to tell of. What an old log alone tells, of a port that never answered, is the past."""
        heard = self.server is not None or self.log_activity_s is not None or self.ladder.port_opened
        return self.timeline if heard else Timeline()

    @property
    def missing(self) -> str:
        """What is not there yet, in words; "" where that is not known."""
        return missing(self.ladder.rungs)

    @property
    def told_model(self) -> str | None:
        """The model's name where only the log tells it."""
        return None

    @property
    def ready_seen(self) -> bool:
        """Whether it was seen not ready before, so that its time to ready is known."""
        return self.ladder.seen_waiting

    def lose_link(self, at_s: float) -> None:
        """The link is lost, and was there until then: what the log tells next of has happened meanwhile."""
        if not self.blind:
            self._lost_s = at_s
        self._unseen_s = at_s if self._unseen_s is None else self._unseen_s
        self.blind = self._behind = True

    def see(self, server: Server) -> None:
        """A list of processes has it: what comes now is seen when it comes."""
        self.server, self._unseen_s = server, None

    @property
    def ready_known(self) -> bool:
        """Whether it is known when it became ready, and not only that it did by then."""
        return not self._found_blind or self.ready_dated

    # Readiness.

    def take_probe(self, probe: Probe) -> None:
        """Note an answer of the server's port."""
        if self.ended:
            return
        if self.engine is None and self.server is None:
            self._know_engine(engine_serving(probe.server))
        self.own_lines.probed(probe)
        self.ladder.take(probe)
        self._phase_from_port(probe)
        self._check_ready(probe.mono_s)
        if self.ladder.rung("model" if probe.rung == "models" else probe.rung).state == "waiting":
            self.blind = False
        if self.server is None:
            self._check_refused(probe.mono_s)

    def guess_engine(self, lines: Sequence[str]) -> None:
        """Know the engine by its log where no process tells: from the first lines that only it writes."""
        if self.engine is not None or self.server is not None:
            return
        decided = (self._guess.read(line) for line in lines)
        self._know_engine(next((engine for engine in decided if engine is not None), None))

    def _know_engine(self, engine: Engine | None) -> None:
        if engine is not None:
            self.engine = engine
            self.log_phases = LogPhases(engine)

    def _phase_from_port(self, probe: Probe) -> None:
        """The port tells what a silent log does not: an engine that opens it late has loaded by then."""
        if self.engine is None or self.ladder.rung("port").state != "ok":
            return
        unavailable = probe.rung == "health" and probe.status == 503
        if self.engine.port_opens_early:
            if unavailable:
                self._forward(Phase.WEIGHTS, probe.mono_s)
        elif unavailable or self._port_is_ours:
            self._forward(Phase.WARMUP if unavailable else Phase.START_API, probe.mono_s)

    @property
    def _port_is_ours(self) -> bool:
        """Whether nothing speaks against it; beside a log, once it is known which model answers."""
        return not self._hears_log or self.ladder.rung("model").outcome not in (None, "wrong_model")

    @property
    def _hears_log(self) -> bool:
        return bool(self.timeline.spans) and self.timeline.spans[0].phase is Phase.LAUNCH

    def _check_ready(self, at_s: float) -> None:
        if self.ready_s is not None:
            return
        rung = self.ladder.rung(READY_RUNG[self.options.ready_on])
        if rung.state != "ok":
            return
        if self.options.ready_on != "health" and self.ladder.rung("model").state == "bad":
            return
        self.ready_s, self._found_blind = at_s, self.blind
        if not self.ready_seen and self._log_phase is None:
            self.timeline = Timeline()  # nobody saw how long it launched
        self.timeline.move(Phase.READY, at_s)
        self._date_ready()

    def _date_ready(self) -> None:
        """What became ready while the link was lost did so when its log says, and not when it was found."""
        told_s, found_s = self._log_ready_s, self.ready_s
        if not self._found_blind or told_s is None or found_s is None:
            return
        if self._lost_s <= told_s <= found_s:
            self.ready_s, self.ready_dated = told_s, True
            self.timeline.began_earlier(Phase.READY, told_s)

    def _check_refused(self, at_s: float) -> None:
        since_s = self.ladder.refused_since_s
        if self.ladder.port_opened and since_s is not None and at_s - since_s >= REFUSED_S:
            self._refused = True
            self.finish(at_s)

    # The log.

    def take_source(self, source: LogSource) -> None:
        """Note where the log is read from: without one only the port tells the phase."""
        if source.state == "open":
            if self.timeline.phase is None and self.server is not None:
                self.timeline.move(Phase.LAUNCH, self.started_s)
        elif [span.phase for span in self.timeline.spans] == [Phase.LAUNCH]:
            self.timeline = Timeline()

    def take_log(self, event: Log, buffer: LogBuffer) -> None:
        """Take lines in; our own access lines are left out of everything."""
        # What was read at one moment came late as a whole.
        behind = self._behind or event.behind_bytes > 0 or event.mono_s == self._late_s
        self._behind = event.behind_bytes > 0
        self._late_s = event.mono_s if behind else None
        self.behind_bytes = event.behind_bytes
        if self._deaf:
            return
        at_s = None if behind else event.mono_s
        mono_s, returns, active = event.mono_s, set(event.returns), False
        # Once an event is enough: its lines have one time.
        unheard = at_s is not None
        self._reached = None
        self.heard_from = []
        for place, line in enumerate(event.lines):
            if self.ended_s is not None and self._begins_next(line):
                self._deaf = True
                return
            if at_s is not None:
                self._begin_anew(line, at_s)
            if self.own_lines.ours(line, mono_s):
                continue
            heard = self._take_line(line, place in returns, mono_s, at_s, buffer)
            marks = heard.marks
            if self.ready_s is None and self._news.new(line, heard, self.timeline.phase) and at_s is not None:
                self.heard_from.append(heard.speaker)
            active = active or bool(line.strip())
            if unheard and tells_progress(marks):
                self.timeline.heard(at_s)
                unheard = False
        if event.tail != self.tail:
            self.tail = event.tail
            active |= bool(event.tail)
            self.log_phases.peek(event.tail, at_s)
            self._log_reached(self.log_phases.phase, at_s)
        if active and at_s is not None:
            self.log_activity_s = at_s

    def _take_line(
        self, line: str, returned: bool, mono_s: float, at_s: float | None, buffer: LogBuffer
    ) -> Heard:
        heard = self.log_phases.reader.read(line)
        marks = heard.marks
        mark = stands_out(marks) if marks else None
        number = buffer.add(line, returned=returned, mark=mark, at_s=mono_s, engine=self.engine)
        at_s = self._written_s(heard, mono_s, at_s)
        if not marks or somebodys_request(marks):
            return heard
        if at_s is not None and any(each.kind is MarkKind.READY for each in marks):
            self._log_ready_s = at_s
            self._date_ready()
        self.log_phases.take(heard, line, number, at_s)
        self.cache = cache_told(self.cache, marks)
        phase = self.log_phases.phase
        self._log_reached(phase, at_s)
        if self.ended_s is None:
            self.timeline.told(marks, at_s)
        # Also the line that had moved it before it was whole.
        if mark is None and phase is not self._line_phase:
            buffer.mark_last(phase)
        self._line_phase = phase
        self.downloading = any(each.part == "download" for each in marks)
        return heard

    def _written_s(self, heard: Heard, read_s: float, at_s: float | None) -> float | None:
        """Return when a line was written: as it came, or, where it came late, by the log's own clock."""
        if at_s is None:
            return self._late_lines.dated(heard.time, read_s)
        self._late_lines.came(heard.time, at_s)
        return at_s

    def _begins_next(self, line: str) -> bool:
        """Whether a line in the ended server's file is its successor's first: that one reads it anew."""
        return self.engine is not None and any(re.search(text, line) for text in self.engine.first_lines)

    def _begin_anew(self, line: str, at_s: float) -> None:
        """Forget what lines from before the watch alone have told where a start begins before our eyes."""
        untimed = self.server is None and self.timeline.phase is not None and self.timeline.since_s is None
        if not untimed or self.ladder.port_opened or not self._begins_next(line):
            return
        self.timeline, self.log_phases, self.pace = Timeline(), LogPhases(self.engine or GENERIC), Pace()
        self._log_phase = self._line_phase = self.cache = None
        self.began_s = at_s

    def _log_reached(self, phase: Phase | None, at_s: float | None) -> None:
        """The log may have moved the load; its word for ready is not a generated token."""
        if phase is None or self.ended_s is not None:
            return
        progress = self.log_phases.progress
        reached = (phase, progress)
        # The same word twice in one event says nothing more.
        if self._reached is not None and self._reached[0] is phase and self._reached[1] is progress:
            return
        self._reached = reached
        phase = Phase.START_API if phase is Phase.READY else phase
        before, self._log_phase = self._log_phase, phase
        loading_still = self.ladder.rung("model").outcome == "wrong_model" and phase not in _PORT_PHASES
        if self.timeline.phase in _PORT_PHASES and not loading_still:
            self._forward(phase, at_s)
        elif phase is not before and self.ready_s is None:
            self.timeline.move(phase, at_s)
        if progress is not None and phase is self.timeline.phase:
            self.timeline.went_on(progress)
            self.pace.take(progress, at_s)
        else:
            self.pace.reset()

    def _forward(self, phase: Phase, at_s: float | None) -> None:
        now, place = self.timeline.phase, (self.engine or GENERIC).place
        if self.ready_s is None and (now is None or place(phase) > place(now)):
            self.timeline.move(phase, at_s)

    # The end.

    def finish(self, at_s: float) -> None:
        """The server is gone (or its URL refuses)."""
        if self.ended:
            return
        self.ended_s = at_s
        self.timeline.close(at_s)
        if self.server is not None:
            self.ladder.process("bad", f"pid {self.server.pid} is gone", at_s)

    def revive(self, server: Server) -> None:
        """It was not gone after all: a list of processes had missed it."""
        self.see(server)
        self.ended_s = None
        self.exit = None
        self.timeline.reopen()
        self.ladder.process("ok", f"pid {server.pid}", server.started_s)

    @property
    def end(self) -> End | None:
        """How it ended, None while it goes on. Log lines that come late may still name the cause."""
        if self.ended_s is None:
            return None
        fault = self._fault()
        return End(
            phase=self.timeline.phase,
            fault=fault,
            reason=self._reason(fault, self.ended_s),
            at_s=self.ended_s,
            from_s=self.ended_s if self._unseen_s is None else self._unseen_s,
            lasted_s=None if self.started_s is None else max(0.0, self.ended_s - self.started_s),
            was_ready=self.ready_s is not None,
            server=self.server,
            quote=self._quote(fault),
            cause=self.log_phases.suspect if fault == "died" else None,
        )

    def _fault(self) -> Fault:
        if self._refused:
            return "refused"
        return "shut_down" if self.log_phases.shutdown is not None else "died"

    def _reason(self, fault: Fault, at_s: float) -> str:
        after_s = None if self.started_s is None else at_s - self.started_s
        quote = self._quote(fault) if fault == "died" else None
        code = None if self.exit is None else self.exit.code
        unseen = self._unseen_s is not None
        return reason(fault, self.server, self.timeline.phase, after_s, quote, code=code, at_most=unseen)

    def _quote(self, fault: Fault) -> Quote | None:
        phases = self.log_phases
        told = phases.suspect and phases.suspect.quote
        return phases.shutdown if fault == "shut_down" else told
