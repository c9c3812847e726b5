"""The root cause of every failed load of the corpus: its kind, and the line that tells it."""

import sys
import tomllib
from pathlib import Path
from typing import TypedDict

import pytest
from start_logs import CORPUS, corpus, engine_of, read_log

from tui.engines.marks import FaultKind

TABLES = Path(__file__).parents[1] / "fixtures" / "root_causes"
RIGHT = 0.9


class RootCause(TypedDict):
    """What one who reads the log says: the kind, the line (counted by newlines), and why that one."""

    kind: str
    line: int
    why: str


def tables() -> dict[str, RootCause]:
    read: dict[str, RootCause] = {}
    for path in sorted(TABLES.glob("*.toml")):
        read |= tomllib.loads(path.read_text())
    return read


def failed_logs() -> list[str]:
    if not corpus():
        pytest.skip("needs the corpus of start-up logs beside the checkout")
    return [name for name, expected in corpus().items() if expected["outcome"] == ["failed"]]


def test_every_failed_load_has_a_root_cause_in_the_tables() -> None:
    assert [name for name in failed_logs() if name not in tables()] == []


def test_every_entry_is_of_a_failed_load_and_of_a_line_it_has() -> None:
    failed = failed_logs()
    for name, entry in tables().items():
        assert name in failed
        assert entry["kind"] in {kind.value for kind in FaultKind}
        assert 1 <= entry["line"] <= len((CORPUS / name).read_bytes().split(b"\n"))
        assert entry["why"]


def test_root_causes_are_right_in_kind_and_line() -> None:
    known = tables()
    misses: list[str] = []
    for name in failed_logs():
        entry = known.get(name)
        stand = read_log(engine_of(corpus()[name]), (CORPUS / name).read_bytes())
        if entry is None or (stand.kind, stand.line) != (entry["kind"], entry["line"]):
            misses.append(f"{name}: {stand.kind} in line {stand.line}, not {entry}")
    count = len(failed_logs())
    sys.stdout.write(f"{count - len(misses)} of {count} right\n" + "\n".join(misses))
    assert len(misses) <= (1 - RIGHT) * count
