"""A report in words, for a person who has been woken: the verdict first, then why, then the times."""

from collections.abc import Iterable, Iterator
from textwrap import wrap
from unicodedata import combining, east_asian_width

from tui.engines.marks import FaultKind
from tui.engines.phase import Phase
from tui.engines.registry import engine_named
from tui.explain.report import EarlierReport, FaultReport, PhaseReport, RankReport, Report, SilenceReport
from tui.watch.words import FAULT_KIND_WORDS, clock_text

WIDTH = 80
_LABEL = 11
_QUOTED_ROWS = 3
_RANK_ROWS = 6
_EARLIER_ROWS = 5
_UNITS = {
    "_gib": " GiB", "_mib": " MiB", "_tokens": " tokens", "_tokens_per_s": " tokens/s", "_pct": " %",
    "_bytes": " bytes", "_x": "x", "_s": " s",
}  # fmt: skip


def lines(report: Report) -> Iterator[str]:
    """Give the report line by line, none wider than 80 columns; the first one is the verdict."""
    yield fit(verdict(report))
    yield from _why(report)
    yield ""
    yield from _said("server", _server(report))
    if report.phases:
        yield ""
        yield from _table(report.phases)
        yield ""
    if report.silence is not None:
        yield from _said("silence", _silence(report.silence, several=len(report.files) > 1))
    if report.ranks:
        yield from _ranks(report.ranks, ready=report.phase == Phase.READY)
    if report.figures:
        yield from _said("figures", ", ".join(_figure(*each) for each in report.figures.items()))
    yield from _earlier(report)


def verdict(report: Report) -> str:
    """Return the one line that matters."""
    phase = Phase(report.phase)
    place = "while ready" if phase is Phase.READY else f"in {phase.words}"
    match report.outcome:
        case "failed":
            fault = report.fault
            why = "" if fault is None else f": {_kind(fault)} (line {fault.line_number})"
            return f"FAILED {place}{why}"
        case "stopped":
            stop = report.stop
            where = "" if stop is None else f" (line {stop.line_number})"
            return f"STOPPED {place}, as it was asked to{where}"
        case "ready":
            began = next((each.began for each in report.phases if each.name == Phase.READY), None)
            return "READY" + ("" if began is None else f" after {duration(began)}")
        case _:
            return f"UNFINISHED {place}{_so_far(report.phases)}"


def duration(seconds: float | None) -> str:
    """Return a duration as it is shown; "-" for one that is not known."""
    if seconds is None:
        return "-"
    return f"{seconds:.1f} s" if seconds < 60 else clock_text(seconds)


def fit(text: str, width: int = WIDTH) -> str:
    """Return the text cut to so many columns, with an ellipsis where something is missing."""
    if sum(map(_cells, text)) <= width:
        return text
    kept: list[str] = []
    left = width - 1
    for character in text:
        left -= _cells(character)
        if left < 0:
            break
        kept.append(character)
    return "".join(kept).rstrip() + "…"


def _cells(character: str) -> int:
    if combining(character):
        return 0
    return 2 if east_asian_width(character) in "WF" else 1


def _kind(fault: FaultReport) -> str:
    return FAULT_KIND_WORDS[FaultKind(fault.kind)]


def _line(number: int, file: str, several: bool) -> str:
    return f"line {number} of {file}" if several else f"line {number}"


def _so_far(phases: list[PhaseReport]) -> str:
    seconds = phases[-1].seconds if phases else None
    # What came after the last time stamp nobody knows: a load that hangs writes none.
    return f", for {duration(seconds)} at least" if seconds else ""


def _why(report: Report) -> Iterator[str]:
    fault = report.fault
    if fault is not None:
        yield from _said("cause", fault.cause)
        yield from _said("next step", fault.next_step)
    told = fault or report.stop
    if told is not None:
        yield from _quoted(told.line_number, told.line)
        if len(report.files) > 1:
            yield from _said("of file", told.file)


def _said(label: str, text: str) -> Iterator[str]:
    rows = wrap(text, WIDTH - _LABEL, break_on_hyphens=False) or ["-"]
    for place, row in enumerate(rows):
        yield fit((label if not place else "").ljust(_LABEL) + row)


