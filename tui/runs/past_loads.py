"""The file of past loads: one JSON line for each load that became ready, newest last.

It lies in the state folder for this user alone. Several watches may write it at once: a line is one write in
append mode under a lock, and so is the trimming. What cannot be read or written ends in a sentence, never in
an error; a file that is broken, foreign or huge costs a bounded read and no more.
"""

import os
import stat
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import msgspec

from tui import files
from tui.past_load import PastLoad, PhaseTime

FILE_NAME = "loads.jsonl"
KEEP_LOADS = 2000
SLACK_LOADS = 200
"""So many more are let grow before the file is written anew."""
READ_BYTES = 4 * 1024 * 1024
LINE_BYTES = 32 * 1024
NEWEST = 50
"""So many of one engine and model are told to a watch, which compares fewer."""
LONGEST_S = 30 * 86_400.0
OPEN_TRIES = 5
LOCK_TRIES = 20
LOCK_PAUSE_S = 0.005

_decoder = msgspec.json.Decoder(PastLoad)
_LOAD: Final = frozenset(PastLoad.__struct_fields__)
_PHASE: Final = frozenset(PhaseTime.__struct_fields__)


class PastLoadsFile:
    """Reads and writes the past loads of one file; ``write`` False only reads (``--no-record``)."""

    def __init__(self, path: Path, *, write: bool = True) -> None:
        self.path = path
        self.writes = write

    def of(self, engine: str, model: str) -> tuple[list[PastLoad], str]:
        """Return the newest loads of an engine and model, newest last, and a sentence on the reading."""
        try:
            lines = _newest_lines(self.path)
        except FileNotFoundError:
            return [], "no past load is kept yet"
        except OSError as error:
            return [], f"past loads cannot be read: {self.path}: {error.strerror}; T- goes without them"
        read = [_load(line) for line in lines]
        known = [load for load in read if load is not None]
        found = [load for load in known if (load.engine, load.model) == (engine, model)]
        return found[-NEWEST:], _told(len(found[-NEWEST:]), len(read) - len(known), self.path)

    def add(self, load: PastLoad) -> str:
        """Write one load; return why it could not be kept, "" when it was (or none is to be)."""
        if not self.writes:
            return ""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with _opened(self.path) as (file, locked):
                _append(file, msgspec.json.encode(load))
                return _trim(self.path, file) if locked else ""
        except OSError as error:
            return f"this load is not kept for later estimates: {self.path}: {error.strerror or error}"


def _told(loads: int, broken: int, path: Path) -> str:
    count = "no past load" if not loads else f"{loads} past load{'' if loads == 1 else 's'}"
    skipped = ""
    if broken:
        skipped = f"; {broken} line{' is' if broken == 1 else 's are'} not readable in {path}"
    return f"{count} of this engine and model{skipped}"


# Reading.


def _newest_lines(path: Path) -> list[bytes]:
    """Return the lines of the last 4 MiB; raises OSError, also for what is no plain file."""
    file = os.open(path, files.READ)
    try:
        return _tail_lines(file)
    finally:
        os.close(file)


def _tail_lines(file: int) -> list[bytes]:
    facts = os.fstat(file)
    if not stat.S_ISREG(facts.st_mode):
        raise OSError(0, "is no plain file")
    begin = max(0, facts.st_size - READ_BYTES)
    text = files.read_at(file, READ_BYTES, begin)
    lines = text.split(b"\n")
    if begin:
        del lines[0]  # the reading began within it
    return [line for line in lines[-KEEP_LOADS - SLACK_LOADS - 1 :] if line.strip()]


def _load(line: bytes) -> PastLoad | None:
    """Return the load of a line, None for one that is none; fields of later versions are left out."""
    if len(line) > LINE_BYTES:
        return None
    try:
        load = _decoder.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        load = _later_load(line)
    return load if load is not None and _possible(load) else None


def _later_load(line: bytes) -> PastLoad | None:
    """Return the load of a line that has more fields than are known here, None for one that is no load."""
    try:
        return msgspec.convert(_known(msgspec.json.decode(line, type=dict[str, Any])), PastLoad)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _known(found: dict[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in found.items() if name in _LOAD}
    phases = msgspec.convert(found.get("phases"), list[dict[str, Any]])
    kept["phases"] = [{name: phase[name] for name in _PHASE if name in phase} for phase in phases]
    return kept


def _possible(load: PastLoad) -> bool:
    """Whether all its times can be times of a load."""
    times = [load.ready_s, *(phase.seconds for phase in load.phases)]
    return all(each is None or 0.0 <= each <= LONGEST_S for each in times)


# Writing.


@contextmanager
def _opened(path: Path) -> Generator[tuple[int, bool]]:
    """Open the file for appending, and lock it if that can be had at once. Raises OSError."""
    for _ in range(OPEN_TRIES):
        file = os.open(path, files.APPEND, 0o600)
        try:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise OSError(0, "is no plain file")
            locked = _lock(file)
            if _still_there(path, file):
                yield file, locked
                return
        finally:
            os.close(file)
    raise OSError(0, "other watches write it all the time")


def _lock(file: int) -> bool:
    """Lock a file within 0.1 s; False where that cannot be had (some network file systems)."""
    for _ in range(LOCK_TRIES):
        had = files.lock(file, alone=True)
        if had is not False:
            return had is True
        time.sleep(LOCK_PAUSE_S)
    return False


def _still_there(path: Path, file: int) -> bool:
    """Whether the open file is the one of that name: another watch may have trimmed it in between."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(file))
    except FileNotFoundError:
        return False


def _append(file: int, line: bytes) -> None:
    size_bytes = os.fstat(file).st_size
    torn = size_bytes > 0 and files.read_at(file, 1, size_bytes - 1) != b"\n"
    whole = (b"\n" if torn else b"") + line + b"\n"
    if os.write(file, whole) != len(whole):
        raise OSError(0, "the disk is full")


def _trim(path: Path, file: int) -> str:
    """Leave the newest loads alone where the file has grown too long (it is locked); return what failed."""
    lines = _tail_lines(file)
    if len(lines) < KEEP_LOADS + SLACK_LOADS and os.fstat(file).st_size <= READ_BYTES:
        return ""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        _write(beside, [line for line in lines[-KEEP_LOADS:] if len(line) <= LINE_BYTES])
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        return f"old loads cannot be dropped: {path}: {error.strerror}"
    return ""


def _write(path: Path, lines: Sequence[bytes]) -> None:
    path.unlink(missing_ok=True)
    file = os.open(path, files.WRITE | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(file, "wb") as writer:
        writer.write(b"".join(line + b"\n" for line in lines))
