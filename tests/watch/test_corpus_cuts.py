"""Real start-up logs cut anywhere and wrapped by other programs: what tminus may not do with them.

A longer cut of one start never goes back from ready, failed or stopped to unfinished (ready may fail or
stop, and a server that outlives what looked like its failure is ready); a stop is final. Nothing rests on a
line after the cut; nothing raises; a front end's prefix changes nothing.
"""

import json
import os
import random
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import pytest
from start_logs import CORPUS, KEPT, Expected, ReadLog, Stand, corpus, engine_of, kept, lines_of, read_log

from tui.engines.base import Engine

LONG = float(os.environ.get("TMINUS_LONG", "0.1")) >= 1
BYTE_CUTS = 400 if LONG else 16
FRESH_CUTS = 100 if LONG else 8
_REACHED = {"unfinished": 0, "ready": 1, "failed": 2, "stopped": 2}
_MAY_BECOME = {
    "unfinished": ("unfinished", "ready", "failed", "stopped"),
    "ready": ("ready", "failed", "stopped"),
    "failed": ("failed", "ready"),
    "stopped": ("stopped",),
}
_LOGS: dict[str, tuple[Path, Expected]] = {
    **{f"kept/{name}": (KEPT / name, expected) for name, expected in kept().items()},
    **{name: (CORPUS / name, expected) for name, expected in corpus().items()},
}
# What is read of a log once is read once: all tests of it are one process's.
each_log = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in sorted(_LOGS)]
)


def log_of(name: str) -> tuple[Engine, bytes]:
    path, expected = _LOGS[name]
    return engine_of(expected), path.read_bytes()


@lru_cache(maxsize=2)
def stands_of(name: str) -> list[tuple[int, Stand]]:
    """Return where a log stands after each line, with the line's number; 0 is before the first."""
    engine, data = log_of(name)
    log = ReadLog(engine)
    stands = [(0, log.stand)]
    for number, line in lines_of(data):
        log.read(number, line)
        stands.append((number, log.stand))
    return stands


@lru_cache(maxsize=2)
def bare(name: str) -> tuple[list[bytes], Stand]:
    """Return a log's lines without their ends, and what it says when each ends alike."""
    engine, data = log_of(name)
    lines = [line.rstrip(b"\r") for line in data.split(b"\n")]
    if lines[-1] == b"":
        lines.pop()
    return lines, read_log(engine, b"".join(line + b"\n" for line in lines))


def assert_goes_on(before: Stand, after: Stand, engine: Engine) -> None:
    assert after.phase in {phase.value for phase in engine.order}
    assert after.phase not in ("failed", "stopped")
    if before.start == after.start:
        assert after.outcome in _MAY_BECOME[before.outcome], (before, after)


def line_ends(data: bytes) -> list[int]:
    return [place + 1 for place, byte in enumerate(data) if byte == ord("\n")]


@each_log
def test_no_longer_cut_takes_an_outcome_back(name: str) -> None:
    engine, _ = log_of(name)
    for (_, before), (_, after) in pairwise(stands_of(name)):
        assert_goes_on(before, after, engine)


@each_log
def test_cuts_at_any_byte_go_on_from_one_another(name: str) -> None:
    engine, data = log_of(name)
    cuts = random.Random(name).choices(range(len(data) + 1), k=BYTE_CUTS)
    before = read_log(engine, b"")
    for cut in sorted(cuts):
        after = read_log(engine, data[:cut])
        assert_goes_on(before, after, engine)
        before = after
    assert_goes_on(before, read_log(engine, data), engine)


@each_log
def test_a_cut_rests_on_no_line_after_it(name: str) -> None:
    engine, data = log_of(name)
    stands = dict(stands_of(name))
    ends = line_ends(data)
    some = random.Random(name).sample(range(len(ends)), k=min(FRESH_CUTS, len(ends)))
    for place in some:
        cut = read_log(engine, data[: ends[place]])
        newest = max(number for number in stands if number <= place + 1)
        assert cut == stands[newest], f"cut after line {place + 1}"


def _crlf(line: bytes) -> bytes:
    return line + b"\r\n"


def _compose(line: bytes) -> bytes:
    return b"engine-1  | " + line + b"\n"


def _timed(line: bytes) -> bytes:
    return b"2026-11-29T10:00:00.123456789Z " + line + b"\n"


def _json(line: bytes) -> bytes:
    record = {
        "log": line.decode("utf-8", "replace") + "\n",
        "stream": "stderr",
        "time": "2026-11-29T10:00:00.1Z",
    }
    return json.dumps(record).encode() + b"\n"


def _boxed(line: bytes) -> bytes:
    return "│ ".encode() + line + " │".encode() + b"\n"


@pytest.mark.parametrize("wrap", [_crlf, _compose, _timed, _json, _boxed])
@each_log
def test_a_front_end_changes_nothing(name: str, wrap: Callable[[bytes], bytes]) -> None:
    engine, _ = log_of(name)
    lines, plain = bare(name)
    assert read_log(engine, b"".join(wrap(line) for line in lines)) == plain


@each_log
def test_two_starts_in_one_log_are_read_as_the_last(name: str) -> None:
    engine, data = log_of(name)
    if not data.endswith(b"\n"):
        data += b"\n"
    once = read_log(engine, data)
    twice = read_log(engine, data + data)
    if twice.start > once.start:
        assert (twice.outcome, twice.phase, twice.kind) == (once.outcome, once.phase, once.kind)
    else:
        # Its first line is not in the log, so that nothing tells where another start begins.
        assert _REACHED[twice.outcome] >= _REACHED[once.outcome]
