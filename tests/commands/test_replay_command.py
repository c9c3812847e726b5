"""``tminus replay FILE --json``: what it prints, what it says beside, and what it cannot read."""

import gzip
import json
import os
from pathlib import Path

import pytest
from tapes import load
from tminus_command import Tminus

from tui.events import encode

HEADER = b'{"tminus":"0.1.0","events":2,"host":"gpu-box","began_wall_s":1.0}'


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """Write a recording of a load that becomes ready, and return its path."""
    path = tmp_path / "load.jsonl.gz"
    path.write_bytes(gzip.compress(b"".join(line + b"\n" for line in (HEADER, *map(encode, load())))))
    return path


def test_it_prints_one_object_and_nothing_beside(tminus: Tminus, recording: Path) -> None:
    done = tminus.run("replay", str(recording), "--json")

    printed = json.loads(done.out)
    assert (done.code, done.err, done.out.count("\n")) == (0, "", 1)
    assert set(printed) == {"transitions", "end"}
    assert [(each["t"], each["to"]) for each in printed["transitions"] if each["kind"] == "phase"] == [
        (0.0, "launch"),
        (10.0, "weights"),
        (30.0, "capture"),
        (45.0, "warmup"),
        (50.0, "ready"),
    ]
    assert (printed["end"]["outcome"], printed["end"]["t"]) == ("ready", 60.0)


def test_a_cut_recording_is_said_beside_the_object(tminus: Tminus, recording: Path) -> None:
    recording.write_bytes(gzip.decompress(recording.read_bytes())[:-20])

    done = tminus.run("replay", str(recording), "--json")

    assert (done.code, json.loads(done.out)["end"]["outcome"]) == (0, "ready")
    assert done.err.startswith("tminus: the recording is cut after 1:00")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    "name", ["~no-such-user/load.jsonl.gz", "x" * 300, "./" + "x" * 300, "missing", "./missing", "pipe", "."]
)
def test_what_cannot_be_read_is_one_line_and_2(tminus: Tminus, name: str) -> None:
    os.mkfifo(tminus.folder / "pipe")

    done = tminus.run("replay", str(tminus.folder / name) if name in ("pipe", ".") else name, "--json")

    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith("tminus: ")


def test_a_log_in_the_place_of_a_recording_is_told_how_it_is_played(tminus: Tminus) -> None:
    log = tminus.folder / "server.log"
    log.write_text("[2026-05-28 20:26:45] server_args=ServerArgs()\n")

    done = tminus.run("replay", str(log), "--json")

    assert (done.code, done.err) == (
        2,
        f"tminus: {log} is no recording of tminus; a server's log is played with --log\n",
    )


def test_a_recording_and_a_log_are_not_played_together(tminus: Tminus, recording: Path) -> None:
    done = tminus.run("replay", str(recording), "--log", str(recording), "--json")

    assert done.code == 2
    assert "leave the recording out" in done.err


def test_without_a_terminal_it_says_what_works_without_one(tminus: Tminus, recording: Path) -> None:
    done = tminus.run("replay", str(recording))

    assert done.code == 2
    assert "--json" in done.err
    assert "--headless" in done.err
    assert "tminus wait" not in done.err
