"""``tminus recordings``: what is kept, newest last, as a table or one JSON object a line."""

import os
import re
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from tui.commands import start
from tui.engines.marks import FaultKind
from tui.journal.reader import RecordingFault
from tui.journal.writer import SUFFIX, being_written
from tui.present.figures import size_text
from tui.replay.summary import CACHE_NAME, Summaries, Summary, text_of
from tui.settings import Choices, UsageFault
from tui.watch.words import FAULT_KIND_WORDS, clock_text
from widgets.cells import clip, plain, width

COLUMNS = 80
WIDE = 100
MANY = 5
"""From so many recordings on that have to be played first, a person is told."""
LEAST = 6
OUTCOME_LEAD = 4
"""By so many cells the outcome is wider than the widest other column before it gives way."""
NAME = 24
"""As many cells as a name gets, which is shown whole if it can be: replay takes it."""
UNKNOWN = "-"
_STAMP = re.compile(r"\d{8}T\d{6}(?=-)")
_UNDECIDED = {"not_ready": "not ready", "lost": "lost"}
_FAULTS = {"died": "died", "shut_down": "shut down", "refused": "refuses", "wrong_model": "wrong model"}


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One recording as ``--json`` prints it; without a ``summary`` the ``problem`` says why there is none."""

    name: str
    path: str
    size_bytes: int
    modified_wall_s: float
    being_written: bool
    problem: str | None = None
    summary: Summary | None = None


def run(choices: Choices) -> int:
    """List the recordings; return 0. Raises UsageFault where their folder cannot be read."""
    folder = start.recordings_folder()
    paths = _kept(folder)
    if not paths:
        start.say(f"there is no recording yet; each watch and wait leaves one in {folder}")
        return 0
    summaries = Summaries(start.state_folder() / CACHE_NAME)
    _tell_wait(summaries, paths)
    try:
        rows = [row for path in paths if (row := _row(path, summaries)) is not None]
    finally:
        summaries.save()
    lines = [encoded(row) for row in rows] if choices.json else table(rows, _columns())
    encoding = "utf-8" if choices.json else sys.stdout.encoding or "utf-8"
    sys.stdout.buffer.write("".join(f"{line}\n" for line in lines).encode(encoding, "replace"))
    sys.stdout.buffer.flush()
    return 0


def encoded(row: Row) -> str:
    """Return a row as one flat JSON object, without the newline."""
    flat = {name: value for name, value in msgspec.structs.asdict(row).items() if name != "summary"}
    told = {name: None for name in Summary.__struct_fields__}
    summary = told if row.summary is None else msgspec.structs.asdict(row.summary)
    return msgspec.json.encode(flat | summary).decode()


def table(rows: Sequence[Row], columns: int) -> list[str]:
    """Return the rows as lines of at most so many cells, a head first."""
    wide = columns >= WIDE
    head = (
        "RECORDING",
        *(("BEGAN",) if wide else ()),
        "HOST",
        "ENGINE",
        "MODEL",
        "LENGTH",
        "SIZE",
        "OUTCOME",
    )
    cells = [_cells(row, name, wide=wide) for row, name in zip(rows, _names(rows), strict=True)]
    shown = [head, *(each for each in cells if len(each) == len(head))]
    widths = _fitted([max(map(width, column)) for column in zip(*shown, strict=True)], columns)
    gap = " " * _gap(columns)
    return [clip(_line(each, widths, head, gap), columns) for each in (head, *cells)]


def outcome_text(row: Row) -> str:
    """Return in a few words how a recording ends, or why it cannot be read."""
    if row.summary is None:
        return row.problem or UNKNOWN
    mark = " (being written)" if row.being_written else " (cut)" if row.summary.cut else ""
    return _came_to(row.summary) + mark


# What is there.


def _kept(folder: Path) -> list[Path]:
    """Return the recordings, the one written last at the end."""
    try:
        names = [name for name in os.listdir(folder) if name.endswith(SUFFIX)]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise UsageFault(f"{folder} cannot be read: {error.strerror}") from None
    dated = [(_modified_ns(folder / name), folder / name) for name in names]
    return [path for _, path in sorted(dated)]


def _modified_ns(path: Path) -> int:
    try:
        return path.lstat().st_mtime_ns
    except FileNotFoundError:
        return 0  # another tminus has just dropped it


def _row(path: Path, summaries: Summaries) -> Row | None:
    """Return the row of a recording, None where another tminus has dropped it meanwhile."""
    try:
        facts = path.lstat()
    except FileNotFoundError:
        return None
    summary, problem = None, None
    try:
        summary = summaries.of(path)
    except FileNotFoundError:
        return None
    except RecordingFault as fault:
        problem = text_of(str(fault).removeprefix(f"{path} "))
    return Row(
        name=text_of(path.name).removesuffix(SUFFIX),
        path=text_of(str(path)),
        size_bytes=facts.st_size,
        modified_wall_s=facts.st_mtime,
        being_written=being_written(path),
        problem=problem,
        summary=summary,
    )


def _tell_wait(summaries: Summaries, paths: Sequence[Path]) -> None:
    missing = summaries.missing(paths)
    if missing > MANY and sys.stderr.isatty():
        start.say(f"playing {missing} recordings for the first time; the next list comes at once")


# In words.


def _came_to(summary: Summary) -> str:
    ready = "ready" if summary.ready_after_s is None else f"ready in {clock_text(summary.ready_after_s)}"
    if summary.outcome == "ready":
        return ready
    if summary.outcome in _UNDECIDED:
        return _UNDECIDED[summary.outcome]
    if summary.ready_after_s is not None:
        return f"{ready}, then {_failure(summary)}"
    return f"failed: {_failure(summary)}"


def _failure(summary: Summary) -> str:
    if summary.cause not in (None, FaultKind.UNKNOWN):
        return FAULT_KIND_WORDS[summary.cause]
    return _FAULTS.get(summary.fault or "", "by its log")


def _names(rows: Sequence[Row]) -> list[str]:
    """Return what each recording can be called by: the time in its name where that is its alone."""
    stamps = [found[0] if (found := _STAMP.match(row.name)) else row.name for row in rows]
    return [stamp if stamps.count(stamp) == 1 else row.name for row, stamp in zip(rows, stamps, strict=True)]


def _cells(row: Row, name: str, *, wide: bool) -> tuple[str, ...]:
    """Return what stands in each column; what cannot be read has a name and the reason alone."""
    told = row.summary
    if told is None:
        return plain(name), plain(outcome_text(row))
    began = time.strftime("%Y-%m-%d %H:%M", time.localtime(_began(told)))
    cells = (*_known(told), size_text(row.size_bytes), outcome_text(row))
    return tuple(plain(cell) for cell in (name, *((began,) if wide else ()), *cells))


def _known(told: Summary) -> tuple[str, str, str, str]:
    host = told.url.partition("://")[2] if told.host == "url" and told.url else told.host
    return host, told.engine or UNKNOWN, told.model or UNKNOWN, clock_text(told.length_s)


def _began(told: Summary) -> float:
    """Return when it began, as far as a calendar goes: a file may claim anything."""
    return min(max(0.0, told.began_wall_s), 253e9)


# On the screen.


def _columns() -> int:
    return max(40, shutil.get_terminal_size((COLUMNS, 24)).columns)


def _gap(columns: int) -> int:
    return 2 if columns >= WIDE else 1


def _fitted(widths: Sequence[int], columns: int) -> list[int]:
    """Return widths that fit: the widest column gives way first, but the names that replay takes last."""
    names = min(widths[0], NAME)
    others = [min(each, columns) for each in widths[1:]]
    others[-1] -= OUTCOME_LEAD
    room = columns - names - _gap(columns) * len(others) - OUTCOME_LEAD
    while sum(others) > room and max(others) > LEAST:
        others[others.index(max(others))] -= 1
    return [names, *others[:-1], others[-1] + OUTCOME_LEAD]


def _line(cells: Sequence[str], widths: Sequence[int], head: Sequence[str], gap: str) -> str:
    if len(cells) < len(head):
        return f"{_padded(cells[0], widths[0], head[0])}{gap}{cells[1]}"
    return gap.join(_padded(*each) for each in zip(cells, widths, head, strict=True)).rstrip()


def _padded(cell: str, room: int, title: str) -> str:
    text = clip(_tail(cell, room) if title == "MODEL" else cell, room)
    gap = " " * (room - width(text))
    return gap + text if title in ("LENGTH", "SIZE") else text + gap


def _tail(model: str, room: int) -> str:
    """Return a model's own name where it does not fit with its owner or folder."""
    return model if width(model) <= room else model.rstrip("/").rpartition("/")[2]
