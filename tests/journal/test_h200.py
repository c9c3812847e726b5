"""Files of the H200 recorder as a whole: their order, what is read of them, and where they are not whole."""

import gzip
import json
import re
from itertools import pairwise
from pathlib import Path

import pytest
from h200_files import CUT, Line, events_of, health, launch, started, written

from tui.commands.replay import reported
from tui.events import AnyEvent, Hello, Link, Notice, Probe, Tick
from tui.journal.h200 import H200Recording
from tui.journal.reader import RecordingFault
from tui.replay.headless import play
from tui.replay.opening import open_tape


@pytest.fixture(scope="module")
def cut() -> list[AnyEvent]:
    return list(H200Recording(CUT / "recording.jsonl.gz").events())


def test_a_folder_its_file_and_plain_lines_say_the_same(tmp_path: Path, cut: list[AnyEvent]) -> None:
    plain = tmp_path / "plain.jsonl"
    plain.write_bytes(gzip.decompress((CUT / "recording.jsonl.gz").read_bytes()))

    assert list(open_tape(CUT).read()) == cut
    assert [event for event in open_tape(plain).read() if not isinstance(event, Link)] == [
        event for event in cut if not isinstance(event, Link)
    ]


def test_times_are_the_files_own_and_never_run_back(cut: list[AnyEvent]) -> None:
    tape = open_tape(CUT)

    assert tape.origin_s == 0.0
    assert all(event.mono_s == event.client_s for event in cut)
    assert all(before.client_s <= after.client_s for before, after in pairwise(cut))


def test_a_tick_comes_each_second_over_gaps_too(cut: list[AnyEvent]) -> None:
    ticks = [event.mono_s for event in cut if isinstance(event, Tick)]

    assert ticks == [float(second) for second in range(1, int(cut[-1].mono_s) + 1)]


def test_the_wall_clock_is_that_of_the_model_list(cut: list[AnyEvent]) -> None:
    listed = next(event for event in cut if isinstance(event, Probe) and event.models)

    with gzip.open(CUT / "recording.jsonl.gz", "rt") as file:
        created = re.findall(r'"created\\":(\d+)', file.read())
    assert str(int(listed.wall_s)) == created[0]


def test_it_first_says_who_tells_and_what_counts(cut: list[AnyEvent]) -> None:
    hello, link, notice = cut[:3]

    assert isinstance(hello, Hello)
    assert hello.host == "recorded"
    assert isinstance(link, Link)
    assert link.state == "up"
    assert isinstance(notice, Notice)
    assert "no completion was asked for" in notice.sentence
    assert "first token" in notice.sentence


def test_of_the_recorders_own_events_nothing_is_needed(tmp_path: Path) -> None:
    kept = ("launch", "tcp", "listen", "environ", "server_exit")
    lines = [
        json.loads(line) for line in gzip.decompress((CUT / "recording.jsonl.gz").read_bytes()).splitlines()
    ]
    fewer = [line for line in lines if line["k"] != "events" or line["ev"] in kept]

    assert len(fewer) < len(lines)
    assert reported(play(open_tape(written(tmp_path, fewer)))) == reported(play(open_tape(CUT)))


def test_an_answer_in_disguise_is_not_even_decoded(tmp_path: Path) -> None:
    lies: list[Line] = [
        {"k": "events", "t": 1.0, "ev": "READY", "pid": "not a number"},
        {"k": "events", "t": 2.0, "ev": "SIGSTOP", "pid": None, "title": 5},
        {"k": "ras", "t": 3.0},
    ]

    assert events_of(tmp_path, started() + lies) == events_of(tmp_path, started())


def test_a_cut_file_plays_to_where_it_is_whole(tmp_path: Path, cut: list[AnyEvent]) -> None:
    path = tmp_path / "recording.jsonl.gz"
    path.write_bytes((CUT / "recording.jsonl.gz").read_bytes()[:20_000])

    events = list(H200Recording(path).events())

    last = events[-1]
    assert isinstance(last, Notice)
    assert "cut after line" in last.sentence
    assert 100 < len(events) < len(cut)


def test_a_broken_line_ends_it_with_its_number(tmp_path: Path) -> None:
    path = written(tmp_path, started())
    path.write_text(path.read_text("utf-8") + '{"k":"gpu","t":1.0,"g":7}\n', "utf-8")

    last = list(H200Recording(path).events())[-1]

    assert isinstance(last, Notice)
    assert last.sentence == "the recording is broken from line 4 on"


def test_a_file_without_a_start_is_one_clear_sentence(tmp_path: Path) -> None:
    with pytest.raises(RecordingFault, match="no launch event"):
        open_tape(written(tmp_path, [health(1.0, 200)]))


def test_a_folder_without_a_recording_is_one_clear_sentence(tmp_path: Path) -> None:
    with pytest.raises(RecordingFault, match=r"a folder without .*recording\.jsonl\.gz"):
        open_tape(tmp_path)


def test_other_files_are_not_taken_for_it(tmp_path: Path) -> None:
    path = tmp_path / "some.json"
    path.write_text('{"k": "value", "t": 1}\n', "utf-8")

    with pytest.raises(RecordingFault):
        open_tape(path)


def test_streams_that_are_missing_are_named(tmp_path: Path) -> None:
    notices = [event.sentence for event in events_of(tmp_path, [launch()]) if isinstance(event, Notice)]

    assert "GPU readings, processes, the log, answers of the port" in notices[1]
    assert "server.log beside it is not read" in notices[1]


def test_the_answer_that_counted_is_why_it_is_ready(tmp_path: Path) -> None:
    played = play(open_tape(written(tmp_path, [launch("vllm"), health(10.0, 200)])))

    ready = next(each for each in played.transitions if each.kind == "readiness" and each.after == "ready")
    assert "counts as ready: no completion was asked for" in ready.reason


def test_a_server_that_nobody_asked_is_told_so_at_the_end(tmp_path: Path) -> None:
    opened: Line = {"k": "events", "t": 3.0, "ev": "tcp", "port": 30000, "state": "open"}

    end = reported(play(open_tape(written(tmp_path, [launch(), opened])))).end

    assert end.outcome == "timeout"
    assert end.reason.endswith("health: no answer was recorded")
