"""Which recording a person means who names a file, a part of a name, or nothing."""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tui.events import Link, Tick
from tui.journal.reader import RecordingFault
from tui.journal.writer import open_journal
from tui.replay.opening import found

URL = Path(__file__).parents[1] / "fixtures" / "recordings" / "version-1-url.jsonl.gz"
CLOCKS: dict[str, Any] = {"mono_s": 7.0, "wall_s": 1e9, "client_s": 7.0}


def put(folder: Path, *names: str) -> None:
    for number, name in enumerate(names):
        shutil.copy(URL, folder / f"{name}.jsonl.gz")
        os.utime(folder / f"{name}.jsonl.gz", (number, number))


def name_of(name: str | None, folder: Path) -> str:
    return found(name, folder).name.removesuffix(".jsonl.gz")


@pytest.mark.parametrize(
    "name",
    ["20260102T000000", "20260102T000000-b", "20260102T000000-b.jsonl.gz", "20260102", "20260102T000000-"],
)
def test_as_much_of_a_name_as_is_its_alone_is_enough(tmp_path: Path, name: str) -> None:
    put(tmp_path, "20260102T000000-b", "20260103T000000-b", "20260103T000000-c")
    assert name_of(name, tmp_path) == "20260102T000000-b"


def test_a_whole_name_is_that_of_no_longer_one(tmp_path: Path) -> None:
    put(tmp_path, "20260102T000000-b", "20260102T000000-b-1", "load", "load-2", "loaded")
    assert name_of("20260102T000000-b", tmp_path) == "20260102T000000-b"
    assert name_of("load", tmp_path) == "load"


def test_of_several_that_a_beginning_may_mean_the_newest_three_are_listed(tmp_path: Path) -> None:
    put(tmp_path, *(f"2026010{day}T000000-b" for day in range(1, 6)))
    with pytest.raises(RecordingFault) as fault:
        found("202601", tmp_path)
    listed = "20260105T000000-b, 20260104T000000-b, 20260103T000000-b, ..."
    assert str(fault.value) == f"202601: 5 recordings begin with that ({listed}): name one"
    put(tmp_path, "20260105T000000-c")
    with pytest.raises(RecordingFault, match=r"2 recordings begin with that \(\S+, \S+\): name one"):
        found("20260105T000000", tmp_path)


def test_a_name_of_nothing_is_refused(tmp_path: Path) -> None:
    put(tmp_path, "20260102T000000-b")
    with pytest.raises(RecordingFault, match="20270101: there is no such file, nor a recording"):
        found("20270101", tmp_path)
    with pytest.raises(RecordingFault, match="nor a recording"):
        found("20260102", tmp_path / "missing")


def test_a_link_to_nowhere_among_them_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "20260101T000000-a.jsonl.gz").symlink_to("nowhere")
    put(tmp_path, "20260102T000000-b")
    assert name_of("20260102", tmp_path) == "20260102T000000-b"


def test_without_a_name_it_is_the_newest_in_which_the_host_is_heard(tmp_path: Path) -> None:
    put(tmp_path, "20260101T000000-a", "20260102T000000-b")
    silent = open_journal(tmp_path, "replaay", "0.1.0")
    silent.append(Link(**CLOCKS, state="failed", sentence="the name is not known", fault="dns"))
    silent.append(Tick(**CLOCKS))
    silent.close()
    assert name_of(None, tmp_path) == "20260102T000000-b"


def test_without_a_name_a_newest_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    put(tmp_path, "20260101T000000-a")
    (tmp_path / "20260102T000000-b.jsonl.gz").write_bytes(b"PNG")
    assert name_of(None, tmp_path) == "20260102T000000-b"


def test_without_a_name_one_of_silence_is_better_than_none(tmp_path: Path) -> None:
    silent = open_journal(tmp_path, "replaay", "0.1.0")
    silent.close()
    assert found(None, tmp_path) == silent.path
    with pytest.raises(RecordingFault, match="there is no recording"):
        found(None, tmp_path / "missing")
