"""The file of past loads: what is written is read again, and nothing that lies there can hurt."""

import os
import threading
from pathlib import Path

import msgspec
import pytest

from tui.past_load import PastLoad, PhaseTime
from tui.runs import past_loads
from tui.runs.past_loads import KEEP_LOADS, LINE_BYTES, NEWEST, READ_BYTES, SLACK_LOADS, PastLoadsFile


def load(number: int = 0, *, engine: str = "sglang", model: str = "qwen") -> PastLoad:
    return PastLoad(
        engine=engine,
        version="0.5.14",
        model=model,
        host="gpu01",
        gpus=2,
        gpu_name="NVIDIA H200",
        tensor_parallel=2,
        pipeline_parallel=None,
        data_parallel=None,
        wall_s=1.8e9 + number,
        ready_s=100.5 + number,
        phases=[PhaseTime(phase="weights", seconds=60.25, longest_silence_s=3.5)],
        cache="cold",
    )


@pytest.fixture
def file(tmp_path: Path) -> PastLoadsFile:
    return PastLoadsFile(tmp_path / "state" / "loads.jsonl")


def line(number: int = 0) -> bytes:
    return msgspec.json.encode(load(number)) + b"\n"


def test_a_load_that_was_kept_is_read_again_as_it_was(file: PastLoadsFile) -> None:
    assert file.add(load(1)) == ""
    assert file.add(load(2)) == ""

    assert file.of("sglang", "qwen") == ([load(1), load(2)], "2 past loads of this engine and model")


def test_only_loads_of_the_engine_and_model_are_told(file: PastLoadsFile) -> None:
    for other in (load(1), load(2, engine="vllm"), load(3, model="llama")):
        file.add(other)

    assert file.of("sglang", "qwen")[0] == [load(1)]
    assert file.of("sglang", "phi") == ([], "no past load of this engine and model")


def test_only_the_newest_are_told(file: PastLoadsFile) -> None:
    file.path.parent.mkdir()
    file.path.write_bytes(b"".join(line(number) for number in range(NEWEST + 5)))

    told, _ = file.of("sglang", "qwen")

    assert [each.ready_s for each in told] == [load(number).ready_s for number in range(5, NEWEST + 5)]


def test_file_and_folder_are_for_this_user_alone(file: PastLoadsFile) -> None:
    file.add(load())

    assert file.path.stat().st_mode & 0o777 == 0o600
    assert file.path.parent.stat().st_mode & 0o777 == 0o700


def test_without_recording_nothing_is_written_but_the_past_is_read(file: PastLoadsFile) -> None:
    reading = PastLoadsFile(file.path, write=False)

    assert reading.add(load(1)) == ""
    assert not file.path.exists()
    file.add(load(2))
    assert reading.of("sglang", "qwen")[0] == [load(2)]


def test_no_file_yet_is_said_and_nothing_is_made(file: PastLoadsFile) -> None:
    assert file.of("sglang", "qwen") == ([], "no past load is kept yet")
    assert not file.path.parent.exists()


FOREIGN = [
    b"",
    b"not json",
    b"\xff\xfe\x00",
    b'"text"',
    b"[]",
    b"{}",
    b"[" * 20_000,
    b'{"engine": ' * 3000,
    line().replace(b'"phases":[', b'"phases":7,"x":['),
    line().replace(b"100.5", b"-1"),
    line().replace(b"100.5", b"1e300"),
    line().replace(b"60.25", b'"long"'),
    line().replace(b'"cold"', b'"tepid"'),
    b"x" * (LINE_BYTES + 1),
]


@pytest.mark.parametrize("foreign", FOREIGN, ids=lambda text: repr(text[:24]))
def test_a_line_that_is_no_load_is_left_out_and_counted(file: PastLoadsFile, foreign: bytes) -> None:
    file.path.parent.mkdir()
    file.path.write_bytes(line(1) + foreign.strip() + b"\n" + line(2))

    told, sentence = file.of("sglang", "qwen")

    assert told == [load(1), load(2)]
    broken = f"; 1 line is not readable in {file.path}" if foreign else ""
    assert sentence == f"2 past loads of this engine and model{broken}"


