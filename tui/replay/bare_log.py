"""Foreign evidence as a tape: a bare server log by its time stamps, nvidia-smi's table beside it, or both.

Both name the host's wall clock and no zone, so they are laid side by side as they are written. The tape's
clock begins at 0 with the earlier of the two; its wall clock is the one in the log, on the day that it names.
"""

import heapq
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar

from msgspec.structs import replace

from tui.agent import wire
from tui.events import AnyEvent, Event, GpuDriver, Hello, Log, LogSource, Notice, Tick
from tui.explain.numbered import Numbered
from tui.explain.sources import LogFault, LogFile
from tui.journal.nvidia_smi import SmiTable
from tui.journal.reader import RecordingFault
from tui.replay.log_lines import LINES_PER_S, Batch, TimedLog, wall_clock_s
from tui.replay.tape import Tape
from tui.watch.options import WatchOptions

UNKNOWN_HOST = "unknown host"
_READS_INPUT = "tminus replay --log -"
_EPOCH_S = datetime(1970, 1, 1).toordinal() * 86_400.0
_DAY_S = 86_400
_LAST_S = (datetime.max - datetime.min).total_seconds() - _DAY_S
# So many ticks a second apart follow an event; through a longer silence they come ever rarer, since a clock
# that was set years ahead must not cost a second for each of them.
_TICKS_OF_A_SILENCE = 3600
_TICKS = 100_000

AnEvent = TypeVar("AnEvent", bound=Event)


def log_tape(server_log: str | None, nvidia_smi: str | None) -> Tape:
    """Return the tape of a log and a table as they are named on the command line; one of them may be None.

    Raises RecordingFault for what cannot be read, or cannot be laid side by side.
    """
    try:
        log = None if server_log is None else TimedLog(LogFile(server_log, _READS_INPUT))
        table = None if nvidia_smi is None else _table(LogFile(nvidia_smi, _READS_INPUT))
        evidence = _Evidence(log, table)
    except LogFault as fault:
        raise RecordingFault(str(fault)) from None
    names = [] if log is None else [log.title]
    names += [] if table is None else [table.title]
    options = WatchOptions(ready_on="log", log_path=None if log is None else log.file.name)
    return Tape(" and ".join(names), options, evidence.events, origin_s=0.0)


def _table(file: LogFile) -> SmiTable:
    file.keep()
    return SmiTable(file.name, partial(_texts, file))


def _texts(file: LogFile) -> Iterator[str]:
    return (line for _, line in Numbered(file.chunks()))


class _Evidence:
    """What is played, and how the clocks of the two lie to each other.

    ``log_t`` and ``table_t`` are when they begin on the tape; ``zero_s`` is its begin on the wall clock that
    both are written by, None where nothing names a time of day.
    """

    def __init__(self, log: TimedLog | None, table: SmiTable | None) -> None:
        self.log = log
        self.table = table
        self.notices: list[tuple[bool, str]] = []
        table_s = None if table is None else table.began_s
        began = None if log is None else log.began
        log_s = None if began is None else wall_clock_s(began, table_s)
        if log is not None and table is not None and log_s is None:
            raise RecordingFault(
                f"{log.file.name} names no time of day, so {table.name} cannot be laid beside it: "
                "play them one by one"
            )
        known = [each for each in (log_s, table_s) if each is not None]
        self.zero_s = min(known, default=None)
        zero_s = self.zero_s or 0.0
        self.log_t = 0.0 if log_s is None else log_s - zero_s
        self.table_t = 0.0 if table_s is None else table_s - zero_s
        self._wall_zero_s = _posix_s(_EPOCH_S if self.zero_s is None else self.zero_s)
        self._say(log_s)

    # What is said of it.

    def _say(self, log_s: float | None) -> None:
        if self.log is not None:
            self.notices.append((self.log.began is None, _timing(self.log)))
        if self.table is None:
            return
        skipped = self.table.skipped
        if skipped:
            rows = "1 line that is no row was" if skipped == 1 else f"{skipped} lines that are no rows were"
            self.notices.append((True, f"{self.table.title}: {rows} left out"))
        if self.log is not None and log_s is not None:
            self._check_overlap(self.log, self.table, log_s)
        elif self.log is None:
            self.notices.append(
                (False, f"{self.table.title} is played by its time stamps; it tells of GPUs alone")
            )

    def _check_overlap(self, log: TimedLog, table: SmiTable, log_s: float) -> None:
        last = log.ended()
        ended_s = None if last is None else wall_clock_s(last, table.began_s)
        ended_s = log_s if ended_s is None else max(ended_s, log_s)
        if table.ended_s >= log_s and table.began_s <= ended_s:
            return
        self.notices.append(
            (
                True,
                f"{log.title} ({_clock(log_s)} to {_clock(ended_s)}) and {table.title} "
                f"({_clock(table.began_s)} to {_clock(table.ended_s)}) do not overlap: perhaps their clocks "
                "show different time zones; each is played at the times that it names",
            )
        )

    # Events.

    def events(self) -> Iterator[AnyEvent]:
        """Iterate over the events of the tape. Raises RecordingFault where a file cannot be read any more."""
        try:
            yield from _with_ticks(self._all(), self._at)
        except LogFault as fault:
            raise RecordingFault(str(fault)) from None

    def _all(self) -> Iterator[AnyEvent]:
        yield self._at(_hello(), 0.0)
        for warning, sentence in self.notices:
            yield self._at(_notice("warning" if warning else "info", sentence), 0.0)
        streams: list[Iterator[AnyEvent]] = []
        if self.log is not None:
            yield self._at(_source(self.log), 0.0)
            streams.append(self._lines(self.log))
        if self.table is None:
            yield self._at(_no_table(), 0.0)
        else:
            streams.append(self._rows(self.table))
        yield from heapq.merge(*streams, key=lambda event: event.client_s)

    def _lines(self, log: TimedLog) -> Iterator[AnyEvent]:
        for batch in log.batches():
            yield self._at(_log(batch, log.file.name), self.log_t + batch.t)

    def _rows(self, table: SmiTable) -> Iterator[AnyEvent]:
        for event in table.events():
            yield self._at(event, self.table_t + event.mono_s - table.began_s)

    def _at(self, event: AnEvent, t: float) -> AnEvent:
        return replace(event, mono_s=t, wall_s=self._wall_zero_s + t, client_s=t)


