"""Where a bug report is written to."""

import stat
from pathlib import Path

import pytest

from tui.commands import start
from tui.commands.keep_report import keep_report, shown


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(start, "state_folder", lambda: tmp_path / "state")
    return tmp_path / "state"


def test_it_lies_beside_the_recordings_for_this_user_alone(folder: Path) -> None:
    sentence = keep_report("what is the matter\n", "gpu01/../x")
    (file,) = (folder / "reports").iterdir()
    assert str(file) in sentence or shown(file) in sentence
    assert file.read_text("utf-8") == "what is the matter\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert file.name.startswith("gpu01_.._x-")


def test_what_cannot_be_written_is_said(folder: Path) -> None:
    folder.write_text("no folder")
    assert "cannot be written" in keep_report("text", "gpu01")


def test_a_path_at_home_is_shown_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert shown(tmp_path / "a" / "b.txt") == "~/a/b.txt"
    assert shown(Path("/elsewhere/b.txt")) == "/elsewhere/b.txt"
