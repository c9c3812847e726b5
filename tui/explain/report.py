"""What a log says, as plain values; their names are those of the JSON."""

import re
from collections.abc import Sequence
from contextlib import ExitStack, closing

import msgspec

from tui.engines.base import Engine
from tui.engines.generic import GENERIC
from tui.engines.marks import Progress, RankIdentity, Steady
from tui.engines.phase import Phase
from tui.explain.numbered import Numbered
from tui.explain.several import held_back, one_engine, together
from tui.explain.sources import LogFault, LogFile, same_file
from tui.transport.clean import clean
from tui.watch.lanes import Lane
from tui.watch.log_reading import Reading
from tui.watch.log_start import Start
from tui.watch.phases import LogPhases, Outcome
from tui.watch.root_cause import Cause
from tui.watch.timeline import PhaseSpan

_DIGITS = re.compile(r"(\D*)(\d{0,18})")


class ProgressReport(msgspec.Struct, frozen=True):
    """So much of a phase was done when it was last told; ``total`` None where the log does not say."""

    done: float
    total: float | None
    unit: str


class PhaseReport(msgspec.Struct, frozen=True):
    """A stay in a phase, in seconds since the start's first time stamp; None where the log has no times.

    ``ended`` is None while it goes on, or where the line that ended it has no time; ``seconds`` then counts
    until the last time before. ``began`` is negative where the log says that it began before the log does.
    """

    name: str
    began: float | None
    ended: float | None
    seconds: float | None
    longest_silence_s: float | None
    progress: ProgressReport | None


class RankReport(msgspec.Struct, frozen=True):
    """A rank, by the engine's own name for it; ``lags``: another one is further. ``since``: in its phase."""

    rank: str
    phase: str | None
    lags: bool
    since: float | None
    global_rank: int | None
    local_rank: int | None
    pid: int | None
    file: str


class FaultReport(msgspec.Struct, frozen=True):
    """The root cause of a failure, with the line that tells it and the file where that stands."""

    kind: str
    line_number: int
    line: str
    cause: str
    next_step: str
    file: str


class StopReport(msgspec.Struct, frozen=True):
    """The line that says that the end was asked for."""

    line_number: int
    line: str
    file: str


class EarlierReport(msgspec.Struct, frozen=True):
    """An earlier start in the same file, which begins at ``line_number``."""

    outcome: Outcome
    phase: str
    line_number: int
    fault: FaultReport | None
    file: str


class FileReport(msgspec.Struct, frozen=True):
    """A file: its number of lines, and the line where the last start in it begins."""

    file: str
    lines: int
    start_line: int


class SilenceReport(msgspec.Struct, frozen=True):
    """The longest time without a line of progress before ready; ``before_line`` None: until the log's end."""

    seconds: float
    phase: str
    after_line: int
    before_line: int | None
    file: str


class Report(msgspec.Struct, frozen=True):
    """What the log of a load says; of several starts the last one. None is unknown.

    ``started`` is second 0 as the log's clock showed it. ``earlier`` holds the newest of ``earlier_count``.
    """

    engine: str | None
    version: str | None
    outcome: Outcome
    phase: str
    phases: list[PhaseReport]
    ranks: list[RankReport]
    fault: FaultReport | None
    stop: StopReport | None
    started: str | None
    silence: SilenceReport | None
    figures: dict[str, float]
    steady: Steady | None
    earlier: list[EarlierReport]
    earlier_count: int
    files: list[FileReport]
    lines: int


def explain(names: Sequence[str], engine: Engine | None = None) -> Report:
    """Return what the logs of these names say, which are those of one load. Raises LogFault.

    ``engine`` is the one that was said by hand, None to recognise it.
    """
    for place, name in enumerate(names):
        if any(same_file(name, other) for other in names[:place]):
            raise LogFault(f"{clean(name)} is named twice; name each log once")
    with ExitStack() as stack:
        # By their names, so that the order in which they are given changes nothing.
        files = [stack.enter_context(closing(LogFile(name))) for name in sorted(names, key=_natural)]
        return _explain(files, engine)


def _natural(name: str) -> list[tuple[str, int]]:
    """Order "node10.log" behind "node9.log"."""
    return [(text, int(digits or 0)) for text, digits in _DIGITS.findall(name)] + [(name, 0)]


