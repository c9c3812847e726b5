"""``tminus recordings``: what is kept, newest last, as a table or one JSON object a line."""

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
from tui.replay.opening import recordings_in
from tui.replay.summary import CACHE_NAME, Summaries, Summary, text_of
from tui.settings import Choices, UsageFault
from tui.watch.words import FAULT_KIND_WORDS, clock_text
from widgets.cells import clip, plain, width

HEAD = ("RECORDING", "BEGAN", "HOST", "ENGINE", "MODEL", "LENGTH", "SIZE", "OUTCOME")
COLUMNS = 80
WIDE = 100
MANY = 5
"""From so many recordings on that have to be played first, a person is told."""
LEAST = {"HOST": 6, "ENGINE": 6, "MODEL": 8, "OUTCOME": 12}
"""The cells that a column keeps while another can still give way; one that is not named is whole."""
DROPPED = ("SIZE", "BEGAN", "ENGINE", "MODEL", "HOST")
"""Which columns are left out, one after the other, before the outcome is cut."""
NAME = 24
"""As many cells as a name gets, which is shown whole if it can be: replay takes it."""
UNKNOWN = "-"
_STAMP = re.compile(r"\d{8}T\d{6}(?=-)")
_UNDECIDED = {"not_ready": "not ready", "lost": "lost"}
_FAULTS = {
    "died": "died", "shut_down": "shut down", "refused": "refuses", "wrong_model": "wrong model",
    "hung": "hung", "suspended": "suspended", "dead": "a part died",
}  # fmt: skip


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


def table(rows: Sequence[Row], columns: int | None) -> list[str]:
    """Return the rows as lines of at most so many cells, a head first. None: all of it, nothing is cut."""
    shown = [_cells(row, name) for row, name in zip(rows, _names(rows), strict=True)]
    known = [HEAD, *(cells for cells in shown if len(cells) == len(HEAD))]
    full = {title: max(width(cells[place]) for cells in known) for place, title in enumerate(HEAD)}
    widths = full if columns is None else _fitted(full, columns)
    lines = [_line(cells, widths, " " * _gap(columns)) for cells in (HEAD, *shown)]
    return lines if columns is None else [clip(line, columns) for line in lines]


def outcome_text(row: Row) -> str:
    """Return in a few words how a recording ends, or why it cannot be read."""
    if row.summary is None:
        return row.problem or UNKNOWN
    mark = " (being written)" if row.being_written else " (cut)" if row.summary.cut else ""
    return _came_to(row.summary) + mark


# What is there.


def _kept(folder: Path) -> list[Path]:
    try:
        return recordings_in(folder)
    except OSError as error:
        raise UsageFault(f"{folder} cannot be read: {error.strerror}") from None


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


def _cells(row: Row, name: str) -> tuple[str, ...]:
    """Return what stands in each column; what cannot be read has a name and the reason alone."""
    told = row.summary
    if told is None:
        return plain(name), plain(outcome_text(row))
    began = time.strftime("%Y-%m-%d %H:%M", time.localtime(_began(told)))
    cells = (name, began, *_known(told), size_text(row.size_bytes), outcome_text(row))
    return tuple(plain(cell) for cell in cells)


def _known(told: Summary) -> tuple[str, str, str, str]:
    host = told.url.partition("://")[2] if told.host == "url" and told.url else told.host
    return host, told.engine or UNKNOWN, told.model or UNKNOWN, clock_text(told.length_s)


def _began(told: Summary) -> float:
    """Return when it began, as far as a calendar goes: a file may claim anything."""
    return min(max(0.0, told.began_wall_s), 253e9)


# On the screen.


def _columns() -> int | None:
    """Return how wide a line may be; None where no terminal shows it, and whole words are looked for."""
    if not sys.stdout.isatty():
        return None
    return max(40, shutil.get_terminal_size((COLUMNS, 24)).columns)


def _gap(columns: int | None) -> int:
    return 2 if columns is None or columns >= WIDE else 1


def _fitted(full: dict[str, int], columns: int) -> dict[str, int]:
    """Return the columns that are shown, and widths that fit; the outcome gives way last."""
    widths = full | {"RECORDING": min(full["RECORDING"], NAME)}
    if columns < WIDE:
        del widths["BEGAN"]
    dropped = [title for title in DROPPED if title in widths]
    while _over(_least(widths), columns) > 0 and dropped:
        del widths[dropped.pop(0)]
    while _over(widths, columns) > 0:
        title = _giving_way(widths)
        if title is None:
            break
        widths[title] -= 1
    return widths


def _over(widths: dict[str, int], columns: int) -> int:
    return sum(widths.values()) + _gap(columns) * (len(widths) - 1) - columns


def _least(widths: dict[str, int]) -> dict[str, int]:
    """Return how far the columns beside the outcome can give way."""
    return {
        title: room if title == "OUTCOME" else min(room, LEAST.get(title, room))
        for title, room in widths.items()
    }


def _giving_way(widths: dict[str, int]) -> str | None:
    """Return the widest column that has cells to give, the outcome only after all others."""
    spare = [title for title, room in widths.items() if room > LEAST.get(title, room)]
    return max(spare, key=lambda title: (title != "OUTCOME", widths[title]), default=None)


def _line(cells: Sequence[str], widths: dict[str, int], gap: str) -> str:
    if len(cells) < len(HEAD):
        return f"{_padded(cells[0], widths['RECORDING'], 'RECORDING')}{gap}{cells[1]}"
    shown = zip(cells, HEAD, strict=True)
    padded = [_padded(cell, widths[title], title) for cell, title in shown if title in widths]
    return gap.join(padded).rstrip()


def _padded(cell: str, room: int, title: str) -> str:
    text = clip(_tail(cell, room) if title == "MODEL" else cell, room)
    gap = " " * (room - width(text))
    return gap + text if title in ("LENGTH", "SIZE") else text + gap


def _tail(model: str, room: int) -> str:
    """Return a model's own name where it does not fit with its owner or folder."""
    return model if width(model) <= room else model.rstrip("/").rpartition("/")[2]
