"""``tminus recordings``: every recording in its row, whatever is in it."""

import gzip
import json
import os
import re
import shutil
import signal
import time
import zlib
from pathlib import Path
from typing import cast

import pytest
from simulated_launch import Launch
from tminus_command import Tminus

from tui.commands import recordings
from tui.commands.recordings import Row, encoded, outcome_text, table
from tui.engines.marks import FaultKind
from tui.events import Tick
from tui.journal.writer import open_journal
from tui.replay.summary import CACHE_NAME, Outcome, Summary
from tui.settings import Choices
from widgets.cells import width

FIXTURES = Path(__file__).parents[1] / "fixtures" / "recordings"
KILLED = FIXTURES / "version-1-killed.jsonl.gz"
URL = FIXTURES / "version-1-url.jsonl.gz"


def told(
    outcome: Outcome = "ready",
    *,
    fault: str | None = None,
    cause: FaultKind | None = None,
    ready_after_s: float | None = None,
    host: str = "gpu01",
    url: str | None = None,
    model: str = "Qwen/Qwen3-32B",
    cut: bool = False,
) -> Summary:
    return Summary(
        host=host, url=url, tminus="0.1.0", began_wall_s=1_780_000_000.0, engine="sglang", model=model,
        outcome=outcome, fault=fault, cause=cause, reason="", ready_after_s=ready_after_s, length_s=760.0,
        cut=cut,
    )  # fmt: skip