def _quoted(number: int, line: str) -> Iterator[str]:
    rows = wrap(line, WIDTH - _LABEL, break_on_hyphens=False) or ["-"]
    shown = rows[:_QUOTED_ROWS]
    if len(rows) > len(shown):
        shown[-1] = shown[-1][: WIDTH - _LABEL - 1] + "…"
    for place, row in enumerate(shown):
        label = fit(f"line {number}", _LABEL - 1) if not place else ""
        yield fit(label.ljust(_LABEL) + row)


def _server(report: Report) -> str:
    engine = engine_named(report.engine)
    name = "unknown engine" if engine is None else engine.title
    version = f" {report.version}" if report.version else ""
    started = f", started {report.started.replace('T', ' ')}" if report.started else ""
    files = f" in {len(report.files)} files" if len(report.files) > 1 else ""
    count = "1 line" if report.lines == 1 else f"{report.lines:,} lines"
    return f"{name}{version}{started}, {count}{files}"


def _table(phases: list[PhaseReport]) -> Iterator[str]:
    yield f"{'phase':<13}{'began':>9}{'took':>10}{'silence':>10}   progress"
    for each in phases:
        took = duration(each.seconds)
        going_on = each.ended is None and each.seconds is not None
        row = (
            f"{Phase(each.name).words:<13}{duration(each.began):>9}{took + '+' * going_on:>10}"
            f"{duration(each.longest_silence_s):>10}   {_progress(each)}"
        )
        yield fit(row.rstrip())


def _progress(phase: PhaseReport) -> str:
    progress = phase.progress
    if progress is None:
        return ""
    total = "" if progress.total is None else f" of {progress.total:g}"
    return f"{progress.done:g}{total} {progress.unit}".rstrip()


def _silence(silence: SilenceReport, several: bool) -> str:
    after, before = silence.after_line, silence.before_line
    where = f"from line {after} to {'the end' if before is None else f'line {before}'}"
    if after == before:
        where = f"within line {after}"
    file = f" ({silence.file})" if several else ""
    return f"{duration(silence.seconds)} at most, in {Phase(silence.phase).words}, {where}{file}"


def _ranks(ranks: list[RankReport], *, ready: bool) -> Iterator[str]:
    lagging = [rank for rank in ranks if rank.lags]
    names = ranks[0].rank if len(ranks) == 1 else f"{ranks[0].rank} to {ranks[-1].rank}"
    tail = "" if ready or len(ranks) == 1 else f", {len(lagging) or 'none'} behind the others"
    yield from _said("ranks", f"{len(ranks)} ({names}){tail}")
    for rank in lagging[:_RANK_ROWS]:
        since = "" if rank.since is None else f" since {duration(rank.since)}"
        phase = "no phase yet" if rank.phase is None else Phase(rank.phase).words
        yield from _said("", f"{rank.rank} is in {phase}{since}")
    if len(lagging) > _RANK_ROWS:
        yield from _said("", f"and {len(lagging) - _RANK_ROWS} more")


def _figure(name: str, value: float) -> str:
    for ending, unit in _UNITS.items():
        if name.endswith(ending):
            return f"{name.removesuffix(ending).replace('_', ' ')} {value:,.10g}{unit}"
    return f"{name.replace('_', ' ')} {value:,.10g}"


def _earlier(report: Report) -> Iterator[str]:
    if not report.earlier_count:
        return
    several = len(report.files) > 1
    yield ""
    starts = "1 earlier start" if report.earlier_count == 1 else f"{report.earlier_count} earlier starts"
    shown = report.earlier[-_EARLIER_ROWS:]
    tail = "" if len(shown) == report.earlier_count else f", the last {len(shown)} of them"
    yield f"{starts} in this log{tail}:"
    yield from _earlier_rows(shown, several=several)


def _earlier_rows(shown: Iterable[EarlierReport], *, several: bool) -> Iterator[str]:
    for each in shown:
        why = f": {_kind(each.fault)} (line {each.fault.line_number})" if each.fault is not None else ""
        where = _line(each.line_number, each.file, several)
        yield fit(f"  from {where}: {each.outcome} in {Phase(each.phase).words}{why}")
