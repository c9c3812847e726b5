"""The lines of the H200 recorder's files as they are, and of its ``events`` only what a watcher could see.

The recorder also wrote down what it did to the server (SIGSTOP, trigger, READY ...): those are the answers to
what a watch has to find out, so they are dropped here, before anything else reads them. (``listen`` would be
fair to read, but says no more than ``tcp``.)
"""

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Annotated

import msgspec

from tui.journal.lines import LineFile
from tui.journal.reader import CLOCK_LIMIT_S, RecordingFault

FILES = ("recording.jsonl.gz", "recording.jsonl")
"""What a recording is called in its folder."""
_FIRST_LINE_BYTES = 1 << 20

Moment = Annotated[float, msgspec.Meta(gt=-CLOCK_LIMIT_S, lt=CLOCK_LIMIT_S)]


class _Line(msgspec.Struct, frozen=True, kw_only=True):
    """What every line has: its stream, its time, and of ``events`` the kind."""

    k: str
    t: Moment
    ev: str = ""


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """One line; ``t`` is in seconds since the server was started."""

    t: Moment


class GpuRow(msgspec.Struct, frozen=True, array_like=True):
    """One GPU at one tick, None where the driver refused.

    ``used_mib`` is that of NVML v1. ``fields`` and ``gpm`` are in the order of the launch's ``fi_fields`` and
    ``gpm_fields``; a text in their place is an error's.
    """

    used_mib: float | None = None
    utilisation_pct: float | None = None
    memory_utilisation_pct: float | None = None
    power_mw: float | None = None
    sm_clock_mhz: float | None = None
    memory_clock_mhz: float | None = None
    temperature_c: float | None = None
    event_reasons: int | None = None
    performance_state: int | None = None
    fields: list[float | None] | str | None = None
    gpm: list[float | None] | str | None = None


class GpuRecord(Record, frozen=True, kw_only=True):
    """One tick of NVML; ``procs`` maps "gpu:pid" to MiB when it changed. Other records have no ``g``."""

    g: list[GpuRow] | None = None
    procs: dict[str, int] | None = None
    cost_ms: float = 0.0


class ProcessRow(msgspec.Struct, frozen=True, array_like=True):
    """One process at one look: ticks of 10 ms, MiB, KiB, faults, and where its main thread waits."""

    state: str
    user_ticks: float | None = None
    system_ticks: float | None = None
    threads: float | None = None
    resident_mib: float | None = None
    shared_mib: float | None = None
    read_chars_kib: float | None = None
    read_kib: float | None = None
    write_kib: float | None = None
    minor_faults: float | None = None
    major_faults: float | None = None
    wchan: str | None = None


class ProcessRecord(Record, frozen=True, kw_only=True):
    """A process that is ``new`` (or has a new title), one that is ``gone``, or a look at what changed."""

    new: int | None = None
    gone: int | None = None
    ppid: int = 0
    comm: str = ""
    cmd: str = ""
    p: dict[str, ProcessRow] | None = None
    mem: dict[str, int] | None = None


class LogRecord(Record, frozen=True, kw_only=True):
    """Text that appeared; ``off`` and ``n`` are bytes of the log as it was on that host."""

    off: int
    n: int
    s: str


class HttpRecord(Record, frozen=True, kw_only=True):
    """One question to the port: ``t`` is when it was asked, ``ms`` how long its answer took.

    ``st`` is the status, or the name of the error's class. ``body`` (its first 900 characters of ``len``
    bytes) is there when it was another one than before.
    """

    p: str
    st: int | str
    ms: float
    body: str | None = None
    len: int | None = None


class Launch(Record, frozen=True, kw_only=True):
    """The start of the server."""

    pid: int
    cmd: list[str]
    engine: str
    env: dict[str, str] = {}
    total_mib: list[float | None] = []
    fi_fields: list[str] = []
    gpm_fields: list[str] = []
    wall: float | None = None


class Tcp(Record, frozen=True, kw_only=True):
    """The port accepts connections from now on (``state`` open), or an error's class."""

    port: int
    state: str


class Environ(Record, frozen=True, kw_only=True):
    """The readable environment of a process of the tree; ``title`` is its whole command line."""

    pid: int
    title: str | None = None
    kept: dict[str, str] = {}


class ServerExit(Record, frozen=True, kw_only=True):
    """The launched process ended by itself, with its code."""

    rc: int | None = None


class Cut(Record, frozen=True, kw_only=True):
    """The file is not whole from here on."""

    sentence: str


AnyRecord = GpuRecord | ProcessRecord | LogRecord | HttpRecord | Launch | Tcp | Environ | ServerExit | Cut

_TYPES: dict[tuple[str, str], type[AnyRecord]] = {
    ("gpu", ""): GpuRecord,
    ("proc", ""): ProcessRecord,
    ("log", ""): LogRecord,
    ("http", ""): HttpRecord,
    ("events", "launch"): Launch,
    ("events", "tcp"): Tcp,
    ("events", "environ"): Environ,
    ("events", "server_exit"): ServerExit,
}


def recorder_file(path: Path) -> Path | None:
    """Return the recorder's file that a path names, itself or in its folder; None for anything else."""
    try:
        if os.path.isdir(path):
            return next((path / name for name in FILES if os.path.isfile(path / name)), None)
        with closing(iter(LineFile(path, _FIRST_LINE_BYTES))) as lines:
            line = msgspec.json.decode(next(lines, b""), type=_Line)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return path if line.k in {stream for stream, _ in _TYPES} else None


def read_records(path: Path) -> Iterator[AnyRecord]:
    """Iterate over what is read of a file, in its order; a ``Cut`` is the last where it is not whole.

    Raises RecordingFault for a file that cannot be read at all.
    """
    t, number, file = 0.0, 0, LineFile(path)
    try:
        for line in file:
            number += 1
            record = _record(line)
            if record is not None:
                t = record.t
                yield record
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        cut = file.torn or file.end == "damaged"
        said = f"cut after line {number - 1}" if cut else f"broken from line {number} on"
        yield Cut(t=t, sentence=f"the recording is {said}")
        return
    except OSError as error:
        raise RecordingFault(f"{path} cannot be read: {error.strerror}") from None
    if file.end != "whole":
        yield Cut(t=t, sentence=f"the recording is cut after line {number}")


def _record(line: bytes) -> AnyRecord | None:
    head = msgspec.json.decode(line, type=_Line)
    kind = _TYPES.get((head.k, head.ev))
    return None if kind is None else msgspec.json.decode(line, type=kind)