def _explain(files: list[LogFile], engine: Engine | None) -> Report:
    readings: list[Reading] = []
    lines: list[int] = []
    for source, file in enumerate(files):
        if len(files) > 1:
            file.keep()
        numbered = Numbered(file.chunks())
        reading = Reading(engine, source)
        reading.read(numbered)
        readings.append(reading)
        lines.append(numbered.count)
    return _report(files, readings, lines, engine)


def _report(files: list[LogFile], readings: list[Reading], lines: list[int], engine: Engine | None) -> Report:
    start = readings[0].start
    phase = start.phase
    if len(files) > 1:
        start = together(files, readings, engine or one_engine(files, readings))
        phase = held_back(start, readings)
    names = [file.name for file in files]
    phases = start.phases
    return Report(
        engine=phases.engine.name if phases.engine is not GENERIC else None,
        version=phases.version,
        outcome=phases.outcome,
        phase=phase.value,
        phases=[_phase(span, start.until_s) for span in start.timeline.spans],
        ranks=_ranks(start, phase, names),
        fault=_fault(phases.cause, names),
        stop=_stop(phases, names),
        started=start.started,
        silence=_silence(start, names),
        figures={name: figure.value for name, figure in sorted(phases.figures.items())},
        steady=phases.steady,
        earlier=_earlier(readings, names),
        earlier_count=sum(reading.earlier_count for reading in readings),
        files=[
            FileReport(name, count, reading.start.first_line)
            for name, count, reading in zip(names, lines, readings, strict=True)
        ],
        lines=sum(lines),
    )


def _phase(span: PhaseSpan, now_s: float | None) -> PhaseReport:
    ended = span.ended_s
    until = now_s if ended is None else ended
    return PhaseReport(
        span.phase.value,
        _rounded(span.began_s),
        _rounded(ended),
        _rounded(None if until is None else span.seconds(until)),
        _rounded(span.longest_silence_s),
        _progress(span.progress),
    )


def _progress(progress: Progress | None) -> ProgressReport | None:
    return None if progress is None else ProgressReport(progress.done, progress.total, progress.unit)


def _rounded(seconds: float | None) -> float | None:
    """Return seconds to the millisecond, which is as fine as logs tell and what floats add is not."""
    return None if seconds is None else round(seconds, 3)


def _ranks(start: Start, phase: Phase, names: list[str]) -> list[RankReport]:
    """Return the ranks; the cores that command them are none, except where no worker has spoken."""
    lanes = start.phases.lanes
    lagging = {id(lane) for lane in lanes.lagging} if phase is not Phase.READY else set[int]()
    deepest = max((lane.depth for lane in lanes.all), default=0)
    shown = [lane for lane in lanes.all if lane.depth == deepest]
    return [_rank(lane, names[lane.source], lags=id(lane) in lagging) for lane in shown]


def _rank(lane: Lane, file: str, *, lags: bool) -> RankReport:
    identity = lane.identity or RankIdentity()
    return RankReport(
        lane.name,
        None if lane.phase is None else lane.phase.value,
        lags,
        _rounded(lane.since_s),
        identity.global_rank,
        identity.local_rank,
        lane.pid,
        file,
    )


def _fault(cause: Cause | None, names: list[str]) -> FaultReport | None:
    if cause is None:
        return None
    quote = cause.quote
    return FaultReport(
        cause.kind.value, quote.number, quote.text, cause.cause, cause.next_step, names[quote.source]
    )


def _stop(phases: LogPhases, names: list[str]) -> StopReport | None:
    quote = phases.shutdown
    if quote is None or phases.outcome != "stopped":
        return None
    return StopReport(quote.number, quote.text, names[quote.source])


def _silence(start: Start, names: list[str]) -> SilenceReport | None:
    found = start.silence
    if found is None:
        return None
    return SilenceReport(
        round(found.seconds, 3), found.phase.value, found.after_line, found.before_line, names[found.source]
    )


def _earlier(readings: list[Reading], names: list[str]) -> list[EarlierReport]:
    return [
        EarlierReport(
            each.outcome, each.phase.value, each.line_number, _fault(each.cause, names), names[source]
        )
        for source, reading in enumerate(readings)
        for each in reading.earlier
    ]
