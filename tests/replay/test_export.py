"""A bundle holds the whole incident, the same each time, and appears whole or not at all."""

import gzip
import io
import json
import os
import stat
import tarfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from awkward_recordings import KEY, MODEL, Load, record

from tui.commands import export, replay
from tui.commands.export import Wanted
from tui.journal import bundle as bundles
from tui.replay.headless import play
from tui.replay.opening import open_tape
from tui.settings import Choices, UsageFault

H200 = Path(__file__).resolve().parents[3] / "shared" / "recordings"
NAMES = (
    "CONTENTS.txt journal.jsonl.gz log.txt environment.txt versions.txt summary.json report.html".split()  # noqa: SIM905
)


def exported(recording: Path, out: Path, *, anonymise: bool = False, mask: bool = True) -> dict[str, bytes]:
    """Export a recording; return the files of the bundle by name."""
    assert export.run(Wanted(str(recording), str(out), anonymise, mask), Choices()) == 0
    with tarfile.open(out) as tar:
        files = [(entry.name, tar.extractfile(entry)) for entry in tar if entry.isfile()]
        return {name.partition("/")[2]: file.read() for name, file in files if file is not None}


def report(path: Path) -> Mapping[str, object]:
    """Return what ``replay --json`` prints of a file."""
    out: dict[str, object] = json.loads(_encoded(path))
    return out


def _encoded(path: Path) -> bytes:
    import msgspec

    return msgspec.json.encode(replay.reported(play(open_tape(path))))


def test_a_bundle_holds_these_files_in_this_order(tmp_path: Path) -> None:
    files = exported(record(tmp_path / "rec", Load()), tmp_path / "one.tar.gz")
    assert list(files) == NAMES
    contents = files["CONTENTS.txt"].decode()
    assert all(name in contents for name in NAMES[1:])
    assert f"{len(files['log.txt']):,} bytes" in contents


@pytest.mark.parametrize("end", ["ready", "died", "oom", "wrong_model", "timeout"])
def test_the_journal_in_it_replays_to_the_same_report(tmp_path: Path, end: str) -> None:
    recording = record(tmp_path / "rec", Load(end=end))  # pyright: ignore[reportArgumentType]
    files = exported(recording, tmp_path / "one.tar.gz")
    journal = tmp_path / "again.jsonl.gz"
    journal.write_bytes(files["journal.jsonl.gz"])
    assert report(journal) == report(recording) == json.loads(files["summary.json"])


@pytest.mark.skipif(not H200.is_dir(), reason="needs the recordings of real loads")
@pytest.mark.parametrize("name", ["x1-sglang-tp1-oom-in-capture", "x1-vllm-tp1-first-launch"])
def test_a_foreign_recording_replays_to_the_same_report_too(tmp_path: Path, name: str) -> None:
    files = exported(H200 / name, tmp_path / "one.tar.gz")
    journal = tmp_path / "again.jsonl.gz"
    journal.write_bytes(files["journal.jsonl.gz"])
    assert report(journal) == report(H200 / name)


def test_two_exports_of_one_recording_are_the_same_bytes(tmp_path: Path) -> None:
    recording = record(tmp_path / "rec", Load(end="oom"))
    for place in ("a", "b"):
        (tmp_path / place).mkdir()
        exported(recording, tmp_path / place / "same.tar.gz", anonymise=True)
    assert (tmp_path / "a" / "same.tar.gz").read_bytes() == (tmp_path / "b" / "same.tar.gz").read_bytes()


def test_nothing_in_the_archive_tells_when_or_by_whom_it_was_made(tmp_path: Path) -> None:
    out = tmp_path / "one.tar.gz"
    exported(record(tmp_path / "rec", Load()), out)
    with tarfile.open(out) as tar:
        for entry in tar:
            assert entry.name.split("/")[0] == "one"
            assert (entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname) == (0, 0, 0, "", "")


def test_only_its_owner_can_read_it(tmp_path: Path) -> None:
    out = tmp_path / "one.tar.gz"
    exported(record(tmp_path / "rec", Load()), out)
    assert stat.S_IMODE(out.stat().st_mode) == 0o600


def test_an_existing_file_is_kept_and_named(tmp_path: Path) -> None:
    out = tmp_path / "one.tar.gz"
    out.write_text("mine")
    recording = record(tmp_path / "rec", Load())
    with pytest.raises(UsageFault, match=r"one\.tar\.gz exists already and is kept"):
        export.run(Wanted(str(recording), str(out), False, True), Choices())
    assert out.read_text() == "mine"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["one.tar.gz", "rec"]


@pytest.mark.parametrize("name", ["one.zip", "one", "one.tar", ".tar.gz", "one.tar.gz.bak"])
def test_a_name_that_is_no_tar_gz_is_refused(tmp_path: Path, name: str) -> None:
    recording = record(tmp_path / "rec", Load())
    with pytest.raises(UsageFault, match=r"end the name in \.tar\.gz or \.tgz"):
        export.run(Wanted(str(recording), str(tmp_path / name), False, True), Choices())
    assert os.listdir(tmp_path) == ["rec"]


def test_a_link_to_nowhere_is_not_followed(tmp_path: Path) -> None:
    out = tmp_path / "one.tar.gz"
    out.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageFault, match="exists already"):
        export.run(Wanted(str(record(tmp_path / "rec", Load())), str(out), False, True), Choices())
    assert not (tmp_path / "elsewhere").exists()


