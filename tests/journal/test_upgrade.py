"""Recordings of older versions are read as if they were of this one."""

import gzip
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tui.benchmark import BenchResult
from tui.events import VERSION, Notice
from tui.journal.header import Asked
from tui.journal.reader import Recording
from tui.journal.upgrade import UPGRADES, Raw, Upgrade, event_upgrade, upgraded_header
from tui.replay.headless import play
from tui.replay.opening import open_tape

FIXTURES = Path(__file__).parents[1] / "fixtures" / "recordings"


def test_every_older_version_has_an_upgrade_and_a_recording_of_it() -> None:
    assert sorted(UPGRADES) == list(range(1, VERSION))
    versions = {Recording(path).version for path in FIXTURES.glob("*.jsonl.gz")}
    assert versions >= set(UPGRADES)


def test_a_recording_of_version_1_gains_what_was_asked_for() -> None:
    found = Recording(FIXTURES / "version-1-url.jsonl.gz")
    assert b'"asked"' not in gzip.decompress(found.path.read_bytes())
    assert (found.version, found.header.events, found.header.asked) == (1, VERSION, Asked())
    assert (found.header.tminus, found.header.host) == ("0.1.0", "url")


def test_a_finished_recording_of_version_1_plays_to_ready() -> None:
    played = play(open_tape(FIXTURES / "version-1-url.jsonl.gz"))
    assert (played.state.outcome, played.state.model) == ("ready", "simulated-qwen3")
    assert [each.after for each in played.transitions if each.kind == "readiness"] == [
        "port",
        "model",
        "ready",
    ]


def test_a_recording_of_version_1_that_was_killed_plays_to_its_last_second() -> None:
    events = list(Recording(FIXTURES / "version-1-killed.jsonl.gz").events())
    kinds = Counter(type(event).__name__ for event in events)
    assert (kinds["Gpus"], kinds["Log"], kinds["Hello"], kinds["Notice"]) == (69, 9, 1, 1)
    assert isinstance(events[-1], Notice)
    assert "not finished" in events[-1].sentence
    played = play(open_tape(FIXTURES / "version-1-killed.jsonl.gz"))
    assert (played.state.outcome, played.length_s) == ("ready", pytest.approx(70.0, abs=1.0))
    assert [each.t for each in played.transitions if each.after == "ready"] == [
        pytest.approx(66.9, abs=0.1)
    ] * 3


def test_a_recording_of_version_2_plays_as_it_is() -> None:
    found = Recording(FIXTURES / "version-2-load.jsonl.gz")
    assert (found.version, found.header.events, found.header.asked) == (2, VERSION, Asked(port=30000))
    played = play(open_tape(found.path))
    assert [(each.t, each.after) for each in played.transitions if each.kind == "phase"] == [
        (0.0, "launch"),
        (10.0, "weights"),
        (30.0, "capture"),
        (45.0, "warmup"),
        (50.0, "ready"),
    ]


def test_a_recording_of_version_3_keeps_its_signals() -> None:
    found = Recording(FIXTURES / "version-3-signals.jsonl.gz")
    assert (found.version, found.header.events) == (3, VERSION)
    kinds = Counter(type(event).__name__ for event in found.events())
    assert kinds["Signals"] >= 15
    assert kinds["HostSignals"] >= 3


def test_a_recording_of_version_4_keeps_its_benchmark_and_lacks_what_came_later() -> None:
    found = Recording(FIXTURES / "version-4-bench.jsonl.gz")
    assert (found.version, found.header.events) == (4, VERSION)
    (result,) = [each for each in found.events() if isinstance(each, BenchResult)]
    assert (result.outcome, result.completed, result.spec.profile) == ("done", 8, "")
    assert (result.steady_tokens_per_s, result.chunks, result.ttfo_ms.samples) == (None, None, 0)


# The chain.


def renamed(old: str, new: str) -> Upgrade:
    def header(raw: Raw) -> Raw:
        return {**raw, "path": [*raw.get("path", []), new]}

    def event(raw: Raw) -> Raw:
        return {(new if name == old else name): value for name, value in raw.items()}

    return Upgrade(header, event)


CHAIN = {1: renamed("a", "b"), 2: Upgrade(lambda raw: raw), 3: renamed("b", "c")}


@pytest.mark.parametrize(("version", "line"), [(1, b'{"a":1}'), (2, b'{"b":1}'), (3, b'{"b":1}')])
def test_an_event_goes_through_every_version_between(version: int, line: bytes) -> None:
    upgrade = event_upgrade(version, CHAIN)
    assert upgrade is not None
    assert upgrade(line) == b'{"c":1}'


def test_an_event_that_needs_nothing_goes_no_detour() -> None:
    assert event_upgrade(4, CHAIN) is None
    assert event_upgrade(1, {1: Upgrade(lambda raw: raw)}) is None
    assert event_upgrade(1) is None


def test_a_header_goes_through_every_version_between_and_tells_the_last() -> None:
    raw: dict[str, Any] = msgspec.json.decode(upgraded_header(b'{"events":1}', 1, CHAIN))
    assert raw == {"events": 4, "path": ["b", "c"]}


@pytest.mark.parametrize("line", [b"[]", b"1", b"", b"{", b"\xff"])
def test_what_is_no_object_is_an_error_of_decoding(line: bytes) -> None:
    upgrade = event_upgrade(1, CHAIN)
    assert upgrade is not None
    with pytest.raises(msgspec.MsgspecError):
        upgrade(line)
    with pytest.raises(msgspec.MsgspecError):
        upgraded_header(line, 1, CHAIN)