def row(summary: Summary | None, name: str = "20260528T202640-gpu01", *, written: bool = False) -> Row:
    return Row(
        name=name, path=f"/r/{name}.jsonl.gz", size_bytes=1_300_000, modified_wall_s=1.0,
        being_written=written, problem=None if summary is not None else "is empty", summary=summary,
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of this user's recordings."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.delenv("COLUMNS", raising=False)
    place = tmp_path / "tminus" / "recordings"
    place.mkdir(parents=True)
    return place


def put(source: Path, place: Path, modified_s: float) -> None:
    shutil.copy(source, place)
    os.utime(place, (modified_s, modified_s))


# In words.


@pytest.mark.parametrize(
    ("summary", "text"),
    [
        (told(), "ready"),
        (told(ready_after_s=123.4), "ready in 2:03"),
        (told("not_ready"), "not ready"),
        (told("not_ready", cut=True), "not ready (cut)"),
        (told("lost", fault="auth"), "lost"),
        (told("failed", fault="died"), "failed: died"),
        (told("failed", fault="died", cause=FaultKind.UNKNOWN), "failed: died"),
        (told("failed", fault="died", cause=FaultKind.OOM_CAPTURE), "failed: out of GPU memory"),
        (told("failed", fault="log_failure"), "failed: by its log"),
        (told("failed", fault="wrong_model"), "failed: wrong model"),
        (told("failed", fault="shut_down", ready_after_s=123.4), "ready in 2:03, then shut down"),
        (None, "is empty"),
    ],
)
def test_the_outcome_is_a_few_words(summary: Summary | None, text: str) -> None:
    assert outcome_text(row(summary)) == text


def test_one_that_is_being_written_says_so() -> None:
    assert outcome_text(row(told("not_ready"), written=True)) == "not ready (being written)"


def test_a_recording_is_called_by_its_time_where_that_is_enough() -> None:
    names = ["20260528T202640-a", "20260528T202641-a", "20260528T202641-b", "by hand"]
    lines = table([row(told(), name) for name in names], 80)
    names = [line.partition(" gpu01")[0].rstrip() for line in lines[1:]]
    assert names == ["20260528T202640", "20260528T202641-a", "20260528T202641-b", "by hand"]


def test_a_url_is_shown_in_place_of_its_host() -> None:
    lines = table([row(told(host="url", url="http://gpu01:8000"))], 80)
    assert " gpu01:8000 " in lines[1]


@pytest.mark.parametrize("columns", [60, 80, 99, 100, 132, 300])
def test_every_line_fits_and_the_name_is_whole(columns: int) -> None:
    rows = [
        row(told(host="h" * 300, model="東京" * 100)),
        row(
            told("failed", fault="died", cause=FaultKind.OOM_KV, model="/models/" + "m" * 300),
            "20270101T000000-x",
        ),
        row(None, "20280101T000000-x"),
    ]
    lines = table(rows, columns)
    assert max(map(width, lines)) <= columns
    assert [line[:15] for line in lines[1:]] == ["20260528T202640", "20270101T000000", "20280101T000000"]
    assert ("BEGAN" in lines[0]) == (columns >= 132)
    assert columns < 80 or lines[2].endswith("failed: out of memory for the KV cache")


LONGEST = "ready in 1:02:03, then out of GPU memory (being written)"


@pytest.mark.parametrize("columns", [80, 100, 132, None])
def test_the_outcome_is_the_last_to_be_cut(columns: int | None) -> None:
    died = told("failed", fault="died", cause=FaultKind.OOM_CAPTURE, ready_after_s=3723.0, host="h" * 40)
    lines = table([row(told(ready_after_s=123.0)), row(died, "20270101T000000-x", written=True)], columns)
    assert lines[2].endswith(f" {LONGEST}")
    assert lines[1].endswith(" ready in 2:03")
    assert ("SIZE" in lines[0]) == (columns is None)


def test_the_model_is_shortened_before_a_column_is_left_out() -> None:
    [_, line] = table([row(told("failed", fault="died", ready_after_s=33.0))], 80)
    assert re.search(
        r"^20260528T202640 gpu01 sglang Qwen3-32B +12:40 1.2 MiB ready in 0:33, then died$", line
    )
    oom = told("failed", fault="died", cause=FaultKind.OOM_CAPTURE, ready_after_s=33.0)
    [head, line] = table([row(oom)], 80)
    assert head.split() == ["RECORDING", "HOST", "MODEL", "LENGTH", "OUTCOME"]
    assert re.search(r" Qwen3-32B +12:40 ready in 0:33, then out of GPU memory$", line)


def test_columns_that_fit_are_all_shown() -> None:
    [head, line] = table([row(told(ready_after_s=123.0))], 80)
    assert head.split() == ["RECORDING", "HOST", "ENGINE", "MODEL", "LENGTH", "SIZE", "OUTCOME"]
    assert line.split()[:4] == ["20260528T202640", "gpu01", "sglang", "Qwen/Qwen3-32B"]


def test_where_no_terminal_shows_it_nothing_is_cut() -> None:
    model, host = "/mnt/models/" + "m" * 300, "h" * 300
    lines = table([row(told(host=host, model=model), "n" * 100), row(None)], None)
    assert all(word in lines[1] for word in ("n" * 100, host, model))
    assert not any("\u2026" in line for line in lines)


def test_a_model_gives_way_to_its_own_name() -> None:
    long = told(
        model="/mnt/models/somewhere/far/away/Qwen3-32B", ready_after_s=123.0, host="gpu01.example.org"
    )
    assert " Qwen3-32B " in table([row(long)], 80)[1]


def test_a_json_row_is_flat_and_has_every_field_whatever_is_known() -> None:
    known, unknown = json.loads(encoded(row(told()))), json.loads(encoded(row(None)))
    assert list(known) == list(unknown)
    assert (known["outcome"], known["length_s"], known["problem"]) == ("ready", 760.0, None)
    assert (unknown["outcome"], unknown["length_s"], unknown["problem"]) == (None, None, "is empty")


# The folder.


def listed(capsysbinary: pytest.CaptureFixture[bytes], *, as_json: bool = False) -> tuple[list[str], str]:
    assert recordings.run(Choices(json=as_json)) == 0
    out, err = capsysbinary.readouterr()
    return out.decode().splitlines(), err.decode()


@pytest.mark.parametrize("as_json", [False, True])
def test_without_a_recording_one_sentence_says_where_they_would_be(
    folder: Path, capsysbinary: pytest.CaptureFixture[bytes], as_json: bool
) -> None:
    (folder / "notes.txt").touch()
    out, err = listed(capsysbinary, as_json=as_json)
    assert out == []
    assert err == f"tminus: there is no recording yet; each watch and wait leaves one in {folder}\n"
    shutil.rmtree(folder)
    assert listed(capsysbinary, as_json=as_json) == (out, err)


def test_the_newest_is_last_and_what_cannot_be_read_has_its_row(
    folder: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    put(KILLED, folder / "20260102T000000-b.jsonl.gz", 2000)
    put(URL, folder / "20260101T000000-a.jsonl.gz", 1000)
    (folder / "20260103T000000-c.jsonl.gz").write_bytes(b"PNG")
    (folder / "20260104T000000-d.jsonl.gz").mkdir()
    (folder / "20260105T000000-e.jsonl.gz").symlink_to("nowhere")
    out, err = listed(capsysbinary)
    assert [line.split()[0] for line in out[1:3]] == ["20260101T000000", "20260102T000000"]
    began = r"\d{4}-\d\d-\d\d \d\d:\d\d"
    url = r"url +- +simulated-qwen3 +0:04 +1\.\d KiB +ready in 0:03"
    assert re.search(rf"20260101T000000 +{began} +{url}$", out[1])
    host = r"gpu01 +sglang +Qwen/Qwen3-32B +1:10 +7\.\d KiB +ready in 1:1\d"
    assert re.search(rf"20260102T000000 +{began} +{host}$", out[2])
    others = "\n".join(sorted(out[3:]))
    assert re.search(r"^20260103T000000 +is no recording of tminus$", others, re.M)
    assert re.search(r"^20260104T000000 +cannot be read: it is a directory", others, re.M)
    assert re.search(r"^20260105T000000 +cannot be read: No such file", others, re.M)
    assert err == ""


@pytest.mark.parametrize(("terminal", "columns"), [(True, 80), (False, None)])
def test_lines_are_as_wide_as_the_terminal_that_shows_them(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
    terminal: bool, columns: int | None,
) -> None:  # fmt: skip
    put(KILLED, folder / f"20260102T000000-{'b' * 200}.jsonl.gz", 2000)
    put(KILLED, folder / f"20260102T000000-{'c' * 200}.jsonl.gz", 2001)
    monkeypatch.setattr(recordings.sys.stdout, "isatty", lambda: terminal)
    recordings.run(Choices())
    out = capsys.readouterr().out.splitlines()
    assert (max(map(len, out)) <= 80) == (columns == 80)


def test_an_object_a_line_is_printed_as_json(
    folder: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    put(KILLED, folder / "20260102T000000-b.jsonl.gz", 2000)
    (folder / "20260103T000000-c.jsonl.gz").write_bytes(b"")
    out, _ = listed(capsysbinary, as_json=True)
    first, second = map(json.loads, out)
    assert (first["name"], first["engine"], first["outcome"]) == ("20260102T000000-b", "sglang", "ready")
    assert "not finished" in first["ending"]
    assert (second["problem"], second["outcome"]) == ("is empty", None)


def test_the_second_list_is_the_same_and_plays_nothing(
    folder: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    put(KILLED, folder / "20260102T000000-b.jsonl.gz", 2000)
    first = listed(capsysbinary)
    assert (folder.parent / CACHE_NAME).exists()
    monkeypatch.setattr("tui.replay.summary.summarise", None)
    assert listed(capsysbinary) == first


def test_one_that_is_being_written_is_listed(
    folder: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    journal = open_journal(folder, "gpu01", "0.1.0")
    journal.append(Tick(mono_s=1.0, wall_s=1.0, client_s=1.0))
    [line] = listed(capsysbinary, as_json=True)[0]
    journal.close()
    assert json.loads(line)["being_written"] is True
    assert json.loads(line)["cut"] is False


def test_text_of_a_hostile_recording_cannot_draw_on_the_terminal(
    folder: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    header = r'{"tminus":"\u001b[31m","events":2,"host":"\u001b]0;x\u0007\u202ehost\n","began_wall_s":1e300}'
    (folder / "20260102T000000-b.jsonl.gz").write_text(header + "\n")
    (folder / "\x1b[31m\n.jsonl.gz").write_text("x")
    out, _ = listed(capsysbinary)
    assert all(line.isprintable() for line in out)
    assert len(out) == 3
    assert all(line.isprintable() for line in listed(capsysbinary, as_json=True)[0])


# What the commands leave.


async def test_a_wait_leaves_a_recording_that_is_listed_and_holds_no_key(
    tminus: Tminus, simulated_engine: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OWN_KEY", "hunter2-hunter2")
    asked = ("wait", "--url", simulated_engine.url, "--api-key-env", "OWN_KEY", "--json", "--timeout", "80s")
    done = await tminus.aside(*asked)
    [path] = tminus.recordings
    rows = await tminus.aside("recordings", "--json")
    assert (done.code, rows.code) == (0, 0)
    assert (rows.last["outcome"], rows.last["url"]) == ("ready", simulated_engine.url)
    assert (rows.last["ending"], rows.last["being_written"], rows.last["problem"]) == ("", False, None)
    assert path.stat().st_mode & 0o777 == 0o600
    text = await tminus.aside("replay", str(path), "--json")
    assert cast("dict[str, object]", text.last["end"])["outcome"] == "ready"
    for file in tminus.folder.rglob("*"):
        if file.is_file():
            assert b"hunter2" not in unpacked(file)


def unpacked(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data


@pytest.mark.parametrize("how", ["flag", "variable"])
def test_no_recording_is_left_where_none_is_wanted(
    tminus: Tminus, free_port: int, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    asked = ["wait", "--url", f"http://127.0.0.1:{free_port}", "--timeout", "0.5s"]
    if how == "variable":
        tminus = Switched(tminus.folder)
    else:
        asked.append("--no-record")
    assert tminus.run(*asked).code == 3
    assert tminus.recordings == []


class Switched(Tminus):
    """The command with recording switched off by its variable."""

    def environment(self) -> dict[str, str]:
        return super().environment() | {"TMINUS_NO_RECORD": "1"}


def test_a_wait_that_is_killed_leaves_what_it_saw(tminus: Tminus, free_port: int) -> None:
    process = tminus.start("wait", "--url", f"http://127.0.0.1:{free_port}", "--json")
    tminus.until(process, '"event":"probe"')
    [path] = tminus.recordings
    until_s = time.monotonic() + 30
    while b"refused" not in so_far(path) and time.monotonic() < until_s:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    tminus.end(process)
    row = tminus.run("recordings", "--json").last
    assert (row["outcome"], row["being_written"], row["cut"]) == ("not_ready", False, False)
    assert "not finished" in str(row["ending"])
    assert "connection refused" in str(row["reason"])


def so_far(path: Path) -> bytes:
    return zlib.decompressobj(31).decompress(path.read_bytes())


@pytest.mark.parametrize(
    "asked", [("no-such-host.invalid",), ("--url", "http://no-such-host.invalid:8000"), ("a b",)]
)
def test_a_host_that_was_misspelt_leaves_no_recording(tminus: Tminus, asked: tuple[str, ...]) -> None:
    assert tminus.run("wait", *asked, "--timeout", "2s").code in (2, 3, 4)
    assert tminus.recordings == []


async def test_a_snapshot_leaves_no_recording(tminus: Tminus, simulated_engine: Launch) -> None:
    done = await tminus.aside("--once", "--json", "--port", str(simulated_engine.port))
    assert done.code == 0
    assert tminus.recordings == []
