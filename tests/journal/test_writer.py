"""A recording is whole up to its last second, whatever ended the watch."""

import os
import zlib
from pathlib import Path

import msgspec

from tui.events import AnyEvent, Tick, decode
from tui.journal.header import Header
from tui.journal.writer import JournalWriter, open_journal, trim


def tick(client_s: float) -> Tick:
    return Tick(mono_s=client_s, wall_s=1_000_000.0 + client_s, client_s=client_s)


def read(path: Path) -> tuple[Header, list[AnyEvent]]:
    text = zlib.decompressobj(31).decompress(path.read_bytes())
    header, *events = text.splitlines()
    return msgspec.json.decode(header, type=Header), [decode(line) for line in events]


def test_a_closed_recording_gives_back_every_event(tmp_path: Path) -> None:
    journal = open_journal(tmp_path, "gpu-box", "0.1.0")
    for second in range(3):
        journal.append(tick(float(second)))
    journal.close()
    header, events = read(journal.path)
    assert header.host == "gpu-box"
    assert events == [tick(0.0), tick(1.0), tick(2.0)]


def test_a_recording_that_was_never_closed_is_readable_up_to_the_last_flush(tmp_path: Path) -> None:
    journal = open_journal(tmp_path, "gpu-box", "0.1.0")
    for tenth in range(25):
        journal.append(tick(10.0 + tenth / 10))
    events = read(journal.path)[1]
    assert events[-1].client_s >= 12.0
    journal.close()


def test_two_watches_begun_in_one_second_write_two_recordings(tmp_path: Path) -> None:
    first = open_journal(tmp_path, "box", "0.1.0")
    second = open_journal(tmp_path, "box", "0.1.0")
    assert first.path != second.path
    first.close()
    second.close()


def test_a_hostile_host_name_stays_inside_the_folder(tmp_path: Path) -> None:
    journal = open_journal(tmp_path, "../../etc/passwd", "0.1.0")
    journal.close()
    assert journal.path.parent == tmp_path


def test_closing_twice_is_allowed(tmp_path: Path) -> None:
    journal: JournalWriter = open_journal(tmp_path, "box", "0.1.0")
    journal.close()
    journal.close()


def test_the_oldest_recordings_go_first(tmp_path: Path) -> None:
    for number in range(5):
        path = tmp_path / f"{number}.jsonl.gz"
        path.write_bytes(b"x" * 100)
        os.utime(path, (number, number))
    trim(tmp_path, keep_files=4, keep_bytes=1000)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["2.jsonl.gz", "3.jsonl.gz", "4.jsonl.gz"]
    trim(tmp_path, keep_files=50, keep_bytes=250)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["3.jsonl.gz", "4.jsonl.gz"]
