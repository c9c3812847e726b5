"""What a recording came to, in one struct; and a file that remembers it, since playing takes time."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import msgspec

from tui import __version__, files
from tui.engines.marks import FaultKind
from tui.events import VERSION, Notice
from tui.journal.lines import open_plain
from tui.journal.reader import ABOUT, Recording
from tui.replay.ending import ending
from tui.replay.headless import play
from tui.replay.opening import options_of
from tui.replay.tape import Tape
from tui.transport.clean import clean
from tui.watch.state import WatchState

CACHE_NAME = "recordings-cache.json"
CACHE_LIMIT_BYTES = 8 * 1024 * 1024
_MADE_BY = f"{__version__} {VERSION} 3"
"""What the summaries depend on; the last figure is that of this file's own format."""

Outcome = Literal["ready", "failed", "not_ready", "lost"]


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """How a recording ends, texts cleaned.

    ``fault`` is the class of a failure (died, shut_down, refused, log_failure, wrong_model; hung, suspended
    or dead by the verdict, where the launcher lives on) or of a lost link (dns, auth, lost, ...), ``cause``
    the kind of failure that the log tells, both None where there is none. A watch that was ended before it
    was decided is ``not_ready``. ``ready_after_s`` counts from the server's start (where that is not known:
    from the first look at it), None where readiness was not seen to come; a server that failed later keeps
    it. ``ending`` says why the recording is not whole, "" when it is; ``cut`` whether that is a fault of the
    file.
    """

    host: str
    url: str | None
    tminus: str
    began_wall_s: float
    engine: str | None
    model: str | None
    outcome: Outcome
    fault: str | None
    cause: FaultKind | None
    reason: str
    ready_after_s: float | None
    length_s: float
    ending: str = ""
    cut: bool = False


def summarise(path: Path) -> Summary:
    """Play a recording and return what it came to. Raises RecordingFault."""
    recording = Recording(path)
    header = recording.header
    played = play(Tape(path.name, options_of(header.asked), recording.events))
    state = played.state
    outcome, fault, reason = ending(state, played.length_s)
    unfinished = _unfinished(state)
    return Summary(
        host=header.host,
        url=header.asked.url,
        tminus=header.tminus,
        began_wall_s=header.began_wall_s,
        engine=None if state.engine is None else state.engine.name,
        model=state.model,
        outcome="not_ready" if outcome == "timeout" else outcome,
        fault=fault,
        cause=_cause(state) if outcome == "failed" else None,
        reason=reason,
        ready_after_s=_ready_after_s(state),
        length_s=round(played.length_s, 3),
        ending="" if unfinished is None else unfinished.sentence,
        cut=unfinished is not None and unfinished.level == "warning",
    )


def _cause(state: WatchState) -> FaultKind | None:
    end = state.last_end if state.outcome == "failed" else None
    cause = state.log_failure if end is None else end.cause
    return None if cause is None else cause.kind


def _ready_after_s(state: WatchState) -> float | None:
    if state.ready_s is None or state.origin_s is None or not (state.ready_seen and state.ready_known):
        return None
    return round(state.ready_s - state.origin_s, 3)


def _unfinished(state: WatchState) -> Notice | None:
    """Return the notice that the reader puts at the end of a recording that is not whole."""
    last = state.notices[-1] if state.notices else None
    return last if last is not None and last.about == ABOUT else None


# What is remembered.


class _Entry(msgspec.Struct, frozen=True, kw_only=True):
    size_bytes: int
    modified_ns: int
    summary: Summary


class _Remembered(msgspec.Struct, frozen=True, kw_only=True):
    made_by: str
    entries: dict[str, _Entry]


class Summaries:
    """The summaries of the recordings of one folder, played only when they have changed.

    A file of summaries that is missing, broken, foreign or of another version is an empty one.
    """

    def __init__(self, cache: Path) -> None:
        self._cache = cache
        self._entries = _read(cache)
        self._kept: dict[str, _Entry] = {}

    def missing(self, paths: Iterable[Path]) -> int:
        """Return how many of these are not remembered by name."""
        return sum(text_of(path.name) not in self._entries for path in paths)

    def of(self, path: Path) -> Summary:
        """Return the summary of a recording. Raises RecordingFault, and OSError where it is gone."""
        facts = path.lstat()
        entry = self._known(path, facts)
        if entry is None:
            entry = _Entry(size_bytes=facts.st_size, modified_ns=facts.st_mtime_ns, summary=summarise(path))
        self._kept[text_of(path.name)] = entry
        return entry.summary

    def save(self) -> None:
        """Remember what was asked for since, and nothing else. What cannot be written costs time alone."""
        if self._kept == self._entries:
            return
        data = msgspec.json.encode(_Remembered(made_by=_MADE_BY, entries=self._kept))
        beside = self._cache.with_name(f".{self._cache.name}.{os.getpid()}")
        try:
            file = os.open(beside, files.WRITE | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(file, "wb") as writer:
                writer.write(data)
            beside.replace(self._cache)
        except OSError:
            # Nothing is lost that the recordings do not tell: the next call plays them again.
            beside.unlink(missing_ok=True)

    def _known(self, path: Path, facts: os.stat_result) -> _Entry | None:
        entry = self._entries.get(text_of(path.name))
        same = entry is not None and (entry.size_bytes, entry.modified_ns) == (
            facts.st_size,
            facts.st_mtime_ns,
        )
        return entry if same else None


def text_of(name: str) -> str:
    """Return a file's name as text that can be printed and encoded: it may hold any byte."""
    return clean(os.fsencode(name).decode("utf-8", "replace"))


def _read(path: Path) -> dict[str, _Entry]:
    try:
        with open_plain(path) as file:
            data = file.read(CACHE_LIMIT_BYTES)
        found = msgspec.json.decode(data, type=_Remembered)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return {}
    return found.entries if found.made_by == _MADE_BY else {}
