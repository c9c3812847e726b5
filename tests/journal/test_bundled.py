"""A bundle that somebody sent plays as it is: packed, or unpacked as a folder."""

import io
import shutil
import tarfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from awkward_recordings import Load, record

from tui.commands import export
from tui.commands.export import Wanted
from tui.events import Notice
from tui.journal import bundled
from tui.journal.bundled import is_bundle, open_bundled
from tui.journal.reader import RecordingFault
from tui.replay.headless import play
from tui.replay.opening import open_tape
from tui.settings import Choices


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    return record(tmp_path / "rec", Load(end="oom"))


def bundle_of(recording: Path, out: Path) -> Path:
    export.run(Wanted(str(recording), str(out), False, True), Choices())
    return out


def packed(out: Path, files: Mapping[str, bytes], mode: str = "w:gz") -> Path:
    with tarfile.open(out, mode) as tar:  # pyright: ignore[reportCallIssue, reportArgumentType, reportUnknownVariableType]
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))  # pyright: ignore[reportUnknownMemberType]
    return out


def test_a_packed_bundle_plays_to_the_same_end_and_leaves_nothing(tmp_path: Path, recording: Path) -> None:
    bundle = bundle_of(recording, tmp_path / "incident.tar.gz")
    before = sorted(tmp_path.rglob("*"))
    assert play(open_tape(bundle)).transitions == play(open_tape(recording)).transitions
    assert sorted(tmp_path.rglob("*")) == before


def test_it_can_be_played_again_and_has_its_name(tmp_path: Path, recording: Path) -> None:
    tape = open_tape(bundle_of(recording, tmp_path / "incident.tgz"))
    assert tape.name == "incident"
    assert list(tape.read()) == list(tape.read()) == list(open_tape(recording).read())


def test_an_unpacked_bundle_plays_as_the_folder(tmp_path: Path, recording: Path) -> None:
    shutil.unpack_archive(bundle_of(recording, tmp_path / "incident.tar.gz"), tmp_path / "out", "gztar")
    tape = open_tape(tmp_path / "out" / "incident")
    assert tape.name == "incident"
    assert play(tape).transitions == play(open_tape(recording)).transitions


@pytest.mark.parametrize("packed_again", [True, False])
def test_a_bundle_is_exported_to_the_same_files(tmp_path: Path, recording: Path, packed_again: bool) -> None:
    received = bundle_of(recording, tmp_path / "incident.tar.gz")
    if not packed_again:
        shutil.unpack_archive(received, tmp_path / "out", "gztar")
        received = tmp_path / "out" / "incident"
    (tmp_path / "new").mkdir()
    with tarfile.open(bundle_of(received, tmp_path / "new" / "incident.tar.gz")) as tar:
        again = tar.extractfile("incident/journal.jsonl.gz")
        assert again is not None
        with open_bundled(tmp_path / "incident.tar.gz") as first:
            assert again.read() == first.read(1 << 20)


@pytest.mark.parametrize("mode", ["w:gz", "w"])
def test_the_journal_may_stand_anywhere_and_the_archive_be_unzipped(
    tmp_path: Path, recording: Path, mode: str
) -> None:
    files = {"a/notes.txt": b"x" * 100_000, "a/b/journal.jsonl.gz": recording.read_bytes()}
    assert list(open_tape(packed(tmp_path / "sent.tar", files, mode)).read()) == list(
        open_tape(recording).read()
    )


def test_a_bundle_that_is_cut_plays_as_far_as_it_is_whole(tmp_path: Path, recording: Path) -> None:
    bundle = packed(tmp_path / "cut.tar.gz", {"a/journal.jsonl.gz": recording.read_bytes()})
    bundle.write_bytes(bundle.read_bytes()[: recording.stat().st_size * 2 // 3])
    *events, last = open_tape(bundle).read()
    assert events
    assert events == list(open_tape(recording).read())[: len(events)]
    assert isinstance(last, Notice)
    assert last.about == "journal"


def test_a_bundle_that_is_cut_before_its_recording_is_refused(tmp_path: Path, recording: Path) -> None:
    bundle = packed(tmp_path / "cut.tar.gz", {"a/journal.jsonl.gz": recording.read_bytes()})
    bundle.write_bytes(bundle.read_bytes()[:60])
    with pytest.raises(RecordingFault, match=r"cut\.tar\.gz"):
        open_tape(bundle)


def test_an_archive_without_a_recording_is_refused_in_one_line(tmp_path: Path) -> None:
    archive = packed(tmp_path / "other.tar.gz", {"a/notes.txt": b"hello"})
    with pytest.raises(
        RecordingFault, match=r"other\.tar\.gz cannot be read: it is an archive without journal"
    ):
        open_tape(archive)


def test_a_link_in_an_archive_is_no_recording(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "link.tar.gz", "w:gz") as tar:
        entry = tarfile.TarInfo("a/journal.jsonl.gz")
        entry.type, entry.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(entry)
    with pytest.raises(RecordingFault, match="archive without"):
        open_tape(tmp_path / "link.tar.gz")


def test_the_search_in_an_archive_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundled, "SEARCHED_BYTES", 1024 * 1024)
    archive = packed(tmp_path / "bomb.tar.gz", {"a/x": bytes(2 * 1024 * 1024), "a/journal.jsonl.gz": b""})
    with pytest.raises(RecordingFault, match="not in its first 1 MiB"):
        open_tape(archive)


def test_a_folder_without_a_recording_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(RecordingFault, match=r"is a folder without journal\.jsonl\.gz or recording"):
        open_tape(tmp_path)


def test_what_is_no_archive_is_none(tmp_path: Path, recording: Path) -> None:
    (tmp_path / "short").write_bytes(b"\x1f")
    assert not any(map(is_bundle, (recording, tmp_path, tmp_path / "missing", tmp_path / "short")))
