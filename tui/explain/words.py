"""A report in words, for a person who has been woken: the verdict first, then why, then the times."""

import re
from collections.abc import Iterable, Iterator
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
_NOTHING_GIB = 0.05
# A word in pieces at whose ends it may be broken.
_PIECES = re.compile(r"[^/,&;]*[/,&;]+|[^/,&;]+")
_FIGURE_WORDS = {
    "kv_cache_tokens": "KV cache", "kv_cache_gib": "KV cache", "kv_cache_s": "KV cache allocation",
    "k_cache_gib": "K cache", "v_cache_gib": "V cache", "engine_init_s": "engine start",
    "load_weights_s": "loading weights",
}  # fmt: skip
_UNITS = {
    "_gib": " GiB", "_mib": " MiB", "_tokens": " tokens", "_tokens_per_s": " tokens/s", "_pct": " %",
    "_bytes": " bytes", "_x": "x", "_s": " s",
}  # fmt: skip


def lines(report: Report) -> Iterator[str]:
    """Give the report line by line, none wider than 80 columns; the first one is the verdict."""
    yield fit(verdict(report))
    yield from _why(report)
    server = _said("server", _server(report))
    for part in (server, _table(report.phases), _details(report), _earlier(report)):
        for place, line in enumerate(part):
            if not place:
                yield ""
            yield line


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
            # What the log says that it took may have begun before the log does.
            first = min(0.0, report.phases[0].began or 0.0) if report.phases else 0.0
            return "READY" + ("" if began is None else f" after {duration(began - first)}")
        case _:
            return f"UNFINISHED {place}{_so_far(report.phases)}"


def duration(seconds: float | None) -> str:
    """Return a duration as it is shown, tenths only where there are any; "-" for one that is not known."""
    if seconds is None:
        return "-"
    if seconds < 0:
        return "-" + duration(-seconds)
    if seconds >= 60:
        return clock_text(seconds)
    return f"{seconds:.0f} s" if float(seconds).is_integer() else f"{seconds:.1f} s"


def fit(text: str, width: int = WIDTH) -> str:
    """Return the text cut to so many columns, with an ellipsis where something is missing."""
    if _columns(text) <= width:
        return text
    kept: list[str] = []
    left = width - 1
    for character in text:
        left -= _cells(character)
        if left < 0:
            break
        kept.append(character)
    return "".join(kept).rstrip() + "…"


def _columns(text: str) -> int:
    return sum(map(_cells, text))


def _cells(character: str) -> int:
    if combining(character):
        return 0
    return 2 if east_asian_width(character) in "WF" else 1


def _kind(fault: FaultReport) -> str:
    return FAULT_KIND_WORDS[FaultKind(fault.kind)]


def _line(number: int, file: str, several: bool) -> str:
    return f"line {number} of {file}" if several else f"line {number}"


def _details(report: Report) -> Iterator[str]:
    if report.silence is not None:
        yield from _said("silence", _silence(report.silence, several=len(report.files) > 1))
    if report.ranks:
        yield from _ranks(report.ranks, ready=report.phase == Phase.READY)
    if report.figures:
        yield from _said("figures", ", ".join(_figure(*each) for each in report.figures.items()))


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


def wrapped(text: str, width: int) -> list[str]:
    """Return the text in rows of so many columns; a longer word is broken behind a slash or a comma."""
    rows = [""]
    for word in text.split():
        rows.extend(_placed(rows.pop(), word, width))
    return [row for row in rows if row]


def _placed(row: str, word: str, width: int) -> list[str]:
    """Return the rows that a word makes of the last one."""
    glue = " " if row else ""
    if _columns(row + glue + word) <= width:
        return [row + glue + word]
    if _columns(word) <= width:
        return [row, word]
    rows = [row]
    for piece in _PIECES.findall(word):
        for part in _cut(piece, width):
            if _columns(rows[-1] + glue + part) <= width:
                rows[-1] += glue + part
            else:
                rows.append(part)
            glue = ""
    return rows


def _cut(text: str, width: int) -> Iterator[str]:
    """Give a text in parts of so many columns."""
    part, columns = "", 0
    for character in text:
        cells = _cells(character)
        if columns + cells > width:
            yield part
            part, columns = "", 0
        part += character
        columns += cells
    yield part


def _said(label: str, text: str) -> Iterator[str]:
    rows = wrapped(text, WIDTH - _LABEL) or ["-"]
    for place, row in enumerate(rows):
        yield fit((label if not place else "").ljust(_LABEL) + row)


def _quoted(number: int, line: str) -> Iterator[str]:
    rows = wrapped(line, WIDTH - _LABEL) or ["-"]
    shown = rows[:_QUOTED_ROWS]
    if len(rows) > len(shown):
        shown[-1] = fit(shown[-1] + " …", WIDTH - _LABEL)
    for place, row in enumerate(shown):
        label = fit(f"line {number}", _LABEL - 1) if not place else ""
        yield fit(label.ljust(_LABEL) + row)


def _server(report: Report) -> str:
    engine = engine_named(report.engine)
    name = "unknown engine" if engine is None else engine.title
    version = f" {report.version}" if report.version else ""
    started = f", started {report.started.replace('T', ' ')}" if report.started else ""
    return f"{name}{version}{started}, {_lines_of(report)}"


def _lines_of(report: Report) -> str:
    """Return the lines of the start that is told: in one file with earlier starts from which to which."""
    first, last = report.files[0].start_line, report.files[0].lines
    if len(report.files) == 1 and first > 1:
        return f"lines {first}-{last}"
    count = sum(each.lines - each.start_line + 1 for each in report.files)
    files = f" in {len(report.files)} files" if len(report.files) > 1 else ""
    return f"1 line{files}" if count == 1 else f"{count:,} lines{files}"


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
        where = f"while line {after} was drawn"
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
            return _with_unit(
                _FIGURE_WORDS.get(name, name.removesuffix(ending).replace("_", " ")), value, unit
            )
    return f"{name.replace('_', ' ')} {_rounded(value)}"


def _with_unit(name: str, value: float, unit: str) -> str:
    if unit == " s":
        return f"{name} took {_rounded(value)} s"
    # So small a size, and less than none, is what other allocations do to a measurement.
    if unit == " GiB" and -_NOTHING_GIB < value < _NOTHING_GIB / 10:
        return f"{name} about 0 GiB"
    return f"{name} {_rounded(value)}{unit}"


def _rounded(value: float) -> str:
    return f"{round(value, 2):,.10g}"


def _earlier(report: Report) -> Iterator[str]:
    if not report.earlier_count:
        return
    several = len(report.files) > 1
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