def test_fields_of_a_later_version_are_ignored(file: PastLoadsFile) -> None:
    file.path.parent.mkdir()
    later = (
        line().replace(b'"seconds"', b'"joules":7,"seconds"').replace(b'{"engine"', b'{"new":[{}],"engine"')
    )
    file.path.write_bytes(later)

    assert file.of("sglang", "qwen")[0] == [load()]


def test_a_torn_last_line_does_not_spoil_the_next_one(file: PastLoadsFile) -> None:
    file.path.parent.mkdir()
    file.path.write_bytes(line(1) + line(2)[:40])

    file.add(load(3))

    assert file.of("sglang", "qwen")[0] == [load(1), load(3)]


def test_a_file_that_has_grown_long_is_cut_to_its_newest_loads(file: PastLoadsFile) -> None:
    file.path.parent.mkdir()
    longest = KEEP_LOADS + SLACK_LOADS
    file.path.write_bytes(b"".join(line(number) for number in range(longest - 1)))

    file.add(load(longest - 1))

    kept = [msgspec.json.decode(each, type=PastLoad) for each in file.path.read_bytes().splitlines()]
    assert [each.wall_s for each in kept] == [1.8e9 + number for number in range(SLACK_LOADS, longest)]
    assert file.path.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in file.path.parent.iterdir()] == ["loads.jsonl"]


def test_a_huge_file_costs_a_bounded_read_and_is_cut(file: PastLoadsFile) -> None:
    file.path.parent.mkdir()
    with file.path.open("wb") as writer:
        writer.truncate(64 * READ_BYTES)
        writer.seek(0, os.SEEK_END)
        writer.write(b"\n" + line(1))

    assert file.of("sglang", "qwen")[0] == [load(1)]
    file.add(load(2))
    assert file.of("sglang", "qwen")[0] == [load(1), load(2)]
    assert file.path.stat().st_size < READ_BYTES


def test_what_is_no_plain_file_is_said_and_does_not_hang(file: PastLoadsFile) -> None:
    file.path.parent.mkdir()
    os.mkfifo(file.path)

    told, sentence = file.of("sglang", "qwen")

    assert (told, sentence) == (
        [],
        f"past loads cannot be read: {file.path}: is no plain file; T- goes without them",
    )
    assert file.add(load()).endswith("loads.jsonl: is no plain file")


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "state").touch()
    file = PastLoadsFile(tmp_path / "state" / "loads.jsonl")

    assert file.add(load()).startswith(f"this load is not kept for later estimates: {file.path}: ")
    assert file.of("sglang", "qwen")[1].startswith("past loads cannot be read: ")


def test_watches_that_write_and_trim_at_once_lose_nothing(
    file: PastLoadsFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(past_loads, "KEEP_LOADS", 150)
    monkeypatch.setattr(past_loads, "SLACK_LOADS", 2)
    monkeypatch.setattr(past_loads, "LOCK_TRIES", 2000)
    monkeypatch.setattr(past_loads, "OPEN_TRIES", 2000)
    file.path.parent.mkdir()
    file.path.write_bytes(b"".join(line(number) for number in range(1000, 1140)))
    said: list[str] = []

    def write(first: int) -> None:
        said.extend(PastLoadsFile(file.path).add(load(number)) for number in range(first, first + 30))

    writers = [threading.Thread(target=write, args=(first,)) for first in (0, 100, 200, 300)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()

    kept = {
        msgspec.json.decode(each, type=PastLoad).wall_s - 1.8e9
        for each in file.path.read_bytes().splitlines()
    }
    assert set(said) == {""}
    assert {first + number for first in (0, 100, 200, 300) for number in range(30)} <= kept
