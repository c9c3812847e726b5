"""An anonymised bundle reads as the original does and holds none of its names."""

import gzip
import json
import re
import tarfile
from pathlib import Path

import pytest
from awkward_recordings import ORIGINALS, End, Load, record

from tui.commands import export
from tui.commands.export import Wanted
from tui.replay.headless import play
from tui.replay.opening import open_tape
from tui.replay.tape import Tape
from tui.settings import Choices

H200 = Path(__file__).resolve().parents[3] / "shared" / "recordings"
LOADS = (
    Load(),
    Load(served="Quokka-LLM-7B"),
    Load(served="quokka-chat/v2"),
    Load(model="wombat-org/Quokka-LLM-7B"),
    Load(model="wombat-org/Quokka-LLM-7B", served="Quokka-LLM-7B"),
    Load(model="/srv/zebra-lake/Quokka, big (v2)", end="died"),
    Load(end="wrong_model"),
    Load(end="wrong_model", served="quokka-llm-7b"),
    Load(end="oom"),
    Load(end="died"),
    Load(end="timeout"),
)
ODD = (
    "ssh jdoe42@falcon7-gpu:/srv/zebra-lake/x",
    "-I/srv/platypus/include -L/home/jdoe42/lib 'File \"/home/jdoe42/wombat run/a b.py\"'",
    "cache /home/jdoe42/.cache/huggingface/hub/models--wombat--Quokka-LLM-7B/snapshots/abc/config.json",
    "mounted FALCON7-GPU.acmecorp.example.com:/export [fd12:3456:789a::7]:5000 http://jdoe42:pw@10.44.55.66/x",
    "container 9f8e7d6c5b4a" + "0" * 52 + " on storage-node3.acmecorp.example.com",
    "{'model': 'quokka-llm-7b', 'path': '/srv/zebra-lake/Quokka-LLM-7B.gguf'}",
    "by jane.roe@acmecorp.example.com",
)


def courses(tape: Tape) -> list[tuple[float, str, str | None, str | None]]:
    """Return what a tape comes to, without the words that hold names."""
    return [(each.t, each.kind, each.before, each.after) for each in play(tape).transitions]


def anonymised(recording: Path, out: Path) -> bytes:
    """Export a recording; return every byte of the bundle, all unpacked."""
    export.run(Wanted(str(recording), str(out), True, True), Choices())
    parts: list[bytes] = []
    with gzip.open(out) as whole:
        parts.append(whole.read())
    with tarfile.open(out) as tar:
        for entry in tar:
            file = tar.extractfile(entry) if entry.isfile() else None
            if file is not None and entry.name.endswith("journal.jsonl.gz"):
                packed = file.read()
                (out.parent / "again.jsonl.gz").write_bytes(packed)
                parts.append(gzip.decompress(packed))
    return b"\n".join(parts)


@pytest.mark.parametrize("load", LOADS, ids=range(len(LOADS)))
def test_no_original_is_left_and_the_load_reads_the_same(tmp_path: Path, load: Load) -> None:
    recording = record(tmp_path / "rec", load)
    whole = anonymised(recording, tmp_path / "falcon7-gpu.tar.gz").lower()
    left = [word for word in ORIGINALS if word.encode() in whole]
    assert not left
    again = open_tape(tmp_path / "again.jsonl.gz")
    assert courses(again) == courses(open_tape(recording))
    assert b"are not those of the" not in whole


def test_no_original_is_left_of_odd_lines(tmp_path: Path) -> None:
    recording = record(tmp_path / "rec", Load(lines=ODD))
    whole = anonymised(recording, tmp_path / "one.tar.gz").lower()
    for word in ORIGINALS:
        found = whole.find(word.encode())
        assert found < 0, whole[max(0, found - 60) : found + 40]


@pytest.mark.parametrize("name", ["vllm", "capture", "ready", "model", "weights", "server"])
def test_a_user_and_host_named_like_a_word_of_the_log_change_nothing(tmp_path: Path, name: str) -> None:
    recording = record(tmp_path / "rec", Load(user=name, host=name, end="oom"))
    whole = anonymised(recording, tmp_path / "one.tar.gz")
    assert courses(open_tape(tmp_path / "again.jsonl.gz")) == courses(open_tape(recording))
    assert f"/home/{name}/".encode() not in whole
    assert f'"user":"{name}"'.encode() not in whole


@pytest.mark.skipif(not H200.is_dir(), reason="needs the recordings of real loads")
@pytest.mark.parametrize("name", ["x1-sglang-tp1-oom-in-capture", "x2-sglang-tp2-first-launch-jit"])
def test_a_real_load_reads_the_same(tmp_path: Path, name: str) -> None:
    anonymised(H200 / name, tmp_path / "one.tar.gz")
    assert courses(open_tape(tmp_path / "again.jsonl.gz")) == courses(open_tape(H200 / name))


def test_the_list_counts_and_names_no_original(tmp_path: Path) -> None:
    end: End = "oom"
    recording = record(tmp_path / "rec", Load(end=end))
    anonymised(recording, tmp_path / "one.tar.gz")
    with tarfile.open(tmp_path / "one.tar.gz") as tar:
        contents, summary = tar.extractfile("one/CONTENTS.txt"), tar.extractfile("one/summary.json")
        assert contents is not None
        assert summary is not None
        text = contents.read().decode()
        assert json.load(summary)["end"]["outcome"] == "failed"
    assert re.search(r"1 x user\n", text)
    assert re.search(r"2 x host\n", text)
    assert "site-packages/sglang" in text
