"""What a recording came to is told without playing it again, and never told wrongly for that."""

import gzip
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tui.events import AnyEvent, Exit, Hello, Link, Log, Probe, Process, Processes, Tick
from tui.journal.header import Asked
from tui.journal.reader import RecordingFault
from tui.journal.writer import open_journal
from tui.replay import summary
from tui.replay.summary import CACHE_NAME, Summaries, Summary, summarise

ARGV = ["python3", "-m", "sglang.launch_server", "--model-path", "Qwen/Qwen3-32B", "--port", "30000"]
OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."


class Tape:
    """Events of a small watch, each a second after the one before."""

    def __init__(self) -> None:
        self.t = 0.0

    def at(self) -> dict[str, Any]:
        self.t += 1.0
        return {"mono_s": 5000 + self.t, "wall_s": 1e9 + self.t, "client_s": 100 + self.t}

    def hello(self) -> Hello:
        return Hello(
            **self.at(), protocol=1, host="gpu01", user="u", uid=1, pid=9, boot_id="b", python="3.12",
            kernel="k", cpu_count=1, memory_total_mib=None,
        )  # fmt: skip

    def server(self) -> Processes:
        process = Process(
            pid=41, ppid=1, started_s=4990.0, uid=1, user="u", state="S", title="python3", argv=ARGV,
            matched="sglang", cwd="/", stdout=None, stderr=None, container=None, environment={},
        )  # fmt: skip
        return Processes(**self.at(), processes=[process])

    def probe(self, rung: str, outcome: str, **more: object) -> Probe:
        told = {
            "rung": rung,
            "outcome": outcome,
            "latency_ms": 1.0,
            "detail": outcome,
            "url": "http://h:30000",
        }
        return msgspec.convert({**self.at(), **told, **more}, Probe)

    def log(self, *lines: str) -> Log:
        return Log(
            **self.at(), lines=list(lines), tail="", returns=[], path="/log", device=1, inode=1, offset=1
        )

    def ready(self) -> list[AnyEvent]:
        return [
            self.probe("port", "refused"),
            self.probe("port", "ok"),
            self.probe("health", "ok", status=200),
            self.probe("models", "ok", status=200, models=["Qwen/Qwen3-32B"]),
            self.probe("token", "ok", status=200, model="Qwen/Qwen3-32B", text="a"),
        ]

    def end(self) -> Exit:
        return Exit(**self.at(), pid=41, main=True, title="python3", how="gone")


def kept(folder: Path, events: Sequence[AnyEvent], asked: Asked | None = None) -> Path:
    journal = open_journal(folder, "gpu01", "0.1.0", asked or Asked())
    for event in events:
        journal.append(event)
    journal.close()
    return journal.path


def test_a_load_that_became_ready_is_timed_from_its_start(tmp_path: Path) -> None:
    tape = Tape()
    told = summarise(kept(tmp_path, [tape.hello(), tape.server(), *tape.ready(), Tick(**tape.at())]))
    assert (told.outcome, told.fault, told.cause) == ("ready", None, None)
    assert (told.host, told.engine, told.model) == ("gpu01", "sglang", "Qwen/Qwen3-32B")
    assert (told.ready_after_s, told.length_s) == (17.0, 7.0)
    assert (told.ending, told.cut) == ("", False)


def test_a_server_found_ready_has_no_time_to_ready(tmp_path: Path) -> None:
    tape = Tape()
    told = summarise(kept(tmp_path, [tape.hello(), tape.server(), *tape.ready()[1:]]))
    assert (told.outcome, told.ready_after_s) == ("ready", None)


def test_a_load_that_was_still_under_way_is_not_ready(tmp_path: Path) -> None:
    tape = Tape()
    told = summarise(kept(tmp_path, [tape.hello(), tape.server(), tape.probe("port", "refused")]))
    assert (told.outcome, told.fault, told.ready_after_s) == ("not_ready", None, None)
    assert "refused" in told.reason


