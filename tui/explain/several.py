"""The files of one load, one a node: their last starts read side by side, by the times of their lines."""

import heapq
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tui.engines.base import Engine
from tui.engines.clock import LogClock
from tui.engines.generic import GENERIC
from tui.engines.phase import Phase
from tui.engines.reader import Heard, LineReader
from tui.explain.numbered import Numbered
from tui.explain.reading import Reading
from tui.explain.sources import LogFault, LogFile
from tui.explain.start import Start


class _Line(NamedTuple):
    at_s: float
    heard: Heard
    line: str
    number: int
    clock: LogClock
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
    for at in heapq.merge(*streams, key=lambda line: line.at_s):
        whole.take(at.heard, at.line, at.number, at.clock, at.source)
    whole.finish()
    return whole


def _last_start(source: int, file: LogFile, first_line: int, engine: Engine) -> Iterator[_Line]:
    reader = LineReader(engine)
    clock = LogClock()
    latest_s = float("-inf")
    for number, line in Numbered(file.chunks(first_line - 1), first_line):
        heard = reader.read(line)
        seconds = clock.read(heard.time)
        latest_s = latest_s if seconds is None else seconds
        yield _Line(latest_s, heard, line, number, clock, source)


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
