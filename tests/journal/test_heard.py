"""A recording is begun by the first word of what is watched, and holds what came before it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tui.events import AnyEvent, Hello, Link, Notice, Probe, Tick
from tui.journal import heard as module
from tui.journal.heard import JournalOnceHeard, heard
from tui.journal.reader import Recording
from tui.journal.writer import Keep, open_journal

CLOCKS: dict[str, Any] = {"mono_s": 7.0, "wall_s": 1e9, "client_s": 7.0}
KEEP = Keep(files=2)


def tick(client_s: float) -> Tick:
    return Tick(mono_s=client_s, wall_s=1e9 + client_s, client_s=client_s)


def hello(protocol: int) -> Hello:
    return Hello(
        **CLOCKS, protocol=protocol, host="gpu01", user="u", uid=1, pid=9, boot_id="b", python="3.12",
        kernel="k", cpu_count=1, memory_total_mib=None,
    )  # fmt: skip


def port(outcome: str) -> Probe:
    told = {"rung": "port", "outcome": outcome, "latency_ms": 1.0, "detail": outcome, "url": "http://h:1"}
    return msgspec.convert(CLOCKS | told, Probe)


SILENT: list[AnyEvent] = [
    tick(7.0),
    Link(**CLOCKS, state="failed", sentence="the name replaay is not known", fault="dns"),
    Notice(**CLOCKS, level="info", about="endpoint", sentence="a URL alone shows readiness"),
    hello(0),
    port("unreachable"),
    port("timeout"),
]
WORDS: list[AnyEvent] = [hello(1), port("refused"), port("ok"), port("not_http")]


@pytest.fixture
def begun(tmp_path: Path) -> Callable[[], JournalOnceHeard]:
    """Return a function that begins a recording of which nothing is heard yet."""

    def begin() -> JournalOnceHeard:
        return JournalOnceHeard(lambda: open_journal(tmp_path, "gpu01", "0.1.0", keep=KEEP, began_wall_s=5.0))

    return begin


def test_a_greeting_of_an_agent_and_an_answer_of_a_port_are_words() -> None:
    assert [heard(event) for event in SILENT] == [False] * len(SILENT)
    assert [heard(event) for event in WORDS] == [True] * len(WORDS)


def test_a_host_that_is_never_heard_leaves_nothing_and_pushes_out_nothing(
    begun: Callable[[], JournalOnceHeard], tmp_path: Path
) -> None:
    real = [tmp_path / f"{number}.jsonl.gz" for number in range(2)]
    for path in real:
        path.touch()
    journal = begun()
    for event in SILENT:
        journal.append(event)
    assert sorted(tmp_path.iterdir()) == real, "not while it runs either"
    journal.close()
    journal.close()
    assert sorted(tmp_path.iterdir()) == real


@pytest.mark.parametrize("word", WORDS)
def test_a_host_that_is_heard_is_recorded_from_the_beginning(
    begun: Callable[[], JournalOnceHeard], tmp_path: Path, word: AnyEvent
) -> None:
    journal = begun()
    for event in (*SILENT, word, tick(8.0)):
        journal.append(event)
    journal.close()
    [path] = tmp_path.iterdir()
    recording = Recording(path)
    assert list(recording.events()) == [*SILENT, word, tick(8.0)]
    assert recording.header.began_wall_s == 5.0


def test_what_waits_for_a_word_is_bounded(
    begun: Callable[[], JournalOnceHeard], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "WAITING_EVENTS", 10)
    journal = begun()
    for second in range(100):
        journal.append(tick(float(second)))
    journal.append(hello(1))
    journal.close()
    [path] = tmp_path.iterdir()
    assert list(Recording(path).events()) == [*(tick(float(second)) for second in range(91, 100)), hello(1)]


def test_a_folder_that_is_gone_when_the_host_is_heard_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    journal = JournalOnceHeard(lambda: open_journal(tmp_path / "file", "gpu01", "0.1.0"))
    journal.append(tick(1.0))
    with pytest.raises(OSError, match="File exists"):
        journal.append(hello(1))
    journal.close()