def test_a_file_that_appears_meanwhile_is_kept(tmp_path: Path) -> None:
    out = tmp_path / "one.tar.gz"

    def made_while_another_is() -> None:
        with bundles.new_bundle(out, "one") as bundle:
            bundle.add("a.txt", b"a")
            out.write_text("theirs")

    with pytest.raises(bundles.BundleExists):
        made_while_another_is()
    assert out.read_text() == "theirs"
    assert os.listdir(tmp_path) == ["one.tar.gz"]


@pytest.mark.parametrize("fault", [KeyboardInterrupt, OSError, RuntimeError])
def test_nothing_is_left_where_it_is_broken_off(tmp_path: Path, fault: type[BaseException]) -> None:
    def broken_off() -> None:
        with bundles.new_bundle(tmp_path / "one.tar.gz", "one") as bundle:
            bundle.add("a.txt", b"a")
            raise fault

    with pytest.raises(fault):
        broken_off()
    assert os.listdir(tmp_path) == []


def test_a_folder_that_is_not_there_is_one_clear_line(tmp_path: Path) -> None:
    recording = record(tmp_path / "rec", Load())
    out = tmp_path / "missing" / "one.tar.gz"
    with pytest.raises(UsageFault, match=r"one\.tar\.gz cannot be written: No such file"):
        export.run(Wanted(str(recording), str(out), False, True), Choices())


def test_without_a_name_it_is_named_after_the_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    recording = record(tmp_path / "rec", Load())
    monkeypatch.chdir(tmp_path)
    assert export.run(Wanted(str(recording), None, True, True), Choices()) == 0
    made = [each.name for each in tmp_path.glob("*.tar.gz")]
    assert len(made) == 1
    assert made[0].startswith("tminus-20")
    assert "falcon7" not in made[0]
    assert made[0] in capsys.readouterr().out


def test_a_cut_recording_is_exported_as_far_as_it_is_whole(tmp_path: Path) -> None:
    recording = record(tmp_path / "rec", Load())
    recording.write_bytes(recording.read_bytes()[:-300])
    files = exported(recording, tmp_path / "one.tar.gz")
    journal = gzip.decompress(files["journal.jsonl.gz"])
    assert b'"about":"journal"' in journal.splitlines()[-1]


def test_the_log_says_how_much_is_left_out(tmp_path: Path) -> None:
    filler = tuple(f"filler {number}" for number in range(1500))
    files = exported(record(tmp_path / "rec", Load(end="oom", lines=filler)), tmp_path / "one.tar.gz")
    log = files["log.txt"].decode()
    assert "server_args=ServerArgs(" in log
    assert "ROOT CAUSE\n" in log
    assert "lines left out" in log
    shown = [int(line.split()[0]) for line in log.splitlines() if line[:7].strip().isdigit()]
    gaps = [int(line.split()[1]) for line in log.splitlines() if "left out" in line]
    assert len(shown) + sum(gaps) == max(shown)
    assert shown == sorted(set(shown))


def test_what_was_not_readable_stays_so(tmp_path: Path) -> None:
    text = exported(record(tmp_path / "rec", Load()), tmp_path / "one.tar.gz")["environment.txt"].decode()
    _, _, rank = text.partition("pid 101")
    assert "arguments: not readable" in rank
    assert "environment: not readable" in rank
    assert f"    {MODEL}" in text


def test_versions_are_those_that_were_recorded(tmp_path: Path) -> None:
    text = exported(record(tmp_path / "rec", Load()), tmp_path / "one.tar.gz")["versions.txt"].decode()
    for word in ("580.1", "6.8.0", "3.12.3", "NVIDIA H200", "NCCL version 2.28.9"):
        assert word in text


def test_secrets_in_imported_text_are_masked_and_counted(tmp_path: Path) -> None:
    load = Load(lines=(f"token is {KEY}",), environment={"HF_TOKEN": "plain-word-secret"})
    files = exported(record(tmp_path / "rec", load), tmp_path / "one.tar.gz")
    whole = every_byte(files)
    assert KEY.encode() not in whole
    assert b"plain-word-secret" not in whole
    assert b"2 more on export" in files["CONTENTS.txt"]


def test_no_mask_leaves_them_and_says_so_in_capitals(tmp_path: Path) -> None:
    load = Load(lines=(f"token is {KEY}",))
    files = exported(record(tmp_path / "rec", load), tmp_path / "one.tar.gz", mask=False)
    assert KEY.encode() in files["log.txt"]
    assert b"SECRETS WERE NOT MASKED" in files["CONTENTS.txt"]


def every_byte(files: Mapping[str, bytes]) -> bytes:
    """Return all bytes of a bundle, unpacked."""
    return b"\n".join(
        gzip.GzipFile(fileobj=io.BytesIO(data)).read() if name.endswith(".gz") else data
        for name, data in files.items()
    )


def test_what_is_said_of_a_written_bundle_cannot_draw_on_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "x\x1b[31mred\n.tar.gz"
    exported(record(tmp_path / "rec", Load()), out)
    wrote, *_ = capsys.readouterr().out.splitlines()
    assert wrote.isprintable()
    assert "xred.tar.gz: CONTENTS.txt" in wrote
    with tarfile.open(out) as tar:
        assert tar.getnames()[0] == "xred"