def test_a_load_that_failed_tells_why(tmp_path: Path) -> None:
    tape = Tape()
    lines = [
        "[2026-05-28 20:27:24 TP0] Load weight begin. avail mem=13.43 GB",
        "Traceback (most recent call last):",
    ]
    told = summarise(kept(tmp_path, [tape.hello(), tape.server(), tape.log(*lines, OOM), tape.end()]))
    assert (told.outcome, told.fault) == ("failed", "died")
    assert told.cause is not None
    assert told.cause.value.startswith("oom")


def test_a_server_that_ended_after_it_was_ready_keeps_its_time(tmp_path: Path) -> None:
    tape = Tape()
    told = summarise(kept(tmp_path, [tape.hello(), tape.server(), *tape.ready(), tape.end()]))
    assert (told.outcome, told.fault, told.ready_after_s) == ("failed", "died", 17.0)


def test_another_model_than_was_asked_for_is_a_failure(tmp_path: Path) -> None:
    tape = Tape()
    wrong = tape.probe("models", "wrong_model", status=200, models=["other"])
    events = [tape.hello(), tape.server(), *tape.ready()[:3], wrong]
    told = summarise(kept(tmp_path, events, Asked(model="llama")))
    assert (told.outcome, told.fault) == ("failed", "wrong_model")


@pytest.mark.parametrize(
    ("link", "outcome", "fault"),
    [
        (("lost", "the connection broke", "lost"), "lost", "lost"),
        (("failed", "the key was refused", "auth"), "lost", "auth"),
        (("connecting", "connecting again", None), "lost", "lost"),
        (("up", "the agent runs", None), "not_ready", None),
        (("closed", "closed", None), "not_ready", None),
    ],
)
def test_a_watch_that_lost_its_host_is_lost_and_one_that_was_interrupted_is_not_ready(
    tmp_path: Path, link: tuple[str, str, str | None], outcome: str, fault: str | None
) -> None:
    tape = Tape()
    before = [tape.hello(), tape.server(), tape.probe("port", "refused")]
    last = msgspec.convert({**tape.at(), "state": link[0], "sentence": link[1], "fault": link[2]}, Link)
    told = summarise(kept(tmp_path, [*before, last]))
    assert (told.outcome, told.fault, told.engine) == (outcome, fault, "sglang")
    assert outcome != "lost" or told.reason == link[1]


def test_a_server_that_was_ready_when_its_host_was_lost_stays_ready(tmp_path: Path) -> None:
    tape = Tape()
    lost = Link(**tape.at(), state="lost", sentence="the connection broke")
    told = summarise(kept(tmp_path, [tape.hello(), tape.server(), *tape.ready(), lost]))
    assert (told.outcome, told.ready_after_s) == ("ready", 18.0)


def test_a_recording_without_an_event_is_not_ready(tmp_path: Path) -> None:
    told = summarise(kept(tmp_path, []))
    assert (told.outcome, told.length_s) == ("not_ready", 0.0)


def test_a_cut_recording_says_so(tmp_path: Path) -> None:
    tape = Tape()
    path = kept(tmp_path, [tape.hello(), *(Tick(**tape.at()) for _ in range(90))])
    path.write_bytes(gzip.decompress(path.read_bytes())[:-3])
    told = summarise(path)
    assert told.cut
    assert "is cut after" in told.ending


# What is remembered.


