"""The loads that a bare log tells of: the log's word alone, since nobody asked the server."""

from collections.abc import Iterator

from tui.engines.arguments import printed_model
from tui.engines.phase import Phase
from tui.events import Log, LogSource, Probe
from tui.watch.load import Load
from tui.watch.load_end import End
from tui.watch.log_buffer import LogBuffer
from tui.watch.log_reading import Reading
from tui.watch.log_start import Start
from tui.watch.options import WatchOptions
from tui.watch.phases import LogPhases
from tui.watch.root_cause import QUOTE_LENGTH
from tui.watch.stand_out import stands_out
from tui.watch.timeline import Timeline

_OVER = ("failed", "stopped")
_NOT_TOLD = "the log does not say that it is ready"


class LogLoad(Load):
    """One start in a bare log. Its process, port and model were never asked: those rungs stay unknown.

    Times are those of the lines; a log without time stamps has none, however fast it is played. ``number``
    is its place among the starts in the log, from 1.
    """

    def __init__(self, start: Start, number: int, options: WatchOptions, at_s: float) -> None:
        super().__init__(None, options, None, at_s)
        self.start = start
        self.number = number
        self.engine = start.phases.engine
        self.log_phases: LogPhases = start.phases
        self._was_ready = False
        self._model_of: str | None = None
        self._model: str | None = None
        self.follow(at_s)

    @property
    def ready(self) -> bool:
        """Whether its log says so, and nothing after that says otherwise."""
        return self.start.phases.outcome == "ready"

    @property
    def ready_seen(self) -> bool:
        """Whether the log tells of the load before it: only then its time to ready is known."""
        return self.ready_s is not None and len(self.timeline.spans) > 1

    @property
    def told(self) -> Timeline:
        """The phases, however old: the log is all there is."""
        return self.timeline

    @property
    def missing(self) -> str:
        """What is not there yet, in words."""
        return _NOT_TOLD

    @property
    def told_model(self) -> str | None:
        """The model's name as the log prints it among the arguments, None where it does not."""
        printed = self.log_phases.arguments
        if printed is not self._model_of:
            self._model_of = printed
            flags = self.log_phases.engine.flags
            self._model = None if printed is None else printed_model(flags, printed)
        return self._model

    def take_probe(self, probe: Probe) -> None:
        """Leave an answer out: it is not this server's."""

    def take_source(self, source: LogSource) -> None:
        """Leave it out: the phases come from the lines."""

    def follow(self, mono_s: float) -> None:
        """Bring what is told of the load up to what its start has come to, by lines until ``mono_s``."""
        phases, at_s = self.start.phases, self.start.at_s
        self.timeline = self.start.standing
        self.began_s = self.start.began_s
        self.log_activity_s = at_s
        ready = next((span for span in self.timeline.spans if span.phase is Phase.READY), None)
        if ready is not None and not self._was_ready:
            self._was_ready, self.ready_s = True, ready.began_s
        if phases.outcome not in _OVER:
            self.ended_s = None
        elif self.ended_s is None:
            self.ended_s = mono_s
        if phases.progress is not None and phases.phase is self.timeline.phase:
            self.pace.take(phases.progress, at_s)
        else:
            self.pace.reset()

    @property
    def end(self) -> End | None:
        """How it ended by its log, None while that tells of no end. That its process is gone is not known."""
        if self.ended_s is None:
            return None
        phases = self.start.phases
        stopped = phases.outcome == "stopped"
        cause = phases.cause
        where = "" if self.timeline.phase is None else f" in {self.timeline.phase.words}"
        if self._was_ready:
            where = " while ready"
        quote = phases.shutdown if stopped else None if cause is None else cause.quote
        quoted = "" if quote is None or stopped else f": {quote.text[:QUOTE_LENGTH]}"
        what = "was shut down" if stopped else "failed"
        return End(
            phase=self.timeline.phase,
            fault="shut_down" if stopped else "log_failure",
            reason=f"by its log the server {what}{where}{quoted}",
            at_s=self.ended_s,
            from_s=self.ended_s,
            lasted_s=None,
            was_ready=self._was_ready,
            server=None,
            quote=quote,
            cause=cause,
        )


class LoggedLoads:
    """All loads that one log tells of, in order. ``load`` is the newest."""

    def __init__(self, options: WatchOptions) -> None:
        self._options = options
        self._reading = Reading(played=True)
        self._mono_s = 0.0
        self._phase: Phase | None = None
        self.load: LogLoad | None = None

    def take(self, event: Log, buffer: LogBuffer) -> Iterator[LogLoad]:
        """Take lines in; iterate over the loads that they tell of, each brought up to date, in order."""
        returns = set(event.returns)
        self._mono_s = event.mono_s
        for place, line in enumerate(event.lines):
            self._take_line(line, place in returns, buffer)
            if self.load is None or self._reading.start is not self.load.start:
                yield from self._next()
        if self.load is not None:
            self.load.follow(event.mono_s)
            yield self.load

    def _take_line(self, line: str, returned: bool, buffer: LogBuffer) -> None:
        reading = self._reading
        number = buffer.add(line, returned=returned, at_s=self._mono_s, engine=reading.engine)
        heard = reading.hear(line, number, self._mono_s)
        if heard.marks:
            before, self._phase = self._phase, reading.start.phases.phase
            mark = stands_out(heard.marks) or (self._phase if self._phase is not before else None)
            if mark is not None:
                buffer.mark_last(mark)

    def _next(self) -> Iterator[LogLoad]:
        """Another start began, or all lines were read anew, by the rules of the engine that was found."""
        count = self._reading.earlier_count
        before = self._reading.before
        if before is not None:
            if self.load is None or self.load.start is not before:
                self.load = self._load_of(before, count)
            self.load.follow(self._mono_s)
            yield self.load
        self.load = self._load_of(self._reading.start, count + 1)

    def _load_of(self, start: Start, number: int) -> LogLoad:
        return LogLoad(start, number, self._options, self._mono_s)