def _with_ticks(events: Iterator[AnyEvent], stamped: Callable[[Tick, float], Tick]) -> Iterator[AnyEvent]:
    """Let a tick stand behind each second, as a watch would have made them."""
    tick = Tick(mono_s=0.0, wall_s=0.0)
    next_t, latest_t, count = 1.0, 0.0, 0
    for event in events:
        while next_t <= event.client_s:
            yield stamped(tick, next_t)
            count += 1
            step_s = max(1, int((next_t - latest_t) / _TICKS_OF_A_SILENCE)) << (count // _TICKS)
            next_t += step_s
        latest_t = event.client_s
        next_t = min(next_t, float(int(latest_t)) + 1.0) if count < _TICKS else next_t
        yield event


# The events, without their clocks.


def _hello() -> Hello:
    return Hello(
        mono_s=0.0,
        wall_s=0.0,
        protocol=wire.PROTOCOL,
        host=UNKNOWN_HOST,
        user="",
        uid=0,
        pid=0,
        boot_id="",
        python="",
        kernel="",
        cpu_count=None,
        memory_total_mib=None,
    )


def _no_table() -> GpuDriver:
    sentence = "a log tells nothing of the GPUs: --nvidia-smi FILE lays a table of them beside it"
    return GpuDriver(mono_s=0.0, wall_s=0.0, state="absent", sentence=sentence)


def _notice(level: str, sentence: str) -> Notice:
    known = "warning" if level == "warning" else "info"
    return Notice(mono_s=0.0, wall_s=0.0, level=known, about="import", sentence=sentence)


def _source(log: TimedLog) -> LogSource:
    return LogSource(mono_s=0.0, wall_s=0.0, path=log.file.name, state="open", sentence="")


def _log(batch: Batch, path: str) -> Log:
    return Log(
        mono_s=0.0,
        wall_s=0.0,
        lines=batch.lines,
        tail="",
        returns=batch.returns,
        path=path,
        device=0,
        inode=0,
        offset=0,
    )


def _timing(log: TimedLog) -> str:
    name = log.title
    if log.began is None:
        return (
            f"{name} has no time stamps: it is played at {LINES_PER_S:g} lines a second, and how long "
            "anything took is not known"
        )
    fine = "whole seconds" if log.whole_s else "fractions of a second"
    return f"{name} is played by its own time stamps, which show {fine}; the server itself was not asked"


# Clocks.


def _posix_s(wall_clock_s: float) -> float:
    """Return such seconds since 1970 that the local clock shows the time of day that is written."""
    try:
        return _moment(wall_clock_s).timestamp()
    except (OverflowError, ValueError, OSError):
        # Years that the system's calendar does not know.
        return wall_clock_s - _EPOCH_S


def _clock(wall_clock_s: float) -> str:
    return _moment(wall_clock_s).isoformat(sep=" ", timespec="seconds")


def _moment(wall_clock_s: float) -> datetime:
    return datetime.min + timedelta(seconds=min(max(0.0, wall_clock_s - _DAY_S), _LAST_S))