@pytest.fixture
def plays(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the recordings that were really played."""
    played: list[str] = []
    real = summarise

    def counted(path: Path) -> Summary:
        played.append(path.name)
        return real(path)

    monkeypatch.setattr(summary, "summarise", counted)
    return played


def listed(cache: Path, *paths: Path) -> list[Summary]:
    summaries = Summaries(cache)
    found = [summaries.of(path) for path in paths]
    summaries.save()
    return found


def test_a_recording_is_played_once(tmp_path: Path, plays: list[str]) -> None:
    tape = Tape()
    path = kept(tmp_path / "recordings", [tape.hello(), tape.server(), *tape.ready()])
    cache = tmp_path / CACHE_NAME
    assert Summaries(cache).missing([path]) == 1
    first = listed(cache, path)
    assert listed(cache, path) == first
    assert plays == [path.name]
    assert Summaries(cache).missing([path]) == 0
    assert stat.S_IMODE(cache.stat().st_mode) == 0o600
    assert [each.name for each in tmp_path.iterdir() if each.is_file()] == [CACHE_NAME]


def test_a_recording_that_has_grown_is_played_again(tmp_path: Path, plays: list[str]) -> None:
    tape = Tape()
    journal = open_journal(tmp_path / "recordings", "gpu01", "0.1.0")
    journal.append(tape.hello())
    cache = tmp_path / CACHE_NAME
    [before] = listed(cache, journal.path)
    journal.append(tape.server())
    journal.append(Tick(**tape.at()))
    [after] = listed(cache, journal.path)
    journal.close()
    assert (before.engine, after.engine, len(plays)) == (None, "sglang", 2)


def test_one_of_the_same_size_written_at_another_time_is_played_again(
    tmp_path: Path, plays: list[str]
) -> None:
    path = kept(tmp_path / "recordings", [Tape().hello()])
    listed(tmp_path / CACHE_NAME, path)
    os.utime(path, (1, 1))
    listed(tmp_path / CACHE_NAME, path)
    assert len(plays) == 2


def test_a_recording_that_is_gone_is_forgotten(tmp_path: Path) -> None:
    first = kept(tmp_path / "recordings", [Tape().hello()])
    second = kept(tmp_path / "recordings", [Tape().hello()])
    cache = tmp_path / CACHE_NAME
    listed(cache, first, second)
    listed(cache, second)
    assert first.name not in cache.read_text()
    assert second.name in cache.read_text()


@pytest.mark.parametrize(
    "broken",
    [
        b"",
        b"{",
        b"null",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"made_by":"x","entries":{}}',
        b'{"made_by":1,"entries":[]}',
    ],
)
def test_a_broken_cache_is_made_anew(tmp_path: Path, plays: list[str], broken: bytes) -> None:
    path = kept(tmp_path / "recordings", [Tape().hello()])
    cache = tmp_path / CACHE_NAME
    cache.write_bytes(broken)
    listed(cache, path)
    listed(cache, path)
    assert len(plays) == 1


def test_a_cache_of_another_version_is_made_anew(
    tmp_path: Path, plays: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = kept(tmp_path / "recordings", [Tape().hello()])
    with monkeypatch.context() as patch:
        patch.setattr(summary, "_MADE_BY", "another")
        listed(tmp_path / CACHE_NAME, path)
    listed(tmp_path / CACHE_NAME, path)
    assert len(plays) == 2


def test_a_cache_that_cannot_be_written_costs_time_alone(tmp_path: Path, plays: list[str]) -> None:
    path = kept(tmp_path / "recordings", [Tape().hello()])
    (tmp_path / CACHE_NAME).mkdir()
    assert listed(tmp_path / CACHE_NAME, path) == listed(tmp_path / CACHE_NAME, path)
    assert len(plays) == 2
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted([CACHE_NAME, "recordings"])
    assert listed(tmp_path / "missing" / CACHE_NAME, path)


def test_what_is_no_recording_is_a_fault_and_not_remembered(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("x")
    summaries = Summaries(tmp_path / CACHE_NAME)
    with pytest.raises(RecordingFault):
        summaries.of(path)
    summaries.save()
    assert not (tmp_path / CACHE_NAME).exists()


def test_a_name_that_is_no_text_can_be_remembered(tmp_path: Path, plays: list[str]) -> None:
    path = kept(tmp_path, [Tape().hello()])
    odd = path.rename(Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\x1b[31m.jsonl.gz")))
    listed(tmp_path / CACHE_NAME, odd)
    listed(tmp_path / CACHE_NAME, odd)
    assert len(plays) == 1
