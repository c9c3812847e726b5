"""The files of one load, one a node: their last starts read side by side, by the times of their lines."""

import heapq
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tui.engines.base import Engine
from tui.engines.generic import GENERIC
from tui.engines.marks import Speaker
from tui.engines.phase import Phase
from tui.engines.reader import SILENCE, Heard, LineReader
from tui.explain.numbered import Numbered
from tui.explain.sources import LogFault, LogFile
from tui.watch.lanes import LANES
from tui.watch.log_reading import Reading
from tui.watch.log_start import Start
from tui.watch.log_times import LineTimes, Moment


class _Line(NamedTuple):
    """A line and its place among those of all files."""

    place: tuple[float, int]
    heard: Heard
    line: str
    number: int
    moment: Moment
    source: int


def one_engine(files: Sequence[LogFile], readings: Sequence[Reading]) -> Engine:
    """Return the engine of all files; one that nothing was recognised in goes with the others."""
    known = [
        (file.name, reading.engine)
        for file, reading in zip(files, readings, strict=True)
        if reading.engine is not GENERIC
    ]
    if not known:
        return GENERIC
    first_name, engine = known[0]
    for name, other in known[1:]:
        if other is not engine:
            raise LogFault(
                f"{first_name} is a log of {engine.title}, {name} one of {other.title}: they are not one "
                "load; explain them one by one, or say --engine NAME"
            )
    return engine


def together(files: Sequence[LogFile], readings: Sequence[Reading], engine: Engine) -> Start:
    """Return the last starts of all files as one. Lines without a time stay behind those before them."""
    whole = Start(engine)
    streams = [
        _last_start(source, file, reading.start.first_line, engine)
        for source, (file, reading) in enumerate(zip(files, readings, strict=True))
    ]
    for at in heapq.merge(*streams, key=lambda line: line.place):
        whole.take(at.heard, at.line, at.number, at.moment, at.source)
    whole.finish()
    return whole


def _last_start(source: int, file: LogFile, first_line: int, engine: Engine) -> Iterator[_Line]:
    reader = LineReader(engine)
    times = LineTimes()
    steps = _Steps()
    for number, line in Numbered(file.chunks(first_line - 1), first_line):
        heard = reader.read(line)
        if heard is SILENCE:
            continue
        moment = times.read(heard, line)
        at_s = float("-inf") if moment.seconds is None else moment.seconds
        yield _Line((at_s, steps.read(heard)), heard, line, number, moment, source)


class _Steps:
    """Orders the lines of one second of several files by the lines that every rank prints.

    Clocks that show whole seconds do not tell which node was first; were the lines of one file to come before
    all of another's, a node that is no slower would hold the load back.
    """

    def __init__(self) -> None:
        self._said: Counter[Speaker] = Counter()
        self._most = 0

    def read(self, heard: Heard) -> int:
        """Return the place of a line: even for the one that all ranks print, odd for those behind it."""
        for mark in heard.marks:
            if mark.each and len(self._said) < LANES:
                self._said[mark.speaker] += 1
                self._most = max(self._most, self._said[mark.speaker])
                return 2 * self._said[mark.speaker]
        return 2 * self._most + 1


def held_back(whole: Start, readings: Sequence[Reading]) -> Phase:
    """Return where the load stands: a node whose ranks have not even begun holds the others back."""
    phase = whole.phase
    place = whole.phases.engine.place
    if whole.phases.outcome != "unfinished" or place(phase) >= place(Phase.START_API):
        return phase
    silent = [reading.start.phase for reading in readings if not reading.start.phases.lanes.all]
    if len(silent) == len(readings):
        return phase
    return min([phase, *silent], key=place)
